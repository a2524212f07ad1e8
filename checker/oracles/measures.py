"""Measures over a whole series of portfolio values, shared by the hard templates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Drawdown:
    """The largest fall from a running maximum; rows from 0."""

    peak: int
    trough: int
    dollars: float
    percent: float
    """Of the value at the peak."""


def max_drawdown(values: Sequence[float]) -> Drawdown:
    """The first largest drawdown; without any fall, peak and trough are row 0."""
    top = peak = trough = 0
    worst = 0.0
    for row, value in enumerate(values):
        if value > values[top]:
            top = row
        if values[top] - value > worst:
            worst, peak, trough = values[top] - value, top, row
    return Drawdown(peak, trough, worst, worst / values[peak] * 100)


def recovery(values: Sequence[float], fall: Drawdown) -> int | None:
    """The first row after the trough at or above the peak's value, None when there is none."""
    later = range(fall.trough + 1, len(values))
    return next((row for row in later if values[row] >= values[fall.peak]), None)


def under_water(values: Sequence[float]) -> int:
    """Rows below the highest value of an earlier row."""
    highs = accumulate(values, max)
    return sum(value < high for high, value in zip(highs, values[1:], strict=False))


def returns(values: Sequence[float]) -> list[float]:
    """Relative changes from row to row."""
    return [after / before - 1 for before, after in pairwise(values)]


def mean(numbers: Sequence[float]) -> float:
    """Arithmetic mean of at least one number."""
    return math.fsum(numbers) / len(numbers)


def deviation(numbers: Sequence[float]) -> float:
    """Standard deviation with divisor (count - 1), of at least two numbers."""
    middle = mean(numbers)
    return math.sqrt(math.fsum((number - middle) ** 2 for number in numbers) / (len(numbers) - 1))


def sharpe(values: Sequence[float], periods_per_year: float) -> float | None:
    """Annualised mean over deviation of the returns, no risk-free rate; None without spread."""
    changes = returns(values)
    if len(changes) < 2 or (spread := deviation(changes)) == 0:
        return None
    return mean(changes) / spread * math.sqrt(periods_per_year)


def annualised(start: float, values: Sequence[float], periods_per_year: float) -> float | None:
    """Growth a year in percent, from the initial cash over all rows; None when it exceeds a float."""
    try:
        return float(((values[-1] / start) ** (periods_per_year / len(values)) - 1) * 100)
    except OverflowError:
        return None
