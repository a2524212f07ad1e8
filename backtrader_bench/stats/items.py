"""Questions as items of a test: how hard each is, whether it tells good from bad, whether all measure one thing.

A matrix has a row for each taker (an agent, or an agent's repeat) and a column for each question, 1 right, 0 wrong,
None where there was no answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Item(NamedTuple):
    """One question."""

    n: int
    """Takers that answered it."""
    p: float | None
    """Share of them that were right."""
    point_biserial: float | None
    """Correlation of the item with the rest score (the share right of the other questions, the item itself left out).
    None without spread in either, or with fewer than three takers. Negative: look at the key."""


def statistics(matrix: Sequence[Sequence[float | None]]) -> list[Item]:
    """Of each column of ``matrix``, in order."""
    table = _table(matrix)
    answered = ~np.isnan(table)
    right = np.where(answered, table, 0.0)
    totals, counts = right.sum(axis=1), answered.sum(axis=1)
    found = []
    for column in range(table.shape[1]):
        took = answered[:, column] & (counts > 1)
        rest = (totals[took] - right[took, column]) / (counts[took] - 1)
        n = int(answered[:, column].sum())
        p = float(right[:, column].sum()) / n if n else None
        found.append(Item(n, p, _correlation(right[took, column], rest)))
    return found


def _correlation(
    scores: np.ndarray[tuple[int], np.dtype[np.float64]], rest: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float | None:
    if len(scores) < 3 or np.ptp(scores) == 0 or np.ptp(rest) < 1e-12:
        return None
    return float(np.corrcoef(scores, rest)[0, 1])


def kr20(matrix: Sequence[Sequence[float | None]]) -> float | None:
    """``k/(k-1) (1 - sum pq / var(total))``, ddof 0 (Kuder and Richardson 1937), over takers that answered everything.

    None with fewer than two such takers or two questions, or when all totals are the same. 1 when takers are ordered
    alike by every question, about 0 for guessers, and it can be negative.
    """
    table = _table(matrix)
    table = table[~np.isnan(table).any(axis=1)]
    takers, k = table.shape
    if takers < 2 or k < 2:
        return None
    spread = float(table.sum(axis=1).var())
    if math.isclose(spread, 0.0, abs_tol=1e-12):
        return None
    p = table.mean(axis=0)
    return float(k / (k - 1) * (1 - (p * (1 - p)).sum() / spread))


def _table(matrix: Sequence[Sequence[float | None]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    if not matrix:
        return np.empty((0, 0))
    return np.array([[math.nan if score is None else score for score in row] for row in matrix], dtype=float)
