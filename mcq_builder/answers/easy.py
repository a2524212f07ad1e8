"""Answers of the easy templates, see docs/templates.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.mcq_builder.context import Answer, Context


def first_close(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": of.tape.close[0]}


def last_close(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": of.tape.close[-1]}


def high_on_date(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": of.tape.high[of.tape.dates.index(params["date"])]}


def volume(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": of.tape.volume[of.tape.dates.index(params["date"])]}


def broker_cash(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": of.result.cash[of.row_of[params["date"]]]}


def portfolio_value(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": of.result.value[of.row_of[params["date"]]]}


def sma(of: Context, params: Mapping[str, Any]) -> Answer:
    column = of.result.fast if params["which"] == "fast" else of.result.slow
    return {"value": column[of.row_of[params["date"]]]}


def max_shares(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": int(of.spec.initial_cash / (of.tape.close[0] * (1 + of.spec.commission_rate)))}


def position_on_date(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": of.result.position[of.row_of[params["date"]]]}


def crossovers(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": len(of.result.signals)}


def buy_sell_signals(of: Context, params: Mapping[str, Any]) -> Answer:
    buys = sum(1 for signal in of.result.signals if signal.side == "buy")
    return {"buys": buys, "sells": len(of.result.signals) - buys}


def signal_state(of: Context, row: int) -> str:
    """Word for a row: moving averages and position."""
    above = "above" if of.result.fast[row] > of.result.slow[row] else "below"
    return f"{above}_{'long' if of.result.position[row] else 'flat'}"


def signal_state_on_date(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": signal_state(of, of.row_of[params["date"]])}
