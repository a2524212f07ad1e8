"""Answers of the medium templates, see docs/templates.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.answers.measures import closed_trades, longest_run, mean, net, rows_inside
from backtrader_bench.mcq_builder.context import Skip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.backtest.result import Trade
    from backtrader_bench.mcq_builder.context import Answer, Context


def first_buy(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    fill = of.result.fills[0]
    return {"shares": fill.size, "close": of.tape.close[fill.bar], "date": of.tape.dates[fill.bar]}


def trade_outcomes(of: Context, params: Mapping[str, Any]) -> Answer:
    trades = closed_trades(of.result)
    return {"won": sum(1 for t in trades if t.net > 0), "lost": sum(1 for t in trades if t.net < 0)}


def net_pnl(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    return {"value": net(of.result, of.spec.initial_cash)}


def commission(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    return {"total": math.fsum(f.commission for f in of.result.fills), "orders": len(of.result.fills)}


def total_shares_traded(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    bought = sum(f.size for f in of.result.fills if f.side == "buy")
    sold = sum(f.size for f in of.result.fills if f.side == "sell")
    return {"bought": bought, "sold": sold, "total": bought + sold}


def days_in_position(of: Context, params: Mapping[str, Any]) -> Answer:
    inside = rows_inside(of.result)
    return {"inside": inside, "outside": of.result.rows - inside, "total": of.result.rows}


def peak_portfolio_date(of: Context, params: Mapping[str, Any]) -> Answer:
    highest = max(of.result.value)
    if sum(1 for value in of.result.value if value > highest - 0.01) > 1:
        raise Skip("two rows share the highest portfolio value")
    return {"date": of.day(of.result.value.index(highest)), "value": highest}


def _only(trade: Trade, of: Context) -> Answer:
    """Date and P/L of a trade, unless another's P/L is the same to the cent."""
    if sum(1 for other in of.result.trades if abs(other.net - trade.net) < 0.01) > 1:
        raise Skip("two trades have the same net P/L")
    return {"date": of.tape.dates[trade.close_bar], "pnl": trade.net}


def best_trade_day(of: Context, params: Mapping[str, Any]) -> Answer:
    return _only(max(closed_trades(of.result), key=lambda trade: trade.net), of)


def largest_loss_trade(of: Context, params: Mapping[str, Any]) -> Answer:
    worst = min(closed_trades(of.result), key=lambda trade: trade.net)
    if worst.net >= 0:
        raise Skip("no losing trade")
    return _only(worst, of)


def action(of: Context, row: int) -> str:
    """Word for a row: what was filled on its bar."""
    for fill in of.result.fills:
        if fill.bar == of.bar(row):
            return fill.side
    return "hold" if of.result.position[row] else "flat"


def strategy_action_on_date(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": action(of, of.row_of[params["date"]])}


def nth_trade_pnl(of: Context, params: Mapping[str, Any]) -> Answer:
    trades = closed_trades(of.result)
    if len(trades) < params["n"]:
        raise Skip("fewer closed trades than that")
    return {"value": trades[params["n"] - 1].net}


def cash_after_nth_order(of: Context, params: Mapping[str, Any]) -> Answer:
    if len(of.result.fills) < params["n"]:
        raise Skip("fewer filled orders than that")
    return {"value": of.result.cash[of.result.fills[params["n"] - 1].bar - of.result.first_row]}


def longest_holding(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": max(trade.close_bar - trade.open_bar for trade in closed_trades(of.result))}


def idle_longest_stretch(of: Context, params: Mapping[str, Any]) -> Answer:
    longest = longest_run([not size for size in of.result.position])
    if not longest:
        raise Skip("a position was held on every row")
    return {"value": longest}


def commission_share_of_gross(of: Context, params: Mapping[str, Any]) -> Answer:
    trades = closed_trades(of.result)
    gross = math.fsum(trade.gross for trade in trades)
    if gross <= 0:
        raise Skip("no gross profit")
    return {"value": math.fsum(trade.commission for trade in trades) / gross * 100}


def price_paid_vs_signal_close(of: Context, params: Mapping[str, Any]) -> Answer:
    buys = [fill for fill in of.result.fills if fill.side == "buy"]
    if not buys:
        raise Skip("no filled order")
    return {"value": math.fsum(fill.price - of.tape.close[fill.bar - 1] for fill in buys)}


def turnover(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    traded = math.fsum(fill.size * fill.price for fill in of.result.fills)
    return {"value": traded / mean(of.result.value)}
