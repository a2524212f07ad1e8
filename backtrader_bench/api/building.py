"""Building a bank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrader_bench import bounds, store
from backtrader_bench.arguments import checked, flag, function, instance, optional, path, paths, text, words
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.market import sources
from backtrader_bench.mcq_builder import output as outputs
from backtrader_bench.mcq_builder.build import build_bank, cache_folder, fetch
from backtrader_bench.mcq_builder.excluded import excluded
from backtrader_bench.mcq_builder.secret import own_secret, read_secret
from backtrader_bench.mcq_builder.settings import Settings
from backtrader_bench.parallel import spread
from backtrader_bench.records import HIDDEN_SCHEMES, parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.mcq_builder.build import Bank
    from backtrader_bench.records import Question


@dataclass(frozen=True)
class Built:
    """A bank on disk."""

    path: Path
    manifest: Path
    """When, by what and from what it was made."""
    state: str
    """``written``, or ``unchanged`` where the same bytes stood there."""
    settings: Settings
    """All of them, defaults filled in."""
    tape: Tape
    """The bars that the settings lead to; hidden worlds are in ``bank.tapes``."""
    bank: Bank
    """The questions, and why others were skipped."""

    @property
    def questions(self) -> list[Question]:
        """In the order of the file."""
        return self.bank.questions


@checked(
    output=optional(path), settings=optional(instance("Settings.of", lambda: Settings)), force=flag, exclude=paths,
    secret_file=optional(path), jobs=bounds.PROCESSES, cluster=optional(text), cache=flag, command=words,
    progress=function,
)  # fmt: skip
def build(
    output: str | Path | None = None, *, settings: Settings | None = None, force: bool = False,
    exclude: Iterable[str | Path] = (), secret_file: str | Path | None = None, jobs: int = 1,
    cluster: str | None = None, cache: bool = True, command: Sequence[str] = ("backtrader_bench.api.build",),
    progress: Callable[[int], None] = lambda done: None, **given: Any,
) -> Built:  # fmt: skip
    """Build questions from backtests and write them to ``output``, by default a file of ``db/mcq``.

    ``given`` are settings by the names of ``mcq_builder.settings.SETTINGS``, such as ``symbol="MSFT"``,
    ``strategy=["macd_crossover"]``, ``num_questions=60``; or hand over checked ``settings``. ``exclude``: files whose
    questions are not asked. ``command`` goes into the manifest; ``progress`` is told of questions built.

    UsageError: a setting that can't be, or no question can be asked. MissingError: no data. StoreError: the file can't
    be written, or holds another bank and ``force`` is not given. LockedError: another build holds it.
    """
    if settings is not None and given:
        raise UsageError(f"give settings or {', '.join(given)}, not both")
    chosen = settings or Settings.of(given)
    target = None if output is None else Path(output)
    exclude = list(exclude)
    inputs = [*map(Path, exclude), *([Path(secret_file)] if secret_file else []), *sources.files(chosen.data)]
    if target is not None:
        outputs.check_place(target, inputs)
    tape = sources.load(chosen.data, chosen.symbol, chosen.start_date, chosen.end_date)
    path = target or store.folder("mcq") / outputs.default_name(chosen, tape)
    outputs.check_place(path, inputs)
    with store.lock(path):
        bank = build_bank(
            chosen, tape, spread(fetch, jobs, cluster), cache=_cache() if cache else None,
            exclude=excluded(record for one in exclude for record in _records(Path(one))),
            secret=_secret(chosen, Path(secret_file) if secret_file else None), progress=progress,
        )  # fmt: skip
        if not bank.questions:
            raise UsageError(f"no question can be asked: {_reasons(bank) or 'everything is excluded'}")
        state = outputs.write(bank, path, chosen, tape, list(command), force=force)
    return Built(path, outputs.manifest_path(path), state, chosen, tape, bank)


def _cache() -> Path | None:
    """The builder's cache, or none where the home can't be written to: that costs time, never an answer."""
    try:
        return cache_folder()
    except StoreError:
        return None


def _secret(settings: Settings, file: Path | None) -> bytes | None:
    """The secret of hidden worlds, where they are wanted."""
    if settings.scheme not in HIDDEN_SCHEMES:
        if file:
            raise UsageError(f"scheme {settings.scheme} hides no worlds, so --secret-file has nothing to do")
        return None
    return read_secret(file) if file else own_secret()


def _records(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The decoded lines of a question file, each with its place; RecordError for one that is no object, or for none."""
    empty = True
    for number, line in store.read_lines(path):
        where = f"{path}:{number}"
        fields = parse_json(line, where)
        if not isinstance(fields, dict):
            raise RecordError(f"{where}: no question record")
        yield fields, where
        empty = False
    if empty:
        raise RecordError(f"{path}: no question in it; an excluded file is one of questions")


def _reasons(bank: Bank) -> str:
    return "; ".join(f"{template}: {reason}" for template, reason in sorted(bank.skipped)[:3])
