"""Answers of the order-mechanics templates, see docs/templates.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.context import Skip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.backtest.result import LoggedOrder, Result
    from backtrader_bench.mcq_builder.context import Answer, Context


def filled_exits(result: Result) -> list[LoggedOrder]:
    """Stops, trails and limits that were filled, in order of time: one position at a time, so one an exit."""
    resting = ("stop", "limit", "trail")
    return [order for order in result.orders if order.role in resting and order.status == "completed"]


def _exit(of: Context, n: int) -> LoggedOrder:
    exits = filled_exits(of.result)
    if len(exits) < n:
        raise Skip("fewer exits by resting orders than that")
    return exits[n - 1]


def _count(of: Context, status: str) -> int:
    return sum(1 for order in of.result.orders if order.status == status)


def bracket_exit_kind(of: Context, params: Mapping[str, Any]) -> Answer:
    closing = _exit(of, params["n"])
    assert closing.bar is not None
    return {"kind": closing.role, "date": of.tape.dates[closing.bar]}


def stop_trail_level_on_date(of: Context, params: Mapping[str, Any]) -> Answer:
    level = of.result.stops[of.row_of[params["date"]]]
    if level is None:
        raise Skip("no trailing stop stands on that date")
    return {"value": level}


def cancelled_orders(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": _count(of, "cancelled")}


def margin_rejections(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": _count(of, "margin")}


def atr_stop_exit_date(of: Context, params: Mapping[str, Any]) -> Answer:
    closing = _exit(of, params["n"])
    assert closing.bar is not None
    return {"value": of.tape.dates[closing.bar]}


def slippage_cost(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    return {"value": math.fsum(fill.size * abs(fill.price - of.tape.open[fill.bar]) for fill in of.result.fills)}
