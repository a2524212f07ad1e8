"""Shares of attempts with clustered intervals, and means that keep ``None``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.agents.reports.schema import Share
from backtrader_bench.records import LETTERS
from backtrader_bench.stats import clusters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backtrader_bench.agents.reports.gather import Row

LEVEL = 0.95


def share(rows: Sequence[Row], hits: Sequence[bool], seed: int) -> Share:
    """The share of ``hits`` (one a row) with its interval, clustered by the rows' configurations.

    One configuration alone says nothing of how others would go: no interval.
    """
    names = [row.cluster for row in rows]
    n, right = len(hits), sum(hits)
    if n == 0:
        return Share(right=0, n=0, value=None, low=None, high=None, clusters=0)
    if len(set(names)) < 2:
        return Share(right=right, n=n, value=right / n, low=None, high=None, clusters=1)
    span = clusters.clustered([float(hit) for hit in hits], names, LEVEL, seed)
    return Share(right=right, n=n, value=right / n, low=span.low, high=span.high, clusters=len(set(names)))


def by_question(rows: Iterable[Row]) -> dict[str, list[float]]:
    """Scores (0 or 1) of the rows of each question."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row.attempt.question_id, []).append(float(row.right))
    return found


def mean_of(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None


def ratio(part: int, whole: int) -> float | None:
    """``part / whole``; None where there is no whole."""
    return part / whole if whole else None


def shown_key(letter: str, shift: int) -> str:
    """Where the option ``letter`` of the record stood when options were shown rotated by ``shift`` places."""
    return LETTERS[(LETTERS.index(letter) - shift) % len(LETTERS)]
