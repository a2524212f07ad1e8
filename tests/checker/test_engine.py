"""The second engine: against figures known from elsewhere, against backtrader, and by hand."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.backtest.run import run
from backtrader_bench.checker.engine import simulate
from backtrader_bench.checker.indicators import Closes, crossings, rsi, smoothed
from backtrader_bench.checker.oracles import measures
from backtrader_bench.errors import BacktestError
from backtrader_bench.market.tape import Tape
from tests.checker.worlds import gap, world

ENGINES = pytest.mark.parametrize("engine", [run, simulate], ids=["backtrader", "second"])

# strategy, parameters, rows, first buy (shares, date), maximum drawdown, ROI %, won, lost
KNOWN: list[tuple[str, dict[str, Any], int, tuple[int, str] | None, float, float, int, int]] = [
    ("sma_crossover", {"pfast": 10, "pslow": 30}, 976, (668, "2020-04-16"), 28843.29, 77.68, 8, 7),
    ("rolling_window_mean", {"pfast": 10, "window": 90}, 917, (603, "2020-05-12"), 21216.85, 58.53, 6, 15),
    ("exponential_weighted_moving_average", {"pfast": 5, "pslow": 30},
     977, (584, "2020-02-14"), 25453.23, 84.17, 8, 13),
    ("rsi_strategy", {"rsi_period": 12, "rsi_buy_threshold": 10, "rsi_sell_threshold": 90, "pfast": 12, "pslow": 20},
     987, None, 0.0, 0.0, 0, 0),
    ("macd_crossover", {"pfast": 12, "pslow": 26, "psignal": 9}, 972, (735, "2020-03-27"), 17242.46, 113.17, 16, 17),
]  # fmt: skip


def spec(strategy: str, params: dict[str, Any], **changes: Any) -> BacktestSpec:
    """A configuration with the published account."""
    account = {"initial_cash": 50_000.0, "commission_rate": 0.001, "stake": 1000}
    return BacktestSpec(strategy=strategy, params={"target_percent": 1.0, **params}, **{**account, **changes})


@pytest.mark.shared
@ENGINES
@pytest.mark.parametrize("known", KNOWN, ids=[row[0] for row in KNOWN])
def test_both_engines_give_the_known_figures(engine: Any, known: Any, aapl: Tape) -> None:
    strategy, params, rows, first, drawdown, roi, won, lost = known
    result = engine(aapl, spec(strategy, params))
    assert result.rows == rows
    buys = [(fill.size, aapl.dates[fill.bar]) for fill in result.fills if fill.side == "buy"]
    assert (buys[0] if buys else None) == first
    assert round(measures.max_drawdown(result.value).dollars, 2) == drawdown
    assert round((result.value[-1] / 50_000 - 1) * 100, 2) == roi
    nets = [trade.net for trade in result.trades]
    assert (sum(net > 0 for net in nets), sum(net < 0 for net in nets)) == (won, lost)


@pytest.mark.parametrize("start", range(0, 150, 10))
def test_the_engines_agree_on_random_worlds(start: int) -> None:
    for seed in range(start, start + 10):
        tape, chosen = world(seed, most=400)
        found = gap(run(tape, chosen), simulate(tape, chosen))
        assert found.events, f"world {seed}: {chosen}"
        assert found.largest < 1e-9, f"world {seed}: {chosen}"


def flat_tape(closes: list[float], opens: list[float] | None = None) -> Tape:
    """One bar a day at these closes; opens default to the closes."""
    opens = opens or closes
    days = [f"2020-{1 + n // 28:02}-{1 + n % 28:02}" for n in range(len(closes))]
    bars = [(day, o, max(o, c), min(o, c), c, 100) for day, o, c in zip(days, opens, closes, strict=True)]
    return Tape.checked("HAND", "csv:hand.csv", bars)


QUICK = {"pfast": 1, "window": 3}


@ENGINES
def test_one_round_trip_worked_out_by_hand(engine: Any) -> None:
    closes = [10.0, 10.0, 10.0, 12.0, 12.0, 12.0, 8.0, 8.0]
    opens = [*closes[:6], 9.0, 8.0]
    chosen = spec("rolling_window_mean", QUICK, initial_cash=1000.0, commission_rate=0.01)
    result = engine(flat_tape(closes, opens), chosen)
    # SMA(3) is 10, 10.67, 11.33, 12, 10.67, 9.33 from bar 2 on; at bar 5 the close only equals it.
    assert [(s.bar, s.side) for s in result.signals] == [(3, "buy"), (5, "sell")]
    # int(1000 * 0.95 / 12) = 79 shares; 948.00 and 9.48 commission leave 42.52. 711.00 less 7.11 come back.
    fills = [(f.bar, f.side, f.size, f.price, pytest.approx(f.commission)) for f in result.fills]
    assert fills == [(4, "buy", 79, 12.0, 9.48), (6, "sell", 79, 9.0, 7.11)]
    assert result.cash == pytest.approx([1000, 1000, 42.52, 42.52, 746.41, 746.41])
    assert result.value == pytest.approx([1000, 1000, 990.52, 990.52, 746.41, 746.41])
    assert result.position == [0, 0, 79, 79, 0, 0]
    (trade,) = result.trades
    assert (trade.open_bar, trade.close_bar, trade.size) == (4, 6, 79)
    assert (trade.gross, trade.net, trade.commission) == pytest.approx((-237.0, -253.59, 16.59))


@ENGINES
def test_a_refused_buy_is_tried_again_by_level_rules(engine: Any) -> None:
    # Each open lies 10% above the close before, so 95% of the cash never pays it.
    closes = [10.0, 10.0, 10.0, 11.0, 12.0, 13.0, 14.0]
    opens = [10.0, *(close * 1.1 for close in closes[:-1])]
    result = engine(flat_tape(closes, opens), spec("rolling_window_mean", QUICK, initial_cash=1000.0))
    assert [(s.bar, s.side) for s in result.signals] == [(3, "buy"), (4, "buy"), (5, "buy"), (6, "buy")]
    assert [(r.bar, r.size) for r in result.rejections] == [(4, 86), (5, 79), (6, 73)]
    assert not result.fills and result.value[-1] == 1000.0


@ENGINES
def test_a_crossing_does_not_come_twice(engine: Any) -> None:
    closes = [10.0, 10.0, 9.0, 8.0, 12.0, 13.0, 14.0]
    opens = [10.0, *(close * 1.1 for close in closes[:-1])]
    result = engine(flat_tape(closes, opens), spec("sma_crossover", {"pfast": 1, "pslow": 3}, initial_cash=1000.0))
    assert len(result.signals) == len(result.rejections) == 1


@ENGINES
def test_a_delayed_order_keeps_its_size_and_fills_a_bar_later(engine: Any) -> None:
    closes = [10.0, 10.0, 10.0, 11.0, 11.5, 11.6, 11.7, 9.0, 8.0, 7.0]
    result = engine(flat_tape(closes), spec("rolling_window_mean", QUICK, fill_delay=1, initial_cash=1000.0))
    assert [(s.bar, s.side) for s in result.signals] == [(3, "buy"), (7, "sell")]
    # int(1000 * 0.95 / 11) = 86, from the close of bar 3; sent at bar 4, filled at the open of bar 5.
    assert [(f.bar, f.side, f.size) for f in result.fills] == [(5, "buy", 86), (9, "sell", 86)]


@ENGINES
def test_an_order_on_the_last_bar_is_a_signal_and_no_fill(engine: Any) -> None:
    result = engine(flat_tape([10.0, 10.0, 10.0, 11.0]), spec("rolling_window_mean", QUICK))
    assert [(s.bar, s.side) for s in result.signals] == [(3, "buy")]
    assert not result.fills and not result.rejections


@ENGINES
def test_a_buy_of_no_shares_is_no_signal(engine: Any) -> None:
    closes = [10.0, 10.0, 10.0, 11.0, 12.0]
    result = engine(flat_tape(closes), spec("rolling_window_mean", QUICK, initial_cash=5.0))
    assert not result.signals and not result.rejections


@ENGINES
def test_the_slow_average_may_be_the_shorter(engine: Any) -> None:
    closes = [10.0 + (n * 7 % 5) for n in range(40)]
    assert engine(flat_tape(closes), spec("sma_crossover", {"pfast": 9, "pslow": 4})).first_row == 9


def test_crossings_remember_across_equality() -> None:
    nan = math.nan
    up, down = crossings(np.array([nan, nan, -1.0, 0.0, 1.0, 0.0, 0.0, -2.0, -1.0]))
    assert np.flatnonzero(up).tolist() == [4]
    assert np.flatnonzero(down).tolist() == [7]
    up, _ = crossings(np.array([0.0, 1.0, -1.0, 1.0]))
    assert np.flatnonzero(up).tolist() == [3]


def test_smoothing_starts_from_the_mean() -> None:
    assert smoothed((1.0, 2.0, 3.0, 10.0), 3, 0.5) == [2.0, 6.0]


def test_strength_without_losses_and_without_moves() -> None:
    rising, still = (1.0, 2.0, 3.0, 4.0), (5.0, 5.0, 5.0, 5.0)
    assert rsi(Closes(rising, np.array(rising)), 2)[2:].tolist() == [100.0, 100.0]
    assert rsi(Closes(still, np.array(still)), 2)[2:].tolist() == [50.0, 50.0]


def test_averages_that_nearly_meet_are_summed_without_error() -> None:
    # Tenths whose mean is the middle one: a running or pairwise sum misses it in the last bit now and then.
    tenths = tuple(round(step / 10 + shift, 1) for step in range(1, 200) for shift in (-0.1, 0.1, 0.0))
    closes = Closes(tenths, np.array(tenths))
    found = closes.difference(1, 3)
    exact = [tenths[bar] - math.fsum(tenths[bar - 2 : bar + 1]) / 3 for bar in range(2, len(tenths))]
    meeting = [bar for bar in range(2, len(tenths)) if abs(exact[bar - 2]) < 1e-10]
    assert len(meeting) > 100
    assert [found[bar] for bar in meeting] == [exact[bar - 2] for bar in meeting]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"strategy": "moon"}, "moon"),
        ({"params": {"pfast": 3}}, "missing or unknown"),
        ({"params": {"pfast": 0, "window": 3, "target_percent": 1.0}}, "pfast"),
        ({"params": {"pfast": True, "window": 3, "target_percent": 1.0}}, "pfast"),
        ({"params": {"pfast": 3, "window": 3, "target_percent": math.nan}}, "target_percent"),
        ({"params": {"pfast": 3, "window": 500, "target_percent": 1.0}}, "500 bars"),
        ({"initial_cash": 0.0}, "initial_cash"),
        ({"initial_cash": math.inf}, "initial_cash"),
        ({"commission_rate": 1.5}, "commission_rate"),
        ({"stake": 0}, "stake"),
        ({"stake": 10**400}, "stake"),
        ({"sizing": "half"}, "sizing"),
        ({"fill_delay": -1}, "fill_delay"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(changes: dict[str, Any], word: str) -> None:
    chosen = msgspec.structs.replace(spec("rolling_window_mean", QUICK), **changes)
    with pytest.raises(BacktestError, match=word) as caught:
        simulate(flat_tape([10.0, 11.0, 12.0, 11.0, 10.0]), chosen)
    assert "\n" not in str(caught.value)
