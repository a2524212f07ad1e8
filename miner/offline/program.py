"""A scenario as a stem and as a stand-alone program that draws, runs, and prints both stem and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.miner.offline.metrics import SHOW
from backtrader_bench.miner.offline.scenario import BARS, bars_source, weekdays

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.miner.offline.scenario import Scenario

_EXECUTION = (
    "The backtest runs in backtrader with one data feed and its default broker but for what is said here. It is long only, one position at a "
    "time. Rules are looked at on the close of every bar from the first on which every indicator, and every earlier bar that a rule "
    "compares with, is there. While a market order waits to be filled nothing else is decided. A market order fills at the next bar's open; one "
    "decided on the last bar never fills. A position still open at the end is not sold."
)


def stem_lines(scenario: Scenario) -> list[str]:
    """The stem's paragraphs, with the names of parameters in braces; ``{bars}`` is the definition of the data."""
    if scenario.data == "table":
        data = "{symbol} is a made-up stock with these {count} daily bars:\n\n{bars}"
    else:
        numbers = ", ".join(f"{{{name}}}" for name in scenario.numbers)
        data = (
            "{symbol} is a made-up stock with {count} daily bars, one for each day from Monday to Friday, the first on {first}. "
            f"They are what {BARS[scenario.data].__name__}({numbers}) returns:\n\n{{bars}}"
        )
    account = f"The account starts with ${{cash:,}}. {scenario.commission.words} {scenario.slippage.words}"
    buy = f"When no position is held, shares are bought at market whenever {scenario.entry.words}. {scenario.size.words}"
    return [data, account, f"{buy} {scenario.exit.words}", _EXECUTION, "{ask}"]


def stem(scenario: Scenario, params: Mapping[str, Any]) -> str:
    """The stem at drawn parameters."""
    made = BARS[scenario.data](*(params[name] for name in scenario.numbers))
    if scenario.data == "table":
        days = weekdays(params["first"], params["count"])
        rows = [f"{day},{o:.2f},{h:.2f},{low:.2f},{c:.2f},{v}" for day, (o, h, low, c, v) in zip(days, made, strict=True)]
        bars = "\n".join(["```csv", "Date,Open,High,Low,Close,Volume", *rows, "```"])
    else:
        bars = f"```python\n{bars_source(scenario.data)}\n```"
    ask = next(metric.ask for metric in scenario.family.metrics if metric.name == params["metric"])
    return "\n\n".join(stem_lines(scenario)).format(**params, bars=bars, ask=ask)


def program(scenario: Scenario) -> str:
    """The verifier's source."""
    family = scenario.family
    table = scenario.data == "table"
    setup = [scenario.commission.code, scenario.slippage.code, *family.analyzers]
    values = {
        "bars": bars_source(scenario.data),
        "function": BARS[scenario.data].__name__,
        "arguments": ", ".join(f'P["{name}"]' for name in scenario.numbers),
        "parameters": _block(f'"{draw.name}": {draw.code},' for draw in scenario.draws),
        "stem": '\n\n'.join(stem_lines(scenario)),
        "shown": _TABLE if table else _SOURCE,
        "init": _lines([*scenario.entry.init, *scenario.exit.init], 8),
        "when": scenario.entry.code,
        "size": scenario.size.code,
        "buy": _BRACKET if scenario.exit.name == "bracket" else _MARKET,
        "exit": _lines(scenario.exit.code.splitlines(), 8) if scenario.exit.code else "",
        "setup": _lines([line for line in setup if line], 4),
        "least": 2 if table else 3,
        "asks": _block(f"{metric.name!r}: {metric.ask!r}," for metric in family.metrics),
        "answers": _block(f"{metric.name!r}: lambda: {metric.code}," for metric in family.metrics),
        "show": SHOW[family.kind],
    }
    text = _PROGRAM
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _lines(lines: list[str], indent: int) -> str:
    return "\n".join(" " * indent + line for line in lines)


def _block(lines: Any) -> str:
    return _lines(list(lines), 4)


_MARKET = 'self.pending = self.buy(size=size)'
_BRACKET = '''\
close = self.data.close[0]
                self.pending = self.buy_bracket(
                    size=size, exectype=bt.Order.Market, limitprice=close * (1 + P["gain"] / 100),
                    stopprice=close * (1 - P["loss"] / 100),
                )[0]'''
_SOURCE = '"```python\\n" + SOURCE + "\\n```"'
_TABLE = '''"\\n".join(["```csv", "Date,Open,High,Low,Close,Volume"] + [
    f"{day},{o:.2f},{h:.2f},{low:.2f},{c:.2f},{v}" for day, (o, h, low, c, v) in zip(days, bars)
] + ["```"])'''

_PROGRAM = '''\
"""Draws a scenario from MCQ_SEED, runs it in backtrader, prints the question and its answer."""

import json
import os
import random
from datetime import date, timedelta

import backtrader as bt
import pandas as pd

rng = random.Random(int(os.environ["MCQ_SEED"]))
P = {
@parameters@
}

SOURCE = \'\'\'@bars@\'\'\'


@bars@


def weekdays(first, count):
    day, found = date.fromisoformat(first), []
    while len(found) < count:
        if day.weekday() < 5:
            found.append(day)
        day += timedelta(days=1)
    return found


class Rules(bt.Strategy):
    def __init__(self):
@init@
        self.pending = self.guard = self.entry_bar = self.entry_price = None
        self.rows, self.trades, self.fills = [], [], []

    def notify_order(self, order):
        if order.status in (order.Margin, order.Rejected):
            raise RuntimeError("an order was refused")
        if order.status == order.Completed:
            done = order.executed
            self.fills.append((self.data.datetime.date(0), done.size, done.price, done.comm))
            if order.isbuy():
                self.entry_bar, self.entry_price = len(self), done.price
        if not order.alive():
            if self.pending is not None and order.ref == self.pending.ref:
                self.pending = None
            if self.guard is not None and order.ref == self.guard.ref:
                self.guard = None

    def notify_trade(self, trade):
        if trade.isclosed:
            self.trades.append((self.data.datetime.date(0), trade.pnlcomm))

    def prenext(self):
        self.rows.append((self.data.datetime.date(0), self.broker.getvalue(), self.position.size))

    def next(self):
        self.prenext()
        if self.pending is not None:
            return
        if not self.position:
            if @when@:
                size = @size@
                @buy@
            return
@exit@


def backtest(days, bars):
    index = pd.DatetimeIndex(days)
    frame = pd.DataFrame(bars, columns=["open", "high", "low", "close", "volume"], index=index)
    cerebro = bt.Cerebro(stdstats=False)
    cerebro.adddata(bt.feeds.PandasData(dataname=frame))
    cerebro.addstrategy(Rules)
    cerebro.broker.setcash(P["cash"])
@setup@
    return cerebro.run()[0]


days = weekdays(P["first"], P["count"])
for _ in range(100):
    # The next tape, until one lets the rules trade.
    bars = @function@(@arguments@)
    rules = backtest(days, bars)
    if len(rules.trades) >= @least@:
        break
    P["tape"] += 1
else:
    raise SystemExit("no tape lets the rules trade")

ASKS = {
@asks@
}
ANSWERS = {
@answers@
}
STEM = """\\
@stem@"""
shown = @shown@
print("QUESTION_JSON:", json.dumps(STEM.format(**P, bars=shown, ask=ASKS[P["metric"]])))
answer = ANSWERS[P["metric"]]()
print("ANSWER_VALUE_JSON:", json.dumps(@show@))
'''
