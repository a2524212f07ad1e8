"""The plan asks everything once, in an order that keeps agents comparable."""

from __future__ import annotations

from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from backtrader_bench.agents.runs.plan import Asked, plan, seed_of

QUESTIONS = st.lists(st.text("abcdef", min_size=1, max_size=4), min_size=1, max_size=8, unique=True)
AGENTS = st.lists(st.sampled_from(["oracle", "guesser", "x:1", "x:2"]), min_size=1, unique=True)


@given(QUESTIONS, AGENTS, st.integers(1, 3), st.sampled_from([(0,), (0, 1, 2, 3)]), st.integers(0, 99))
def test_everything_is_asked_once_and_agents_keep_pace(
    questions: list[str], agents: list[str], repeats: int, shifts: tuple[int, ...], seed: int
) -> None:
    found = plan(questions, agents, repeats, shifts, seed)
    everything = {Asked(*one) for one in product(questions, agents, range(repeats), shifts)}
    assert len(found) == len(everything) and set(found) == everything
    assert found == plan(questions, agents, repeats, shifts, seed)
    assert [one.repeat for one in found] == sorted(one.repeat for one in found)
    counts = Counter(dict.fromkeys(agents, 0))
    for one in found:
        counts[one.agent] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


def test_seeds_order_differently_and_draw_differently() -> None:
    questions = [str(number) for number in range(50)]
    one, two = (plan(questions, ["a"], 1, (0,), seed) for seed in (1, 2))
    assert one != two and sorted(one) == sorted(two)
    assert len({seed_of(asked, 1) for asked in plan(questions, ["a", "b"], 2, (0, 1), 1)}) == 400
