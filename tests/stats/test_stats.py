"""The table of published and worked values, the libraries' own functions, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from backtrader_bench.stats import clusters, items, pairs, proportions, repeats

SCORES = [int(digit) for digit in "110100011110"]
THREES = [place // 3 for place in range(12)]


@pytest.mark.parametrize(
    ("k", "n", "low", "high"), [(18, 30, 0.423204, 0.754094), (27, 30, 0.7438, 0.9654), (0, 10, 0, 0.277533)]
)
def test_wilson(k: int, n: int, low: float, high: float) -> None:
    assert proportions.wilson(k, n) == pytest.approx((low, high), abs=5e-5)
    assert proportions.wilson(k, n, 0.9) == pytest.approx(proportion_confint(k, n, 0.1, "wilson"), abs=1e-9)


@given(st.integers(1, 400), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_wilson_mirrors(n: int, part: float) -> None:
    k = round(n * part)
    one, other = proportions.wilson(k, n), proportions.wilson(n - k, n)
    assert one and other and one.low == pytest.approx(1 - other.high) and one.low <= k / n <= one.high


def test_exclusions_and_corrections() -> None:
    assert proportions.exclusions(12, 20, 10) == pytest.approx((0.6, 0.4, 0.4833, 0.7333), abs=5e-5)
    assert proportions.guess_corrected(0.643) == pytest.approx(0.524)
    assert proportions.above_floor(0.6, 0.5) == pytest.approx(0.2)


def test_the_undefined_is_none() -> None:
    assert proportions.wilson(0, 0) is None and proportions.exclusions(0, 0, 0) == (None,) * 4
    assert proportions.above_floor(0.5, None) is None and proportions.above_floor(1.0, 1.0) is None
    assert clusters.clustered([], []) == (None, None, None, None, None, 0)
    assert clusters.clustered([1, 0], ["a", "a"])[:3] == (0.5, None, None)
    assert repeats.pass_at_k(2, 1, 3) is None and repeats.spread([]) == (None, None, None, 0, 0)
    assert repeats.spread([[1], [0]]).sd_runs is None
    assert pairs.difference([], [], []).p is None and pairs.holm([None]) == [None]
    assert pairs.sample_size(0, 0.5) is None and pairs.sample_size(0.5, 0.4) is None
    assert pairs.smallest_difference(100, 0) is None and pairs.smallest_difference(3, 0.5) is None
    assert items.kr20([[1, 0]]) is None and items.kr20([[1, 0], [0, 1]]) is None
    assert items.statistics([[None], [None]]) == [(0, None, None)]


def test_clustered_errors() -> None:
    assert clusters.standard_error(SCORES, THREES, small_sample=False) == pytest.approx(0.072169, abs=1e-6)
    assert clusters.standard_error(SCORES, THREES) == pytest.approx(0.083333, abs=1e-6)
    assert clusters.standard_error(SCORES, range(12)) == pytest.approx(0.148647, abs=1e-6)
    assert clusters.clustered(SCORES, THREES).method == "bootstrap"


def test_clustered_errors_are_those_of_a_regression_on_a_constant() -> None:
    draw = np.random.default_rng(3)
    names = draw.integers(0, 40, 200)
    scores = (draw.random(200) < draw.random(40)[names]).astype(float)
    fit = OLS(scores, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": names, "use_correction": False})
    groups = len(set(names.tolist()))
    assert clusters.standard_error(scores.tolist(), names.tolist(), small_sample=False) == pytest.approx(
        float(fit.bse[0])
    )
    found = clusters.clustered(scores.tolist(), names.tolist())
    assert found.se == pytest.approx(float(fit.bse[0]) * math.sqrt(groups / (groups - 1))) and found.method == "t"


def test_the_bootstrap_is_seeded_and_equal_scores_still_have_an_interval() -> None:
    assert clusters.clustered(SCORES, THREES, seed=4) == clusters.clustered(SCORES, THREES, seed=4)
    all_right = clusters.clustered([1.0] * 12, THREES)
    assert (
        all_right.method == "wilson"
        and all_right.high == 1
        and all_right.low == pytest.approx(proportions.wilson(4, 4)[0])
    )  # type: ignore[index]


@pytest.mark.parametrize(("n", "c", "k", "at", "hat"), [(10, 6, 3, 0.966667, 0.166667), (5, 2, 2, 0.7, 0.1)])
def test_passes(n: int, c: int, k: int, at: float, hat: float) -> None:
    assert repeats.pass_at_k(n, c, k) == pytest.approx(at, abs=1e-6)
    assert repeats.pass_hat_k(n, c, k) == pytest.approx(hat, abs=1e-6)
    assert repeats.passes([(n, c), (1, 1)], k) == pytest.approx((k, at, hat, 1), abs=1e-6)


def test_passes_count_the_subsets() -> None:
    from itertools import combinations

    attempts = [1, 1, 0, 1, 0, 0, 0]
    for k in range(1, 8):
        chosen = list(combinations(attempts, k))
        assert repeats.pass_at_k(7, 3, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
        assert repeats.pass_hat_k(7, 3, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_spread() -> None:
    found = repeats.spread([[1, 1, 0], [0, 0, 0], [1, 0, 1], [1, 1, 1]])
    assert found.mean == pytest.approx(7 / 12)
    assert found.sd_runs == pytest.approx(np.std([0.75, 0.5, 0.5], ddof=1))
    assert found.se_items == pytest.approx(np.std([2 / 3, 0, 2 / 3, 1], ddof=1) / 2)
    assert repeats.spread([[1, None], [None, None], [0, 1]]) == pytest.approx((0.75, math.sqrt(0.125), 0.25, 2, 2))


@pytest.mark.parametrize(
    ("b", "c", "exact", "mid"),
    [(15, 5, 0.041389, 0.026604), (8, 2, 0.109375, 0.065430), (25, 10, 0.016674, 0.011331), (3, 3, 1, 1), (0, 0, 1, 1)],
)
def test_mcnemar(b: int, c: int, exact: float, mid: float) -> None:
    assert pairs.mcnemar(b, c) == pytest.approx((exact, mid), abs=1e-6) and pairs.mcnemar(c, b) == pairs.mcnemar(b, c)
    if b + c:
        assert pairs.mcnemar(b, c).exact == pytest.approx(their_mcnemar([[9, b], [c, 9]], exact=True).pvalue)


def test_paired_difference() -> None:
    a, b = [1] * 15 + [0] * 5 + [1] * 80, [0] * 15 + [1] * 5 + [1] * 80
    found = pairs.difference(a, b)
    assert (found.delta, found.se) == pytest.approx((0.10, 0.043809), abs=1e-6) and (found.n, found.b, found.c) == (
        100,
        15,
        5,
    )
    # A question a cluster: the sign flip test is McNemar's exact one.
    assert found.p == pytest.approx(pairs.mcnemar(15, 5).exact) and found.design == pytest.approx(1)
    turned = pairs.difference(b, a)
    assert (turned.delta, turned.p) == pytest.approx((-0.10, found.p)) and turned.low == pytest.approx(-found.high)  # type: ignore[operator]


def test_sign_flips_are_counted_exactly() -> None:
    from itertools import product

    sums = np.array([3.0, -1.0, 2.0, 0.0, 4.0])
    reached = [abs(float(np.dot(signs, sums))) >= 8 for signs in product((1, -1), repeat=5)]
    assert pairs.sign_flip(sums) == pytest.approx(sum(reached) / 32)
    # Shares of repeats too, whatever the seed.
    assert {pairs.sign_flip(sums / 3.7, seed) for seed in range(3)} == {sum(reached) / 32}


@pytest.mark.parametrize("clusters", [2, 9, 13])
def test_sign_flips_of_few_clusters_are_those_of_scipy(clusters: int) -> None:
    from scipy.stats import permutation_test

    sums = np.random.default_rng(clusters).normal(0.4, 1, clusters)
    theirs = permutation_test((sums,), np.sum, permutation_type="samples", n_resamples=np.inf)  # type: ignore[call-overload]
    assert pairs.sign_flip(sums) == pytest.approx(min(1.0, theirs.pvalue))
    # All to one side: the two patterns that are as far out, and no less.
    assert pairs.sign_flip(np.abs(sums)) == 2 / 2**clusters


def test_sign_flips_of_many_clusters_are_drawn() -> None:
    exact = pairs.sign_flip(np.array([3.0, -1.0, 2.0, 5.0] * 5))
    drawn = pairs.sign_flip(np.array([3.0, -1.0, 2.0, 5.0] * 5) / 3.7, seed=1)
    assert drawn == pytest.approx(exact, abs=0.02) and drawn >= 1 / (pairs.FLIPS + 1)
    assert pairs.sign_flip(np.zeros(4)) == 1


def test_holm() -> None:
    ps = [0.01, 0.04, 0.03, 0.2]
    theirs = multipletests(ps, method="holm")[1].tolist()
    assert pairs.holm(ps) == pytest.approx(theirs)
    assert pairs.holm([0.01, None, 0.04, 0.03, 0.2]) == [theirs[0], None, *theirs[1:]]
    assert pairs.holm([0.01, 0.02]) == pytest.approx([0.02, 0.02])


def test_words() -> None:
    assert [pairs.word(0.1, 0.04), pairs.word(-0.1, 0.04), pairs.word(0.1, 0.05), pairs.word(None, None)] == [
        "ahead",
        "behind",
        "tied",
        None,
    ]


def test_sample_sizes() -> None:
    assert pairs.sample_size(0.4, 0.5) == 23
    for n in (50, 300, 1000):
        delta = pairs.smallest_difference(n, 0.3)
        assert delta is not None and pairs.sample_size(delta, 0.3) == n
        assert pairs.smallest_difference(2 * n, 0.3, design=2) == pytest.approx(delta)


def test_items() -> None:
    matrix = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1]]
    found = items.statistics(matrix)
    table = np.array(matrix, dtype=float)
    for column, item in enumerate(found):
        rest = np.delete(table, column, axis=1).mean(axis=1)
        expected = np.corrcoef(table[:, column], rest)[0, 1]
        assert item == pytest.approx((4, table[:, column].mean(), expected), abs=1e-9)
    # Rows that nest: every question orders the takers alike (a Guttman scale of three).
    assert items.kr20([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]]) == pytest.approx(0.75)
    assert items.kr20([[1, 1], [0, 0], [1, None]]) == pytest.approx(1.0)
