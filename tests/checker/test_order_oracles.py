"""Order-mechanics oracles on logs written by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest

from backtrader_bench.backtest.result import Fill, LoggedOrder, Rejection, Result
from backtrader_bench.checker.answers import Answer, Undefined
from backtrader_bench.checker.oracles import ORACLES
from backtrader_bench.checker.oracles.case import Case
from backtrader_bench.checker.oracles.orders import ORDERS
from tests.checker.hand import RESULT, SPEC, case

# Bars 2 to 9 are rows. One bracket closed by its stop, one refused at the open, one by its limit, one open at the end.
BRACKETS = [
    LoggedOrder(1, "main", "buy", 50, 2, "completed", 3, 12.0),
    LoggedOrder(2, "stop", "sell", 50, 2, "completed", 5, 11.0),
    LoggedOrder(3, "limit", "sell", 50, 2, "cancelled", 5),
    LoggedOrder(4, "main", "buy", 50, 5, "margin", 6),
    LoggedOrder(5, "stop", "sell", 50, 5, "cancelled", 6),
    LoggedOrder(6, "limit", "sell", 50, 5, "cancelled", 6),
    LoggedOrder(7, "main", "buy", 40, 6, "completed", 7, 11.0),
    LoggedOrder(8, "stop", "sell", 40, 6, "cancelled", 8),
    LoggedOrder(9, "limit", "sell", 40, 6, "completed", 8, 14.0),
    LoggedOrder(10, "main", "buy", 30, 8, "completed", 9, 13.0),
    LoggedOrder(11, "stop", "sell", 30, 8, "open"),
    LoggedOrder(12, "limit", "sell", 30, 8, "open"),
]


def about(strategy: str, asked: dict[str, Any] | None = None, **changes: Any) -> Case:
    """The hand-made case under another strategy."""
    made = case(asked, **changes)
    return dataclasses.replace(made, spec=msgspec.structs.replace(SPEC, strategy=strategy))


def values(template: str, one: Case) -> Any:
    """The values of the answer's parts, or the reason why there is none."""
    found = ORACLES[template].answer(one)
    return tuple(part.value for part in found.parts) if isinstance(found, Answer) else found.reason


@pytest.mark.parametrize(("n", "expected"), [(1, ("stop", "2020-01-06")), (2, ("limit", "2020-01-09"))])
def test_brackets_are_counted_by_their_filled_buys(n: int, expected: tuple[str, str]) -> None:
    assert values("bracket_exit_kind", about("bracket_breakout", {"n": n}, orders=BRACKETS)) == expected


def test_brackets_without_an_exit_are_undefined() -> None:
    assert "open" in values("bracket_exit_kind", about("bracket_breakout", {"n": 3}, orders=BRACKETS))
    assert "no filled bracket 4" in values("bracket_exit_kind", about("bracket_breakout", {"n": 4}, orders=BRACKETS))


def test_cancelled_and_refused_orders_are_counted_apart() -> None:
    refused = about("bracket_breakout", orders=BRACKETS, rejections=[Rejection(6, "buy", 50)])
    assert values("cancelled_orders", refused) == (4,)
    assert values("margin_rejections", refused) == (1,)


def test_the_level_is_that_after_the_row() -> None:
    template, stops = "stop_trail_level_on_date", [None, 10.0, 11.25, None, None, None, None, None]
    assert values(template, about("trailing_stop", {"date": "2020-01-05"}, stops=stops)) == (11.25,)
    assert "no trailing" in values(template, about("trailing_stop", {"date": "2020-01-06"}, stops=stops))


def test_exits_at_the_atr_stop_are_closed_trades() -> None:
    assert values("atr_stop_exit_date", about("atr_stop", {"n": 2})) == ("2020-01-08",)
    assert "2 positions" in values("atr_stop_exit_date", about("atr_stop", {"n": 3}))


def test_slippage_is_what_fills_were_worse_than_the_open() -> None:
    # Opens are the closes: 12.00 on bar 3, 13.00 on bar 5.
    fills = [Fill(3, "buy", 50, 12.1, 6.0), Fill(5, "sell", 50, 12.95, 6.5)]
    assert values("slippage_cost", about("slippage_cross", fills=fills)) == (pytest.approx(50 * 0.1 + 50 * 0.05),)
    assert values("slippage_cost", about("slippage_cross", fills=[])) == "no order was filled"


@pytest.mark.parametrize("template", ORDERS)
def test_other_strategies_have_no_answer(template: str) -> None:
    asked = {"n": 1, "date": "2020-01-05"}
    found = ORACLES[template].answer(about("macd_crossover", asked))
    assert isinstance(found, Undefined) and "macd_crossover" in found.reason


def test_resting_orders_have_no_delayed_cost() -> None:
    assert isinstance(ORACLES["delayed_fill_cost"].answer(about("atr_stop")), Undefined)


def test_old_results_still_decode_without_orders() -> None:
    old = msgspec.to_builtins(RESULT)
    del old["orders"], old["stops"]
    assert msgspec.convert(old, Result) == RESULT
