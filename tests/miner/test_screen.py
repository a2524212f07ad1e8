"""The free screen: what the options alone give away."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from backtrader_bench.miner.question import Origin, question_of
from backtrader_bench.miner.screen import BASELINES, free_screen, stated_account
from backtrader_bench.miner.wellposed import Printed
from backtrader_bench.records import Question

ORIGIN = Origin("mining_x/attempt_001", "offline", 1, 1)


def fields(key: str, others: list[str], stem: str = "An account of $20,000 trades. What is its final value?") -> Any:
    printed = [Printed(n, f"{stem} ({n})", answer) for n, answer in enumerate(others, 1)]
    made = question_of("print(1)", Printed(0, stem, key), printed, ORIGIN, {})
    assert isinstance(made, Question), made
    return msgspec.to_builtins(made)


def test_baselines_are_rules_of_the_audit() -> None:
    from backtrader_bench.mcq_builder.audit.attackers import RULES

    assert set(BASELINES) <= set(RULES)


def test_a_key_amid_its_distractors_is_marked() -> None:
    assert free_screen(fields("$20,400.00", ["$14,000.00", "$33,000.00", "$27,000.00"])) == ("choices_only",)


def test_a_key_at_the_edge_is_not() -> None:
    assert free_screen(fields("$14,000.00", ["$20,400.00", "$33,000.00", "$27,000.00"])) == ()


def test_few_random_questions_are_marked() -> None:
    rng, marked = Random(3), 0
    for _ in range(300):
        values = [f"${rng.uniform(15_000, 25_000):,.2f}" for _ in range(12)]
        marked += bool(free_screen(fields(values[0], values[1:])))
    # A key that lies at random is what the baselines agree on in at most a quarter of the questions.
    assert 0 < marked / 300 < 0.25


def test_what_a_reader_takes_for_the_account() -> None:
    found = stated_account("Cash $1,500.50, fee $0.10, from 2020-03-02 to 2020-01-06.")
    assert (found.cash, found.start, found.end) == (1500.5, "2020-01-06", "2020-03-02")
    none = stated_account("Nothing is said, but 2020-01-06.")
    assert (none.cash, none.start) == (None, None)
