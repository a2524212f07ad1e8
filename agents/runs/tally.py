"""Counts of a run as it goes, by agent: what the screen shows, and what the end says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from backtrader_bench.agents.runs.budget import Spent
from backtrader_bench.attempts import ANSWERS, FINAL, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrader_bench.attempts import Attempt

STATUSES: tuple[str, ...] = get_args(Status)


@dataclass
class AgentTally:
    """One agent's part of a run."""

    planned: int
    statuses: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    """Of agent errors."""
    verified: int = 0
    lenient: int = 0
    """Answers that only the lenient reading found."""
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0
    retried: int = 0
    """Tries that were not recorded, to be made again."""

    def add(self, attempt: Attempt) -> None:
        """Count an attempt that stands."""
        self.statuses[attempt.status] += 1
        if attempt.status == "agent_error" and attempt.error is not None:
            self.kinds[attempt.error.kind] += 1
        self.verified += attempt.verified is True
        self.lenient += attempt.method == "lenient"
        self.spent = self.spent.add(attempt)
        self.seconds += attempt.seconds

    @property
    def ended(self) -> int:
        """Attempts recorded."""
        return self.statuses.total()

    @property
    def final(self) -> int:
        """Attempts that a resumed run leaves as they are."""
        return sum(self.statuses[status] for status in FINAL)

    @property
    def answered(self) -> int:
        """Correct and wrong ones: the model's answers."""
        return sum(self.statuses[status] for status in ANSWERS)

    @property
    def accuracy(self) -> float | None:
        """Correct among the answered; None before the first answer."""
        return self.statuses["correct"] / self.answered if self.answered else None

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        used = self.spent
        return {
            "planned": self.planned,
            "attempts": self.ended,
            "answered": self.answered,
            "accuracy": self.accuracy,
            "statuses": {status: self.statuses[status] for status in STATUSES if self.statuses[status]},
            "errors": dict(self.kinds),
            "lenient": self.lenient,
            "verified": self.verified,
            "tokens": used.tokens if used.with_tokens else None,
            "tokens_estimated": used.estimated,
            "cost_usd": used.usd if used.with_usd else None,
            "attempts_with_cost": used.with_usd,
            "seconds": round(self.seconds, 3),
        }


def tally(planned: dict[str, int], attempts: Iterable[Attempt]) -> dict[str, AgentTally]:
    """By agent, the counts of attempts that stand; ``planned``: how many each agent is to make."""
    found = {agent: AgentTally(count) for agent, count in planned.items()}
    for one in attempts:
        if one.agent in found:
            found[one.agent].add(one)
    return found
