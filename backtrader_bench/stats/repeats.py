"""Several runs over the same questions: what is solved once, what always, and how far runs spread."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """``1 - C(n-c, k) / C(n, k)``: the chance that at least one of ``k`` of the ``n`` attempts, ``c`` right, is right.

    Unbiased (Chen et al. 2021). None where ``k`` attempts were not made.
    """
    return None if not 1 <= k <= n else 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """``C(c, k) / C(n, k)``: the chance that all of ``k`` attempts are right (tau-bench 2024). None as above."""
    return None if not 1 <= k <= n else math.comb(c, k) / math.comb(n, k)


class Passes(NamedTuple):
    """Means over the items that were attempted ``k`` times at least; None where there is none."""

    k: int
    at: float | None
    hat: float | None
    items: int


def passes(counts: Sequence[tuple[int, int]], k: int) -> Passes:
    """pass@k and pass^k of ``counts``, an ``(attempts, right)`` for each item."""
    enough = [(n, c) for n, c in counts if n >= k >= 1]
    at = [value for n, c in enough if (value := pass_at_k(n, c, k)) is not None]
    hat = [value for n, c in enough if (value := pass_hat_k(n, c, k)) is not None]
    return Passes(k, statistics.fmean(at) if at else None, statistics.fmean(hat) if hat else None, len(enough))


class Spread(NamedTuple):
    """Of a matrix of items by runs."""

    mean: float | None
    """Of the items' shares."""
    sd_runs: float | None
    """Standard deviation of the runs' means, ddof 1: how much one run's figure moves by luck. None for one run."""
    se_items: float | None
    """``sd(p_i) / sqrt(n)``, ddof 1, p_i an item's share over its runs: how much other questions would move it."""
    items: int
    runs: int


def spread(matrix: Sequence[Sequence[float | None]]) -> Spread:
    """Mean and both errors of ``matrix``, a row an item and a column a run; None where there was no answer."""
    rows = [[score for score in row if score is not None] for row in matrix]
    shares = [statistics.fmean(row) for row in rows if row]
    width = max((len(row) for row in matrix), default=0)
    columns = [[row[run] for row in matrix if run < len(row) and row[run] is not None] for run in range(width)]
    means = [statistics.fmean(score for score in column if score is not None) for column in columns if column]
    return Spread(
        statistics.fmean(shares) if shares else None,
        statistics.stdev(means) if len(means) > 1 else None,
        statistics.stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else None,
        len(shares),
        len(means),
    )
