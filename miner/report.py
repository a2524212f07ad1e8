"""A session in numbers: from the lines of its summary to the line that closes it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

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
    return SessionLine(
        run=run,
        ended_by=ended_by,
        attempts=len(attempts),
        decisions={name: decisions[name] for name in DECISIONS if decisions[name]},
        reasons=dict(sorted(Counter(reason for line in attempts for reason in line.reasons).items())),
        categories=categories(attempts),
        spending=ledger.merged(line.spending for line in attempts),
        models=dict(sorted(models.items())),
        holdout_right=sum(line.holdout.get("correct", 0) for line in kept),
        holdout_answered=sum(line.holdout.get(status, 0) for line in kept for status in ("correct", "wrong")),
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


def survivors(line: SessionLine) -> str:
    """How often no-tools solvers are right on kept questions, from draws that chose none of them."""
    if not line.holdout_answered:
        return "no-tools accuracy of kept questions: not measured (--holdout-draws asks draws that screen nothing)"
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(line.holdout_right, line.holdout_answered, method="wilson")
    share = line.holdout_right / line.holdout_answered
    return (
        f"no-tools accuracy of kept questions: {share:.1%} of {line.holdout_answered} holdout draws "
        f"(95% {low:.1%} to {high:.1%}); draws of the screen are not counted"
    )


def history_line(line: AttemptLine, meaning: str) -> str:
    """What a generator is told of an earlier attempt."""
    about = line.category or line.asked_category or "no category"
    why = f" ({', '.join(line.reasons)})" if line.reasons else ""
    asked = f' "{line.ask}"' if line.ask else ""
    return f"attempt {line.attempt}, {about}: {line.decision}, that is, {meaning}{why}.{asked}"
