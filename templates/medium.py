"""Medium: rows picked by a condition, or one aggregation."""

from __future__ import annotations

from backtrader_bench.templates.kinds import (
    DATE,
    INTEGER,
    LABEL,
    MONEY,
    NUMBER2,
    PERCENT,
    SIGNED_MONEY,
)
from backtrader_bench.templates.template import Template, one, parts

MEDIUM = (
    Template("first_buy", "medium", "size, close and date of the first buy",
             "When the first buy order was filled: how many shares were bought, what was the closing price of that day, "
             "and which day was it?", parts(shares=INTEGER, close=MONEY, date=DATE),
             "{shares} shares at close {close} on {date}"),
    Template("trade_outcomes", "medium", "won and lost trades",
             "How many closed trades ended with a net profit and how many with a net loss, commission of both sides "
             "included?", parts(won=INTEGER, lost=INTEGER), "{won} won and {lost} lost"),
    Template("net_pnl", "medium", "net profit or loss",
             "What is the net profit or loss of the backtest: the last row's portfolio value minus the initial cash, a "
             "position still open counted at its last close?", one(SIGNED_MONEY)),
    Template("commission", "medium", "commission and number of fills",
             "How much commission was paid in total, and on how many filled orders?",
             parts(total=MONEY, orders=INTEGER), "{total} over {orders} orders"),
    Template("total_shares_traded", "medium", "shares bought, sold, both",
             "How many shares were bought, how many sold, and how many traded in total over all filled orders?",
             parts(bought=INTEGER, sold=INTEGER, total=INTEGER), "{bought} bought, {sold} sold, {total} in total"),
    Template("days_in_position", "medium", "rows with and without a position",
             "Over the rows of the backtest, at how many closes was a position held and at how many was none?",
             parts(inside=INTEGER, outside=INTEGER, total=INTEGER),
             "{inside} days in a position, {outside} without, {total} in total"),
    Template("peak_portfolio_date", "medium", "date and value of the highest portfolio value",
             "On which row's date was the portfolio value at a close the highest of the whole backtest, and how high "
             "was it?", parts(date=DATE, value=MONEY), "{date} at {value}"),
    Template("best_trade_day", "medium", "closing date and net P/L of the best trade",
             "Which closed trade made the most, commission of both sides taken off: on which date was its sell filled, "
             "and what was its net profit or loss?", parts(date=DATE, pnl=SIGNED_MONEY), "{date} with {pnl}"),
    Template("largest_loss_trade", "medium", "closing date and net P/L of the worst trade",
             "Which closed trade lost the most, commission of both sides taken off: on which date was its sell filled, "
             "and what was its net profit or loss?", parts(date=DATE, pnl=SIGNED_MONEY), "{date} with {pnl}"),
    Template("strategy_action_on_date", "medium", "what was filled on a date",
             "What happened in the account on {date}?", one(LABEL), phrases={
                 "buy": "a buy order was filled",
                 "sell": "a sell order was filled",
                 "hold": "no order was filled and a position was held",
                 "flat": "no order was filled and no position was held",
             }),
    Template("nth_trade_pnl", "medium", "net P/L of the nth closed trade",
             "Counting closed trades from 1 in order of their sells, what is the net profit or loss of the {nth} one, "
             "commission of both sides taken off?", one(SIGNED_MONEY)),
    Template("cash_after_nth_order", "medium", "cash after the nth fill",
             "Counting filled orders from 1, buys and sells together, how much cash does the account hold at the close "
             "of the day on which the {nth} one was filled?", one(MONEY)),
    Template("longest_holding", "medium", "the longest trade",
             "Of all closed trades, for how many closes was the longest one held? (Bars from the buy's fill to the sell's "
             "fill, counting the first and not the last.)", one(INTEGER)),
    Template("idle_longest_stretch", "medium", "the longest stretch without a position",
             "What is the largest number of consecutive rows at whose close no position was held?", one(INTEGER)),
    Template("commission_share_of_gross", "medium", "commission as a share of gross profit",
             "Over the closed trades, what percentage of their summed gross profit (before commission, losses netted "
             "against gains) is the commission paid on them, both sides?", one(PERCENT)),
    Template("price_paid_vs_signal_close", "medium", "fill price minus signal close, summed over buys",
             "Take every filled buy order: its fill price minus the close of the bar on which it was decided, in dollars a "
             "share. What is the sum over all of them, not weighted by size?", one(SIGNED_MONEY)),
    Template("turnover", "medium", "traded value over mean portfolio value",
             "What is the turnover: the traded value (size times fill price, over all filled orders) divided by the "
             "arithmetic mean of the portfolio value over the rows?", one(NUMBER2)),
)  # fmt: skip
