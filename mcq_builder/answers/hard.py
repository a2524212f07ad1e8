"""Answers of the hard templates, see docs/templates.md."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.answers.measures import (
    annualised_percent,
    closed_trades,
    longest_run,
    mean,
    net,
    returns,
    rows_inside,
    sharpe,
    spread,
)
from backtrader_bench.mcq_builder.answers.measures import max_drawdown as deepest
from backtrader_bench.mcq_builder.context import Skip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.backtest.result import Result
    from backtrader_bench.mcq_builder.context import Answer, Context


def max_drawdown(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": deepest(of.result).dollars}


def roi_percentage(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    return {"value": net(of.result, of.spec.initial_cash) / of.spec.initial_cash * 100}


def win_rate(of: Context, params: Mapping[str, Any]) -> Answer:
    trades = closed_trades(of.result)
    won = sum(1 for trade in trades if trade.net > 0)
    lost = sum(1 for trade in trades if trade.net < 0)
    if not won + lost:
        raise Skip("no trade with a net profit or loss")
    return {"value": won / (won + lost) * 100}


def profit_factor(of: Context, params: Mapping[str, Any]) -> Answer:
    trades = closed_trades(of.result)
    losses = -math.fsum(trade.net for trade in trades if trade.net < 0)
    gains = math.fsum(trade.net for trade in trades if trade.net > 0)
    if losses <= 0 or gains <= 0:
        raise Skip("no winning or no losing trade")
    return {"value": gains / losses}


def annualized_return(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    return {"value": annualised_percent(of.result, of.spec.initial_cash, of.periods_per_year)}


def avg_holding_period(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": rows_inside(of.result) / len(closed_trades(of.result))}


def golden_cross_count(of: Context, params: Mapping[str, Any]) -> Answer:
    gaps = [fast - slow for fast, slow in zip(of.result.fast, of.result.slow, strict=True)]
    first, last = max(1, of.row_of[params["from"]]), of.row_of[params["to"]]
    return {"value": sum(1 for row in range(first, last + 1) if gaps[row - 1] <= 0 < gaps[row])}


def max_drawdown_window(of: Context, params: Mapping[str, Any]) -> Answer:
    found = deepest(of.result)
    values = of.result.value
    sizes = [peak - value for peak, value in zip(accumulate(values, max), values, strict=True)]
    if any(found.dollars - 0.01 < size < found.dollars for size in sizes):
        raise Skip("two rows within a cent of the maximum drawdown")
    return {"peak": of.day(found.peak), "trough": of.day(found.trough),
            "dollars": found.dollars, "percent": found.percent}  # fmt: skip


def drawdown_recovery_days(of: Context, params: Mapping[str, Any]) -> Answer:
    max_drawdown_window(of, params)
    found = deepest(of.result)
    peak = of.result.value[found.peak]
    for row in range(found.trough + 1, of.result.rows):
        if abs(of.result.value[row] - peak) < 1e-6:
            raise Skip("recovered to within a rounding error of the peak")
        if of.result.value[row] >= peak:
            return {"days": row - found.trough, "date": of.day(row)}
    raise Skip("not recovered")


def calmar_ratio(of: Context, params: Mapping[str, Any]) -> Answer:
    annualised = annualised_percent(of.result, of.spec.initial_cash, of.periods_per_year)
    return {"value": annualised / deepest(of.result).percent}


def exposure_adjusted_return(of: Context, params: Mapping[str, Any]) -> Answer:
    inside = rows_inside(of.result)
    if not inside:
        raise Skip("no position on any row")
    roi = net(of.result, of.spec.initial_cash) / of.spec.initial_cash * 100
    return {"value": roi / (inside / of.result.rows * 100)}


def sma_comparison(of: Context, params: Mapping[str, Any]) -> Answer:
    base = net(of.result, of.spec.initial_cash)
    other = net(of.with_set(params["alternative"]), of.spec.initial_cash)
    if abs(base - other) < max(0.02, 0.01 * max(abs(base), abs(other))):
        raise Skip("two parameter sets end equal")
    better = of.base_set() if base > other else dict(params["alternative"])
    return {"params": better, "pnl": max(base, other)}


def _buy_signals(result: Result) -> int:
    return sum(1 for signal in result.signals if signal.side == "buy")


def signal_diff(of: Context, params: Mapping[str, Any]) -> Answer:
    first, second = _buy_signals(of.result), _buy_signals(of.with_set(params["alternative"]))
    return {"first": first, "second": second, "difference": abs(first - second)}


def sharpe_ratio(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": sharpe(of.result, of.periods_per_year)}


def sortino_ratio(of: Context, params: Mapping[str, Any]) -> Answer:
    changes = returns(of.result)
    downside = math.sqrt(math.fsum(min(change, 0.0) ** 2 for change in changes) / len(changes))
    if downside <= 0:
        raise Skip("no negative return")
    return {"value": mean(changes) / downside * math.sqrt(of.periods_per_year)}


def annualized_volatility(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": spread(returns(of.result)) * math.sqrt(of.periods_per_year) * 100}


def longest_losing_streak(of: Context, params: Mapping[str, Any]) -> Answer:
    return {"value": longest_run([trade.net < 0 for trade in closed_trades(of.result)])}


def excess_over_buy_and_hold(of: Context, params: Mapping[str, Any]) -> Answer:
    roi = net(of.result, of.spec.initial_cash) / of.spec.initial_cash * 100
    closes = of.tape.close
    return {"value": roi - (closes[-1] / closes[of.result.first_row] - 1) * 100}


def time_under_water(of: Context, params: Mapping[str, Any]) -> Answer:
    peaks = list(accumulate(of.result.value, max))
    gaps = [peak - value for peak, value in zip(peaks, of.result.value[1:], strict=False)]
    if any(0 < abs(gap) < 1e-6 for gap in gaps):
        raise Skip("a row within a rounding error of the highest value")
    return {"value": sum(1 for gap in gaps if gap > 0)}


def best_parameter_set(of: Context, params: Mapping[str, Any]) -> Answer:
    scores = [_score(of, of.with_set(one), params["metric"]) for one in params["sets"]]
    best, second = sorted(scores, reverse=True)[:2]
    if best - second < max(0.005, 0.01 * abs(best)):
        raise Skip("two parameter sets end equal")
    return {"value": dict(params["sets"][scores.index(best)])}


def _score(of: Context, result: Result, metric: str) -> float:
    """The higher, the better."""
    if metric == "net_pnl":
        return net(result, of.spec.initial_cash)
    return -deepest(result).dollars if metric == "max_drawdown" else sharpe(result, of.periods_per_year)


def commission_breakeven(of: Context, params: Mapping[str, Any]) -> Answer:
    nets = [net(of.with_commission(rate), of.spec.initial_cash) for rate in params["rates"]]
    if any(abs(amount) < 0.01 for amount in nets):
        raise Skip("a result within a cent of zero")
    for rate, amount in zip(params["rates"], nets, strict=True):
        if amount < 0:
            return {"value": rate}
    raise Skip("none of the rates turns the result negative")


def delayed_fill_cost(of: Context, params: Mapping[str, Any]) -> Answer:
    if not of.result.fills:
        raise Skip("no filled order")
    delayed = of.delayed()
    return {"value": of.result.value[-1] - delayed.value[-1]}


def worst_rolling_window(of: Context, params: Mapping[str, Any]) -> Answer:
    values, span = of.result.value, params["rows"]
    if len(values) <= span or min(values) <= 0:
        raise Skip("too few rows for a rolling window")
    return {"value": min(after / before - 1 for before, after in zip(values, values[span:], strict=False)) * 100}
