"""The pieces that scenarios are composed of: data, entries, exits, sizes, costs.

A piece is its sentence for the stem, its parameters as seeded draws, and its lines for the strategy. Sentences are
filled by ``str.format`` with the drawn parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
MONDAY = date(2012, 1, 2)


@dataclass(frozen=True)
class Draw:
    """A parameter: how it is drawn here, and the expression that draws the same in a program (from ``rng``)."""

    name: str
    how: str
    args: tuple[Any, ...] = ()

    def value(self, rng: Random) -> Any:
        """The next value of a generator."""
        if self.how == "symbol":
            return "".join(rng.choice(LETTERS) for _ in range(4))
        if self.how == "monday":
            return str(MONDAY + timedelta(days=7 * rng.randrange(*self.args)))
        if self.how == "one_of":
            return rng.choice(list(self.args))
        return rng.randrange(*self.args)

    @property
    def code(self) -> str:
        """The same as an expression."""
        if self.how == "symbol":
            return f'"".join(rng.choice("{LETTERS}") for _ in range(4))'
        if self.how == "monday":
            weeks = f"rng.randrange({', '.join(map(str, self.args))})"
            return f"str(date({MONDAY.year}, {MONDAY.month}, {MONDAY.day}) + timedelta(days=7 * {weeks}))"
        if self.how == "one_of":
            return f"rng.choice({list(self.args)!r})"
        return f"rng.randrange({', '.join(map(str, self.args))})"


@dataclass(frozen=True)
class Part:
    """One piece of a scenario."""

    name: str
    words: str
    draws: tuple[Draw, ...] = ()
    init: tuple[str, ...] = ()
    """Lines of the strategy's ``__init__``."""
    code: str = ""
    """Entry: a condition. Size: an expression. Exit: lines of ``next`` while a position is held. Costs: a call."""


def between(name: str, low: int, high: int) -> Draw:
    """A whole number from ``low`` to ``high``."""
    return Draw(name, "between", (low, high + 1))


def one_of(name: str, *values: Any) -> Draw:
    """One of some values."""
    return Draw(name, "one_of", values)


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")

ENTRIES = {part.name: part for part in (
    Part("above_average", "the close is above the simple moving average of the last {average} closes",
         (between("average", 5, 20),), ('self.average = bt.ind.SMA(self.data.close, period=P["average"])',),
         "self.data.close[0] > self.average[0]"),
    Part("two_averages",
         "the simple moving average of the last {fast} closes is above that of the last {slow} closes",
         (between("fast", 3, 7), between("slow", 9, 22)),
         ('self.fast = bt.ind.SMA(self.data.close, period=P["fast"])',
          'self.slow = bt.ind.SMA(self.data.close, period=P["slow"])'), "self.fast[0] > self.slow[0]"),
    Part("two_emas",
         "the exponential moving average EMA({fast}) of the close is above EMA({slow}) (backtrader's: EMA(n) starts "
         "with the mean of the first n closes, then adds 2/(n+1) of the difference to each new close)",
         (between("fast", 3, 7), between("slow", 9, 20)),
         ('self.fast = bt.ind.EMA(self.data.close, period=P["fast"])',
          'self.slow = bt.ind.EMA(self.data.close, period=P["slow"])'), "self.fast[0] > self.slow[0]"),
    Part("breakout", "the close breaks out above the highest high of the {channel} bars before it",
         (between("channel", 4, 14),), ('self.top = bt.ind.Highest(self.data.high(-1), period=P["channel"])',),
         "self.data.close[0] > self.top[0]"),
    Part("momentum", "the close is more than {rise}% above the close {lag} bars earlier",
         (one_of("rise", 0.5, 1.0, 1.5, 2.0), between("lag", 3, 12)),
         ('self.earlier = self.data.close(-P["lag"])',),
         'self.data.close[0] > self.earlier[0] * (1 + P["rise"] / 100)'),
    Part("rising", "each of the last {streak} closes is above the close of the bar before it",
         (between("streak", 2, 3),), ('self.earlier = self.data.close(-P["streak"])',),
         'all(self.data.close[-k] > self.data.close[-k - 1] for k in range(P["streak"]))'),
    Part("dip", "the close falls below the lowest low of the {dip} bars before it",
         (between("dip", 3, 9),), ('self.bottom = bt.ind.Lowest(self.data.low(-1), period=P["dip"])',),
         "self.data.close[0] < self.bottom[0]"),
    Part("weekday", "the bar is a {weekday}'s",
         (one_of("weekday", *WEEKDAYS),), (), 'self.data.datetime.date(0).strftime("%A") == P["weekday"]'),
)}  # fmt: skip

_HOLD = " If the position is still held {hold} bars after the bar that the purchase filled on, that order is cancelled on" \
        " this bar's close and the position is sold at market."  # fmt: skip
_GUARDED = """\
if self.guard is None:
    self.guard = self.sell(size=self.position.size, {order})
elif len(self) - self.entry_bar >= P["hold"]:
    self.cancel(self.guard)
    self.pending = self.close()"""
_ATR_INIT = 'self.atr = bt.ind.ATR(self.data, period=P["atr"])'
_ATR_WORDS = (
    "(ATR is backtrader's, by Wilder: the mean of the first {atr} true ranges, then (previous * ({atr} - 1) + true "
    "range) / {atr}; a true range is max(high, previous close) - min(low, previous close), from the second bar on)"
)

EXITS = {part.name: part for part in (
    Part("held",
         "The whole position is sold at market, decided on the close of the bar that is {hold} bars after the one that "
         "the purchase filled on.",
         (between("hold", 3, 12),), (), """\
if len(self) - self.entry_bar >= P["hold"]:
    self.pending = self.close()"""),
    Part("percent",
         "The whole position is sold at market once a close is at least {gain}% above the price that the purchase "
         "filled at (take profit), or at least {loss}% below it (stop loss); the bar that the purchase filled on counts.",
         (one_of("gain", 2, 2.5, 3, 4, 5), one_of("loss", 1, 1.5, 2, 3)), (), """\
close = self.data.close[0]
if close >= self.entry_price * (1 + P["gain"] / 100) or close <= self.entry_price * (1 - P["loss"] / 100):
    self.pending = self.close()"""),
    Part("below_average",
         "The whole position is sold at market once the close is below the simple moving average of the last "
         "{exit_average} closes.",
         (between("exit_average", 4, 18),),
         ('self.exit_average = bt.ind.SMA(self.data.close, period=P["exit_average"])',), """\
if self.data.close[0] < self.exit_average[0]:
    self.pending = self.close()"""),
    Part("below_channel",
         "The whole position is sold at market once the close is below the lowest low of the {low_channel} bars "
         "before it.",
         (between("low_channel", 3, 9),),
         ('self.floor = bt.ind.Lowest(self.data.low(-1), period=P["low_channel"])',), """\
if self.data.close[0] < self.floor[0]:
    self.pending = self.close()"""),
    Part("bracket",
         "Every purchase is the main order (at market) of a bracket made with buy_bracket: its limit sale stands {gain}% "
         "above and its stop sale {loss}% below the close that the purchase is decided on. There is no other exit. The "
         "two sales act from the bar after the purchase's fill; where one bar reaches both, the stop fills; one "
         "cancels the other.",
         (one_of("gain", 2, 3, 4, 5), one_of("loss", 1.5, 2, 3, 4))),
    Part("stop",
         "On the close of the bar that a purchase filled on, a stop sale (Order.Stop) for the whole position is sent "
         "with its price {loss}% below the price that the purchase filled at." + _HOLD,
         (one_of("loss", 1, 1.5, 2, 2.5, 3), between("hold", 5, 15)), (),
         _GUARDED.format(order='exectype=bt.Order.Stop, price=self.entry_price * (1 - P["loss"] / 100)')),
    Part("trail_percent",
         "On the close of the bar that a purchase filled on, a trailing stop (Order.StopTrail) for the whole position "
         "is sent with trailpercent={trail}." + _HOLD,
         (one_of("trail", 0.01, 0.015, 0.02, 0.025, 0.03), between("hold", 6, 18)), (),
         _GUARDED.format(order='exectype=bt.Order.StopTrail, trailpercent=P["trail"]')),
    Part("trail_amount",
         "On the close of the bar that a purchase filled on, a trailing stop (Order.StopTrail) for the whole position "
         "is sent with trailamount={trail_amount}." + _HOLD,
         (one_of("trail_amount", 0.8, 1.0, 1.25, 1.5, 2.0, 2.5), between("hold", 6, 18)), (),
         _GUARDED.format(order='exectype=bt.Order.StopTrail, trailamount=P["trail_amount"]')),
    Part("atr_exit",
         "The whole position is sold at market once the close is more than {mult} * ATR({atr}) below the highest close "
         "since the bar that the purchase filled on, that one and the present one included " + _ATR_WORDS + ".",
         (one_of("mult", 1.0, 1.5, 2.0, 2.5), between("atr", 4, 14)), (_ATR_INIT,), """\
since = [self.data.close[-k] for k in range(len(self) - self.entry_bar + 1)]
if self.data.close[0] < max(since) - P["mult"] * self.atr[0]:
    self.pending = self.close()"""),
    Part("atr_stop",
         "On the close of the bar that a purchase filled on, a stop sale (Order.Stop) for the whole position is sent "
         "with its price {mult} * ATR({atr}) below that close " + _ATR_WORDS + "; it is not moved." + _HOLD,
         (one_of("mult", 1.0, 1.5, 2.0), between("atr", 4, 14), between("hold", 5, 15)), (_ATR_INIT,),
         _GUARDED.format(order='exectype=bt.Order.Stop, price=self.data.close[0] - P["mult"] * self.atr[0]')),
)}  # fmt: skip

SIZES = {part.name: part for part in (
    Part("shares", "Every purchase is of {stake} shares.", (Draw("stake", "between", (10, 81, 5)),), (), 'P["stake"]'),
    Part("share_of_cash",
         "Every purchase is of as many whole shares as {share}% of the cash buys at the close it is decided on, "
         "commission left aside.",
         (one_of("share", 30, 40, 50, 60, 75),), (),
         'int(self.broker.getcash() * P["share"] / 100 / self.data.close[0])'),
    Part("dollars",
         "Every purchase is of as many whole shares as ${dollars:,} buys at the close it is decided on, commission "
         "left aside.",
         (Draw("dollars", "between", (4000, 12001, 500)),), (), 'int(P["dollars"] / self.data.close[0])'),
)}  # fmt: skip

COMMISSIONS = {part.name: part for part in (
    Part("free", "There is no commission."),
    Part("percent", "Each purchase and each sale costs a commission of {commission}% of its value.",
         (one_of("commission", 0.05, 0.1, 0.15, 0.2, 0.3),), (),
         'cerebro.broker.setcommission(commission=P["commission"] / 100)'),
    Part("per_share", "Each purchase and each sale costs a commission of ${fee} a share.",
         (one_of("fee", 0.01, 0.02, 0.03, 0.05),), (),
         'cerebro.broker.setcommission(commission=P["fee"], commtype=bt.CommInfoBase.COMM_FIXED, stocklike=True)'),
)}  # fmt: skip

SLIPPAGES = {part.name: part for part in (
    Part("none", "Orders fill without slippage."),
    Part("percent",
         "Slippage is that of broker.set_slippage_perc({slip} / 100) with its other arguments left alone: a fill at the "
         "open, or of a stop, moves {slip}% against the trader, but not beyond the bar's high (purchase) or low (sale).",
         (one_of("slip", 0.05, 0.1, 0.15, 0.2),), (), 'cerebro.broker.set_slippage_perc(P["slip"] / 100)'),
    Part("fixed",
         "Slippage is that of broker.set_slippage_fixed({slip}) with its other arguments left alone: a fill at the open, "
         "or of a stop, moves ${slip} against the trader, but not beyond the bar's high (purchase) or low (sale).",
         (one_of("slip", 0.02, 0.03, 0.05, 0.08),), (), 'cerebro.broker.set_slippage_fixed(P["slip"])'),
)}  # fmt: skip
