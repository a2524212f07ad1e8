"""Easy: one row or one number of the backtest."""

from __future__ import annotations

from backtrader_bench.templates.kinds import INTEGER, LABEL, MONEY, NUMBER2, SHARES, VOLUME
from backtrader_bench.templates.template import Template, one, parts

EASY = (
    Template("first_close", "easy", "close of the window's first bar",
             "What is the closing price of {symbol} on the first bar of the window, warm-up included?",
             one(MONEY), scope="tape"),
    Template("last_close", "easy", "close of the window's last bar",
             "What is the closing price of {symbol} on the last bar of the window?",
             one(MONEY), scope="tape"),
    Template("high_on_date", "easy", "a bar's high",
             "What is the high of {symbol} on {date}?", one(MONEY), scope="tape"),
    Template("volume", "easy", "a bar's volume",
             "How many shares of {symbol} were traded on {date} (the bar's volume)?", one(VOLUME), scope="tape"),
    Template("broker_cash", "easy", "cash at a row",
             "How much cash does the account hold at the close of {date}?", one(MONEY)),
    Template("portfolio_value", "easy", "portfolio value at a row",
             "What is the portfolio value (cash plus position at the close) on {date}?", one(MONEY)),
    Template("sma", "easy", "a recorded moving average at a row",
             "What is the simple moving average of the last {which_period} closes, SMA({which_period}), at the close "
             "of {date}?", one(NUMBER2)),
    Template("max_shares", "easy", "shares affordable at the first close, commission included",
             "At the close of the window's first bar, how many whole shares of {symbol} could the initial cash of {cash} "
             "buy at that close, the commission of {commission} on top?", one(SHARES), scope="account"),
    Template("position_on_date", "easy", "shares held at a row",
             "How many shares does the strategy hold at the close of {date}?", one(SHARES)),
    Template("crossovers", "easy", "signals acted on",
             "On how many closes in all did the strategy act on a signal, buy or sell? A signal counts when an order was "
             "decided on it, even if that order was never filled.", one(INTEGER)),
    Template("buy_sell_signals", "easy", "buy signals and sell signals acted on",
             "How many buy signals and how many sell signals did the strategy act on? A signal counts when an order was "
             "decided on it, even if that order was never filled.",
             parts(buys=INTEGER, sells=INTEGER), "{buys} buys and {sells} sells"),
    Template("signal_state_on_date", "easy", "moving averages and position at a row",
             "At the close of {date}, how do the recorded fast SMA({fast_period}) and slow SMA({slow_period}) compare, "
             "and does the strategy hold a position?", one(LABEL), phrases={
                 "above_long": "fast SMA above slow SMA, position held",
                 "above_flat": "fast SMA above slow SMA, no position",
                 "below_long": "fast SMA not above slow SMA, position held",
                 "below_flat": "fast SMA not above slow SMA, no position",
             }),
)  # fmt: skip
