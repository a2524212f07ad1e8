"""How fast an agent may be asked. Pure: times are arguments, in seconds of any one clock.

Additive increase, multiplicative decrease, as TCP does it (Chiu and Jain 1989): a limit on what runs at the same time
falls by half when the provider pushes back and grows by one for every full round of answers. Waiting times between
tries are exponential with full jitter, which spreads clients best (Brooker, AWS Architecture Blog, 2015).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

FIRST_WAIT = 2.0
"""Seconds; the most that the first retry waits."""
LONGEST_WAIT = 120.0
"""Seconds; the most that any retry waits unless the provider asks for more."""


@dataclass(frozen=True)
class Pace:
    """What one backend may take now."""

    most: int
    """Asks at the same time that the user allows."""
    limit: float
    """Asks at the same time that the provider seems to allow, 1 to ``most``."""
    cut_at: float = float("-inf")
    """When the limit last fell."""
    closed_until: float = float("-inf")
    """Nothing is started before: the provider said so."""

    @classmethod
    def open(cls, most: int) -> Pace:
        """The pace to begin with."""
        return cls(most, float(most))

    def may_start(self, now: float, running: int) -> bool:
        """Whether one more may be started beside ``running`` others."""
        return now >= self.closed_until and running < int(self.limit)

    def answered(self) -> Pace:
        """After an outcome that the provider had no part in preventing."""
        return replace(self, limit=min(float(self.most), self.limit + 1.0 / self.limit))

    def pushed_back(self, now: float, started: float, retry_after: float | None = None) -> Pace:
        """After an error of PASSING of an ask that was ``started`` then.

        Asks that ran already when the limit fell say nothing new about it, so that one burst of errors cuts it once.
        """
        closed = self.closed_until if retry_after is None else max(self.closed_until, now + retry_after)
        if started < self.cut_at:
            return replace(self, closed_until=closed)
        return replace(self, limit=max(1.0, self.limit / 2), cut_at=now, closed_until=closed)


def wait_before(tries: int, draw: Random, retry_after: float | None = None) -> float:
    """Seconds to wait after the ``tries``-th failed try: never less than the provider asked for."""
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(tries - 1, 30))
    return (retry_after or 0.0) + draw.uniform(0.0, longest)

