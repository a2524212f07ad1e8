"""Hard, order mechanics: what resting orders, trails, refusals and slippage did. Each needs strategies that have them."""

from __future__ import annotations

from backtrader_bench.templates.kinds import DATE, INTEGER, LABEL, MONEY
from backtrader_bench.templates.template import Template, one, parts

ORDERS = (
    Template("bracket_exit_kind", "hard", "which order closed the nth bracket, and when",
             "Count the brackets whose buy was filled from 1, in order of time. Which of its two resting orders was filled "
             "for the {nth} bracket, and on which date?", parts(kind=LABEL, date=DATE), "{kind} on {date}", phrases={
                 "stop": "its stop order",
                 "limit": "its limit order",
             }, needs=("bracket_breakout",)),
    Template("stop_trail_level_on_date", "hard", "level of the trailing stop at a row",
             "At which price does the trailing stop stand after the close of {date}, that is: which level is the next bar "
             "held against?", one(MONEY), needs=("trailing_stop",)),
    Template("cancelled_orders", "hard", "orders cancelled over the whole backtest",
             "How many orders were cancelled over the whole backtest? Count every order that was sent and taken back: the "
             "resting order left over when the other one of its bracket was filled, both when their buy was refused at the "
             "open, a stop taken back to be placed anew, and a trailing stop taken back because a sale was decided. Orders "
             "that were refused, or rejected with one that was, are not cancelled.", one(INTEGER),
             needs=("bracket_breakout", "trailing_stop", "atr_stop")),
    Template("margin_rejections", "hard", "orders refused for want of cash",
             "How many buy orders were refused because the cash did not cover them, at the close they were decided on or at "
             "the next bar's open? (Resting orders that went with a refused buy do not count.)", one(INTEGER),
             needs=("bracket_breakout", "trailing_stop", "atr_stop", "slippage_cross")),
    Template("atr_stop_exit_date", "hard", "date of the nth exit at the stop",
             "Count the positions that were closed by their stop order from 1, in order of time. On which date was the {nth} "
             "one closed?", one(DATE), needs=("atr_stop",)),
    Template("slippage_cost", "hard", "what slippage cost over all fills",
             "What did slippage cost in dollars: over all filled orders, the sum of the number of shares times the amount by "
             "which the fill price was worse than that bar's open?", one(MONEY), needs=("slippage_cross",)),
)  # fmt: skip
