"""The configuration block: everything but the question that a solver needs to get the answer from the bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.backtest.strategies import strategy_named
from backtrader_bench.templates.kinds import cash_text, exact_text, params_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.records import TapeRef

_EMA = (
    "An EMA of n values starts as the mean of the first n and then moves by a = 2 / (n + 1): EMA = previous EMA * "
    "(1 - a) + value * a."
)

_SIGN = "A crossing is a change of sign of their difference; a difference of zero keeps the last sign."
_CROSSING = (
    "when flat, buy on the close where SMA({pfast}) crosses above SMA({pslow}); when long, sell on the close where "
    "it crosses below. " + _SIGN
)

# How each strategy decides, in full: `{name}` stands for a parameter.
RULES = {
    "sma_crossover": _CROSSING,
    "rolling_window_mean": (
        "when flat, buy on a close above SMA({window}); when long, sell on a close that is not above it."
    ),
    "exponential_weighted_moving_average": (
        "when flat, buy on a close with EMA({pfast}) > EMA({pslow}); when long, sell on a close with EMA({pfast}) < "
        "EMA({pslow}). " + _EMA
    ),
    "rsi_strategy": (
        "when flat, buy on a close with RSI({rsi_period}) < {rsi_buy_threshold}; when long, sell on a close with "
        "RSI({rsi_period}) > {rsi_sell_threshold}. RSI = 100 - 100 / (1 + U / D), U and D being Wilder's averages of the "
        "rises and falls of the close: the mean of the first {rsi_period} changes, then previous average + (change - "
        "previous average) / {rsi_period}. With D = 0, RSI is 100, or 50 if U is 0 too."
    ),
    "bracket_breakout": (
        "when flat, buy on a close above the highest high of the {lookback} bars before it. Made with the buy, as its bracket, "
        "are two orders to sell the same shares: a stop order at close * (1 - {stop_percent}) and a limit order at close * (1 + "
        "{limit_percent}), with the close of the bar the buy is decided on. They are the only exits."
    ),
    "trailing_stop": _CROSSING + " Besides, a trailing stop can sell the position, see resting_orders.",
    "atr_stop": (
        "when flat, buy on the close where SMA({pfast}) crosses above SMA({pslow}). "
        + _SIGN
        + " The only exit is a stop order, "
        "see resting_orders."
    ),
    "slippage_cross": _CROSSING,
    "macd_crossover": (
        "MACD = EMA({pfast}) - EMA({pslow}); its signal line is the EMA({psignal}) of MACD. When flat, buy on the close "
        "where MACD crosses above its signal line; when long, sell on the close where it crosses below. A crossing is a "
        "change of sign of their difference; a difference of zero keeps the last sign. " + _EMA
    ),
}

_STOPPED = (
    "In each bar on which it is active, an open at or below its level sells at the open; else a low at or below its level "
    "sells at the level. "
)
# Orders that rest in the market: when they are made, when they fill, how they move.
RESTING = {
    "bracket_breakout": (
        "the two orders of a bracket are active from the bar after the one on which their buy was filled. In each such bar the "
        "stop order is tried first: an open at or below its price sells at the open, else a low at or below its price sells at "
        "its price. If it was not filled, the limit order is tried: an open at or above its price sells at the open, else a "
        "high at or above its price sells at its price. So the stop order fills where a bar holds both. Once one is filled, "
        "the other is cancelled within the same bar. With a buy that is refused at the close, both are rejected; with one that "
        "is refused at the open, both are cancelled. Signals are decided buys alone."
    ),
    "trailing_stop": (
        "on the close of the bar on which the buy was filled, unless a sale is decided on that very close, a trailing stop to "
        "sell all shares is sent; its level is that close - that close * {trail_percent}. It is active from the next bar on. "
        + _STOPPED
        + "After each bar that it survives, its level becomes that bar's close - that close * {trail_percent}, if "
        "that is higher; it never falls, and highs and lows don't move it. When a sale is decided, the trailing stop is "
        "cancelled on that close. Sending it is no signal, nor is its fill."
    ),
    "atr_stop": (
        "on the close of the bar on which the buy was filled, a stop order to sell all shares is sent, its level being close - "
        "{atr_multiplier} * ATR({atr_period}). On every later close with the position still held the same is computed anew, "
        "and where it is higher than the stop's level, the stop is cancelled on that close and a new one sent at the higher "
        "level. Where the result is not above zero nothing is sent. A stop is active from the bar after the one on whose close "
        "it was sent. " + _STOPPED + "The true range of a bar is max(high, previous close) - min(low, previous close). "
        "The window's first bar has none. ATR({atr_period}) starts as the mean of the first {atr_period} true ranges and then "
        "moves by previous ATR * (1 - 1 / {atr_period}) + true range * (1 / {atr_period}). Sending stops is no signal, nor is "
        "their fill."
    ),
}

_SIZING = {
    "capped": "a buy takes min({stake}, int(cash * {target_percent} * 0.95 / close)) shares, with the cash and the close of "
    "the bar it is decided on; 0 shares is no order. A sale takes the whole position.",
    "fixed": "a buy takes {stake} shares. A sale takes the whole position.",
}


_EXECUTION = (
    "long only, one position. Decisions are made on closes; a decided order is a market order that fills in full at the "
    "next bar's open, {slippage}. While it is pending no signal is looked at. A buy is refused when the cash does not cover "
    "it with its commission, at the close it is decided on or at the {price} it would fill at. An order decided on the last "
    "bar never fills."
)
_AT_OPEN = {"slippage": "without slippage", "price": "open"}
_FILLS = {
    "slippage_cross": {
        "slippage": "worsened by slippage: a buy fills at open * (1 + {slip_percent}), or at the bar's high where that is lower; "
        "a sale fills at open * (1 - {slip_percent}), or at the bar's low where that is higher",
        "price": "price",
    }
}


def setup_text(config: Mapping[str, Any], tape: TapeRef) -> str:
    """The block, one ``- name: value`` a line, from a record's ``config`` and ``tape``."""
    params = {name: exact_text(value) for name, value in config["strategy_params"].items()}
    entry = strategy_named(config["strategy_name"])
    fast, slow = entry.sma_periods(config["strategy_params"])
    sizing = _SIZING[config["sizing"]].format(stake=config["stake"], **params)
    lines = {
        "symbol": config["symbol"],
        "window": f"daily bars from start_date {config['start_date']} to before end_date {config['end_date']}: "
        f"{tape.rows} bars, {tape.first} to {tape.last}",
        "initial_cash": cash_text(config["initial_cash"]),
        "commission_rate": f"{exact_text(config['commission_rate'])} of traded value, on each buy and each sale",
        "strategy": f"{entry.name} {params_text(config['strategy_params'])}: {RULES[entry.name].format(**params)}",
        "sizing": sizing,
        "execution": _EXECUTION.format(**_FILLS.get(entry.name, _AT_OPEN)).format(**params),
        **({"resting_orders": RESTING[entry.name].format(**params)} if entry.name in RESTING else {}),
        "rows": f"results are recorded at the close of every bar from the first on which all indicators have a value to "
        f"the last. Recorded beside the strategy are SMA({fast}), called fast, and SMA({slow}), called slow, simple moving "
        f"averages of the close; they count as indicators. Nothing is traded before the first row, "
        f"which is bar {entry.first_row(config['strategy_params']) + 1} of the window.",
        "year": f"{config['periods_per_year']} rows, where a formula needs it",
    }
    return "\n".join(f"- {name}: {text}" for name, text in lines.items())
