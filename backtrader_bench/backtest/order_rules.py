"""Strategies that need more of backtrader's broker than market orders. Importing this module imports backtrader.

Each keeps a log of its orders and, where it has a stop, the stop's level after every bar; see docs/orders.md.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import backtrader as bt
import msgspec

from backtrader_bench.backtest.result import LoggedOrder
from backtrader_bench.backtest.rules import Rules, SmaCrossover

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import Result, Role, Status

_STATUS: dict[int, Status] = {
    bt.Order.Completed: "completed",
    bt.Order.Canceled: "cancelled",
    bt.Order.Margin: "margin",
    bt.Order.Rejected: "rejected",
}


class Logged(Rules):
    """A strategy that keeps its orders."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[Any, Role, int]] = []
        """Orders with their role and the bar that made them, in order of creation."""
        self.levels: list[float | None] = []

    def log(self, order: Any, role: Role) -> Any:
        """Keep an order; gives it back."""
        self.sent.append((order, role, self.bar))
        return order

    def send(self) -> None:
        assert self.decided is not None
        side = self.decided[0]
        super().send()
        self.log(self.order, "main" if side == "buy" else "close")

    def notify_order(self, order: Any) -> None:
        """What fills or is refused for want of cash; cancels and rejected children stand in the log alone."""
        if order.status in (order.Completed, order.Margin):
            super().notify_order(order)

    def resting_stop(self) -> Any:
        """The stop order that protects the position, if there is one."""
        return None

    def write_row(self) -> None:
        super().write_row()
        stop = self.resting_stop() if self.position else None
        self.levels.append(None if stop is None else float(stop.created.price))

    def result(self) -> Result:
        """What happened, with the order log."""
        days = (date.fromisoformat(day).toordinal() for day in self.data.p.tape.dates)
        bars = {day: bar for bar, day in enumerate(days)}
        orders = [_logged(ref, *entry, bars) for ref, entry in enumerate(self.sent, 1)]
        return msgspec.structs.replace(super().result(), orders=orders, stops=self.levels)


def _logged(ref: int, order: Any, role: Role, created: int, bars: dict[int, int]) -> LoggedOrder:
    status = _STATUS.get(order.status, "open")
    return LoggedOrder(
        ref, role, "buy" if order.isbuy() else "sell", int(abs(order.created.size)), created, status,
        None if status == "open" else bars[int(order.executed.dt)],
        float(order.executed.price) if status == "completed" else None,
    )  # fmt: skip


class BracketBreakout(Logged):
    """A close above the highs before it buys; a stop and a limit order, made with the buy, are the exits."""

    def indicators(self) -> None:
        self.top = bt.ind.Highest(self.data.high(-1), period=self.param("lookback"))
        self.guard: Any = None

    def entry(self) -> bool:
        return bool(self.data.close[0] > self.top[0])

    def exit(self) -> bool:
        return False

    def send(self) -> None:
        assert self.decided is not None
        close = self.data.close[0]
        self.order, self.guard, limit = self.buy_bracket(
            size=self.decided[1],
            exectype=bt.Order.Market,
            stopprice=close * (1 - self.param("stop_percent")),
            limitprice=close * (1 + self.param("limit_percent")),
        )
        self.decided = None
        self.log(self.order, "main")
        self.log(self.guard, "stop")
        self.log(limit, "limit")

    def resting_stop(self) -> Any:
        return self.guard


class TrailingStop(Logged, SmaCrossover):
    """The crossing rule, with a trailing stop from the close of the entry's bar on."""

    def __init__(self) -> None:
        super().__init__()
        self.trail: Any = None

    def send(self) -> None:
        if self.trail is not None:
            self.cancel(self.trail)
            self.trail = None
        super().send()

    def protect(self) -> None:
        # With a close just sent there must be no trail: one made on this bar could not be cancelled any more.
        if self.position and self.order is None and self.trail is None:
            self.trail = self.log(
                self.sell(
                    size=self.position.size, exectype=bt.Order.StopTrail, trailpercent=self.param("trail_percent")
                ),
                "trail",
            )

    def notify_order(self, order: Any) -> None:
        super().notify_order(order)
        if self.trail is not None and order.ref == self.trail.ref and not order.alive():
            self.trail = None

    def resting_stop(self) -> Any:
        return self.trail


class AtrStop(Logged, SmaCrossover):
    """The crossing rule for entries; the exit is a stop at a distance of some ATR from the best close."""

    def indicators(self) -> None:
        super().indicators()
        self.atr = bt.ind.ATR(self.data, period=self.param("atr_period"))
        self.guard: Any = None

    def exit(self) -> bool:
        return False

    def protect(self) -> None:
        if not self.position:
            self.guard = None
            return
        level = self.data.close[0] - self.param("atr_multiplier") * self.atr[0]
        if level <= (self.guard.created.price if self.guard is not None else 0.0):
            return
        if self.guard is not None:
            self.cancel(self.guard)
        self.guard = self.log(self.sell(size=self.position.size, exectype=bt.Order.Stop, price=level), "stop")

    def resting_stop(self) -> Any:
        return self.guard


class SlippageCross(Logged, SmaCrossover):
    """The crossing rule; the broker's slippage is set where the backtest is run."""


ORDER_RULES: dict[str, type[Rules]] = {
    "bracket_breakout": BracketBreakout,
    "trailing_stop": TrailingStop,
    "atr_stop": AtrStop,
    "slippage_cross": SlippageCross,
}
