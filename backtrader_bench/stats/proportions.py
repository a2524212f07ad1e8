"""Shares of right answers: their interval, and what exclusions, guessing and a floor make of them."""

from __future__ import annotations

from typing import NamedTuple

CHANCE = 0.25
"""A blind guess among four options."""


class Interval(NamedTuple):
    """A two-sided confidence interval."""

    low: float
    high: float


def share(k: float, n: int) -> float | None:
    """``k / n``; None without observations."""
    return k / n if n else None


def wilson(k: int, n: int, level: float = 0.95) -> Interval | None:
    """The Wilson score interval (1927) of ``k`` successes among ``n`` independent trials; None for n = 0."""
    from scipy.stats import binomtest

    if n == 0:
        return None
    found = binomtest(k, n).proportion_ci(level, method="wilson")
    # At 0 and n the end is exactly 0 or 1; scipy's arithmetic leaves a last bit.
    return Interval(0.0 if k == 0 else float(found.low), 1.0 if k == n else float(found.high))


class Exclusions(NamedTuple):
    """Four rates for a run where ``excluded`` of the attempts brought no answer; None where there is nothing to count.

    The truth about the model lies between ``as_wrong`` and ``as_right``.
    """

    left_out: float | None
    """Right among the answered."""
    as_wrong: float | None
    """Right among all."""
    as_guesses: float | None
    """The excluded ones count 1/4 each."""
    as_right: float | None


def exclusions(correct: int, answered: int, excluded: int) -> Exclusions:
    """The four rates; ``answered`` includes ``correct``, ``excluded`` comes on top of ``answered``."""
    n = answered + excluded
    return Exclusions(
        share(correct, answered), share(correct, n), share(correct + CHANCE * excluded, n), share(correct + excluded, n)
    )


def guess_corrected(p: float | None, chance: float = CHANCE) -> float | None:
    """``(p - chance) / (1 - chance)``: the share known, if what isn't known is guessed. Negative below chance."""
    return above_floor(p, chance)


def above_floor(p: float | None, floor: float | None) -> float | None:
    """``(p - floor) / (1 - floor)``: the part gained of what a shortcut leaves; None for a floor unknown or 1."""
    if p is None or floor is None or floor >= 1:
        return None
    return (p - floor) / (1 - floor)
