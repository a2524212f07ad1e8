"""Laws of additive increase and multiplicative decrease, and of waiting times."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from backtrader_bench.agents.runs.pacing import FIRST_WAIT, LONGEST_WAIT, Pace, wait_before


@given(st.integers(1, 64), st.lists(st.booleans(), max_size=200))
def test_the_limit_stays_between_one_and_what_the_user_allows(most: int, outcomes: list[bool]) -> None:
    pace = Pace.open(most)
    for now, good in enumerate(outcomes):
        before = pace.limit
        pace = pace.answered() if good else pace.pushed_back(float(now), float(now))
        assert 1.0 <= pace.limit <= most
        assert pace.limit >= before if good else pace.limit <= before


def test_one_burst_cuts_once_and_the_next_cuts_again() -> None:
    pace = Pace.open(16)
    for _ in range(16):
        pace = pace.pushed_back(now=10.0, started=5.0)
    assert pace.limit == 8
    assert pace.pushed_back(now=12.0, started=11.0).limit == 4


def test_a_round_of_answers_adds_about_one() -> None:
    pace = Pace(most=100, limit=8.0)
    for _ in range(8):
        pace = pace.answered()
    assert 8.9 < pace.limit < 9.0


@given(st.floats(0, 1000), st.floats(0, 1000), st.floats(0, 1000))
def test_nothing_starts_before_the_provider_said(now: float, after: float, later: float) -> None:
    pace = Pace.open(4).pushed_back(now, now, after).pushed_back(now, now - 1)
    assert pace.may_start(now + later, 0) == (now + later >= now + after)
    assert not pace.may_start(now + after, running=2)


@given(st.integers(1, 10_000), st.integers(0, 99), st.one_of(st.none(), st.floats(0, 10_000)))
def test_waits_grow_twofold_with_full_jitter(tries: int, seed: int, after: float | None) -> None:
    wait = wait_before(tries, Random(seed), after) - (after or 0.0)
    assert -1e-9 <= wait <= min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(tries - 1, 30)) + 1e-9


def test_jitter_fills_the_whole_interval() -> None:
    waits = [wait_before(3, Random(seed)) for seed in range(2000)]
    assert max(waits) < 4 * FIRST_WAIT and min(waits) < 0.1
    assert abs(sum(waits) / len(waits) - 2 * FIRST_WAIT) < 0.2
