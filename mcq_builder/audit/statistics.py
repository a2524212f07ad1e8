"""Intervals and tests of an audit. Accuracies are shares from 0 to 1; chance is 1/4.

Functions that need scipy import it where they run.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from backtrader_bench.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CHANCE = 0.25
Z95 = 1.959963984540054
EXTRA = (
    "the trained attackers of bench audit need scikit-learn: pip install 'backtrader-bench[audit]', or leave them out "
    "with --no-learned"
)
_FEW_CLUSTERS = 30
_DRAWS = 2000
_LEFT_OUT = 1e-18


def require_extra(*, learned: bool) -> None:
    """MissingError naming the extra when scikit-learn is not installed though trained attackers are wanted."""
    if learned and find_spec("sklearn") is None:
        raise MissingError(EXTRA)


class Interval(NamedTuple):
    """A two-sided interval, of 95% where nothing else is said."""

    low: float
    high: float


def wilson(successes: float, n: int, z: float = Z95) -> Interval:
    """The Wilson score interval (1927) of a share; ``successes`` may be a sum of split credits. (0, 1) for n = 0."""
    if n == 0:
        return Interval(0.0, 1.0)
    share, denominator = successes / n, 1 + z * z / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(max(0.0, share * (1 - share) / n + z * z / (4 * n * n)))
    return Interval(max(0.0, (middle - half) / denominator), min(1.0, (middle + half) / denominator))


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of p values (1979), in the order given."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    adjusted = [1.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return adjusted


def exact_p(score: float, ones: int, twos: int = 0, threes: int = 0) -> float:
    """P(credit >= ``score``) when every letter is equally likely, exactly.

    ``ones``: questions on which one letter was chosen (credit 1 with probability 1/4); ``twos``: two letters tied
    (1/2 with 1/2); ``threes``: three tied (1/3 with 3/4). ``score`` is the credit over these questions alone:
    abstentions have credit 1/4 whatever the key is.
    """
    from scipy.stats import binom

    twelfths = round(score * 12)
    two_hits, two_chance = _support(binom, twos, 0.5)
    three_hits, three_chance = _support(binom, threes, 0.75)
    # The single choices still have to bring what the ties did not.
    missing = twelfths - 6 * two_hits[:, None] - 4 * three_hits[None, :]
    tail = binom.sf(np.ceil(missing / 12) - 1, ones, 0.25) if ones else (missing <= 0).astype(float)
    p = float(min(1.0, two_chance @ tail @ three_chance))
    return max(p, _LEFT_OUT) if twos or threes else p


def _support(binom: Any, n: int, chance: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The likely numbers of hits with their probabilities; what is left out weighs less than _LEFT_OUT."""
    if n == 0:
        return np.zeros(1, dtype=np.int64), np.ones(1)
    reach = int(9.5 * math.sqrt(n * chance * (1 - chance))) + 12
    hits = np.arange(max(0, int(n * chance) - reach), min(n, int(n * chance) + reach) + 1)
    return hits, binom.pmf(hits, n, chance)


class Uniformity(NamedTuple):
    """A chi-square test of counts against equal shares."""

    counts: tuple[int, ...]
    statistic: float
    p: float


def uniformity(counts: Sequence[int]) -> Uniformity:
    """Pearson's chi-square test that every class is equally likely; p is 1 without observations."""
    from scipy.stats import chisquare

    if sum(counts) == 0:
        return Uniformity(tuple(counts), 0.0, 1.0)
    found = chisquare(counts)
    return Uniformity(tuple(counts), float(found.statistic), float(found.pvalue))


def clustered_se(credits: NDArray[np.float64], clusters: NDArray[np.int64], *, small_sample: bool = True) -> float:
    """Standard error of the mean credit with dependence inside clusters: CR1, or CR0 without ``small_sample``.

    Infinite for fewer than two clusters with ``small_sample``: there is nothing to tell their spread from.
    """
    sums = np.bincount(clusters, weights=credits - credits.mean())
    groups = len(np.unique(clusters))
    if small_sample and groups < 2:
        return math.inf
    correction = math.sqrt(groups / (groups - 1)) if small_sample else 1.0
    return float(math.sqrt(float(np.square(sums).sum())) / len(credits) * correction)


def clustered_interval(credits: NDArray[np.float64], clusters: NDArray[np.int64], seed: int) -> Interval:
    """95% interval of the mean credit: CR1 and normal, or a cluster bootstrap (percentile) under 30 clusters."""
    names, index = np.unique(clusters, return_inverse=True)
    mean = float(credits.mean())
    if len(names) < 2:
        return Interval(0.0, 1.0)
    if len(names) >= _FEW_CLUSTERS:
        half = Z95 * clustered_se(credits, index)
        return Interval(max(0.0, mean - half), min(1.0, mean + half))
    sums, sizes = np.bincount(index, weights=credits), np.bincount(index)
    drawn = np.random.default_rng(seed).integers(0, len(names), (_DRAWS, len(names)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return Interval(float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975)))


def clustered_p(credits: NDArray[np.float64], clusters: NDArray[np.int64]) -> float:
    """One-sided p of a mean credit above 1/4, from the clustered error and Student's t with clusters - 1 degrees."""
    from scipy.stats import t

    names, index = np.unique(clusters, return_inverse=True)
    if len(names) < 2:
        return 1.0
    error = clustered_se(credits, index)
    above = float(credits.mean()) - CHANCE
    if error == 0.0:
        return 1.0 if above <= 0 else 0.0
    return float(t.sf(above / error, len(names) - 1))


def smallest_leak(n: int) -> float:
    """How far above 1/4 an attacker's accuracy must truly be for ``n`` questions to show it, as a share.

    At the 1% level, two-sided, with a chance of 90%: (2.576 + 1.282) standard errors of a guesser's accuracy; 5.3
    points for n = 1,000 and 1.2 for 20,000. At most 0.75, where nothing is left to show.
    """
    if n == 0:
        return 1 - CHANCE
    return min(1 - CHANCE, (2.5758293 + 1.2815516) * math.sqrt(CHANCE * (1 - CHANCE) / n))
