"""Shares of attempts with clustered intervals, and means that keep ``None``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.agents.reports.schema import Share
from backtrader_bench.records import LETTERS
from backtrader_bench.stats import clusters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.agents.reports.gather import Row

LEVEL = 0.95


def share(rows: Sequence[Row], hits: Sequence[bool], seed: int) -> Share:
    """The share of ``hits`` (one a row) with its interval, clustered by the rows' configurations."""
    found = clusters.clustered([float(hit) for hit in hits], [row.cluster for row in rows], LEVEL, seed)
    return Share(
        right=sum(hits), n=len(hits), value=found.mean, low=found.low, high=found.high, clusters=found.clusters
    )


def mean_of(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None


def ratio(part: int, whole: int) -> float | None:
    """``part / whole``; None where there is no whole."""
    return part / whole if whole else None


def shown_key(letter: str, shift: int) -> str:
    """Where the option ``letter`` of the record stood when options were shown rotated by ``shift`` places."""
    return LETTERS[(LETTERS.index(letter) - shift) % len(LETTERS)]
