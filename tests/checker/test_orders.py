"""The checker's broker: against recorded scenarios, against backtrader on random worlds, and at its edges."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backtrader_bench.backtest.result import BacktestSpec, Result
from backtrader_bench.backtest.run import run
from backtrader_bench.backtest.strategies import REGISTRY
from backtrader_bench.checker.agreement import apart
from backtrader_bench.checker.engine import STRATEGIES, simulate
from backtrader_bench.errors import BacktestError
from backtrader_bench.market.tape import Tape
from tests.checker.order_worlds import NAMES, events, world
from tests.checker.scenarios import differences, play, skipped
from tests.checker.worlds import gap

SCENARIOS = [json.loads(line) for line in (Path(__file__).parents[1] / "data" / "orders.jsonl").open()]
OURS = {"bracket_exit", "stop_trail", "atr_stop", "slippage", "margin", "cancel_replace", "sizing", "last_bar"}
ENGINES = pytest.mark.parametrize("engine", [run, simulate], ids=["backtrader", "second"])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one['kind']}-{one['name']}")
def test_a_recorded_scenario_comes_out_as_recorded(scenario: dict[str, Any]) -> None:
    if reason := skipped(scenario):
        pytest.skip(f"no strategy here can meet {reason}")
    assert differences(scenario, play(scenario)) == {}


def test_few_scenarios_of_our_kinds_are_skipped() -> None:
    left_out = {one["id"]: skipped(one) for one in SCENARIOS if one["kind"] in OURS and skipped(one)}
    assert left_out == {"d013": "fills limited by volume", "d014": "a bracket sent in pieces"}
    assert sum(not skipped(one) for one in SCENARIOS) == 44


@pytest.mark.parametrize("name", NAMES)
def test_the_engines_agree_on_every_order_of_random_worlds(name: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        tape, spec = world(seed, most=300, strategy=name)
        theirs, ours = run(tape, spec), simulate(tape, spec)
        found = gap(theirs, ours)
        assert found.events and apart(theirs, ours) == "", f"world {seed}: {spec}"
        assert found.largest < 1e-9, f"world {seed}: {spec}"
        assert theirs.rows == len(theirs.stops) == len(ours.stops)
        seen += events(tape, spec, ours)
    assert not {"main completed", *WANTED[name]} - set(seen), seen


WANTED = {
    "bracket_breakout": {
        "stop completed", "limit completed", "stop through a gap", "limit through a gap", "both children in one bar",
        "sibling cancelled", "bracket refused at submission", "bracket refused at execution", "main open", "stop open",
    },
    "trailing_stop": {"trail completed", "trail cancelled", "trail through a gap", "stop moved up", "close completed"},
    "atr_stop": {"stop completed", "stop cancelled", "stop through a gap", "stop moved up", "main margin"},
    "slippage_cross": {"slippage in full", "slippage stopped by the bar", "close completed", "main margin"},
}  # fmt: skip


def bars(*rows: tuple[float, float, float, float]) -> Tape:
    """A tape of these opens, highs, lows and closes."""
    days = [f"2020-{1 + n // 28:02}-{1 + n % 28:02}" for n in range(len(rows))]
    return Tape.checked("HAND", "csv:hand.csv", [(day, *row, 100) for day, row in zip(days, rows, strict=True)])


def spec(strategy: str, **params: float) -> BacktestSpec:
    """A configuration with quick averages, 1,000 dollars and no commission."""
    given = REGISTRY[strategy].defaults | {"pfast": 1, "pslow": 2} | params
    return BacktestSpec(strategy=strategy, params=given, initial_cash=1000.0, commission_rate=0.0, stake=10)


def log(result: Result) -> list[tuple[Any, ...]]:
    return [(o.role, o.status, o.bar, o.price) for o in result.orders]


FLAT = (10.0, 10.0, 10.0, 10.0)
UP = (10.0, 11.0, 10.0, 11.0)


@ENGINES
def test_a_bracket_by_hand_the_stop_wins_a_bar_that_holds_both(engine: Any) -> None:
    # Decided at 11.00: stop 9.90, limit 12.10. The entry's own bar holds both and closes neither; the next does.
    tape = bars(FLAT, FLAT, UP, (11.0, 13.0, 9.0, 11.0), (12.5, 13.0, 9.5, 12.0), FLAT)
    result = engine(tape, spec("bracket_breakout", lookback=1, stop_percent=0.1, limit_percent=0.1))
    stop = pytest.approx(9.9)
    assert log(result)[:3] == [
        ("main", "completed", 3, 11.0), ("stop", "completed", 4, stop), ("limit", "cancelled", 4, None)
    ]  # fmt: skip
    assert result.stops == [None, None, stop, None, None]
    assert [(t.open_bar, t.close_bar) for t in result.trades] == [(3, 4)]


@ENGINES
def test_gaps_fill_at_the_open(engine: Any) -> None:
    given = spec("bracket_breakout", lookback=1, stop_percent=0.1, limit_percent=0.1)
    rise = engine(bars(FLAT, FLAT, UP, (11.0, 11.0, 11.0, 11.0), (13.0, 13.5, 12.8, 13.0)), given)
    assert log(rise)[1:3] == [("stop", "cancelled", 4, None), ("limit", "completed", 4, 13.0)]
    fall = engine(bars(FLAT, FLAT, UP, (11.0, 11.0, 11.0, 11.0), (8.0, 8.5, 7.0, 8.0)), given)
    assert log(fall)[1:3] == [("stop", "completed", 4, 8.0), ("limit", "cancelled", 4, None)]


@ENGINES
def test_refused_brackets_take_their_children_along(engine: Any) -> None:
    given = spec("bracket_breakout", lookback=1)
    dear = msgspec.structs.replace(given, sizing="fixed", stake=95)
    at_close = engine(bars(FLAT, FLAT, UP, UP), dear)
    assert [row[1:3] for row in log(at_close)] == [("margin", 3), ("rejected", 3), ("rejected", 3)]
    less = msgspec.structs.replace(given, sizing="fixed", stake=90)
    at_open = engine(bars(FLAT, FLAT, UP, (11.5, 12.0, 11.0, 11.0)), less)
    assert [row[1:3] for row in log(at_open)] == [("margin", 3), ("cancelled", 3), ("cancelled", 3)]
    assert len(at_open.rejections) == 1


@ENGINES
def test_a_trail_follows_closes_only_and_is_held_against_the_level_before(engine: Any) -> None:
    level = (11.0, 20.0, 11.0, 20.0)
    tape = bars(FLAT, (10.0, 10.0, 9.0, 9.0), UP, level, (20.0, 30.0, 20.0, 22.0), (22.0, 22.0, 18.5, 21.9),
                (21.9, 30.0, 19.8, 29.0), FLAT)  # fmt: skip
    result = engine(tape, spec("trailing_stop", pslow=2, trail_percent=0.1))
    # 20 - 2 on the entry's close; 22 - 2.2 a bar later, which bar 5's low of 18.50 hits.
    assert [stop and round(stop, 9) for stop in result.stops[:4]] == [None, 18.0, 19.8, None]
    assert ("trail", "completed", 5, pytest.approx(19.8)) in log(result)


@ENGINES
def test_a_sale_takes_the_trail_back_and_none_is_sent_on_its_close(engine: Any) -> None:
    tape = bars(FLAT, (10.0, 10.0, 9.0, 9.0), UP, (11.0, 11.0, 8.5, 9.0), FLAT, (10.0, 12.0, 10.0, 12.0),
                (12.0, 12.0, 11.9, 12.0), (12.0, 12.0, 11.0, 11.0), FLAT)  # fmt: skip
    result = engine(tape, spec("trailing_stop", trail_percent=0.5))
    # Bar 3 is entry and sell crossing at once: no trail. The one sent on bar 5 is cancelled where bar 7 crosses down.
    assert [row[:3] for row in log(result)] == [
        ("main", "completed", 3), ("close", "completed", 4), ("main", "completed", 5), ("trail", "cancelled", 7),
        ("close", "completed", 8),
    ]  # fmt: skip


@ENGINES
def test_an_atr_stop_is_replaced_upwards_only(engine: Any) -> None:
    tape = bars(FLAT, (10.0, 10.0, 9.0, 9.0), UP, (11.0, 12.0, 11.0, 12.0), (12.0, 13.0, 12.0, 13.0),
                (13.0, 13.0, 12.5, 12.5), (12.5, 12.5, 11.0, 11.0))  # fmt: skip
    result = engine(tape, spec("atr_stop", atr_period=1, atr_multiplier=1.0))
    # True ranges of bars 3 to 5 are 1.00, 1.00 and 0.50: 12 - 1, 13 - 1, 12.5 - 0.5, which is not higher than 12.
    assert log(result) == [
        ("main", "completed", 3, 11.0), ("stop", "cancelled", 4, None), ("stop", "completed", 6, 12.0)
    ]  # fmt: skip
    assert result.stops == [None, 11.0, 12.0, 12.0, None]


@ENGINES
def test_slippage_stops_at_the_bar(engine: Any) -> None:
    tape = bars(FLAT, (10.0, 10.0, 9.0, 9.0), UP, (11.0, 11.05, 11.0, 11.0), (11.0, 11.0, 10.0, 10.0),
                (10.0, 10.5, 8.0, 9.0))  # fmt: skip
    result = engine(tape, spec("slippage_cross", slip_percent=0.01))
    assert [(fill.bar, fill.price) for fill in result.fills] == [(3, 11.05), (5, pytest.approx(9.9))]


@ENGINES
@pytest.mark.parametrize("strategy", ["bracket_breakout", "trailing_stop", "atr_stop"])
def test_resting_orders_are_not_delayed(engine: Any, strategy: str) -> None:
    late = msgspec.structs.replace(spec(strategy), fill_delay=1)
    with pytest.raises(BacktestError, match="fill_delay"):
        engine(bars(*[FLAT] * 60), late)


@pytest.mark.parametrize(
    ("strategy", "name", "value"),
    [
        ("bracket_breakout", "stop_percent", 1.0),
        ("bracket_breakout", "limit_percent", 0.0),
        ("atr_stop", "atr_period", 0),
        ("atr_stop", "atr_multiplier", 0),
        ("trailing_stop", "trail_percent", -0.1),
        ("slippage_cross", "slip_percent", 2),
    ],
)
def test_prices_that_make_no_order_are_refused_in_one_line(strategy: str, name: str, value: float) -> None:
    with pytest.raises(BacktestError, match=name) as caught:
        simulate(bars(*[FLAT] * 60), spec(strategy, **{name: value}))
    assert "\n" not in str(caught.value)


def test_both_sides_know_the_same_strategies() -> None:
    assert set(STRATEGIES) == set(REGISTRY)
    for name, entry in REGISTRY.items():
        assert STRATEGIES[name].delays is not entry.resting
        assert {*STRATEGIES[name].periods, *STRATEGIES[name].levels} == set(entry.defaults)


def test_the_checker_tells_orders_and_levelsapart() -> None:
    tape, chosen = world(3, strategy="atr_stop")
    good = simulate(tape, chosen)
    place = next(n for n, level in enumerate(good.stops) if level is not None)
    moved = [level + 0.01 if n == place and level else level for n, level in enumerate(good.stops)]
    later = [msgspec.structs.replace(order, bar=(order.bar or 0) + 1) for order in good.orders]
    assert apart(good, good) == ""
    assert "stop levels" in apart(good, msgspec.structs.replace(good, stops=moved))
    assert "orders differ from order 1" in apart(good, msgspec.structs.replace(good, orders=later))
    assert "orders differ" in apart(good, msgspec.structs.replace(good, orders=later[1:]))
