"""Questions about order mechanics: who can be asked, options that give nothing away, both engines, damage found."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backtrader_bench.checker.run import check_files
from backtrader_bench.cli.main import run as bench
from backtrader_bench.market import pins
from backtrader_bench.mcq_builder.context import Context
from backtrader_bench.mcq_builder.questions import questions
from backtrader_bench.mcq_builder.settings import Settings
from backtrader_bench.records import Question, to_line
from backtrader_bench.templates.drift import text_problems
from backtrader_bench.templates.registry import TEMPLATES
from tests.helpers import bank, context, settings, tape_of
from tests.mutants import mutants

ORDERED = {name: words.needs for name, words in TEMPLATES.items() if words.needs}
STRATEGIES = ("bracket_breakout", "trailing_stop", "atr_stop", "slippage_cross")
LONG = {"start_date": "2012-01-01", "end_date": "2019-01-01"}
SETTINGS: dict[str, dict[str, Any]] = {
    "bracket_breakout": {**LONG, "strategy_params": {"lookback": 5, "stop_percent": 0.04, "limit_percent": 0.05}},
    "trailing_stop": {**LONG, "strategy_params": {"pfast": 5, "pslow": 20, "trail_percent": 0.12}},
    "atr_stop": {**LONG, "strategy_params": {"pfast": 2, "pslow": 6, "atr_multiplier": 2.0}},
    "slippage_cross": {"sizing": "fixed", "stake": 700, "initial_cash": 60_000.0},
}


@cache
def world(strategy: str) -> Context:
    """A backtest with many exits."""
    return context(strategy=strategy, **SETTINGS[strategy])


def asked(template: str, strategy: str, most: int = 200, seed: int = 5) -> list[Question]:
    found = islice(questions(template, world(strategy), "ladder", seed), most)
    return [q for q in found if isinstance(q, Question)]


def test_the_six_templates_name_their_strategies() -> None:
    assert len(ORDERED) == 6
    assert {name for needs in ORDERED.values() for name in needs} == set(STRATEGIES)


def test_a_template_of_other_strategies_is_refused_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["build", "--template", "cancelled_orders"]) == 2
    said = capsys.readouterr().err
    assert "cancelled_orders" in said and "bracket_breakout, trailing_stop or atr_stop" in said
    assert said.count("\n") == 1


def test_templates_that_fit_no_strategy_are_left_out_unless_named() -> None:
    hard = Settings.of({}).templates()["hard"]
    assert not set(hard) & set(ORDERED)
    assert set(Settings.of({"strategy": "all"}).templates()["hard"]) >= set(ORDERED)
    assert Settings.of({"template": "slippage_cost", "difficulty": "hard"}).templates()["hard"] == ["slippage_cost"]
    made = bank(all_templates=True, strategy="macd_crossover,slippage_cross", difficulty="hard")
    assert {q.strategy_name for q in made.questions if q.type in ORDERED} <= {"slippage_cross"}
    assert not {template for template, _ in made.skipped} & (set(ORDERED) - {"margin_rejections", "slippage_cost"})


def test_bracket_options_are_both_kinds_on_both_dates() -> None:
    found = [q for seed in range(6) for q in asked("bracket_exit_kind", "bracket_breakout", seed=seed)]
    assert len(found) > 60
    kinds: Counter[str] = Counter()
    for record in found:
        split = [text.rsplit(" on ", 1) for text in record.options.values()]
        assert len({kind for kind, _ in split}) == len({day for _, day in split}) == 2
        kinds[record.value["kind"]] += 1
        assert record.value["date"] in {day for _, day in split}
    assert 0.3 < kinds["stop"] / sum(kinds.values()) < 0.7, kinds


def test_trail_levels_are_ones_that_the_bar_allows_and_ranks_are_even() -> None:
    found = [q for seed in range(4) for q in asked("stop_trail_level_on_date", "trailing_stop", 3000, seed)]
    tape = world("trailing_stop").tape
    ranks: Counter[int] = Counter()
    for record in found:
        bar = tape.dates.index(record.template_params["date"])
        levels = sorted(float(text.replace("$", "").replace(",", "")) for text in record.options.values())
        assert tape.close[bar] * (1 - 0.12) - 0.01 <= levels[0] and levels[-1] <= tape.low[bar] + 0.01
        ranks[levels.index(record.value)] += 1
    total = sum(ranks.values())
    assert total > 80
    # 99.99% point of chi-square with 3 degrees of freedom.
    assert sum((ranks[place] - total / 4) ** 2 / (total / 4) for place in range(4)) < 21.11, ranks


def test_dates_of_exits_and_counts_are_plausible() -> None:
    for record in asked("atr_stop_exit_date", "atr_stop", 40):
        assert sorted(record.options.values()) == sorted(set(record.options.values()))
    (counted,) = asked("cancelled_orders", "atr_stop")
    assert all(int(text) >= 0 for text in counted.options.values())
    assert asked("margin_rejections", "slippage_cross")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Question]]:
    """Every template that gives a question, of each strategy."""
    return {name: bank(all_templates=True, strategy=name).questions for name in STRATEGIES}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_template_of_the_strategy_is_confirmed_and_its_damage_found(
    strategy: str, built: dict[str, list[Question]], tmp_path: Path
) -> None:
    more = [q for name, needs in ORDERED.items() if strategy in needs for q in asked(name, strategy, 3)]
    made = built[strategy] + more
    assert len({q.type for q in made}) > 44
    for tape in (world(strategy).tape, tape_of(settings())):
        pins.save(tape)
    path = tmp_path / "bank.jsonl"
    path.write_bytes(b"".join(to_line(q) for q in made))
    verdicts = list(check_files([path], text_check=text_problems))
    assert [v.reason for v in verdicts if v.verdict != "match"] == []
    lines, expected = [], []
    for number, record in enumerate(q for q in made if q.type in ORDERED):
        for name, verdict, damaged in mutants(msgspec.to_builtins(record), number):
            lines.append(msgspec.json.encode(damaged))
            expected.append((record.type, name, verdict))
    path.write_bytes(b"\n".join(lines) + b"\n")
    given = check_files([path], text_check=text_problems)
    found = [(*about[:2], verdict.verdict) for about, verdict in zip(expected, given, strict=True)]
    assert len(found) > 8 and found == expected
