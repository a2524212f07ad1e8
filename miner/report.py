"""A session in numbers: from the lines of its summary to the line that closes it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from backtrader_bench.miner import ledger
from backtrader_bench.miner.decisions import ACCEPTED, DECISIONS, REVIEW
from backtrader_bench.miner.records import AttemptLine, SessionLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def session_line(run: str, lines: Iterable[AttemptLine], ended_by: str, seconds: float) -> SessionLine:
    """The session as its finished attempts make it."""
    attempts = sorted(lines, key=lambda line: line.attempt)
    decisions = Counter(line.decision for line in attempts)
    models = Counter[str]()
    for line in attempts:
        models.update(line.models)
    kept = [line for line in attempts if line.decision in (ACCEPTED, REVIEW)]
    held = holdout(kept)
    return SessionLine(
        run=run,
        ended_by=ended_by,
        attempts=len(attempts),
        decisions={name: decisions[name] for name in DECISIONS if decisions[name]},
        reasons=dict(sorted(Counter(reason for line in attempts for reason in line.reasons).items())),
        categories=categories(attempts),
        spending=ledger.merged(line.spending for line in attempts),
        models=dict(sorted(models.items())),
        holdout_right=held.right,
        holdout_answered=held.answered,
        holdout_questions=held.questions,
        holdout_low=held.low,
        holdout_high=held.high,
        holdout_alike=held.alike,
        seconds=round(seconds, 3),
    )


def categories(attempts: Sequence[AttemptLine]) -> dict[str, dict[str, int]]:
    """Category (of the question, else the one asked for) -> attempts, accepted, review; most attempts first."""
    found: dict[str, Counter[str]] = {}
    for line in attempts:
        name = line.category or line.asked_category or "none"
        counts = found.setdefault(name, Counter())
        counts["attempts"] += 1
        counts["accepted"] += line.decision == ACCEPTED
        counts["review"] += line.decision == REVIEW
    order = sorted(found, key=lambda name: (-found[name]["attempts"], name))
    return {name: {what: found[name][what] for what in ("attempts", "accepted", "review")} for name in order}


class Holdout(NamedTuple):
    """What holdout draws say of kept questions; what is undefined is None."""

    right: int
    answered: int
    questions: int
    low: float | None
    high: float | None
    alike: bool | None
    """As ``SessionLine.holdout_alike``."""


def holdout(kept: Sequence[AttemptLine]) -> Holdout:
    """Of the holdout draws of kept questions, the interval clustered by question."""
    scores: list[float] = []
    names: list[int] = []
    alike = True
    for line in kept:
        right, wrong = (line.holdout.get(status, 0) for status in ("correct", "wrong"))
        scores += [1.0] * right + [0.0] * wrong
        names += [line.attempt] * (right + wrong)
        seen = {status for status in ("correct", "wrong") if line.draws.get(status, 0) + line.holdout.get(status, 0)}
        alike = alike and (len(seen) < 2 or not right + wrong)
    low = high = None
    if len(set(names)) > 1:
        from backtrader_bench.stats.clusters import clustered

        found = clustered(scores, names)
        low, high = found.low, found.high
    return Holdout(int(sum(scores)), len(scores), len(set(names)), low, high, alike if scores else None)


def survivors(line: SessionLine) -> str:
    """How often no-tools solvers are right on kept questions, from draws that chose none of them."""
    if not line.holdout_answered:
        return "no-tools accuracy of kept questions: not measured (--holdout-draws asks draws that screen nothing)"
    share = line.holdout_right / line.holdout_answered
    questions = line.holdout_questions
    on = f" on {questions} question{'' if questions == 1 else 's'}" if questions is not None else ""
    interval = "too few questions for an interval"
    if line.holdout_low is not None and line.holdout_high is not None:
        interval = f"95% {line.holdout_low:.1%} to {line.holdout_high:.1%}, over questions"
    told = (
        f"no-tools accuracy of kept questions: {share:.1%} of {line.holdout_answered} holdout draws{on} ({interval}); "
        "draws of the screen are not counted"
    )
    if line.holdout_alike:
        told += (
            "\nno holdout draw came out otherwise than the screen's: a solver that always answers alike (a guesser's "
            "rule, a script) only repeats what kept the question, and this figure says nothing then"
        )
    return told


def history_line(line: AttemptLine, meaning: str) -> str:
    """What a generator is told of an earlier attempt."""
    about = line.category or line.asked_category or "no category"
    why = f" ({', '.join(line.reasons)})" if line.reasons else ""
    asked = f' "{line.ask}"' if line.ask else ""
    return f"attempt {line.attempt}, {about}: {line.decision}, that is, {meaning}{why}.{asked}"
