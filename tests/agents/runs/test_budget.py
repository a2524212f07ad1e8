"""Sums that keep the unknown unknown, and caps."""

from __future__ import annotations

import pytest

from backtrader_bench.agents.runs.budget import Caps, Spent, reached, spent, tokens_of
from backtrader_bench.attempts import Cost, Usage
from tests.agents.runs.made import attempt

FULL = Usage(input=100, cache_read=20, cache_write=3, output=50, reasoning=40)


def test_reasoning_is_part_of_the_output_and_nothing_is_not_zero() -> None:
    assert tokens_of(FULL) == 173
    assert tokens_of(Usage()) is None and tokens_of(Usage(reasoning=5)) is None
    assert tokens_of(Usage(output=0)) == 0


def test_what_is_unknown_is_counted_apart() -> None:
    cost = Cost(usd=0.25, source="reported")
    total = spent([attempt(usage=FULL, cost=cost), attempt(), attempt(usage=FULL, replaces="x", cost=cost)])
    assert total == Spent(tokens=173, with_tokens=1, usd=0.25, with_usd=1, tries=2)


@pytest.mark.parametrize(
    ("caps", "running", "seconds", "cap"),
    [
        (Caps(), 99, 1e9, None),
        (Caps(tokens=1000), 0, 0, "--max-tokens"),
        (Caps(tokens=1001), 0, 0, "--max-tokens"),  # the try about to start takes 100 as those before
        (Caps(tokens=1101), 0, 0, None),
        (Caps(tokens=1101), 1, 0, "--max-tokens"),
        (Caps(usd=10.0), 0, 0, "--max-cost"),
        (Caps(usd=11.5), 0, 0, None),
        (Caps(usd=11.5), 1, 0, "--max-cost"),
        (Caps(seconds=3600), 0, 3599, None),
        (Caps(seconds=3600), 0, 3600, "--max-hours 1"),
    ],
)
def test_caps_count_what_runs(caps: Caps, running: int, seconds: float, cap: str | None) -> None:
    used = Spent(tokens=1000, with_tokens=10, usd=10.0, with_usd=10, tries=10)
    says = reached(caps, used, running, seconds)
    assert says is None if cap is None else says is not None and says.startswith(cap)


def test_a_cap_that_one_more_try_would_pass_says_so() -> None:
    used = Spent(tokens=112, with_tokens=1, usd=0.6, with_usd=1, tries=1)
    assert reached(Caps(tokens=200), used, 0, 0.0) == (
        "--max-tokens 200 is reached with one more try: 112 used, 112 a try"
    )
    assert reached(Caps(usd=1.0), used, 0, 0.0) == (
        "--max-cost 1 is reached with one more try: $0.6000 used, $0.6000 a try"
    )
    assert reached(Caps(tokens=112), used, 0, 0.0) == "--max-tokens 112 is reached: 112 used"
