"""Indicators over whole bars, in backtrader's float order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from backtrader_bench.checker.indicators import placed, smoothed

if TYPE_CHECKING:
    from backtrader_bench.checker.indicators import Floats


def atr(highs: Floats, lows: Floats, closes: Floats, n: int) -> Floats:
    """Average true range: the mean of the true ranges of bars 1 to ``n``, then Wilder's smoothing; NaN before."""
    ranges = np.maximum(highs[1:], closes[:-1]) - np.minimum(lows[1:], closes[:-1])
    return placed(smoothed(tuple(ranges.tolist()), n, 1.0 / n), len(closes))


def highest_before(highs: Floats, n: int) -> Floats:
    """The highest of the ``n`` highs before each bar; NaN where there are fewer."""
    return placed(sliding_window_view(highs, n).max(axis=1)[:-1].tolist(), len(highs))
