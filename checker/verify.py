"""One record against two engines."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.checker import published
from backtrader_bench.checker.agreement import apart, close
from backtrader_bench.checker.answers import Answer, Money, Number, Part, Percent, Undefined, show
from backtrader_bench.checker.claim import Claim, loose_ends, own_claim
from backtrader_bench.checker.engine import check_spec, simulate
from backtrader_bench.checker.judge import judge
from backtrader_bench.checker.mined import check_mined
from backtrader_bench.checker.mined import right_letters as mined_letters
from backtrader_bench.checker.oracles import ORACLES, Case
from backtrader_bench.checker.verdict import Findings, Verdict
from backtrader_bench.errors import BenchError, MissingError, RecordError
from backtrader_bench.market import pins, sources
from backtrader_bench.records import MINED, Question, is_published, parse_json, to_question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backtrader_bench.backtest.result import BacktestSpec, Result
    from backtrader_bench.market.tape import Tape

    TextCheck = Callable[[Question], list[str]]

ENGINES = ("backtrader", "second")


@dataclass(frozen=True)
class Settings:
    """How to check; the same for every record of a run, and sent to every worker."""

    data: Path | None = None
    """Where to look for bars instead of the store and the records' sources."""
    cache: Path | None = None
    """Folder for results between runs; None keeps them in memory only."""
    network: bool = False
    text_check: TextCheck | None = None
    """Tells what is wrong with a record's words; injected, so that the checker knows no template's words."""


@dataclass(frozen=True)
class Line:
    """One line of a file, decoded as far as it could be."""

    file: str
    number: int
    claim: Claim | None
    problem: str = ""
    """Why there is no claim."""
    unreadable: bool = False
    """Whether it is no record at all, rather than one that can't be checked."""
    fields: Mapping[str, Any] | None = None
    mined: Question | None = None
    """A mined record, whose own program is run instead of the engines."""


def decode(file: str, number: int, data: bytes) -> Line:
    """The claim of one line, or why there is none."""
    where = f"{file}, line {number}"
    try:
        fields = parse_json(data, where)
        question = None if _is_published(fields) else to_question(fields, where)
    except RecordError as error:
        return Line(file, number, None, str(error).removeprefix(f"{where}: "), unreadable=True)
    if question is not None and question.scheme == MINED:
        return Line(file, number, None, fields=fields, mined=question)
    try:
        claim = own_claim(question) if question else published.published_claim(fields)
        return Line(file, number, claim)
    except BenchError as error:
        return Line(file, number, None, str(error), fields=fields)


def _is_published(fields: Any) -> bool:
    return isinstance(fields, dict) and is_published(fields)


class Checker:
    """Checks records one at a time, keeping tapes and backtests between them."""

    def __init__(self, settings: Settings, keep: int = 64) -> None:
        from backtrader_bench.backtest.run import run

        self.settings = settings
        self.engines = {
            "backtrader": Backtests(run, "backtrader", settings.cache, keep),
            "second": Backtests(simulate, "second", settings.cache, keep),
        }
        self._tapes: OrderedDict[tuple[Any, ...], Tape | BenchError] = OrderedDict()

    def check(self, line: Line) -> Verdict:
        """The verdict on one line; never raises for what a record holds."""
        claim, findings = line.claim, Findings()
        if line.mined is not None:
            letters, values = check_mined(line.mined, findings)
            return _verdict(line, findings, None, letters, values)
        if claim is None:
            findings.add("unverifiable", line.problem)
            findings.cause = "unreadable" if line.unreadable else ""
            return _verdict(line, findings)
        findings.notes.extend(claim.notes)
        for problem in (*claim.drift, *self._text_problems(claim)):
            findings.add("text_drift", problem)
        for problem in loose_ends(claim.question) if claim.question else []:
            findings.add("loose_text", problem)
        cases = self._cases(claim, findings)
        answers = _answers(claim, cases, findings)
        letters = judge(claim, answers[ENGINES[0]], findings) if answers else ()
        values = {name: show(found) for name, found in answers.items()}
        return _verdict(line, findings, claim, letters, values)

    def _text_problems(self, claim: Claim) -> list[str]:
        if claim.question is None or self.settings.text_check is None:
            return []
        try:
            return self.settings.text_check(claim.question)
        except BenchError as error:
            return [f"the text can't be rendered again: {error}"]

    def _cases(self, claim: Claim, findings: Findings) -> dict[str, Case]:
        """The backtest of every engine; empty, with a finding, when there is none."""
        try:
            tape = self._tape(claim)
            cases = {name: self._case(name, claim, tape) for name in ENGINES}
        except pins.DataDrift as error:
            findings.add("data_drift", str(error))
            return {}
        except MissingError as error:
            findings.add("unverifiable", str(error))
            findings.cause = "missing"
            return {}
        except BenchError as error:
            findings.add("unverifiable", str(error))
            return {}
        if problem := _tape_problem(claim, tape):
            findings.add("data_drift", problem)
        if problem := apart(*(case.result for case in cases.values())):
            findings.add("engines_disagree", problem)
        return cases

    def _case(self, name: str, claim: Claim, tape: Tape) -> Case:
        engine = self.engines[name]

        def rerun(**changes: Any) -> Result:
            spec = _changed(claim.spec, changes)
            check_spec(spec)
            return engine.run(tape, spec)

        return Case(tape, claim.spec, engine.run(tape, claim.spec), claim.periods_per_year, claim.asked, rerun)

    def _tape(self, claim: Claim) -> Tape:
        """The claim's bars, found once for all records that rest on them."""
        key = (claim.tape, claim.symbol, claim.start, claim.end)
        if key not in self._tapes:
            try:
                self._tapes[key] = self._find(claim)
            except BenchError as error:
                self._tapes[key] = error
            if len(self._tapes) > 16:
                self._tapes.popitem(last=False)
        found = self._tapes[key]
        if isinstance(found, BenchError):
            raise found
        return found

    def _find(self, claim: Claim) -> Tape:
        data, network = self.settings.data, self.settings.network
        if claim.tape is not None:
            return pins.find(claim.tape, claim.symbol, claim.start, claim.end, data, network)
        if data is not None:
            return pins.read_window(data, claim.symbol, claim.start, claim.end)
        if network:
            return sources.load("yfinance", claim.symbol, claim.start, claim.end)
        raise MissingError(f"a published record names no tape: give {claim.symbol}'s prices with --data")


def right_letters(question: Question, data: Path | None = None, network: bool = False) -> tuple[str, ...]:
    """The letters of a record of ours that the second engine finds right; backtrader is not run.

    A mined question's are those that its verifier finds right. BenchError: the record can't be checked, or its bars
    are not found.
    """
    if question.scheme == MINED:
        return mined_letters(question)
    claim = own_claim(question)
    if claim.tape is None:
        raise RecordError("the record names no tape")
    tape = pins.find(claim.tape, claim.symbol, claim.start, claim.end, data, network)

    def rerun(**changes: Any) -> Result:
        spec = _changed(claim.spec, changes)
        check_spec(spec)
        return simulate(tape, spec)

    case = Case(tape, claim.spec, simulate(tape, claim.spec), claim.periods_per_year, claim.asked, rerun)
    return judge(claim, ORACLES[claim.template].answer(case), Findings())


def _changed(spec: BacktestSpec, changes: Mapping[str, Any]) -> BacktestSpec:
    """``spec`` with the changes of a rerun; None changes nothing, parameters are replaced one by one."""
    wanted = {name: value for name, value in changes.items() if value is not None}
    if "params" in wanted:
        wanted["params"] = {**spec.params, **wanted["params"]}
    return msgspec.structs.replace(spec, **wanted)


def _tape_problem(claim: Claim, tape: Tape) -> str:
    """Where the tape's own span differs from what the record says of it."""
    if claim.tape is None:
        return ""
    said, found = (
        (claim.tape.rows, claim.tape.first, claim.tape.last),
        (len(tape), tape.dates[0], tape.dates[-1]),
    )
    if said == found:
        return ""
    span = "{} bars {} to {}".format
    return f"the tape has {span(*found)}; the record says {span(*said)}"


def _answers(claim: Claim, cases: Mapping[str, Case], findings: Findings) -> dict[str, Answer | Undefined]:
    """The answer by engine; empty, with a finding, when the question can't be put to a backtest."""
    oracle, found = ORACLES[claim.template], {}
    try:
        for name, case in cases.items():
            answer = oracle.answer(case)
            if claim.published:
                answer = _published(claim, answer, case, findings)
            found[name] = answer
    except BenchError as error:
        # Parameters that can't be asked, in a record whose words ask something else, are that same drift.
        findings.add("text_drift" if findings.has("text_drift") else "unverifiable", str(error))
        return {}
    if found and _differ(*found.values()):
        findings.add("engines_disagree", " against ".join(f"{name} {show(one)}" for name, one in found.items()))
    return found


def _published(claim: Claim, answer: Answer | Undefined, case: Case, findings: Findings) -> Answer | Undefined:
    """The answer in published form, and what the stem says wrongly."""
    problems = published.false_statements(claim.template, claim.stem, case)
    for problem in problems if not findings.has("text_drift") else []:
        findings.add("text_drift", problem)
    if isinstance(answer, Undefined) and answer.filler:
        note = f"undefined ({answer.reason}); published files then write a fixed answer"
        findings.notes += [note] if note not in findings.notes else []
        answer = answer.filler
    return answer if isinstance(answer, Undefined) else published.adapt(claim.template, answer, case)


def _differ(one: Answer | Undefined, other: Answer | Undefined) -> bool:
    if isinstance(one, Undefined) or isinstance(other, Undefined):
        return type(one) is not type(other)
    return len(one.parts) != len(other.parts) or any(
        not _same_part(mine, theirs) for mine, theirs in zip(one.parts, other.parts, strict=True)
    )


def _same_part(one: Part, other: Part) -> bool:
    if isinstance(one, Money | Percent | Number) and type(one) is type(other):
        return one.decimals == other.decimals and close(one.value, other.value)
    return one == other


def _verdict(
    line: Line,
    findings: Findings,
    claim: Claim | None = None,
    letters: tuple[str, ...] = (),
    values: dict[str, str] | None = None,
) -> Verdict:
    verdict, reason, notes = findings.outcome()
    known = {
        "id": _id(line, claim),
        "type": claim.template if claim else _field(line, "type"),
        "difficulty": claim.difficulty if claim else _field(line, "difficulty"),
        "key": claim.key if claim else _field(line, "answer"),
    }
    return Verdict(
        file=line.file, line=line.number, verdict=verdict, reason=reason, notes=notes, right=letters,
        values=values or {}, cause=findings.cause, **known,
    )  # fmt: skip


def _id(line: Line, claim: Claim | None) -> str:
    return claim.id if claim else _field(line, "id")


def _field(line: Line, name: str) -> str:
    """A text field of a line that could be decoded but not checked, cut short."""
    value = (line.fields or {}).get(name)
    return value[:80] if isinstance(value, str) else ""
