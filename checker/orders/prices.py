"""At which price an order fills in one bar, if it does. Pure functions; a sell is a buy with all signs turned.

``sign * a <= sign * b`` reads "a is at most b for a buy, at least b for a sell"; turning a sign is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from backtrader_bench.checker.orders.order import Order


class Bar(NamedTuple):
    """The prices of one bar."""

    open: float
    high: float
    low: float
    close: float

    def worst(self, sign: int) -> float:
        """The high for a buy, the low for a sell: as far as slippage can go."""
        return self.high if sign > 0 else self.low

    def best(self, sign: int) -> float:
        """The low for a buy, the high for a sell."""
        return self.low if sign > 0 else self.high


@dataclass(frozen=True)
class Slippage:
    """How fills are worsened; the defaults are backtrader's constructor's, where nothing slips."""

    percent: float = 0.0
    """As a fraction; counts before ``fixed``."""
    fixed: float = 0.0
    at_open: bool = False
    """Whether fills at a bar's open slip too."""
    limit: bool = True
    """Whether a limit order whose slippage goes too far fills at its cap."""
    match: bool = True
    """Whether any order does."""
    out: bool = False
    """Whether such fills leave the bar instead of stopping at the cap."""

    def apply(self, price: float, sign: int, cap: float, limited: bool = False) -> float | None:
        """``price`` made worse, up to ``cap``; None when that is too far to fill at all."""
        if not self.percent and not self.fixed:
            return price
        slipped = price * (1 + sign * self.percent) if self.percent else price + sign * self.fixed
        if sign * slipped <= sign * cap:
            return slipped
        if self.match or (limited and self.limit):
            return slipped if self.out else cap
        return None


NONE = Slippage()


def quote(order: Order, bar: Bar, slippage: Slippage = NONE) -> float | None:
    """The fill price of an active order in ``bar``, None when it doesn't fill.

    Marks a stop-limit whose stop is reached as triggered.
    """
    sign = order.sign
    if order.kind == "Market":
        return _at_open(bar, sign, slippage)
    if order.kind == "Limit":
        return _limit(order.price, sign, bar, slippage)
    if order.kind in ("Stop", "StopTrail"):
        return _stop(order.price, sign, bar, slippage)
    if order.triggered:
        return _limit(order.limit, sign, bar, slippage)
    return _stop_limit(order, sign, bar, slippage)


def _at_open(bar: Bar, sign: int, slippage: Slippage) -> float | None:
    return slippage.apply(bar.open, sign, bar.worst(sign)) if slippage.at_open else bar.open


def _limit(limit: float, sign: int, bar: Bar, slippage: Slippage) -> float | None:
    if sign * bar.open <= sign * limit:
        if not slippage.at_open:
            return bar.open
        # A buy is capped by the bar as well as by its limit, a sell by its limit alone: backtrader's asymmetry.
        cap = min(bar.high, limit) if sign > 0 else limit
        return slippage.apply(bar.open, sign, cap, limited=True)
    return limit if sign * bar.best(sign) <= sign * limit else None


def _stop(stop: float, sign: int, bar: Bar, slippage: Slippage) -> float | None:
    if sign * bar.open >= sign * stop:
        return _at_open(bar, sign, slippage)
    if sign * bar.worst(sign) >= sign * stop:
        return slippage.apply(stop, sign, bar.worst(sign))
    return None


def _stop_limit(order: Order, sign: int, bar: Bar, slippage: Slippage) -> float | None:
    stop, limit = order.price, order.limit
    if sign * bar.open >= sign * stop:
        order.triggered = True
        return _limit(limit, sign, bar, slippage)
    if sign * bar.worst(sign) < sign * stop:
        return None
    order.triggered = True
    if sign * limit >= sign * stop:
        return slippage.apply(stop, sign, bar.worst(sign), limited=True)
    # The limit lies before the stop: the bar must have turned back to it, which its close tells.
    turned = bar.open > bar.close if sign > 0 else bar.open <= bar.close
    return limit if turned and sign * limit >= sign * bar.close else None
