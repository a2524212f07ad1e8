"""Finding the records of the questions that runs asked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from backtrader_bench import store
from backtrader_bench.errors import BenchError, RecordError
from backtrader_bench.mcq_builder.audit.items import item_of
from backtrader_bench.mcq_builder.pages.facts import Facts
from backtrader_bench.records import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backtrader_bench.agents.runs.manifest import Manifest


@dataclass
class Found:
    """Questions by id, and what has to be said about where they came from."""

    facts: dict[str, Facts] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """(kind, text)."""

    def note(self, kind: str, text: str) -> None:
        """Say something once."""
        if (kind, text) not in self.notes:
            self.notes.append((kind, text))


def find(manifests: Sequence[Manifest], wanted: set[str], given: Sequence[Path] = ()) -> Found:
    """The records of the ``wanted`` ids: in ``given`` files, those that the manifests name, then all of ``db/mcq``.

    StoreError, RecordError: a given or named file can't be read (one that is gone is only noted). A file of ``db/mcq``
    that can't be read is noted and passed over.
    """
    found = Found()
    for path in given:
        _take(found, path, wanted)
    folder = store.home() / "db" / "mcq"
    named = {(one.path, one.sha256) for manifest in manifests for one in manifest.files}
    for name, sha256 in sorted(named):
        if wanted <= found.facts.keys():
            return found
        place = next((one for one in (Path(name), folder / Path(name).name) if one.is_file()), None)
        if place is None:
            found.note("file_missing", f"{name} is gone; questions are looked for elsewhere")
            continue
        if _digest(place) != sha256:
            found.note("file_changed", f"{place} was changed after the run; questions are told apart by their ids")
        _take(found, place, wanted)
    for path in sorted(folder.glob("*.jsonl")):
        if wanted <= found.facts.keys():
            break
        try:
            _take(found, path, wanted)
        except BenchError as error:
            found.note("file_unreadable", f"passed over: {error}")
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _take(found: Found, path: Path, wanted: set[str]) -> None:
    for one in _read(path, wanted):
        first = found.facts.setdefault(one.id, one)
        if first.key != one.key:
            found.note(
                "keys_differ",
                f"{one.file}, line {one.line}: the key is {one.key}, but {first.key} in {first.file}, "
                f"line {first.line}, which is used",
            )


def _read(path: Path, wanted: set[str]) -> Iterable[Facts]:
    for number, line in store.read_lines(path):
        where = f"{path}, line {number}"
        fields = parse_json(line, where)
        if isinstance(fields, dict) and isinstance(fields.get("id"), str) and fields["id"] not in wanted:
            continue  # reading options takes longer than everything else
        if isinstance(fields, dict) and "question" in fields and "answer" not in fields:
            raise RecordError(f"{where}: no answer; a report needs the bank with its keys")
        item = item_of(fields, where)
        if item.id in wanted:
            yield Facts(item, fields, str(path), number)
