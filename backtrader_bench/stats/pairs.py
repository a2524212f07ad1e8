"""Two agents on the same questions: whether one is ahead, by how much, and what this many questions could show."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backtrader_bench.stats import clusters as _clusters

FLIPS = 9999
"""Random sign flips where they can't be counted out."""
_MOST = 2_000_000
"""Sums that an exact sign flip test may keep count of, times clusters."""


class McNemar(NamedTuple):
    """Two-sided p values."""

    exact: float
    mid: float
    """Less conservative, and recommended (Fagerland, Lydersen, Laake 2013)."""


def mcnemar(b: int, c: int) -> McNemar:
    """Of ``b`` questions that only the first got right against ``c`` that only the second did.

    Exact: ``min(1, 2 BinCDF(min(b, c); b + c, 1/2))``; mid-p takes the probability of the table itself off. Both 1
    when the two never differ. Questions must be independent: with shared configurations use :func:`difference`.
    """
    from scipy.stats import binom

    n, least = b + c, min(b, c)
    both = 2 * float(binom.cdf(least, n, 0.5))
    return McNemar(min(1.0, both), min(1.0, both - float(binom.pmf(least, n, 0.5))))


class Difference(NamedTuple):
    """The mean of ``a - b`` over questions; what is undefined is None."""

    delta: float | None
    se: float | None
    """Over clusters (CR1); ``sd(d) / sqrt(n)`` where each question is its own."""
    low: float | None
    high: float | None
    p: float | None
    """Two-sided, of the sign flip test over clusters."""
    method: _clusters.Method | None
    """Of the interval."""
    n: int
    b: int
    """Questions on which the first did better."""
    c: int
    design: float | None
    """(clustered error / plain error)^2: how many times more questions the clusters cost; None without a spread."""


def difference(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """The paired difference of two agents' scores on the same questions, in one order.

    ``clusters`` names the cluster of each question; without it each is its own.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} scores against {len(b)}: pair them by question first")
    names = range(len(a)) if clusters is None else clusters
    gaps, index = _clusters.arrays(np.asarray(a, dtype=float) - np.asarray(b, dtype=float), names)
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    if not len(gaps):
        return Difference(None, None, None, None, None, None, 0, 0, 0, None)
    delta = float(gaps.mean())
    if index.max() < 1:
        return Difference(delta, None, None, None, None, None, len(gaps), wins, losses, None)
    error = _clusters.error_of(gaps, index)
    alone = _clusters.error_of(gaps, np.arange(len(gaps)))
    p = sign_flip(np.bincount(index, weights=gaps), seed)
    design = (error / alone) ** 2 if alone > 0 else None
    if np.ptp(gaps) == 0:
        # No two questions differ, so nothing tells how far the next ones would.
        return Difference(delta, error, None, None, p, None, len(gaps), wins, losses, design)
    low, high, method = _clusters.interval(gaps, index, level, seed)
    return Difference(delta, error, max(-1.0, low), min(1.0, high), p, method, len(gaps), wins, losses, design)


def sign_flip(sums: NDArray[Any], seed: int = 0) -> float:
    """Two-sided p that clusters' ``sums`` of differences are as likely to have the other sign.

    Exact for whole numbers, by counting the sums that the flips reach (with a question a cluster that is McNemar's
    exact test), and wherever there are no more patterns of signs than :data:`FLIPS`; otherwise by random flips, the
    observed one counted among them. A cluster whose sum is 0 has no sign, and says nothing.
    """
    sums = np.asarray(sums, dtype=float)
    sums = sums[np.abs(sums) > 1e-12]
    whole = np.abs(np.rint(sums)).astype(np.int64)
    reach = int(whole.sum())
    if np.allclose(sums, np.rint(sums), atol=1e-9) and reach * len(sums) <= _MOST:
        counts = np.zeros(2 * reach + 1)
        counts[reach] = 1.0
        for size in whole[whole > 0]:
            counts = 0.5 * (np.roll(counts, size) + np.roll(counts, -size))
        totals = np.arange(-reach, reach + 1)
        return min(1.0, float(counts[np.abs(totals) >= abs(round(float(sums.sum())))].sum()))
    goal = abs(float(sums.sum())) - 1e-9
    if 2 ** len(sums) <= FLIPS:
        patterns = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
        return float((np.abs((patterns * 2 - 1) @ sums) >= goal).mean())
    draw = np.random.default_rng(seed)
    seen, done = 1, 0
    while done < FLIPS:
        block = min(500, FLIPS - done)
        signs = draw.integers(0, 2, (block, len(sums)), dtype=np.int8) * 2 - 1
        seen += int((np.abs(signs @ sums) >= goal).sum())
        done += block
    return seen / (FLIPS + 1)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment (1979) in the order given; None stays None and doesn't count as a comparison."""
    from statsmodels.stats.multitest import multipletests

    known = [p for p in ps if p is not None]
    adjusted = iter(multipletests(known, method="holm")[1] if known else ())
    return [None if p is None else float(next(adjusted)) for p in ps]


Word = Literal["ahead", "behind", "tied"]


def word(delta: float | None, p: float | None, alpha: float = 0.05) -> Word | None:
    """What may be said of the first agent: *tied* where ``p``, adjusted for the number of pairs, is not below alpha."""
    if delta is None or p is None:
        return None
    return "tied" if p >= alpha or delta == 0 else "ahead" if delta > 0 else "behind"


def sample_size(delta: float, psi: float, level: float = 0.95, power: float = 0.8) -> int | None:
    """Questions that a paired comparison needs to show a true difference ``delta`` (0 to 1) with chance ``power``.

    ``psi``: share of questions on which exactly one of the two is right. ``(za sqrt(psi) + zb sqrt(psi - delta^2))^2 /
    delta^2``, rounded up, two-sided at ``1 - level``. None for no difference and for ``delta`` above ``psi``.
    """
    if not 0 < abs(delta) <= psi <= 1:
        return None
    return math.ceil(_needed(abs(delta), psi, *_normal(level, power)) - 1e-9)


def smallest_difference(
    n: float, psi: float | None, level: float = 0.95, power: float = 0.8, design: float = 1.0
) -> float | None:
    """The smallest true difference that ``n`` questions show with chance ``power``: :func:`sample_size` turned round.

    ``design`` is that of a :class:`Difference`: clusters make ``n`` worth ``n / design``. None where even
    ``delta = psi`` (one agent wins every question on which they differ) would not show, and for ``psi`` 0 or unknown.
    """
    from scipy.optimize import brentq

    if not psi or n <= 0 or design <= 0:
        return None
    quantiles = _normal(level, power)
    if _needed(psi, psi, *quantiles) > n / design:
        return None
    return float(brentq(lambda delta: _needed(delta, psi, *quantiles) - n / design, 1e-9, psi, xtol=1e-12))


def _normal(level: float, power: float) -> tuple[float, float]:
    from scipy.stats import norm

    return float(norm.ppf((1 + level) / 2)), float(norm.ppf(power))


def _needed(delta: float, psi: float, za: float, zb: float) -> float:
    return ((za * math.sqrt(psi) + zb * math.sqrt(max(0.0, psi - delta * delta))) / delta) ** 2
