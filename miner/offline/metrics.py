"""What a scenario can ask: families of metrics of one kind, among which the seed chooses.

An expression sees ``rules`` (the finished strategy: ``rows`` of (day, value, shares) a bar, ``trades`` of (day closed,
net) and ``fills`` of (day, signed shares, price, commission)) and ``P``, the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

SHOW = {
    "money": 'f"{\'-\' if answer < 0 else \'\'}${abs(answer):,.2f}"',
    "percent": 'f"{answer:.2f}%"',
    "number": 'f"{answer:.3f}"',
    "count": "str(int(answer))",
    "date": "str(answer)",
}
"""How an answer of each kind is put into ``ANSWER_VALUE_JSON``."""


@dataclass(frozen=True)
class Metric:
    """One thing to ask for."""

    name: str
    ask: str
    code: str


@dataclass(frozen=True)
class Family:
    """Metrics that are asked alike."""

    name: str
    kind: str
    metrics: tuple[Metric, ...]
    analyzers: tuple[str, ...] = ()
    """Lines that add what the expressions read."""
    paid: bool = False
    """Whether it needs a commission."""


_FINAL = Metric("final_value", "What is the portfolio value at the close of the last bar?", "rules.rows[-1][1]")
_CLOSED = "Only positions that were bought and sold again count; each one's net profit has the commission of both sides taken off."

_ALL = (
    Family("final_value", "money", (_FINAL,)),
    Family("value", "money", (
        Metric("highest_value", "What is the highest portfolio value at the close of any bar, the first ones included?",
               "max(value for _, value, _ in rules.rows)"),
        Metric("lowest_value", "What is the lowest portfolio value at the close of any bar, the first ones included?",
               "min(value for _, value, _ in rules.rows)"),
        Metric("mean_value", "What is the mean of the portfolio values at the closes of all bars, the first ones included?",
               "sum(value for _, value, _ in rules.rows) / len(rules.rows)"),
    )),
    Family("profit", "money", (
        Metric("closed_profit", f"What is the sum of the net profits and losses of all closed trades? {_CLOSED}",
               "sum(net for _, net in rules.trades)"),
        Metric("best_trade", f"What is the net profit of the closed trade with the largest one? {_CLOSED}",
               "max(net for _, net in rules.trades)"),
        Metric("worst_trade", f"What is the net result of the closed trade with the lowest one? {_CLOSED}",
               "min(net for _, net in rules.trades)"),
    )),
    Family("turnover", "money", (
        Metric("bought", "How many dollars were spent on purchases in all, commission left aside?",
               "sum(size * price for _, size, price, _ in rules.fills if size > 0)"),
        Metric("sold", "How many dollars were taken in by sales in all, commission left aside?",
               "sum(-size * price for _, size, price, _ in rules.fills if size < 0)"),
    )),
    Family("costs", "money", (
        Metric("commission_paid", "How much commission was paid in all, on purchases and sales?",
               "sum(fee for _, _, _, fee in rules.fills)"),
        Metric("commission_bought", "How much commission was paid on purchases?",
               "sum(fee for _, size, _, fee in rules.fills if size > 0)"),
    ), paid=True),
    Family("counts", "count", (
        Metric("purchases", "How many purchases were filled?", "sum(size > 0 for _, size, _, _ in rules.fills)"),
        Metric("bars_held", "At the close of how many bars was a position held?",
               "sum(shares > 0 for _, _, shares in rules.rows)"),
        Metric("winners", f"How many closed trades ended with a net profit above zero? {_CLOSED}",
               "sum(net > 0 for _, net in rules.trades)"),
        Metric("shares_bought", "How many shares were bought in all?",
               "sum(size for _, size, _, _ in rules.fills if size > 0)"),
    )),
    Family("returns", "percent", (
        Metric("total_return", "By what percentage does the portfolio value at the close of the last bar differ from the "
               "initial cash (negative for a loss)?", '100 * (rules.rows[-1][1] / P["cash"] - 1)'),
        Metric("worst_day", "What is the lowest percentage change of the portfolio value from one bar's close to the next?",
               "min(100 * (b[1] / a[1] - 1) for a, b in zip(rules.rows, rules.rows[1:]))"),
        Metric("best_day", "What is the highest percentage change of the portfolio value from one bar's close to the next?",
               "max(100 * (b[1] / a[1] - 1) for a, b in zip(rules.rows, rules.rows[1:]))"),
    )),
    Family("dates", "date", (
        Metric("peak_day", "On which date is the portfolio value at the close highest (the first such date)?",
               "max(rules.rows, key=lambda row: row[1])[0]"),
        Metric("trough_day", "On which date is the portfolio value at the close lowest (the first such date)?",
               "min(rules.rows, key=lambda row: row[1])[0]"),
        Metric("last_sale_day", "On which date was the last sale filled?",
               "[day for day, size, _, _ in rules.fills if size < 0][-1]"),
        Metric("best_trade_day", f"On which date did the closed trade with the largest net profit end? {_CLOSED}",
               "max(rules.trades, key=lambda trade: trade[1])[0]"),
    )),
    Family("analyzer_drawdown", "percent", (
        Metric("max_drawdown", "What does backtrader's DrawDown analyzer, with its default arguments, give as "
               "max.drawdown, in percent?", "rules.analyzers.drawdown.get_analysis().max.drawdown"),
    ), ('cerebro.addanalyzer(bt.analyzers.DrawDown, _name="drawdown")',)),
    Family("analyzer_money", "money", (
        Metric("max_moneydown", "What does backtrader's DrawDown analyzer, with its default arguments, give as "
               "max.moneydown?", "rules.analyzers.drawdown.get_analysis().max.moneydown"),
        Metric("average_net", "What does backtrader's TradeAnalyzer give as pnl.net.average?",
               "rules.analyzers.trades.get_analysis().pnl.net.average"),
        Metric("gross_total", "What does backtrader's TradeAnalyzer give as pnl.gross.total?",
               "rules.analyzers.trades.get_analysis().pnl.gross.total"),
    ), ('cerebro.addanalyzer(bt.analyzers.DrawDown, _name="drawdown")',
        'cerebro.addanalyzer(bt.analyzers.TradeAnalyzer, _name="trades")')),
    Family("analyzer_lengths", "count", (
        Metric("drawdown_length", "What does backtrader's DrawDown analyzer, with its default arguments, give as max.len?",
               "rules.analyzers.drawdown.get_analysis().max.len"),
        Metric("total_length", "What does backtrader's TradeAnalyzer give as len.total?",
               "rules.analyzers.trades.get_analysis().len.total"),
    ), ('cerebro.addanalyzer(bt.analyzers.DrawDown, _name="drawdown")',
        'cerebro.addanalyzer(bt.analyzers.TradeAnalyzer, _name="trades")')),
    Family("analyzer_quality", "number", (
        Metric("sqn", "What does backtrader's SQN analyzer give as sqn?", "rules.analyzers.sqn.get_analysis().sqn"),
    ), ('cerebro.addanalyzer(bt.analyzers.SQN, _name="sqn")',)),
)  # fmt: skip
FAMILIES = {family.name: family for family in _ALL}
