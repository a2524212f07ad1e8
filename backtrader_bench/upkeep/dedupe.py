"""Files without their repeats, as a new file: what was there stays as it is.

Of questions the first of an id stays. Of attempts every record stays that could stand or once stood: errors before
an answer, and records that replace others; what goes are copies of a line, and answers to what was answered.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backtrader_bench import store
from backtrader_bench.attempts import to_attempt
from backtrader_bench.errors import RecordError, StoreError
from backtrader_bench.records import is_published, parse_json, to_question
from backtrader_bench.store import LONGEST_LINE
from backtrader_bench.upkeep import places
from backtrader_bench.upkeep.check import follows
from backtrader_bench.upkeep.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from backtrader_bench.upkeep.places import Line

ATTEMPT_MARK = "question_id"
"""A field that attempts have and questions don't."""


@dataclass
class Kept:
    """What became of the lines."""

    kept: Counter[str] = field(default_factory=Counter)
    """By kind: ``questions``, ``attempts``."""
    dropped: Counter[str] = field(default_factory=Counter)


def dedupe(
    files: Sequence[Path], target: Path, asked: Callable[[Any, str], tuple[str, str]],
    read: Callable[[int], None] = lambda count: None,
) -> Kept:  # fmt: skip
    """Write the lines of ``files`` without repeats to ``target``, byte for byte, all or nothing.

    ``asked`` gives id and key of a published question. ``read`` is told of the bytes that go by. StoreError:
    ``target`` exists, or disk. RecordError: a line is no record, or a question comes with two keys.
    """
    store.check_target(target)
    if target.exists():
        raise StoreError(f"{target} exists; dedupe writes a new file, so name one that is not there")
    for path in files:
        if not path.is_file():
            raise StoreError(f"cannot read {path}: no such file; check the name")
    kept = Kept()
    with store.lock(target), Seen() as seen:
        store.replace_file(target, _lines(files, asked, read, seen, kept))
    return kept


def _lines(
    files: Sequence[Path], asked: Callable[[Any, str], tuple[str, str]], read: Callable[[int], None], seen: Seen,
    kept: Kept,
) -> Iterator[bytes]:  # fmt: skip
    for path in files:
        for line in places.lines(path, read):
            where = f"{path}, line {line.number}"
            if line.too_long or not line.whole:
                fault = f"longer than {LONGEST_LINE >> 20} MiB" if line.too_long else "cut off"
                raise RecordError(f"{where}: {fault}; bench db check names everything that is wrong")
            fields = parse_json(line.data, where)
            kind = "attempts" if isinstance(fields, dict) and ATTEMPT_MARK in fields else "questions"
            new = _new_attempt if kind == "attempts" else _new_question
            if new(fields, line, str(path), seen, asked):
                kept.kept[kind] += 1
                yield line.data + b"\n"
            else:
                kept.dropped[kind] += 1


def _new_question(
    fields: Any, line: Line, file: str, seen: Seen, asked: Callable[[Any, str], tuple[str, str]]
) -> bool:
    where = f"{file}, line {line.number}"
    if isinstance(fields, dict) and is_published(fields):
        identity, key = asked(fields, where)
    else:
        record = to_question(fields, where)
        identity, key = record.id, record.answer
    before = seen.before("questions", identity)
    if before is None:
        seen.put("questions", identity, file, line.number, b"", key)
        return True
    if before.mark != key:
        first = f"{before.path}, line {before.line}"
        raise RecordError(f"{where}: the key is {key}, but {before.mark} in {first}; find out which is right")
    return False


def _new_attempt(
    fields: Any, line: Line, file: str, seen: Seen, asked: Callable[[Any, str], tuple[str, str]]
) -> bool:
    record = to_attempt(fields, f"{file}, line {line.number}")
    content = hashlib.sha256(line.data).digest()[:16]
    # Any earlier copy counts, not only the last record of that name: a file may have been appended to itself.
    if seen.has("lines", content.hex()):
        return False
    before = seen.before("attempts", record.id)
    if before is not None and not follows(record, before.mark):
        return False
    seen.put("lines", content.hex(), file, line.number, b"")
    seen.put("attempts", record.id, file, line.number, content, record.status)
    return True
