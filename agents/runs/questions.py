"""The questions of a run: records of ours and published ones, from any number of files, each asked once."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench import store
from backtrader_bench.agents.runs.manifest import QuestionFile
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.records import (
    HIDDEN_SCHEMES,
    LETTERS,
    MINED,
    TapeRef,
    is_published,
    parse_json,
    question_id,
    to_question,
)
from backtrader_bench.templates.prompts import published_options, stem_of_published

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

MADE = ("synthetic", "world")
"""Sources of prices that no market has seen."""


@dataclass(frozen=True)
class Asking:
    """One question to be asked. ``record`` holds the key and never leaves this process."""

    id: str
    """The record's, or for a published one :func:`question_id` of everything before its options, and the options."""
    record: Mapping[str, Any]
    options: Mapping[str, str]
    """As the record has them, by letter."""
    tape: TapeRef | None
    """None for published records, which don't name their bars."""
    where: str
    """``FILE, line N``."""

    @property
    def key(self) -> str:
        """The answer's letter."""
        return str(self.record["answer"])


@dataclass(frozen=True)
class Questions:
    """What the files hold."""

    items: tuple[Asking, ...]
    """In the order of the files, each id once."""
    files: tuple[QuestionFile, ...]
    duplicates: int
    """Lines left out because their question came before."""

    def by_id(self) -> dict[str, Asking]:
        """The questions by their ids."""
        return {one.id: one for one in self.items}


def read_questions(paths: Sequence[Path]) -> Questions:
    """The questions of all files. StoreError: a file can't be read. RecordError: the first line that is no question,
    or that has another key than the same question before it."""
    items: dict[str, Asking] = {}
    files, duplicates = [], 0
    for path in paths:
        before, seen = len(items), 0
        for one in _asked_in(path):
            seen += 1
            first = items.setdefault(one.id, one)
            if first is not one:
                duplicates += 1
                if first.key != one.key:
                    raise RecordError(f"{one.where}: the key is {one.key}, but {first.key} in {first.where}")
        if not seen:
            raise RecordError(f"{path}: holds no question")
        digest = _digest(path)
        files.append(QuestionFile(path=str(path.absolute()), sha256=digest, questions=len(items) - before))
    return Questions(tuple(items.values()), tuple(files), duplicates)


def _asked_in(path: Path) -> Iterable[Asking]:
    for number, line in store.read_lines(path):
        where = f"{path}, line {number}"
        yield asking(parse_json(line, where), where)


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None


def asking(fields: Any, where: str) -> Asking:
    """The question of one decoded line; RecordError names ``where`` and what is wrong."""
    if not isinstance(fields, dict):
        raise RecordError(f"{where}: expected an object, got {type(fields).__name__}")
    if "question" in fields and "answer" not in fields:
        raise RecordError(f"{where}: no answer: a question without its key; name the bank that has the keys")
    if is_published(fields):
        return _published(fields, where)
    record = to_question(fields, where)
    if record.id != question_id(record.stem, record.options):
        raise RecordError(f"{where}: the id is not the hash of stem and options; see bench check")
    return Asking(record.id, fields, record.options, record.tape, where)


def _published(fields: dict[str, Any], where: str) -> Asking:
    text = fields.get("question")
    options = published_options(text) if isinstance(text, str) else None
    if options is None or not isinstance(text, str):
        raise RecordError(f"{where}: the text doesn't list options A to D, each on a line of its own")
    if fields.get("answer") not in LETTERS:
        raise RecordError(f"{where}: the answer must be A, B, C or D")
    return Asking(question_id(stem_of_published(text), options), fields, options, None, where)


def choose(items: Sequence[Asking], limit: int | None, seed: int) -> tuple[Asking, ...]:
    """``limit`` of the questions, drawn by the seed, in their order; all of them where there are no more."""
    from random import Random

    if limit is None or limit >= len(items):
        return tuple(items)
    drawn = Random(f"limit {seed}").sample(range(len(items)), limit)
    return tuple(items[place] for place in sorted(drawn))


def check_values(items: Iterable[Asking]) -> None:
    """UsageError when a question's record holds no value that a given one could be held against."""
    for one in items:
        if "value" not in one.record:
            raise UsageError(f"{one.where} holds no value to grade by (a published record); leave --ask-value out")


def check_downloadable(items: Iterable[Asking]) -> None:
    """UsageError when an agent would be told to download the prices of a question that were made, and exist nowhere."""
    for one in items:
        made = one.tape is not None and one.tape.source.partition(":")[0] in MADE
        if one.record.get("scheme") in HIDDEN_SCHEMES or (made and one.record.get("scheme") != MINED):
            raise UsageError(
                f"{one.where}: its prices were made for it and can't be downloaded; --data-access prices hands them out"
            )


def tape_hashes(items: Iterable[Asking]) -> dict[str, int]:
    """SHA-256 of bars -> how many questions rest on them, where their records say."""
    return dict(Counter(one.tape.sha256 for one in items if one.tape is not None))
