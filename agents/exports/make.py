"""One export from question files to its folder."""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from backtrader_bench import __version__, store
from backtrader_bench.agents.exports import canary as canaries
from backtrader_bench.agents.exports import folder as folders
from backtrader_bench.agents.exports import (
    hugging_face,
    inspect_task,
    lm_eval,
    sealing,
    tables,
    verifiers_taskset,
)
from backtrader_bench.agents.exports.content import Content, canary_of, entry_of, lists_options, task_name
from backtrader_bench.agents.runs.questions import asking, read_questions
from backtrader_bench.errors import BenchError, RecordError
from backtrader_bench.market import pins
from backtrader_bench.records import parse_json, public_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from backtrader_bench.agents.exports.content import Entry
    from backtrader_bench.agents.exports.sealing import Guesses, Revealed, Sealed
    from backtrader_bench.agents.runs.questions import Asking
    from backtrader_bench.market.tape import Tape

Format = Literal["inspect", "lm-eval", "hf", "verifiers", "csv", "md"]
FORMATS: tuple[str, ...] = get_args(Format)
PUBLIC = "questions.public.jsonl"
"""In a sealed export: the public records as they are, from which the bank is made again."""
TAPES = "tapes"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is to be exported, and how."""

    format: Format
    files: tuple[Path, ...]
    folder: Path
    answers: bool = True
    sealed: Path | None = None
    """Where the keys go without answers; None: beside the folder."""
    canary: str | None = None
    name: str = "backtrader_bench"
    license: str = hugging_face.LICENSE
    tapes: bool = True
    """Of format hf: whether the bars go with it."""
    data: Path | None = None
    """Where bars are looked for instead of the store."""
    force: bool = False
    session_seed: Callable[[str], int | None] = lambda run: None
    """The seed of a mining session; None where it is not known."""


@dataclass(frozen=True)
class Made:
    """A finished export."""

    folder: Path
    questions: int
    duplicates: int
    files: tuple[str, ...]
    canary: str
    sealed: Path | None
    guesses: Guesses
    """Questions of a sealed export whose keys follow from a seed that can be guessed."""


def export(wish: Wish) -> Made:
    """Write the export; whole or not at all.

    UsageError, StoreError, RecordError: the input, or the place. MissingError: bars are not found.
    """
    folders.sweep(wish.folder)
    inputs = [*wish.files, *([wish.data] if wish.data else [])]
    replaces = folders.check_place(wish.folder, inputs, force=wish.force)
    sealed_path = _sealed_path(wish)
    if sealed_path is not None:
        folders.check_sealed_place(sealed_path, wish.folder, belongs=_belongs(sealed_path, wish.folder))
    questions = read_questions(wish.files)
    asked = questions.items
    canary = canaries.check(wish.canary) if wish.canary else canary_of(one.id for one in asked)
    content, sealed = _content(wish, asked, canary)
    _check(content)
    tapes = _tapes(content, wish) if wish.format == "hf" and wish.tapes else {}
    sizes = {sha256: (_tape_file(sha256), len(tape.canonical())) for sha256, tape in tapes.items()}
    files = {**_formatted(content, wish.format, sizes, wish.license), **_public(content)}
    about = {
        "format": wish.format, "name": content.name, "version": __version__, "questions": len(content.entries),
        "canary": canary, "keys": "sealed" if content.sealed else "included",
        **({"license": wish.license} if wish.format == "hf" else {}),
        **({"commitments": {one.id: sealing.commitment(one) for one in sealed}} if sealed else {}),
    }  # fmt: skip
    # Before anything is written: it reads every question once more.
    guesses = sealing.guessable((one.record for one in asked), wish.session_seed) if sealed else sealing.Guesses()
    written = _write(wish, files, tapes, about, replaces, sealed_path, sealed)
    return Made(
        wish.folder, len(content.entries), questions.duplicates, tuple(written["files"]), canary, sealed_path, guesses
    )


def _sealed_path(wish: Wish) -> Path | None:
    if wish.answers:
        return None
    absolute = Path(wish.folder.absolute())
    return wish.sealed or absolute.with_name(absolute.name + ".sealed.jsonl")


def _belongs(sealed_path: Path, folder: Path) -> bool:
    """Whether a file in the keys' place is no sealed file, or goes with the export in ``folder``."""
    try:
        sealed = sealing.read_sealed(store.read_lines(sealed_path), str(sealed_path)) if sealed_path.is_file() else []
    except BenchError:
        return True
    try:
        promised = folders.read_manifest(folder).get("commitments") or {}
    except BenchError:
        promised = {}
    return not sealed or any(promised.get(one.id) == sealing.commitment(one) for one in sealed)


def _content(wish: Wish, asked: Sequence[Asking], canary: str) -> tuple[Content, list[Sealed]]:
    """What is written, and what is sealed. Sealed exports are sorted by id: a bank's order may tell how it was made."""
    if wish.answers:
        entries: list[Entry] = [entry_of(one) for one in asked]
        return Content(tuple(entries), task_name(wish.name), canary, sealed=False), []
    entries = sorted((entry_of(one, public_part(one.record)) for one in asked), key=lambda entry: entry.id)
    sealed = [sealing.seal(one, place, secrets.token_hex(32)) for place, one in enumerate(asked)]
    sealed.sort(key=lambda one: one.id)
    return Content(tuple(entries), task_name(wish.name), canary, sealed=True), sealed


def _check(content: Content) -> None:
    for entry in content.entries:
        if not lists_options(entry):
            raise RecordError(
                f"{entry.where}: an option is not on one line of the text, or holds white space at an end; no tool "
                "could tell the options apart"
            )
        if content.canary in entry.text:
            raise RecordError(f"{entry.where}: the question shows the canary, which is then no sign of a leak")


def _tape_file(sha256: str) -> str:
    return f"{TAPES}/{sha256}.csv"


def _formatted(
    content: Content, form: str, sizes: Mapping[str, tuple[str, int]], license_id: str
) -> dict[str, bytes]:
    """The format's files. ``sizes``: of the tapes that go with them, see hugging_face."""
    if form == "hf":
        return hugging_face.files(content, sizes, license_id)
    if form == "inspect":
        return inspect_task.files(content)
    if form == "lm-eval":
        return lm_eval.files(content)
    if form == "verifiers":
        return verifiers_taskset.files(content)
    return tables.csv_files(content) if form == "csv" else tables.markdown_files(content)


def _public(content: Content) -> dict[str, bytes]:
    if not content.sealed:
        return {}
    import json

    lines = [json.dumps(dict(entry.record), ensure_ascii=False).encode(errors="replace") for entry in content.entries]
    return {PUBLIC: b"".join(line + b"\n" for line in lines)}


def _tapes(content: Content, wish: Wish) -> dict[str, Tape]:
    """The bars of all questions that name some, by hash. Mined questions make theirs themselves."""
    found: dict[str, Tape] = {}
    for entry in content.entries:
        if entry.tape is None or entry.tape.sha256 in found:
            continue
        config = entry.record["config"]
        found[entry.tape.sha256] = pins.find(
            entry.tape, str(config.get("symbol")), config.get("start_date"), config.get("end_date"), wish.data
        )
    return found


def _write(
    wish: Wish, files: Mapping[str, bytes], tapes: Mapping[str, Tape], about: Mapping[str, Any],
    replaces: str | None, sealed_path: Path | None, sealed: Sequence[Sealed],
) -> dict[str, Any]:  # fmt: skip
    def everything() -> Iterator[tuple[str, bytes]]:
        yield from files.items()
        for sha256, tape in tapes.items():
            yield _tape_file(sha256), tape.canonical()

    # The keys first: an export whose keys are nowhere would be of no use, keys without an export do no harm.
    if sealed_path is not None:
        folders.write_sealed(sealed_path, sealing.sealed_file(sealed, str(about["name"])))
    try:
        return folders.write(wish.folder, everything(), about, replaces)
    except BaseException:
        # Once the export is in its place its keys stay, even where what it replaced could not be removed any more.
        if sealed_path is not None and not folders.stands(wish.folder, about):
            sealed_path.unlink(missing_ok=True)
        raise


def reveal(sealed_path: Path, folder: Path) -> Revealed:
    """Hold a sealed file against the export that it belongs to.

    StoreError, RecordError: a file can't be read, or is none of the kind.
    """
    manifest = folders.read_manifest(folder)
    promised = manifest.get("commitments")
    if not isinstance(promised, dict):
        raise RecordError(f"{folder}: this export has its keys with it; there is nothing to reveal")
    sealed = sealing.read_sealed(store.read_lines(sealed_path), str(sealed_path))
    changed = [*_odd_claims(manifest, promised), *folders.changed_files(folder, manifest)]
    if any(line.startswith(PUBLIC) for line in changed):
        return sealing.Revealed(len(sealed), tuple(changed))
    public = {}
    for number, line in store.read_lines(folder / PUBLIC):
        fields = parse_json(line, f"{folder / PUBLIC}, line {number}")
        public[_public_id(fields, f"{folder / PUBLIC}, line {number}")] = fields
    found = sealing.reveal(sealed, promised, public, asking)
    if changed or found.problems:
        return sealing.Revealed(found.questions, (*changed, *found.problems))
    unlike = tuple(_unlike(folder, manifest, [asking(parse_json(line, PUBLIC), PUBLIC) for line in found.bank], public))
    if unlike and manifest.get("version") == __version__:
        return sealing.Revealed(found.questions, unlike)
    # Another version may well write other words around the same questions.
    hint = f"; it says that backtrader-bench {str(manifest.get('version'))[:20]} wrote it, this is {__version__}"
    more = tuple(f"{name} is not of the export, and nobody answers for what it says"
                 for name in folders.added_files(folder, manifest))  # fmt: skip
    return dataclasses.replace(found, unsure=tuple(f"{line}{hint}" for line in unlike), notes=more)


def _odd_claims(manifest: Mapping[str, Any], promised: Mapping[str, Any]) -> Iterator[str]:
    """What a manifest says of itself and a sealed export doesn't."""
    if manifest.get("questions") != len(promised):
        yield f"{folders.MANIFEST} says {str(manifest.get('questions'))[:20]} questions and commits to {len(promised)}"
    if manifest.get("keys") != "sealed":
        yield f"{folders.MANIFEST} says that the keys are {str(manifest.get('keys'))[:20]!r}, not 'sealed'"


def _unlike(
    folder: Path, manifest: Mapping[str, Any], asked: Iterable[Asking], public: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """The files of a sealed export that are not what its public records make.

    What people load is not the public records but the format's files: a publisher may have put other options there.
    """
    named: dict[str, str] = manifest["files"]
    form, texts = manifest.get("format"), [manifest.get(name) for name in ("name", "canary")]
    if form not in FORMATS or not all(isinstance(one, str) for one in (*texts, *named.values())):
        yield f"{folders.MANIFEST} names no format, name or canary that bench export writes"
        return
    entries = sorted((entry_of(one, public[one.id]) for one in asked), key=lambda entry: entry.id)
    content = Content(tuple(entries), str(texts[0]), str(texts[1]), sealed=True)
    there = [name for name in named if name.startswith(f"{TAPES}/")]
    bars = {entry.tape.sha256 for entry in entries if entry.tape is not None} if there else set()
    sizes = {sha256: (_tape_file(sha256), (folder / _tape_file(sha256)).stat().st_size)
             for sha256 in bars if named.get(_tape_file(sha256)) == sha256}  # fmt: skip
    yield from (f"{_tape_file(sha256)} is not the bars of that name" for sha256 in sorted(bars - set(sizes)))
    made = _formatted(content, str(form), sizes, str(manifest.get("license", hugging_face.LICENSE)))
    for name, data in made.items():
        if hashlib.sha256(data).hexdigest() != named.get(name):
            yield f"{name} is not what {PUBLIC} makes"
    known = {*made, PUBLIC, *map(_tape_file, bars)}
    yield from (f"{name} is not of such an export" for name in named if name not in known)


def _public_id(fields: Any, where: str) -> str:
    """The id of a public record, ours or published."""
    if isinstance(fields, dict) and isinstance(fields.get("id"), str):
        return str(fields["id"])
    # Published records name none: theirs is the hash of the text, whatever the key.
    return asking({**fields, "answer": "A"} if isinstance(fields, dict) else fields, where).id
