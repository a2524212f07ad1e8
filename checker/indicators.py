"""Indicators over closes, bit for bit backtrader's where a comparison may hang on the last bit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

TIE = 1e-9
"""Averages closer than this, relatively, are summed again exactly before they are compared."""


@dataclass(frozen=True)
class Closes:
    """The closes twice: as floats for exact work, as an array for the rest."""

    exact: tuple[float, ...]
    array: Floats
    highs: Floats = field(default_factory=lambda: np.empty(0))
    """The bars' highs, for the rules that look at them."""

    def sma(self, n: int) -> Floats:
        """Simple average over ``n`` closes, NaN before the first; within float error of the exact one."""
        found = np.full(len(self.array), np.nan)
        found[n - 1 :] = sliding_window_view(self.array, n).sum(axis=1) / n
        return found

    def mean(self, bar: int, n: int) -> float:
        """The correctly rounded average of the ``n`` closes up to ``bar``."""
        return math.fsum(self.exact[bar - n + 1 : bar + 1]) / n

    def pair(self, n: int, m: int) -> tuple[Floats, Floats]:
        """``SMA(n)`` and ``SMA(m)``; where the two nearly meet both are summed without error."""
        one, other = self.sma(n), self.sma(m)
        for bar in np.flatnonzero(np.abs(one - other) <= TIE * np.abs(other)).tolist():
            one[bar], other[bar] = self.mean(bar, n), self.mean(bar, m)
        return one, other

    def difference(self, n: int, m: int) -> Floats:
        """``SMA(n) - SMA(m)``, with the exact sign."""
        one, other = self.pair(n, m)
        found: Floats = one - other
        return found

    def ema(self, n: int) -> Floats:
        """Exponential average seeded with the mean of the first ``n`` closes; NaN before."""
        return placed(smoothed(self.exact, n, 2.0 / (1.0 + n)), len(self.exact))


def smoothed(values: tuple[float, ...], n: int, alpha: float) -> list[float]:
    """``prev * (1 - alpha) + x * alpha`` from the mean of the first ``n`` values on."""
    keep = 1.0 - alpha
    latest = math.fsum(values[:n]) / n
    found = [latest]
    for value in values[n:]:
        latest = latest * keep + value * alpha
        found.append(latest)
    return found


def crossings(difference: Floats) -> tuple[Flags, Flags]:
    """Where ``difference`` turns positive, and where negative, from the other sign; zeros don't count.

    Leading NaN are skipped, and the first number only sets the memory.
    """
    start = int(np.isnan(difference).sum())
    signs = np.sign(difference[start:])
    latest = np.maximum.accumulate(np.where(signs != 0, np.arange(len(signs)), 0))
    memory = signs[latest]
    up, down = np.zeros(len(difference), bool), np.zeros(len(difference), bool)
    up[start + 1 :] = (memory[:-1] < 0) & (signs[1:] > 0)
    down[start + 1 :] = (memory[:-1] > 0) & (signs[1:] < 0)
    return up, down


def rsi(closes: Closes, n: int) -> Floats:
    """Wilder's relative strength index; 100 without losses, 50 without moves, NaN before bar ``n``."""
    moves = np.diff(closes.array)
    gains = np.array(smoothed(tuple(np.maximum(moves, 0.0).tolist()), n, 1.0 / n))
    losses = np.array(smoothed(tuple(np.maximum(-moves, 0.0).tolist()), n, 1.0 / n))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = gains / losses
    ratio[(gains == 0) & (losses == 0)] = 1.0
    return placed((100.0 - 100.0 / (1.0 + ratio)).tolist(), len(closes.exact))


def placed(values: list[float], length: int) -> Floats:
    """``values`` at the end of an array of ``length``, NaN before them."""
    found = np.full(length, np.nan)
    found[length - len(values) :] = values
    return found
