"""Hard: several steps over the whole series, or a second backtest."""

from __future__ import annotations

from backtrader_bench.templates.kinds import (
    DATE,
    INTEGER,
    MONEY,
    NUMBER2,
    PARAMS,
    PERCENT,
    RATE,
    SIGNED2,
    SIGNED3,
    SIGNED_MONEY,
    SIGNED_PERCENT,
)
from backtrader_bench.templates.template import Template, one, parts

_DRAWDOWN = (
    "The drawdown of a row is the highest portfolio value of any row up to and including it, minus its own; the "
    "maximum drawdown is the largest. "
)
_WINDOW = "Its trough is the first row that shows it, its peak the first row at the highest value before the trough. "
_RETURNS = (
    "Let the daily returns be the relative changes of the portfolio value between consecutive rows, and the standard "
    "deviation theirs with divisor (count - 1). "
)
_ANNUAL = (
    "the annualised return in percent is ((last value / initial cash) ** ({periods} / number of rows) - 1) * 100"
)

HARD = (
    Template("max_drawdown", "hard", "maximum drawdown in dollars",
             _DRAWDOWN + "What is the maximum drawdown in dollars?", one(MONEY)),
    Template("roi_percentage", "hard", "return on the initial cash",
             "What is the return on investment in percent: the last row's portfolio value minus the initial cash, "
             "divided by the initial cash?", one(SIGNED_PERCENT)),
    Template("win_rate", "hard", "won trades over won and lost",
             "What is the win rate in percent: closed trades with a net profit, divided by closed trades with a net "
             "profit or a net loss?", one(PERCENT)),
    Template("profit_factor", "hard", "gains over losses",
             "What is the profit factor: the sum of the net profits of the winning closed trades divided by the absolute "
             "sum of the net losses of the losing ones?", one(NUMBER2)),
    Template("annualized_return", "hard", "annualised return",
             "What is the annualised return, where " + _ANNUAL + "?", one(SIGNED_PERCENT)),
    Template("avg_holding_period", "hard", "rows in position over closed trades",
             "What is the average holding period: the number of rows at whose close a position was held, divided by the "
             "number of closed trades?", one(NUMBER2)),
    Template("golden_cross_count", "hard", "golden crosses in a sub-period",
             "A golden cross is a row whose SMA({fast_period}) - SMA({slow_period}) is above zero while the row before "
             "had it at or below zero. How many are there from {from} to {to}, both included? (The row before the first "
             "may lie before {from}.)", one(INTEGER)),
    Template("max_drawdown_window", "hard", "peak, trough and size of the maximum drawdown",
             _DRAWDOWN + _WINDOW + "What are the dates of peak and trough, the drawdown in dollars, and in percent of the "
             "value at the peak?", parts(peak=DATE, trough=DATE, dollars=MONEY, percent=PERCENT),
             "{peak} to {trough}: {dollars} ({percent})"),
    Template("drawdown_recovery_days", "hard", "recovery from the maximum drawdown",
             _DRAWDOWN + _WINDOW + "How many rows after the trough is the portfolio value back at or above its value at the "
             "peak for the first time, and on which date?", parts(days=INTEGER, date=DATE),
             "{days} trading days, on {date}"),
    Template("calmar_ratio", "hard", "annualised return over maximum drawdown",
             _DRAWDOWN + _WINDOW + "What is the Calmar ratio: the annualised return in percent divided by the maximum "
             "drawdown in percent of the value at the peak, where " + _ANNUAL + "?", one(SIGNED3)),
    Template("exposure_adjusted_return", "hard", "return over exposure",
             "What is the exposure-adjusted return: the return on the initial cash in percent, divided by the percentage "
             "of rows at whose close a position was held?", one(SIGNED2)),
    Template("sma_comparison", "hard", "the better of two parameter sets",
             "Run the strategy under this configuration and again with {alternative} in place of {base}. Which of the two "
             "sets ends with the higher net profit or loss (last portfolio value minus initial cash), and what is it?",
             parts(params=PARAMS, pnl=SIGNED_MONEY), "{params} with {pnl}"),
    Template("signal_diff", "hard", "buy signals of two parameter sets",
             "Run the strategy under this configuration, with {base}, and again with {alternative} in its place. How many "
             "buy signals does each act on (the configuration's first), and what is the difference?",
             parts(first=INTEGER, second=INTEGER, difference=INTEGER), "{first} vs {second} (difference {difference})"),
    Template("sharpe_ratio", "hard", "annualised Sharpe ratio",
             _RETURNS + "What is the annualised Sharpe ratio without a risk-free rate: mean of the returns / standard "
             "deviation * sqrt({periods})?", one(SIGNED3)),
    Template("sortino_ratio", "hard", "annualised Sortino ratio",
             "Let the daily returns be the relative changes of the portfolio value between consecutive rows, and the "
             "downside deviation the square root of the mean, over all returns, of min(return, 0) ** 2. What is the "
             "annualised Sortino ratio: mean of the returns / downside deviation * sqrt({periods})?", one(SIGNED3)),
    Template("annualized_volatility", "hard", "annualised volatility",
             _RETURNS + "What is the annualised volatility in percent: standard deviation * sqrt({periods}) * 100?",
             one(PERCENT)),
    Template("longest_losing_streak", "hard", "consecutive losing trades",
             "In order of their sells, what is the largest number of consecutive closed trades with a net loss?",
             one(INTEGER)),
    Template("excess_over_buy_and_hold", "hard", "return over the price's own",
             "By how many percentage points does the strategy's return on the initial cash exceed the price's own, from "
             "the close of the first row to the close of the last row? (Negative if it falls short.)",
             one(SIGNED_PERCENT)),
    Template("time_under_water", "hard", "rows below an earlier portfolio value",
             "On how many rows is the portfolio value below the highest portfolio value of all earlier rows?",
             one(INTEGER)),
    Template("best_parameter_set", "hard", "the best of four parameter sets",
             "Run the strategy four times under this configuration, with the parameter sets {sets}. Which set gives "
             "{metric_words}?", one(PARAMS)),
    Template("commission_breakeven", "hard", "the commission that turns the result negative",
             "Run the backtest four times, with the commission rates {rates} of traded value on each side and all else as "
             "configured. What is the lowest of these rates at which the net profit or loss (last portfolio value minus "
             "initial cash) is negative?", one(RATE)),
    Template("delayed_fill_cost", "hard", "what one bar of delay costs",
             "Run the backtest again with every order sent one bar later: decided and sized on the close of bar t as before, "
             "sent at the close of bar t+1 and filled at the open of bar t+2, or refused when the cash does not cover it at the "
             "close of bar t+1 or at that open; no new signal is looked at before the close of bar t+2. What is "
             "the net profit or loss without the delay minus the one with it?", one(SIGNED_MONEY)),
    Template("worst_rolling_window", "hard", "the worst change over a number of rows",
             "What is the lowest percentage change of the portfolio value from any row to the one {rows} rows later?",
             one(SIGNED_PERCENT)),
)  # fmt: skip
