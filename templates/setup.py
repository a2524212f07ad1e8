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

# How each strategy decides, in full: `{name}` stands for a parameter.
RULES = {
    "sma_crossover": (
        "when flat, buy on the close where SMA({pfast}) crosses above SMA({pslow}); when long, sell on the close where "
        "it crosses below. A crossing is a change of sign of their difference; a difference of zero keeps the last sign."
    ),
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
    "macd_crossover": (
        "MACD = EMA({pfast}) - EMA({pslow}); its signal line is the EMA({psignal}) of MACD. When flat, buy on the close "
        "where MACD crosses above its signal line; when long, sell on the close where it crosses below. A crossing is a "
        "change of sign of their difference; a difference of zero keeps the last sign. " + _EMA
    ),
}

_SIZING = {
    "capped": "a buy takes min({stake}, int(cash * {target_percent} * 0.95 / close)) shares, with the cash and the close of "
    "the bar it is decided on; 0 shares is no order. A sale takes the whole position.",
    "fixed": "a buy takes {stake} shares. A sale takes the whole position.",
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
        "execution": "long only, one position. Decisions are made on closes; a decided order is a market order that fills "
        "in full at the next bar's open, without slippage. While it is pending no signal is looked at. A buy is refused "
        "when the cash does not cover it with its commission, at the close it is decided on or at the open it would fill "
        "at. An order decided on the last bar never fills.",
        "rows": f"results are recorded at the close of every bar from the first on which all indicators have a value to "
        f"the last. Recorded beside the strategy are SMA({fast}), called fast, and SMA({slow}), called slow, simple moving "
        f"averages of the close; they count as indicators. Nothing is traded before the first row, "
        f"which is bar {entry.first_row(config['strategy_params']) + 1} of the window.",
        "year": f"{config['periods_per_year']} rows, where a formula needs it",
    }
    return "\n".join(f"- {name}: {text}" for name, text in lines.items())
