"""The simulated broker: a queue of orders, checked at submission, walked once a bar. Semantics in docs/orders.md.

Not simulated, since no strategy of ours can meet it: fills by volume, expiry, orders at the close, cheating on open or
close, futures, leverage, interest, a bracket sent in pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from backtrader_bench.checker.orders.account import Account, split
from backtrader_bench.checker.orders.order import Order, follow, new_order
from backtrader_bench.checker.orders.prices import NONE, Bar, Slippage, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.checker.orders.order import Kind, Status


class Notice(NamedTuple):
    """An order as it stood when something happened to it; amounts are those so far."""

    order: Order
    status: Status
    filled: int
    average: float
    fee: float
    pnl: float
    when: int | None


class Broker:
    """Give it orders on the close of a bar; :meth:`step` to the next bar checks and fills them.

    ``check``: whether orders are held against the cash when they are submitted.
    """

    def __init__(
        self, bars: Sequence[Bar], cash: float, rate: float, slippage: Slippage = NONE, *, check: bool = True
    ) -> None:
        self.bars = bars
        self.account = Account(cash, rate)
        self.slippage = slippage
        self.check = check
        self.bar = 0
        self.orders: list[Order] = []
        """Every order made, in order of creation."""
        self.queue: list[Order] = []
        """Accepted orders, in order of acceptance: the order in which a bar tries them."""
        self.fills: list[tuple[int, Order, int, float, float]] = []
        """(bar, order, signed shares, price, fee), in order."""
        self.notices: list[Notice] = []
        """What happened since the caller last emptied it."""
        self._submitted: list[Order] = []
        self._waking: list[Order] = []
        self._groups: dict[Order, list[Order]] = {}
        self._turn: int | None = None

    @property
    def idle(self) -> bool:
        """Whether no order is waiting for anything."""
        return not self.queue and not self._submitted

    def make(
        self,
        kind: Kind,
        size: int,
        *,
        price: float | None = None,
        plimit: float | None = None,
        amount: float = 0.0,
        percent: float = 0.0,
        parent: Order | None = None,
    ) -> Order:
        """An order at this bar's close, not sent yet."""
        order = new_order(
            len(self.orders) + 1, kind, size, self.bar, self.bars[self.bar].close, price=price, plimit=plimit,
            amount=amount, percent=percent, parent=parent,
        )  # fmt: skip
        self.orders.append(order)
        return order

    def send(self, *members: Order, oco: Order | None = None) -> None:
        """Submit one order, or a bracket: its main order, then the children."""
        family = list(members)
        for order in members:
            order.family = family
            self._link(order, oco)
        for order in members:
            if self.check:
                self._submitted.append(order)
                self._tell(order, "submitted")
            else:
                self._accept(order)

    def cancel(self, order: Order) -> None:
        """Take an accepted order back at once, and with it the rest of its bracket; any other is left as it is."""
        if order in self.queue and order.live:
            self._end(order, "cancelled")
            self._dissolve(order)
        self.queue = [one for one in self.queue if one.live]

    def step(self, bar: int) -> None:
        """One bar: wake children, check what was sent, walk the queue."""
        self.bar = bar
        for order in self._waking:
            order.awake = True
        self._waking = []
        if self._submitted:
            self._check()
        if self.queue:
            self._walk()

    def _check(self) -> None:
        """Try each new order at its own price on a running account, refused ones included."""
        batch, self._submitted = self._submitted, []
        cash, held = self.account.cash, self.account.size
        for order in batch:
            if order.parent is not None and not order.family:
                self._tell(order, "rejected")
                continue
            cash, held = self.account.rehearse(cash, held, order.size, order.price)
            if cash >= 0:
                self._accept(order)
            else:
                self._end(order, "margin")
                self._dissolve(order)

    def _walk(self) -> None:
        bar = self.bars[self.bar]
        for place, order in enumerate(self.queue):
            if order.live and order.awake:
                self._turn = place
                price = quote(order, bar, self.slippage)
                if price is not None:
                    self._fill(order, price)
                if order.trail is not None and order.live:
                    follow(order, bar.close)
        self._turn = None
        self.queue = [order for order in self.queue if order.live]

    def _fill(self, order: Order, price: float) -> None:
        """Execute ``order`` at ``price``; the part that opens a position only if there is the cash for it."""
        account = self.account
        closing, opening = split(account.size, order.size)
        if closing:
            order.pnl += account.close(closing, price, self.bar)
        refused = bool(opening) and not account.affords(opening, price)
        if opening and not refused:
            account.open(opening, price, self.bar)
        done = closing if refused else order.size
        if done:
            fee = account.fee(done, price)
            order.filled, order.average, order.fee = done, price, order.fee + fee
            self.fills.append((self.bar, order, done, price, fee))
            self._end(order, "partial" if refused else "completed")
        if refused:
            self._end(order, "margin")
            self._dissolve(order)
        else:
            self._filled(order)

    def _filled(self, order: Order) -> None:
        """A main order's fill wakes its children for the next bar; a child's ends the bracket."""
        if order.parent is not None:
            self._dissolve(order)
            return
        order.family.remove(order)
        self._waking += order.family

    def _dissolve(self, order: Order) -> None:
        """Cancel what is still queued of an order's bracket."""
        members = list(order.family)
        order.family.clear()
        for member in members:
            if member is not order and member in self.queue and member.live:
                self._end(member, "cancelled")

    def _accept(self, order: Order) -> None:
        self.queue.append(order)
        self._tell(order, "accepted")

    def _end(self, order: Order, status: Status) -> None:
        """Set a status that is dated, tell it, and cancel whatever was to be cancelled by it."""
        order.when = self.bar
        self._tell(order, status)
        self._cancel_others(order)

    def _tell(self, order: Order, status: Status) -> None:
        order.status = status
        if status == "rejected":
            order.when = self.bar
        self.notices.append(Notice(order, status, order.filled, order.average, order.fee, order.pnl, order.when))

    def _link(self, order: Order, oco: Order | None) -> None:
        """Put an order into the one-cancels-other group of another."""
        if oco is None:
            return
        leader = oco.leader or oco
        group = self._groups.setdefault(leader, [leader] if leader.live and leader.leader is None else [])
        leader.leader = order.leader = leader
        group.append(order)

    def _cancel_others(self, order: Order) -> None:
        """Cancel the group's members in the queue: last first, those that the walk has passed before those ahead."""
        group = self._groups.pop(order.leader, []) if order.leader else []
        if not group:
            return
        turn = len(self.queue) if self._turn is None else self._turn
        for one in (*reversed(self.queue[:turn]), *reversed(self.queue[turn:])):
            if one is not order and one in group and one.live:
                one.when = self.bar
                self._tell(one, "cancelled")
