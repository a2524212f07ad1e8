"""The strategies with order mechanics, each as what it does on the close of a bar; from docs/orders.md alone.

:func:`trade` steps the broker from bar to bar and lets a :class:`Trader` act; while nothing is held and no order
is waiting it goes straight to the next close on which the strategy would buy.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backtrader_bench.backtest.result import Fill, LoggedOrder, Rejection, Result, Signal, Trade
from backtrader_bench.checker.orders.account import State, value_of
from backtrader_bench.checker.orders.broker import Broker
from backtrader_bench.checker.orders.indicators import atr
from backtrader_bench.checker.orders.prices import NONE, Bar, Slippage
from backtrader_bench.checker.orders.sizing import shares

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import BacktestSpec, Role, Side, Status
    from backtrader_bench.checker.indicators import Flags, Floats
    from backtrader_bench.checker.orders.order import Kind, Order
    from backtrader_bench.market.tape import Tape
_ENDED: tuple[Status, ...] = ("completed", "cancelled", "margin", "rejected")


class Decision(NamedTuple):
    """An order decided on a close, to be sent there or some bars later."""

    bar: int
    side: Side
    size: int


class Trader:
    """A strategy that buys and sells at the market, one position at a time. Others add resting orders to it."""

    slippage = NONE

    def __init__(self, tape: Tape, spec: BacktestSpec, buy: Flags, sell: Flags) -> None:
        self.tape, self.spec, self.buy, self.sell = tape, spec, buy, sell
        bars = list(map(Bar._make, zip(tape.open, tape.high, tape.low, tape.close, strict=True)))
        self.broker = Broker(bars, float(spec.initial_cash), spec.commission_rate, self.slippage)
        self.roles: list[Role] = []
        """Of the broker's orders, one each."""
        self.signals: list[Signal] = []
        self.decided: Decision | None = None
        self.order: Order | None = None
        """The latest order at the market."""

    @property
    def held(self) -> int:
        """Shares."""
        return self.broker.account.size

    @property
    def waiting(self) -> bool:
        """Whether an order at the market is decided or under way."""
        return self.decided is not None or (self.order is not None and self.order.live)

    def act(self, bar: int) -> None:
        """Everything that happens on a close."""
        if not self.waiting:
            self.decide(bar)
        if self.decided is not None and bar >= self.decided.bar + self.spec.fill_delay:
            decided, self.decided = self.decided, None
            self.send(decided)
        self.protect(bar)

    def decide(self, bar: int) -> None:
        """Look for a signal."""
        side: Side = "sell" if self.held else "buy"
        if not (self.sell if self.held else self.buy)[bar]:
            return
        size = self.held or shares(self.spec, self.broker.account.cash, self.tape.close[bar])
        if size > 0:
            self.decided = Decision(bar, side, size)
            self.signals.append(Signal(bar, side))

    def send(self, decided: Decision) -> None:
        """Send what was decided."""
        if decided.side == "buy":
            self.order = self.make("main", "Market", decided.size)
        else:
            self.order = self.make("close", "Market", -self.held)
        self.broker.send(self.order)

    def protect(self, bar: int) -> None:
        """Place or move resting orders."""

    def stop(self) -> Order | None:
        """The stop that protects the position."""
        return None

    def make(
        self,
        role: Role,
        kind: Kind,
        size: int,
        price: float | None = None,
        *,
        percent: float = 0.0,
        parent: Order | None = None,
    ) -> Order:
        """An order of some role, logged and not sent."""
        self.roles.append(role)
        return self.broker.make(kind, size, price=price, percent=percent, parent=parent)


class SlippageCross(Trader):
    """Fills are worse by a share of the price, at most by as much as the bar holds."""

    def __init__(self, tape: Tape, spec: BacktestSpec, buy: Flags, sell: Flags) -> None:
        self.slippage = Slippage(percent=spec.params["slip_percent"], at_open=True)
        super().__init__(tape, spec, buy, sell)


class BracketBreakout(Trader):
    """The exits are made with the entry and wake when it has filled."""

    def __init__(self, tape: Tape, spec: BacktestSpec, buy: Flags, sell: Flags) -> None:
        super().__init__(tape, spec, buy, sell)
        self.guard: Order | None = None

    def send(self, decided: Decision) -> None:
        close, params = self.tape.close[decided.bar], self.spec.params
        self.order = main = self.make("main", "Market", decided.size)
        self.guard = self.make("stop", "Stop", -main.size, close * (1 - params["stop_percent"]), parent=main)
        limit = self.make("limit", "Limit", -main.size, close * (1 + params["limit_percent"]), parent=main)
        self.broker.send(main, self.guard, limit)

    def stop(self) -> Order | None:
        return self.guard


class TrailingStop(Trader):
    """From the close of the entry's bar on a stop follows the closes; a sell signal takes it back and sells."""

    def __init__(self, tape: Tape, spec: BacktestSpec, buy: Flags, sell: Flags) -> None:
        super().__init__(tape, spec, buy, sell)
        self.trail: Order | None = None

    def send(self, decided: Decision) -> None:
        if decided.side == "sell" and self.trail is not None:
            self.broker.cancel(self.trail)
        super().send(decided)

    def protect(self, bar: int) -> None:
        if self.held and not self.waiting and (self.trail is None or not self.trail.live):
            percent = self.spec.params["trail_percent"]
            self.trail = self.make("trail", "StopTrail", -self.held, percent=percent)
            self.broker.send(self.trail)

    def stop(self) -> Order | None:
        return self.trail if self.trail is not None and self.trail.live else None


class AtrStop(Trader):
    """A stop some ATR below the close, taken back and placed anew whenever that is higher."""

    def __init__(self, tape: Tape, spec: BacktestSpec, buy: Flags, sell: Flags) -> None:
        super().__init__(tape, spec, buy, np.zeros_like(sell))
        highs, lows, closes = (np.array(column) for column in (tape.high, tape.low, tape.close))
        self.atr: Floats = atr(highs, lows, closes, int(spec.params["atr_period"]))
        self.guard: Order | None = None

    def protect(self, bar: int) -> None:
        if not self.held:
            self.guard = None
            return
        level = self.tape.close[bar] - self.spec.params["atr_multiplier"] * float(self.atr[bar])
        if level <= (self.guard.price if self.guard else 0.0):
            return
        if self.guard:
            self.broker.cancel(self.guard)
        self.guard = self.make("stop", "Stop", -self.held, level)
        self.broker.send(self.guard)

    def stop(self) -> Order | None:
        return self.guard


def trade(trader: Trader, first: int, fast: list[float], slow: list[float]) -> Result:
    """The result of letting ``trader`` act on every close from bar ``first`` on."""
    broker, tape = trader.broker, trader.tape
    wanted = np.flatnonzero(trader.buy).tolist()
    stops: list[float | None] = [None] * (len(tape) - first)
    bar = first
    while bar < len(tape):
        broker.step(bar)
        trader.act(bar)
        broker.notices.clear()
        stop = trader.stop() if trader.held else None
        stops[bar - first] = stop.price if stop else None
        bar += 1
        if broker.idle and not trader.held and not trader.waiting:
            place = bisect_right(wanted, bar - 1)
            bar = wanted[place] if place < len(wanted) else len(tape)
    cash, held, value = _columns(tape, first, broker.account.history, float(trader.spec.initial_cash))
    return Result(
        first_row=first, fast=fast, slow=slow, cash=cash, value=value, position=held,
        fills=[Fill(at, _side(size), abs(size), price, fee) for at, _, size, price, fee in broker.fills],
        trades=[Trade(one.open_bar, one.close_bar, one.size, one.gross, one.net, one.fees)
                for one in broker.account.closed],
        signals=trader.signals,
        rejections=[Rejection(one.when or 0, _side(one.size), abs(one.size))
                    for one in broker.orders if one.status == "margin"],
        orders=[_logged(one, role) for one, role in zip(broker.orders, trader.roles, strict=True)],
        stops=stops,
    )  # fmt: skip


def _side(size: int) -> Side:
    return "buy" if size > 0 else "sell"


def _logged(order: Order, role: Role) -> LoggedOrder:
    status: Status = next((word for word in _ENDED if word == order.status), "open")
    price = order.average if status == "completed" else None
    when = None if status == "open" else order.when
    return LoggedOrder(order.ref, role, _side(order.size), abs(order.size), order.bar, status, when, price)


def _columns(tape: Tape, first: int, history: list[State], cash: float) -> tuple[list[float], list[int], list[float]]:
    """Cash, shares and portfolio value of every row."""
    states = [State(first, cash, 0, 0.0), *history]
    lengths = np.diff([*(state.bar for state in states), len(tape)])
    columns = zip(*(state[1:] for state in states), strict=True)
    money, held, entry = (np.repeat(np.array(column), lengths) for column in columns)
    listed = [column.tolist() for column in (money, held, entry)]
    value = [value_of(*row) for row in zip(*listed, tape.close[first:], strict=True)]
    return listed[0], listed[1], value
