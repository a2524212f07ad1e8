"""What the runs of a verifier show: its question and answers, or the named reasons why it can't be used."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

import msgspec

from backtrader_bench.checker.programs.program import OUTPUT_BYTES, ProgramRun

QUESTION, ANSWER = "QUESTION_JSON:", "ANSWER_VALUE_JSON:"
REASONS = {
    "timed_out": "did not end in time",
    "killed": "was ended for what it used or did",
    "output_too_long": f"printed more than {OUTPUT_BYTES >> 20} MiB",
    "exit_code": "ended with another code than 0",
    "left_processes": "left processes running",
    "question_missing": f"printed no line {QUESTION}",
    "question_repeated": f"printed more than one line {QUESTION}",
    "question_malformed": f"{QUESTION} is not followed by a JSON string",
    "question_empty": "the question is empty",
    "answer_missing": f"printed no line {ANSWER}",
    "answer_repeated": f"printed more than one line {ANSWER}",
    "answer_malformed": f"{ANSWER} is not followed by a JSON string",
    "answer_empty": "the answer is empty",
    "answer_not_finite": "the answer is no value: NaN, infinite or none",
    "nondeterministic": "two runs with one seed differ",
    "fails_on_some_seeds": "works with the base seed and fails with another",
    "ignores_seed": "prints the same with every seed",
}
"""Each reason, and what the program did."""
_NO_VALUE = frozenset({"none", "null", "nat", "n/a", "na", "undefined"})


class Reason(msgspec.Struct, frozen=True):
    """Why a program can't be used."""

    name: str
    """A key of ``REASONS``."""
    detail: str = ""


class Printed(msgspec.Struct, frozen=True):
    """What a run is for."""

    question: str
    answer: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """Of all runs of a program. Usable when there are no reasons."""

    reasons: tuple[Reason, ...] = ()
    base: Printed | None = None
    others: tuple[Printed, ...] = ()
    """Of the other seeds, in order; empty when there are reasons."""


def judge_runs(runs: Sequence[ProgramRun]) -> Judgement:
    """Judge the runs of ``verify``: twice the base seed, then the others; the list may end early with a failure."""
    if not runs:
        raise ValueError("there are no runs to judge")
    first = judge_run(runs[0])
    if not isinstance(first, Printed):
        return Judgement(reasons=first)
    if len(runs) < 2:
        return Judgement(reasons=(Reason("nondeterministic", "the base seed was run only once"),), base=first)
    again = judge_run(runs[1])
    if again != first:
        return Judgement(reasons=(Reason("nondeterministic", _difference(first, again)),), base=first)
    others = [(run, judge_run(run)) for run in runs[2:]]
    failed = tuple(
        Reason("fails_on_some_seeds", f"seed {run.seed}: {_words(found)}")
        for run, found in others
        if not isinstance(found, Printed)
    )
    if failed:
        return Judgement(reasons=failed, base=first)
    printed = tuple(found for _, found in others if isinstance(found, Printed))
    if printed and all(found == first for found in printed):
        detail = f"{len(printed) + 1} seeds, one question and one answer"
        return Judgement(reasons=(Reason("ignores_seed", detail),), base=first)
    return Judgement(base=first, others=printed)


def judge_run(run: ProgramRun) -> Printed | tuple[Reason, ...]:
    """What one run printed, or what is wrong with it: how it ended, or else what it printed."""
    return tuple(_endings(run)) or read_output(run.stdout)


def _endings(run: ProgramRun) -> Iterator[Reason]:
    if run.timed_out:
        yield Reason("timed_out", f"ended after {run.seconds:.1f} s")
    if run.killed is not None:
        yield Reason("killed", run.killed)
    if run.output_cut:
        yield Reason("output_too_long")
    if run.code and not run.killed:
        yield Reason("exit_code", f"{run.code}: {_last_line(run.stderr)}")
    if run.left_processes:
        yield Reason("left_processes")


def read_output(stdout: str) -> Printed | tuple[Reason, ...]:
    """The two lines, each of which must stand exactly once and hold a JSON string."""
    question, answer = _field(stdout, QUESTION, "question"), _field(stdout, ANSWER, "answer")
    if isinstance(question, str) and isinstance(answer, str):
        if _is_no_value(answer):
            return (Reason("answer_not_finite", answer.strip()[:50]),)
        return Printed(question, answer)
    return tuple(part for part in (question, answer) if isinstance(part, Reason))


def _field(stdout: str, mark: str, name: str) -> str | Reason:
    # Not splitlines: a question may hold other characters that end lines, and JSON leaves them as they are.
    lines = [line.strip() for line in stdout.split("\n")]
    found = [line.removeprefix(mark).strip() for line in lines if line.startswith(mark)]
    if not found:
        return Reason(f"{name}_missing")
    if len(found) > 1:
        return Reason(f"{name}_repeated", f"{len(found)} lines")
    try:
        value = json.loads(found[0])
    except (ValueError, RecursionError):
        return Reason(f"{name}_malformed", found[0][:100])
    if not isinstance(value, str):
        return Reason(f"{name}_malformed", f"{found[0][:100]} is {type(value).__name__}, not a string")
    return value if value.strip() else Reason(f"{name}_empty")


def _is_no_value(answer: str) -> bool:
    text = answer.strip().casefold()
    try:
        return not math.isfinite(float(text.replace(",", "").strip("$% ")))
    except ValueError:
        return text in _NO_VALUE


def _difference(first: Printed, again: Printed | tuple[Reason, ...]) -> str:
    if not isinstance(again, Printed):
        return f"the second run of the base seed failed: {_words(again)}"
    if again.answer != first.answer:
        return f"answers {first.answer[:50]!r} and {again.answer[:50]!r}"
    return "the questions differ"


def _words(found: Printed | tuple[Reason, ...]) -> str:
    reasons = () if isinstance(found, Printed) else found
    return "; ".join(f"{reason.name} {reason.detail}".strip() for reason in reasons)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else "nothing on stderr"
