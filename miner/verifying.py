"""Running a generator's program: what may not be in it, what it prints, and whether it always prints the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.checker.programs.judge import QUESTION, Judgement, judge_run, judge_runs
from backtrader_bench.checker.programs.program import run_program, verify
from backtrader_bench.checker.programs.static import rejections
from backtrader_bench.miner.decisions import Decision, Outcome
from backtrader_bench.miner.values import Read, fits, form_of, read, unkept, value_of
from backtrader_bench.miner.wellposed import Printed, unkept_flaw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.checker.programs.program import ProgramRun
    from backtrader_bench.records import Question
    from backtrader_bench.sandbox.room import Isolation

RUNS = "runs.jsonl"
ELSEWHERE = frozenset({"network", "file_read", "environment", "project_import", "processes", "native_code"})
"""Findings about a program that reaches for something outside it."""


@dataclass(frozen=True)
class Sandbox:
    """Where programs run on this machine."""

    isolation: Isolation

    @property
    def facts(self) -> dict[str, Any]:
        """For records."""
        found: dict[str, Any] = msgspec.to_builtins(self.isolation)
        return found


@dataclass(frozen=True)
class Verified:
    """What a program's runs came to."""

    outcome: Outcome | None
    """Why it can't be used; None when it can."""
    printed: tuple[Printed, ...]
    """The base seed first, then the others; empty where there is an outcome."""
    isolation: dict[str, Any]

    @property
    def base(self) -> Printed:
        """What it printed at the base seed."""
        return self.printed[0]

    @property
    def others(self) -> tuple[Printed, ...]:
        """What it printed at the perturbed seeds."""
        return self.printed[1:]

    def fields(self) -> dict[str, Any]:
        """As JSON can hold it; :meth:`of` reads it back."""
        return {
            "problem": None if self.outcome is None else self.outcome.decision,
            "reasons": [] if self.outcome is None else list(self.outcome.reasons),
            "detail": "" if self.outcome is None else self.outcome.detail,
            "printed": [{"seed": one.seed, "question": one.question, "answer": one.answer} for one in self.printed],
            "isolation": self.isolation,
        }

    @staticmethod
    def of(fields: dict[str, Any]) -> Verified:
        """From :meth:`fields`."""
        outcome = None
        if fields["problem"]:
            outcome = Outcome(fields["problem"], tuple(fields["reasons"]), fields["detail"])
        printed = tuple(Printed(one["seed"], one["question"], one["answer"]) for one in fields["printed"])
        return Verified(outcome, printed, fields["isolation"])


def verified(
    code: str, base: int, others: Sequence[int], sandbox: Sandbox, timeout: float
) -> tuple[Verified, dict[str, str]]:
    """Check a program's source, run it at all seeds (the base seed twice), judge; and the log of its runs.

    A program whose source shows that it would not be sound is not run at all. SandboxError: the sandbox failed.
    """
    found = rejections(code)
    if found:
        names = tuple(dict.fromkeys(one.name for one in found))
        # What looks for its answer elsewhere computes none; the rest does not run as it should.
        decision: Decision = "not_well_posed" if ELSEWHERE.intersection(names) else "verifier_failed"
        outcome = Outcome(decision, names, f"{found[0].name}, line {found[0].line}: {found[0].detail}")
        return Verified(outcome, (), sandbox.facts), {}
    runs = verify(code, base, others, level=sandbox.isolation.level, timeout=timeout)
    return _judged(judge_runs(runs), base, others, sandbox), {RUNS: _log(runs)}


def _judged(judged: Judgement, base: int, others: Sequence[int], sandbox: Sandbox) -> Verified:
    if judged.reasons or judged.base is None:
        names = tuple(dict.fromkeys(one.name for one in judged.reasons))
        detail = f"{judged.reasons[0].name}: {judged.reasons[0].detail}" if judged.reasons else ""
        return Verified(Outcome("verifier_failed", names, detail), (), sandbox.facts)
    printed = [judged.base, *judged.others]
    seeds = [base, *others]
    every = tuple(Printed(seed, one.question, one.answer) for seed, one in zip(seeds, printed, strict=True))
    if (flaw := unkept_flaw(every)) is not None:
        return Verified(Outcome("not_well_posed", (flaw.reason,), flaw.detail), (), sandbox.facts)
    return Verified(None, every, sandbox.facts)


def _log(runs: Sequence[ProgramRun]) -> str:
    """A line a run: what it printed, how it ended, how long it took."""
    return "".join(json.dumps(msgspec.to_builtins(run)) + "\n" for run in runs)


@dataclass(frozen=True)
class Answer:
    """What a second program printed."""

    value: str


def answer_at(code: str, seed: int, sandbox: Sandbox, timeout: float) -> Answer | Outcome:
    """What a second verifier's program answers; ``verifier_failed`` with the reason where it doesn't.

    It may print a question or not.
    """
    # Its numbers are those of the question, so that it has no use for a seed.
    found = [one for one in rejections(code) if one.name != "no_seed"]
    if found:
        return Outcome("verifier_failed", (found[0].name,), f"{found[0].name}: {found[0].detail}")
    run = run_program(code, [seed], level=sandbox.isolation.level, timeout=timeout, fresh=True)[0]
    # The question was given: whatever the program says of it is left aside.
    lines = [line for line in run.stdout.split("\n") if not line.strip().startswith(QUESTION)]
    found_answer = judge_run(msgspec.structs.replace(run, stdout="\n".join([f'{QUESTION} "as given"', *lines])))
    if isinstance(found_answer, tuple):
        first = found_answer[0]
        return Outcome("verifier_failed", (first.name,), f"{first.name}: {first.detail}")
    if fault := unkept(found_answer.answer):
        return Outcome("verifier_failed", ("answer_malformed",), f"answer_malformed: the answer {fault}")
    return Answer(found_answer.answer)


def same_answer(question: Question, answer: str) -> bool:
    """Whether another program's answer is the question's: within half a separation, in whatever form it is printed."""
    assert question.verification is not None
    key, other = read(question.verification.answer), read(answer)
    if not isinstance(key, Read) or not isinstance(other, Read):
        return False
    if key.number is None or other.number is None:
        return fits(key, other) and key.words.casefold() == other.words.casefold()
    form = form_of(key, [])
    tolerance = form.tolerance(value_of(form, key)) or 0.0
    return abs(float(key.number) - float(other.number)) <= tolerance + form.step / 2 + 1e-9
