"""One order: what was asked for, where it stands, what it has filled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["Market", "Limit", "Stop", "StopLimit", "StopTrail", "StopTrailLimit"]
Status = Literal["created", "submitted", "accepted", "partial", "completed", "cancelled", "margin", "rejected"]
LIVE = ("submitted", "accepted", "partial")


@dataclass(frozen=True)
class Trail:
    """How far a trailing stop stands from the price that set it, and its limit (if any) from the stop."""

    amount: float = 0.0
    percent: float = 0.0
    """As a fraction; counts only without an amount."""
    offset: float = 0.0
    """Level minus limit."""

    def level(self, price: float, sign: int) -> float:
        """The level that ``price`` sets, for a buy (``sign`` 1) or a sell (-1)."""
        return price + sign * (self.amount or price * self.percent)


@dataclass(eq=False, slots=True)
class Order:
    """``size`` is signed: shares to buy, or minus the shares to sell."""

    ref: int
    kind: Kind
    size: int
    bar: int
    """Bar on whose close it was made."""
    price: float
    """Stop or trailing level as it stands; a limit order's limit; of a market order the price it is checked at."""
    limit: float
    """Limit of the stop-limit kinds."""
    trail: Trail | None = None
    parent: Order | None = None
    family: list[Order] = field(default_factory=list)
    """The bracket it belongs to, itself included: one list shared by its members, empty once it is dissolved."""
    leader: Order | None = None
    """Whose one-cancels-other group it is in."""
    status: Status = "created"
    awake: bool = True
    """False for a bracket's child until the bar after its parent has filled."""
    triggered: bool = False
    """Whether a stop-limit has become a plain limit."""
    filled: int = 0
    """Signed, like ``size``."""
    average: float = 0.0
    fee: float = 0.0
    pnl: float = 0.0
    when: int | None = None
    """Bar of the fill, cancel or refusal; None before."""

    @property
    def sign(self) -> int:
        """1 for a buy, -1 for a sell."""
        return 1 if self.size > 0 else -1

    @property
    def live(self) -> bool:
        """Whether it can still fill."""
        return self.status in LIVE


def new_order(
    ref: int,
    kind: Kind,
    size: int,
    bar: int,
    close: float,
    *,
    price: float | None = None,
    plimit: float | None = None,
    amount: float = 0.0,
    percent: float = 0.0,
    parent: Order | None = None,
) -> Order:
    """An order as it is on the close that made it; ``close`` stands in for prices that were not given."""
    given = price if price is not None else plimit
    reference = close if given is None else given
    order = Order(ref, kind, size, bar, reference, reference if plimit is None else plimit, parent=parent)
    if kind in ("StopTrail", "StopTrailLimit"):
        order.trail = Trail(amount, percent, 0.0 if plimit is None else reference - plimit)
        order.price = order.trail.level(reference, order.sign)
        if kind == "StopTrailLimit":
            order.limit = order.price - order.trail.offset
    order.awake = parent is None
    return order


def follow(order: Order, close: float) -> None:
    """Move a trailing order's level to where ``close`` sets it, if that is strictly better."""
    if order.trail is None or (order.kind == "StopTrailLimit" and order.triggered):
        return
    level = order.trail.level(close, order.sign)
    if order.sign * level < order.sign * order.price:
        order.price = level
        if order.kind == "StopTrailLimit":
            order.limit = level - order.trail.offset
