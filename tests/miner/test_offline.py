"""The offline generator: deterministic, diverse, and right by a second computation."""

from __future__ import annotations

import contextlib
import io
import json
import re
from random import Random
from typing import Any

import pytest

from backtrader_bench.miner.offline.generate import reply
from backtrader_bench.miner.offline.metrics import FAMILIES
from backtrader_bench.miner.offline.program import program, stem
from backtrader_bench.miner.offline.scenario import RULES, Scenario, bars_source, scenario
from backtrader_bench.miner.protocol import Blocks, read_blocks
from tests.miner.replay import Replay


def executed(code: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], str, Any]:
    """A program's parameters, question and answer, run in this process: backtrader is loaded once for all."""
    monkeypatch.setenv("MCQ_SEED", str(seed))
    space: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "verifier", "exec"), space)  # our own program
    question, answer = out.getvalue().splitlines()
    assert question.startswith("QUESTION_JSON: ")
    assert answer.startswith("ANSWER_VALUE_JSON: ")
    return space["P"], json.loads(question.partition(": ")[2]), json.loads(answer.partition(": ")[2])


def shown(made: Scenario, value: Any) -> Any:
    """An answer as the verifier prints it."""
    return {
        "money": lambda: f"{'-' if value < 0 else ''}${abs(value):,.2f}", "percent": lambda: f"{value:.2f}%",
        "number": lambda: f"{value:.3f}", "count": lambda: str(int(value)), "date": lambda: str(value),
    }[made.family.kind]()  # fmt: skip


def blocks(text: str) -> Blocks:
    found = read_blocks(text)
    assert isinstance(found, Blocks)
    return found


@pytest.mark.parametrize("category", RULES)
def test_the_same_seed_gives_the_same_bytes(category: str) -> None:
    assert reply(5, 3, 77, category) == reply(5, 3, 77, category)
    assert reply(5, 3, 77, category) != reply(6, 3, 77, category)
    assert blocks(reply(5, 3, 77, category)).code == program(scenario(5, 3, category))


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("category", RULES)
def test_a_second_computation_agrees(category: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scenario(11, number, category)
    for seed in (1000 + number, 2009 + number):
        params, question, answer = executed(program(made), seed, monkeypatch)
        drawn = made.parameters(Random(seed))
        assert {**params, "tape": 0} == {**drawn, "tape": 0}
        assert question == stem(made, params)
        assert answer == shown(made, Replay(made, params).answer())



@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_metrics_is_confirmed(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    category = "analyzer" if family.startswith("analyzer") else "trail" if family != "final_value" else "moving_average"
    made = next(one for n in range(500) if (one := scenario(3, n, category)).family.name == family)
    asked = set()
    for seed in range(60):
        metric = made.parameters(Random(seed))["metric"]
        if metric not in asked:
            asked.add(metric)
            params, _, answer = executed(program(made), seed, monkeypatch)
            assert (metric, answer) == (metric, shown(made, Replay(made, params).answer()))
    assert asked == {metric.name for metric in FAMILIES[family].metrics}


def test_there_are_more_than_ten_thousand_scenarios() -> None:
    # Distinct by what is asked and by which rules, with every number, date and name masked: the parameters of a
    # composition are drawn from thousands of values on top of it.
    masked = set()
    for number in range(16_000):
        made = scenario(1, number)
        bare = (made.entry.words, made.exit.words, made.size.words, made.commission.words, made.slippage.words)
        ask = made.parameters(Random(number))["metric"]
        masked.add((made.data, *bare, ask))
    assert len(masked) > 10_000


def test_stems_differ_by_seed() -> None:
    stems = {blocks(reply(1, number, 1000 + number)).question for number in range(300)}
    assert len(stems) == 300


@pytest.mark.parametrize("data", ["walk", "wave"])
def test_the_stem_states_the_function_that_makes_the_bars(data: str) -> None:
    made = next(one for n in range(50) if (one := scenario(2, n, "exit_rule")).data == data)
    code = program(made)
    assert code.count(bars_source(data)) == 2
    assert bars_source(data) in stem(made, made.parameters(Random(4)))


def test_a_stem_holds_no_unfilled_name() -> None:
    for category in RULES:
        for number in range(20):
            made = scenario(8, number, category)
            prose = re.sub(r"```.*?```", "", stem(made, made.parameters(Random(number))), flags=re.DOTALL)
            assert not re.search(r"[{}@]", prose)


def test_programs_import_nothing_of_ours() -> None:
    for category in RULES:
        assert "backtrader_bench" not in program(scenario(1, 1, category))
