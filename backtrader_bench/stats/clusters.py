"""A mean and its error where questions share a configuration, and so stand or fall together (Miller 2024)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backtrader_bench.stats.proportions import Interval, wilson

FEW = 30
"""Under so many clusters the interval comes from a bootstrap."""
DRAWS = 4000
Method = Literal["t", "bootstrap", "wilson"]


class Clustered(NamedTuple):
    """A mean of scores with dependence inside clusters; what is undefined is None."""

    mean: float | None
    se: float | None
    """CR1; None for fewer than two clusters."""
    low: float | None
    high: float | None
    method: Method | None
    """How the interval came about: Student's t over clusters, a cluster bootstrap, or Wilson's over the number of
    clusters where all scores are the same and so show no spread."""
    clusters: int


def clustered(scores: Sequence[float], clusters: Sequence[Hashable], level: float = 0.95, seed: int = 0) -> Clustered:
    """Mean, standard error and interval of ``scores`` (0 to 1); ``clusters`` names the cluster of each, same length."""
    values, index = arrays(scores, clusters)
    groups = int(index.max()) + 1 if len(index) else 0
    if not groups:
        return Clustered(None, None, None, None, None, 0)
    mean = float(values.mean())
    if groups < 2:
        return Clustered(mean, None, None, None, None, groups)
    error = error_of(values, index)
    if np.ptp(values) == 0 and mean in (0.0, 1.0):
        found = wilson(int(mean) * groups, groups, level)
        assert found is not None
        return Clustered(mean, error, found.low, found.high, "wilson", groups)
    low, high, method = interval(values, index, level, seed)
    return Clustered(mean, error, max(0.0, low), min(1.0, high), method, groups)


def standard_error(scores: Sequence[float], clusters: Sequence[Hashable], *, small_sample: bool = True) -> float | None:
    """``sqrt(sum_c (sum_i (s - mean))^2) / n``: CR0, and CR1, times ``sqrt(G / (G - 1))``, with ``small_sample``.

    None without scores, and for CR1 with fewer than two clusters. With a cluster for each score CR1 is the usual
    standard error, ``sd / sqrt(n)``.
    """
    values, index = arrays(scores, clusters)
    if not len(values) or (small_sample and index.max() < 1):
        return None
    return error_of(values, index, small_sample=small_sample)


def arrays(scores: Sequence[float], clusters: Sequence[Hashable]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scores as floats and clusters numbered from 0 in order of appearance."""
    if len(scores) != len(clusters):
        raise ValueError(f"{len(scores)} scores but {len(clusters)} cluster names")
    numbers: dict[Hashable, int] = {}
    index = [numbers.setdefault(name, len(numbers)) for name in clusters]
    return np.asarray(scores, dtype=float), np.asarray(index, dtype=np.int64)


def error_of(values: NDArray[np.float64], index: NDArray[np.int64], *, small_sample: bool = True) -> float:
    """:func:`standard_error` on arrays; at least one score, two clusters for ``small_sample``."""
    sums = np.bincount(index, weights=values - values.mean())
    correction = len(sums) / (len(sums) - 1) if small_sample else 1.0
    return math.sqrt(float(np.square(sums).sum()) * correction) / len(values)


def interval(
    values: NDArray[np.float64], index: NDArray[np.int64], level: float, seed: int
) -> tuple[float, float, Method]:
    """Of the mean, over at least two clusters: Student's t with G - 1 degrees, :func:`bootstrap` under 30."""
    from scipy.stats import t

    groups = int(index.max()) + 1
    if groups < FEW:
        return (*bootstrap(values, index, level, seed), "bootstrap")
    half = float(t.ppf((1 + level) / 2, groups - 1)) * error_of(values, index)
    mean = float(values.mean())
    return mean - half, mean + half, "t"


def bootstrap(values: NDArray[np.float64], index: NDArray[np.int64], level: float, seed: int) -> Interval:
    """Percentiles of the mean over resampled clusters.

    Percentiles of a few clusters are too narrow, by the factor between n and n - 1 and between the normal and
    Student's t. They are taken further out by as much (the expanded percentile interval, Hesterberg 2015).
    """
    from scipy.stats import norm, t

    groups = int(index.max()) + 1
    sums, sizes = np.bincount(index, weights=values), np.bincount(index)
    drawn = np.random.default_rng(seed).integers(0, groups, (DRAWS, groups))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    tail = float(norm.cdf(-math.sqrt(groups / (groups - 1)) * t.ppf((1 + level) / 2, groups - 1)))
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))
