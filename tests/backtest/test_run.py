"""backtrader's runs against the published table (docs of the published bank) and the published row counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.backtest.run import run
from backtrader_bench.backtest.strategies import REGISTRY, strategy_named
from backtrader_bench.errors import BacktestError, UsageError
from backtrader_bench.market import sources
from backtrader_bench.market.tape import Tape
from tests.helpers import context

# strategy: rows, (shares, date, close) of the first buy, maximum drawdown, ROI %, won, lost
PUBLISHED = {
    "sma_crossover": (976, (668, "2020-04-16", 71.67), 28843.29, 77.68, 8, 7),
    "rolling_window_mean": (917, (603, "2020-05-12", None), 21216.85, 58.53, 6, 15),
    "exponential_weighted_moving_average": (977, (584, "2020-02-14", None), 25453.23, 84.17, 8, 13),
    "rsi_strategy": (987, None, 0.0, 0.0, 0, 0),
    "macd_crossover": (972, (735, "2020-03-27", None), 17242.46, 113.17, 16, 17),
}


def default_spec(name: str, **changes: object) -> BacktestSpec:
    fields = {"initial_cash": 50_000.0, "commission_rate": 0.001, "stake": 1000, **changes}
    return BacktestSpec(strategy=name, params=REGISTRY[name].defaults, **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def apple(shared: Path) -> Tape:
    return sources.load(f"csv:{shared / 'data' / 'AAPL.csv'}", "AAPL", "2020-01-01", "2024-01-01")


@pytest.mark.shared
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_table(apple: Tape, name: str) -> None:
    rows, first, drawdown, roi, won, lost = PUBLISHED[name]
    result = run(apple, default_spec(name))
    peak = deepest = 0.0
    for value in result.value:
        peak = max(peak, value)
        deepest = max(deepest, peak - value)
    assert result.rows == rows
    assert round(deepest, 2) == drawdown
    assert round((result.value[-1] - 50_000) / 500, 2) == roi
    assert (sum(t.net > 0 for t in result.trades), sum(t.net < 0 for t in result.trades)) == (won, lost)
    if first is None:
        assert result.fills == []
    else:
        fill = result.fills[0]
        assert (fill.size, apple.dates[fill.bar]) == first[:2]
        assert first[2] in (None, round(apple.close[fill.bar], 2))


def test_registry_knows_the_first_row() -> None:
    """The warm-up that error messages and stems state is the one that backtrader has."""
    of = context()
    odd = {"pfast": 40, "pslow": 7}
    for name, entry in REGISTRY.items():
        for given in ({}, odd if name != "rolling_window_mean" else {"pfast": 40, "window": 7}):
            spec = default_spec(name)
            spec = BacktestSpec(strategy=name, params=entry.complete(given), initial_cash=spec.initial_cash,
                                commission_rate=0.0, stake=10)  # fmt: skip
            assert run(of.tape, spec).first_row == entry.first_row(spec.params), (name, given)


def test_fill_delay_moves_fills_one_bar() -> None:
    of = context(strategy="sma_crossover")
    base, late = of.result, of.delayed()
    assert late.fills[0].bar == base.fills[0].bar + 1
    assert late.fills[0].price == of.tape.open[late.fills[0].bar]
    assert late.fills[0].size == base.fills[0].size


def test_fixed_sizing_buys_the_stake_or_nothing() -> None:
    of = context(sizing="fixed", stake=7)
    assert {fill.size for fill in of.result.fills} == {7}
    broke = context(sizing="fixed", stake=10**8)
    assert broke.result.fills == []
    assert {r.size for r in broke.result.rejections} == {10**8}
    assert len(broke.result.signals) == len(broke.result.rejections)


def test_too_few_bars_is_an_error_not_an_empty_result() -> None:
    of = context()
    short = of.tape.window(of.tape.dates[0], of.tape.dates[30])
    with pytest.raises(BacktestError, match="needs at least 31"):
        run(short, default_spec("sma_crossover"))
    assert run(of.tape.window(None, of.tape.dates[31]), default_spec("sma_crossover")).rows == 1


def test_parameters_are_checked() -> None:
    entry = strategy_named("rolling_window_mean")
    assert entry.complete({"pslow": 60}) == {"pfast": 10, "window": 60, "target_percent": 1.0}
    for bad in ({"window": 0}, {"window": 2.5}, {"window": True}, {"window": "90"}, {"wndow": 90}, {"pfast": 10**9},
                {"target_percent": float("nan")}, {"target_percent": 1.5}):  # fmt: skip
        with pytest.raises(UsageError):
            entry.complete(bad)


def test_cache_runs_once_and_survives_damage(tmp_path: Path) -> None:
    of = context()
    first = Backtests(run, "t", tmp_path)
    result = first.run(of.tape, of.spec)
    assert first.run(of.tape, of.spec) is result and first.runs == 1
    second = Backtests(run, "t", tmp_path)
    assert second.run(of.tape, of.spec) == result and second.runs == 0
    (entry,) = tmp_path.rglob("*.msgpack")
    entry.write_bytes(entry.read_bytes().replace(b"buy", b"bux", 1))
    third = Backtests(run, "t", tmp_path)
    assert third.run(of.tape, of.spec) == result and third.runs == 1


def test_cache_keeps_configurations_and_tapes_apart(tmp_path: Path) -> None:
    of, other = context(), context(data="synthetic:hard:12")
    runs = Backtests(run, "t", tmp_path)
    specs = [of.spec, default_spec("sma_crossover", commission_rate=0.0), default_spec("sma_crossover", fill_delay=1)]
    found = [runs.run(tape, spec).value[-1] for tape in (of.tape, other.tape) for spec in specs]
    assert len(set(found)) == 6
