"""Statistics against the table of their sources, scipy, and counting by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from scipy.stats import binomtest

from backtrader_bench.mcq_builder.audit.statistics import (
    clustered_interval,
    clustered_p,
    clustered_se,
    exact_p,
    holm,
    smallest_leak,
    uniformity,
    wilson,
)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(18, 30, 0.423204, 0.754094), (27, 30, 0.7438, 0.9654), (0, 10, 0.0, 0.277533)],
)
def test_wilson(right: int, n: int, low: float, high: float) -> None:
    found = wilson(right, n)
    assert found == pytest.approx((low, high), abs=5e-5)
    by_scipy = binomtest(right, n).proportion_ci(method="wilson")
    assert found == pytest.approx((by_scipy.low, by_scipy.high), abs=1e-9)


def test_wilson_of_nothing_and_of_split_credit() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(4, 10).low < wilson(4.5, 10).low < wilson(5, 10).low


@pytest.mark.parametrize("right", range(0, 21, 4))
def test_exact_p_of_single_choices_is_the_binomial(right: int) -> None:
    by_scipy = binomtest(right, 20, 0.25, alternative="greater").pvalue
    assert exact_p(right, 20) == pytest.approx(by_scipy, rel=1e-9)


@pytest.mark.parametrize("score", [0.0, 1.0, 4 / 3, 11 / 6, 2.5, 10 / 3, 4.0])
def test_exact_p_with_ties_by_counting(score: float) -> None:
    # Two single choices, two ties of two, one tie of three: every outcome with its weight.
    total = 0.0
    for hits in product((0, 1), repeat=5):
        chances = [0.25, 0.25, 0.5, 0.5, 0.75]
        weight = math.prod(p if hit else 1 - p for hit, p in zip(hits, chances, strict=True))
        credit = sum(hit * worth for hit, worth in zip(hits, (1, 1, 0.5, 0.5, 1 / 3), strict=True))
        total += weight if credit >= score - 1e-9 else 0.0
    assert exact_p(score, 2, 2, 1) == pytest.approx(total, rel=1e-9)


def test_exact_p_of_no_choice_is_one() -> None:
    assert exact_p(0.0, 0) == 1.0


def test_exact_p_is_quick_and_small_on_a_large_bank() -> None:
    assert exact_p(6_000, 20_000) < 1e-50
    assert exact_p(5_000 + 250, 20_000, 1_000) == pytest.approx(0.5, abs=0.01)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


def test_clustered_error_of_the_table() -> None:
    credits = np.array([float(char) for char in "110100011110"])
    clusters = np.repeat(np.arange(4), 3)
    assert clustered_se(credits, clusters, small_sample=False) == pytest.approx(0.072169, abs=1e-6)
    assert clustered_se(credits, clusters) == pytest.approx(0.083333, abs=1e-6)
    naive = credits.std(ddof=1) / math.sqrt(len(credits))
    assert naive == pytest.approx(0.148647, abs=1e-6)
    assert clustered_se(credits, np.zeros(12, dtype=np.int64)) == math.inf


def test_clustered_interval_bootstraps_few_clusters() -> None:
    rng = np.random.default_rng(3)
    credits = (rng.random(600) < 0.25).astype(float)
    few = clustered_interval(credits, np.repeat(np.arange(20), 30), seed=1)
    many = clustered_interval(credits, np.repeat(np.arange(60), 10), seed=1)
    mean = credits.mean()
    for low, high in (few, many):
        assert low < mean < high
        assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.1875 / 600), rel=0.35)
    assert few == clustered_interval(credits, np.repeat(np.arange(20), 30), seed=1)
    assert clustered_interval(credits, np.zeros(600, dtype=np.int64), seed=1) == (0.0, 1.0)


def test_clustered_p_is_uniform_enough_under_chance() -> None:
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(50), 20)
    found = [clustered_p((rng.random(1000) < 0.25).astype(float), clusters) for _ in range(200)]
    assert 0.3 < float(np.mean(found)) < 0.7
    assert sum(p < 0.05 for p in found) < 25
    assert clustered_p(np.ones(1000), clusters) == 0.0
    assert clustered_p(np.ones(10), np.zeros(10, dtype=np.int64)) == 1.0


def test_uniformity() -> None:
    assert uniformity([25, 25, 25, 25]).p == 1.0
    # Chi-square with three degrees of freedom: 11.34 is its 99% point.
    found = uniformity([350, 217, 217, 216])
    assert found.statistic == pytest.approx(53.336, abs=1e-3)
    assert found.p < 1e-10
    assert uniformity([0, 0, 0, 0]).p == 1.0


@pytest.mark.parametrize(("n", "points"), [(1_000, 5.3), (20_000, 1.2), (0, 75.0), (3, 75.0)])
def test_smallest_leak(n: int, points: float) -> None:
    assert 100 * smallest_leak(n) == pytest.approx(points, abs=0.05)
