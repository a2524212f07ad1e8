"""Walks a store and names everything in it that can't be trusted. Reads only.

Questions are read first, then the tapes that they rest on, then what refers to questions: attempts, summaries,
reviews, and the manifests beside them. What is wrong with one line says nothing of the next.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from backtrader_bench.attempts import ANSWERS, ATTEMPT_VERSION, FINAL, Attempt, attempt_id, to_attempt
from backtrader_bench.errors import BenchError, RecordError, StoreError
from backtrader_bench.market import pins
from backtrader_bench.records import (
    BANK_VERSION,
    HIDDEN_SCHEMES,
    LETTERS,
    MINED,
    SCHEMA_VERSION,
    Question,
    is_published,
    parse_json,
    question_id,
    to_question,
)
from backtrader_bench.store import LONGEST_LINE
from backtrader_bench.upkeep import places
from backtrader_bench.upkeep.places import FOLDERS, Line
from backtrader_bench.upkeep.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backtrader_bench.upkeep.places import Kind

Fault = Literal[
    "unreadable", "not_utf8", "too_long", "torn_tail", "schema_version", "not_a_record", "wrong_id", "wrong_run",
    "wrong_key", "wrong_grade", "duplicate", "conflict", "question_missing", "certificate", "verifier", "tape_missing",
    "tape_changed", "manifest", "manifest_missing", "bank_changed", "bank_missing",
]  # fmt: skip
FIXES: dict[str, str] = {
    "unreadable": "restore the line from a copy",
    "not_utf8": "restore the line from a copy",
    "too_long": "no record is so long: look at what wrote it",
    "torn_tail": "nothing to do: the next append sets it aside, readers pass it over",
    "schema_version": "read it with the version of backtrader-bench that wrote it, or a newer one",
    "not_a_record": "restore the line from a copy, or move the file out of db/",
    "wrong_id": "the content was changed after it was written: restore it from a copy",
    "wrong_run": "move the record to its run's file, or give the file its name back",
    "wrong_key": "the record was changed after it was written: restore it from a copy; bench check computes keys",
    "wrong_grade": "restore the line from a copy; where the key was changed on purpose, bench rescore RUN grades again",
    "duplicate": "bench db dedupe FILE -o NEW writes a file without repeats",
    "conflict": "find out which one is right (bench check), and take the other file out of db/",
    "question_missing": "put the question file back into db/mcq (its name and digest stand in the run's manifest)",
    "certificate": "restore the record from a copy; bench check and bench audit look at the whole promise",
    "verifier": "restore the record from a copy",
    "tape_missing": "restore it from a copy, or build the bank again (bundled and synthetic bars come back the same)",
    "tape_changed": "delete it and restore it from a copy",
    "manifest": "restore it from a copy",
    "manifest_missing": "restore it from a copy; without it the run can't be reported, rescored or resumed",
    "bank_changed": "restore the bank from a copy; one that was changed on purpose needs no manifest",
    "bank_missing": "restore the bank from a copy, or remove its manifest",
}


class Problem(NamedTuple):
    """Something that can't be trusted."""

    fault: Fault
    path: str
    """Relative to the home folder."""
    line: int | None
    """None where it is about the whole file."""
    text: str

    @property
    def where(self) -> str:
        """``FILE, line N``."""
        return self.path if self.line is None else f"{self.path}, line {self.line}"


class Facts(NamedTuple):
    """What a walk needs of a summary or review line."""

    run: str
    identity: str | None
    """Two of the same in a file are a fault; None where there may be many."""
    question: str | None
    """The question that it is about."""
    stored: bool = True
    """Whether that must be in the store; some mined questions are turned down after solvers saw them."""


@dataclass(frozen=True)
class Readers:
    """How to read records of higher layers; each raises RecordError with the place it is given."""

    summary: Callable[[bytes, str], Facts]
    reviews: Callable[[bytes, str], Facts]
    versions: dict[Kind, int]
    """The schema that each of those two readers knows."""
    question_files: Callable[[Path], list[Path]]
    """The question files that a run's manifest names."""
    asked: Callable[[Any, str], tuple[str, str]]
    """Id and key of any question, published ones too."""
    mining: Callable[[str], bool]
    """Whether a run of that name is a mining session."""
    certificate: Callable[[Question], str | None]
    """What a quick look at a certificate finds wrong."""


@dataclass
class Counts:
    """What went by."""

    files: int = 0
    records: Counter[str] = field(default_factory=Counter)
    """By kind."""
    published: int = 0
    """Questions without an id of their own."""
    tapes: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    """Questions that are in several banks, the same in each: no fault."""
    notes: list[str] = field(default_factory=list)


class Checker:
    """One walk over one store."""

    def __init__(self, home: Path, readers: Readers, read: Callable[[int], None] = lambda count: None) -> None:
        """``read`` is told of bytes as they go by, :func:`places.total_bytes` in all."""
        self.home, self.readers, self.counts, self._read = home, readers, Counts(), read
        self._misgraded: dict[str, Problem] = {}
        self._runs: dict[str, bool] = {}
        """Runs with a manifest, and whether it can be read."""

    def problems(self) -> Iterator[Problem]:
        """Every problem, as it is found. StoreError: a file can't be read at all; UsageError: there is no store."""
        with Seen() as seen:
            for problem in self._walk(seen):
                self.counts.faults[problem.fault] += 1
                yield problem

    def _walk(self, seen: Seen) -> Iterator[Problem]:
        for path in places.files(self.home, "questions"):
            yield from self._file("questions", path, seen)
        yield from self._bank_manifests()
        yield from self._tapes(seen)
        yield from self._run_manifests(seen)
        # Summaries say of mined questions which were never to be kept, so they come before attempts.
        for kind in ("summary", "attempts", "reviews"):
            for path in places.files(self.home, kind):
                yield from self._file(kind, path, seen)
        for path, what in places.leftovers(self.home):
            self.counts.notes.append(f"{self._name(path)}: {what}")

    def _name(self, path: Path) -> str:
        return places.shown(path, self.home)

    def _file(self, kind: Kind, path: Path, seen: Seen) -> Iterator[Problem]:
        name = self._name(path)
        self.counts.files += 1
        if kind == "attempts" and path.stem not in self._runs and not self.readers.mining(path.stem):
            text = f"there is no db/{FOLDERS['summary']}/{path.stem}.manifest.json, which says what this run was"
            yield Problem("manifest_missing", name, None, text)
        look = {
            "questions": self._question, "attempts": self._attempt, "summary": self._other, "reviews": self._other,
        }[kind]  # fmt: skip
        for line in places.lines(path, self._read):
            self.counts.records[kind] += 1
            fields = self._fields(kind, name, line)
            if isinstance(fields, Problem):
                yield fields
                continue
            try:
                yield from look(kind, path, line, fields, seen)
            except RecordError as error:
                text = str(error).removeprefix(f"{name}, line {line.number}: ")
                yield Problem("not_a_record", name, line.number, text)
        yield from self._misgraded.values()
        self._misgraded.clear()

    def _fields(self, kind: Kind, name: str, line: Line) -> Any:
        """The decoded line, or why it can't be one."""
        where = f"{name}, line {line.number}"

        def problem(fault: Fault, text: str) -> Problem:
            return Problem(fault, name, line.number, text)

        if line.too_long:
            return problem("too_long", f"longer than {LONGEST_LINE >> 20} MiB")
        if not line.whole:
            return problem("torn_tail", f"cut off after {len(line.data)} bytes, without a line end")
        try:
            fields = parse_json(line.data.decode(), where)
        except UnicodeDecodeError as error:
            return problem("not_utf8", f"byte {error.start} of the line is not UTF-8")
        except RecordError as error:
            return problem("unreadable", str(error).removeprefix(f"{where}: "))
        if not isinstance(fields, dict):
            return problem("not_a_record", f"expected an object, got {type(fields).__name__}")
        if kind == "questions" and is_published(fields):
            return fields
        known = {"questions": SCHEMA_VERSION, "attempts": ATTEMPT_VERSION, **self.readers.versions}[kind]
        version = fields.get("schema_version")
        if version != known or isinstance(version, bool):
            return problem("schema_version", _other_version(version, known))
        return fields

    def _question(self, kind: Kind, path: Path, line: Line, fields: Any, seen: Seen) -> Iterator[Problem]:
        name = self._name(path)
        where = f"{name}, line {line.number}"
        if is_published(fields):
            self.counts.published += 1
            identity, key = self.readers.asked(fields, where)
        else:
            record = to_question(fields, where)
            identity, key = record.id, record.answer
            for fault, text in self._faults(record):
                yield Problem(fault, name, line.number, text)
            if record.scheme != MINED:
                seen.use_tape(record.tape.sha256, name, line.number, record.tape.source)
        content = hashlib.sha256(line.data).digest()[:16]
        before = seen.before("questions", identity)
        if before is None:
            seen.put("questions", identity, name, line.number, content, key)
        elif before.mark != key:
            text = f"its key is {key}, that of the same question in {before.path}, line {before.line} is {before.mark}"
            yield Problem("conflict", name, line.number, text)
        elif before.path == name:
            yield Problem("duplicate", name, line.number, f"the question of line {before.line}")
        else:
            self.counts.repeated += 1

    def _faults(self, record: Question) -> Iterator[tuple[Fault, str]]:
        """What a record of ours says against itself."""
        expected = question_id(record.stem, record.options)
        if record.id != expected:
            yield "wrong_id", f"the id is {record.id[:12]}, that of its text is {expected[:12]}"
        keys = [letter for letter, origin in record.option_origins.items() if origin == "key"]
        if keys != [record.answer]:
            told = ", ".join(keys)[:20] or "none"
            yield "wrong_key", f"the key is {record.answer}, option_origins call {told} the key"
        if record.scheme in HIDDEN_SCHEMES:
            if record.certificate is None:
                yield "certificate", f"scheme {record.scheme} without a certificate"
            elif record.private is None or not record.private.seeds:
                yield "certificate", "a certificate without its private part: its worlds can't be made again"
            elif found := self.readers.certificate(record):
                yield "certificate", found
        if record.scheme == MINED:
            if record.verifier is None or record.verification is None:
                yield "verifier", "a mined question without its verifier: its key can't be computed again"
            elif hashlib.sha256(record.verifier.encode()).hexdigest() != record.tape.sha256:
                yield "verifier", "the verifier is not the one that the record names"

    def _attempt(self, kind: Kind, path: Path, line: Line, fields: Any, seen: Seen) -> Iterator[Problem]:
        name = self._name(path)
        record = to_attempt(fields, f"{name}, line {line.number}")
        content = hashlib.sha256(line.data).digest()[:16]
        if fault := _attempt_fault(record):
            yield Problem("wrong_id", name, line.number, fault)
        if record.run != path.stem:
            yield Problem("wrong_run", name, line.number, f"of run {record.run[:80]}")
        if fault := _amount_fault(record):
            yield Problem("not_a_record", name, line.number, fault)
        asked = seen.before("questions", record.question_id)
        # Where the questions are stands in the manifest: without it, that they aren't here is no fault of theirs.
        if asked is None and (self._runs.get(path.stem) or self.readers.mining(record.run)):
            yield from self._no_question(record, name, line, seen)
        # A record that replaces another one (bench rescore) has the last word.
        self._misgraded.pop(record.id, None)
        if fault := _grade_fault(record, asked.mark if asked else None):
            self._misgraded[record.id] = Problem("wrong_grade", name, line.number, fault)
        before = seen.before("attempts", record.id)
        if before is not None and (content == before.content or not follows(record, before.mark)):
            text = f"{'the same as' if content == before.content else 'asked again after a final outcome in'} "
            yield Problem("duplicate", name, line.number, text + f"{before.path}, line {before.line}")
        else:
            seen.put("attempts", record.id, name, line.number, content, record.status)

    def _no_question(self, record: Attempt, name: str, line: Line, seen: Seen) -> Iterator[Problem]:
        """Solvers of a mining session see questions before they are kept, or not."""
        decided = seen.before("decided", f"{record.run} {record.question_id}")
        if not self.readers.mining(record.run) or (decided is not None and decided.mark == "stored"):
            yield Problem("question_missing", name, line.number, f"no question {record.question_id[:12]} is here")
        elif decided is None and not seen.has("undecided", f"{record.run} {record.question_id}"):
            seen.put("undecided", f"{record.run} {record.question_id}", name, line.number, b"")
            text = "was never decided: the session was cut off; bench mine --resume goes on with it"
            self.counts.notes.append(f"{name}, line {line.number}: question {record.question_id[:12]} {text}")

    def _other(self, kind: Kind, path: Path, line: Line, fields: Any, seen: Seen) -> Iterator[Problem]:
        name = self._name(path)
        reader = self.readers.summary if kind == "summary" else self.readers.reviews
        facts = reader(line.data, f"{name}, line {line.number}")
        if facts.run != path.stem:
            yield Problem("wrong_run", name, line.number, f"of run {facts.run[:80]}")
        if facts.question is not None and kind == "summary":
            mark = "stored" if facts.stored else "turned down"
            seen.put("decided", f"{facts.run} {facts.question}", name, line.number, b"", mark)
        if facts.question is not None and facts.stored and not seen.has("questions", facts.question):
            yield Problem("question_missing", name, line.number, f"no question {facts.question[:12]} is here")
        content = hashlib.sha256(line.data).digest()[:16]
        identity = facts.identity or f"line {content.hex()}"
        before = seen.before(kind, f"{name} {identity}")
        if before is not None:
            yield Problem("duplicate", name, line.number, f"the {facts.identity or 'same'} of line {before.line}")
        seen.put(kind, f"{name} {identity}", name, line.number, content)

    def _tapes(self, seen: Seen) -> Iterator[Problem]:
        """Every tape is hashed again; then those that questions rest on are looked for."""
        for path in pins.pinned(self.home):
            self.counts.tapes += 1
            try:
                pins.read_pin(path)
            except BenchError as error:
                yield Problem("tape_changed", self._name(path), None, str(error).removeprefix(f"{path}: "))
        folder = self.home / "db" / "tapes"
        for sha, name, line, source, records in seen.tapes():
            if not (folder / f"{sha}.csv.gz").is_file():
                more = f" and {records - 1} more questions" if records > 1 else ""
                text = f"the tape {sha[:12]} ({source[:60]}) of this question{more} is not in db/tapes"
                yield Problem("tape_missing", name, line, text)

    def _bank_manifests(self) -> Iterator[Problem]:
        """Banks against the digests that their builds noted."""
        for path in places.manifests(self.home, "questions"):
            name = self._name(path)
            bank = path.with_name(path.name.removesuffix(".manifest.json") + ".jsonl")
            try:
                about = parse_json(path.read_bytes(), name)
            except (RecordError, OSError) as error:
                yield Problem("manifest", name, None, str(error).removeprefix(f"{name}: "))
                continue
            expected = about.get("sha256") if isinstance(about, dict) else None
            version = about.get("schema_version", BANK_VERSION) if isinstance(about, dict) else BANK_VERSION
            if version != BANK_VERSION or isinstance(version, bool):
                yield Problem("schema_version", name, None, _other_version(version, BANK_VERSION))
            elif not bank.is_file():
                yield Problem("bank_missing", name, None, f"its bank {bank.name} is not beside it")
            elif not isinstance(expected, str):
                yield Problem("manifest", name, None, "names no sha256 of its bank")
            elif places.digest(bank) != expected:
                yield Problem("bank_changed", self._name(bank), None, f"not the file that {path.name} describes")

    def _run_manifests(self, seen: Seen) -> Iterator[Problem]:
        """Run manifests, and the ids of questions in files outside the store that they name."""
        outside: dict[Path, None] = {}
        for path in places.manifests(self.home, "summary"):
            run = path.name.removesuffix(".manifest.json")
            self._runs[run] = False
            try:
                outside.update(dict.fromkeys(self.readers.question_files(path)))
                self._runs[run] = True
            except (RecordError, StoreError) as error:
                text = str(error).replace(f"{path}: ", "")
                fault: Fault = "schema_version" if "schema_version" in text else "manifest"
                yield Problem(fault, self._name(path), None, text)
        inside = set(places.files(self.home, "questions"))
        for file in outside:
            if file not in inside and file.is_file():
                self._outside(file, seen)

    def _outside(self, path: Path, seen: Seen) -> None:
        unread = 0
        for line in places.lines(path):
            where = f"{path}, line {line.number}"
            try:
                identity, key = self.readers.asked(parse_json(line.data, where), where)
            except RecordError:
                unread += 1
                continue
            if not seen.has("questions", identity):
                seen.put("questions", identity, str(path), line.number, b"", key)
        if unread:
            self.counts.notes.append(f"{path} (outside the store): {unread} lines are no questions")


def _attempt_fault(one: Attempt) -> str | None:
    expected = attempt_id(one.run, one.question_id, one.agent, one.mode, one.repeat, one.shift)
    return f"the id is {one.id[:12]}, that of what was asked is {expected[:12]}" if one.id != expected else None


def _other_version(version: Any, known: int) -> str:
    newer = isinstance(version, int) and not isinstance(version, bool) and version > known
    what = "was written by a newer version" if newer else "is unknown"
    return f"schema_version {version!r} {what}; this one reads {known}"


def _amount_fault(one: Attempt) -> str | None:
    """What no attempt can have taken."""
    kinds = ("input", "cache_read", "cache_write", "output", "reasoning")
    amounts = {
        "seconds": one.seconds, "the repeat": one.repeat, "dollars": one.cost.usd if one.cost else None,
        **{f"{kind} tokens": getattr(one.usage, kind) for kind in kinds},
    }  # fmt: skip
    below = next((f"{name}: {value:g}, below 0" for name, value in amounts.items() if value and value < 0), None)
    return below or (f"{one.tries} tries, below 1" if one.tries < 1 else None)


def _grade_fault(one: Attempt, key: str | None) -> str | None:
    """What letter, order of the options, key (None where it is not known) and status say against each other."""
    if one.shown is not None:
        letter = LETTERS[(LETTERS.index(one.shown) + one.shift) % 4] if one.shown in LETTERS else None
        if letter != one.letter:
            return f"the reply's {one.shown[:5]}, rotated by {one.shift}, is {letter}, not {str(one.letter)[:5]}"
    if one.status not in ANSWERS:
        read = one.letter or (one.method if one.method in ("strict", "lenient") else None)
        return None if read is None else f"{one.status}, but an answer was read: {read[:9]}"
    if one.letter is None:
        return f"{one.status} without a letter"
    if key is not None and (one.letter == key) is not (one.status == "correct"):
        return f"{one.status}, but the letter is {one.letter[:5]} and the key {key}"
    return None


def follows(later: Attempt, status: str) -> bool:
    """Whether ``later`` may come after a record of its id with that status: it replaces it, or that was no answer."""
    return status not in FINAL or later.replaces == later.id
