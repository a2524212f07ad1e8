"""Measures of a result that several answers share. Sums are exact (``math.fsum``), so every platform agrees."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from backtrader_bench.mcq_builder.context import Skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.backtest.result import Result, Trade


class Drawdown(NamedTuple):
    """The maximum drawdown: rows of peak and trough, size in dollars and in percent of the peak's value."""

    peak: int
    trough: int
    dollars: float
    percent: float


def net(result: Result, initial_cash: float) -> float:
    """Net profit or loss in dollars."""
    return result.value[-1] - initial_cash


def max_drawdown(result: Result) -> Drawdown:
    """The maximum drawdown; Skip when the portfolio value never falls."""
    peak = best_peak = trough = 0
    deepest = 0.0
    for row, value in enumerate(result.value):
        if value > result.value[peak]:
            peak = row
        if result.value[peak] - value > deepest:
            deepest, best_peak, trough = result.value[peak] - value, peak, row
    if deepest <= 0:
        raise Skip("zero drawdown")
    return Drawdown(best_peak, trough, deepest, deepest / result.value[best_peak] * 100)


def closed_trades(result: Result) -> list[Trade]:
    """The closed trades; Skip when there are none."""
    if not result.trades:
        raise Skip("no closed trade")
    return result.trades


def rows_inside(result: Result) -> int:
    """Rows at whose close a position is held."""
    return sum(1 for size in result.position if size)


def annualised_percent(result: Result, initial_cash: float, periods: int) -> float:
    """Annualised return in percent; Skip when nothing is left to annualise."""
    growth = result.value[-1] / initial_cash
    if growth <= 0:
        raise Skip("nothing left of the initial cash")
    return float((growth ** (periods / result.rows) - 1) * 100)


def returns(result: Result) -> list[float]:
    """Relative changes of the portfolio value between rows; Skip with fewer than two or a value of zero."""
    values = result.value
    if len(values) < 3 or min(values) <= 0:
        raise Skip("too few rows for returns")
    return [after / before - 1 for before, after in pairwise(values)]


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean."""
    return math.fsum(values) / len(values)


def spread(values: Sequence[float]) -> float:
    """Standard deviation with divisor (count - 1); Skip when it is zero."""
    middle = mean(values)
    variance = math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)
    if variance <= 0:
        raise Skip("no spread in the returns")
    return math.sqrt(variance)


def sharpe(result: Result, periods: int) -> float:
    """Annualised Sharpe ratio without a risk-free rate."""
    changes = returns(result)
    return mean(changes) / spread(changes) * math.sqrt(periods)


def longest_run(flags: Sequence[bool]) -> int:
    """Length of the longest run of true values."""
    longest = current = 0
    for flag in flags:
        current = current + 1 if flag else 0
        longest = max(longest, current)
    return longest
