"""Made bars: the same everywhere, within bounds, and as wild as their regime says."""

from __future__ import annotations

import ast
import inspect
import itertools
import statistics
from datetime import date

import pytest

from backtrader_bench.errors import DataError, UsageError
from backtrader_bench.market import synthetic as module
from backtrader_bench.market.synthetic import REGIMES, synthetic
from backtrader_bench.market.tape import bar_problem

# Recorded hashes: a change of any breaks every record that rests on synthetic data.
HASHES = {
    ("SYNA", "calm", 0, None, None): "698a5498030eec07f4556140d02dc204d2ca48b8cb81ce6124fae2a7291b5adb",
    ("SYNA", "hard", 7, None, None): "985683cff75ca5810097796a9ab094222e84beae809279be553db8020b5e1dff",
    ("SYNA", "extreme", 42, None, None): "fad0a0eb311196a3645a0d4115fd4a7e06010ac085c86f1904bd7593bc935ba3",
    (
        "SYN.B",
        "hard",
        2**63 - 1,
        "2001-02-03",
        "2003-01-01",
    ): "01377812f706a813b47fffb2f77d1eccf36d6678e3b9e953c87047fc455354a9",
}


@pytest.mark.parametrize(("arguments", "sha256"), HASHES.items())
def test_same_bytes_everywhere(arguments: tuple[str, str, int, str | None, str | None], sha256: str) -> None:
    assert synthetic(*arguments).sha256 == sha256


def test_no_function_that_differs_between_c_libraries() -> None:
    names = {node.attr for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Attribute)}
    assert not names & {"exp", "log", "log1p", "expm1", "pow", "sin", "cos", "normal", "standard_normal", "randn"}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("seed", range(5))
def test_rules_of_tapes(regime: str, seed: int) -> None:
    tape = synthetic("SYNX", regime, seed)
    bars = list(zip(tape.dates, tape.open, tape.high, tape.low, tape.close, tape.volume, strict=True))
    assert not [bar for bar in bars if bar_problem(bar)]
    assert min(tape.low) >= 1.0
    assert max(tape.high) < 15_000
    assert all(price == round(price, 2) for bar in bars for price in bar[1:5])
    assert all(date.fromisoformat(day).weekday() < 5 for day in tape.dates)
    assert tape.dates[0] == "2016-01-04"
    assert tape.dates[-1] == "2019-12-31"
    lots = [volume for volume in tape.volume if volume % 100 == 0]
    assert 0.6 * len(tape) < len(lots) < 0.95 * len(tape)


def test_wildness_rises_with_the_regime() -> None:
    def spread(regime: str) -> float:
        return statistics.median(_deviation(synthetic("SYNX", regime, seed).close) for seed in range(5))

    assert spread("calm") < 0.012 < spread("hard") < 0.03 < spread("extreme")


def test_extreme_volatility_rises() -> None:
    halves = []
    for seed in range(8):
        close = synthetic("SYNX", "extreme", seed).close
        halves.append(_deviation(close[len(close) // 2 :]) / _deviation(close[: len(close) // 2]))
    assert statistics.median(halves) > 1.2


def test_bars_depend_on_symbol_regime_seed_and_start_but_not_on_end() -> None:
    base = synthetic("SYNX", "hard", 1, "2017-01-02", "2018-01-01")
    longer = synthetic("SYNX", "hard", 1, "2017-01-02", "2019-01-01")
    assert longer.window(None, "2018-01-01").sha256 == base.sha256
    # New Year's Day 2017 is a Sunday, so the first bar is the same.
    assert synthetic("SYNX", "hard", 1, "2017-01-01", "2018-01-01").sha256 == base.sha256
    others = [
        synthetic("SYNY", "hard", 1, "2017-01-02", "2018-01-01"),
        synthetic("SYNX", "calm", 1, "2017-01-02", "2018-01-01"),
        synthetic("SYNX", "hard", 2, "2017-01-02", "2018-01-01"),
        synthetic("SYNX", "hard", 1, "2017-01-03", "2018-01-01"),
    ]
    assert len({base.close[5:20], *(tape.close[5:20] for tape in others)}) == 5


def test_a_century_stays_in_bounds() -> None:
    tape = synthetic("SYNX", "extreme", 3, "1920-01-01", "2020-01-01")
    assert len(tape) > 26_000
    assert min(tape.low) >= 1.0
    assert max(tape.high) < 15_000


@pytest.mark.parametrize(
    ("start", "end", "first"),
    [(None, "2010-01-01", "2006-01-02"), ("2022-01-01", None, "2022-01-03"), ("2018-01-01", None, "2018-01-01")],
)
def test_half_open_windows(start: str | None, end: str | None, first: str) -> None:
    assert synthetic("SYNX", "calm", 0, start, end).dates[0] == first


def test_refusals() -> None:
    with pytest.raises(UsageError, match="calm, hard, extreme"):
        synthetic("SYNX", "wild", 0)
    with pytest.raises(UsageError, match="out of range"):
        synthetic("SYNX", "calm", -1)
    with pytest.raises(DataError, match="no business day"):
        synthetic("SYNX", "calm", 0, "2017-01-07", "2017-01-09")
    with pytest.raises(UsageError, match="at most"):
        synthetic("SYNX", "calm", 0, "0001-01-01", "9999-01-01")


def _deviation(closes: tuple[float, ...]) -> float:
    return statistics.stdev(b / a - 1 for a, b in itertools.pairwise(closes))
