"""Whether two engines ran the same backtest: every event and level held against the other's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import Result

AGREE = 1e-6
"""Largest difference between two engines' numbers, absolute or relative."""


def apart(one: Result, other: Result) -> str:
    """The first way in which two engines' backtests differ in events, empty when they don't."""
    if one.first_row != other.first_row or one.rows != other.rows:
        return f"the rows differ: {one.rows} and {other.rows}"
    if one.signals != other.signals:
        return "the signals differ"
    if len(one.fills) != len(other.fills):
        return f"the fills differ: {len(one.fills)} and {len(other.fills)}"
    for mine, theirs in zip(one.fills, other.fills, strict=True):
        equal = (mine.bar, mine.side, mine.size) == (theirs.bar, theirs.side, theirs.size)
        if not equal or not close(mine.price, theirs.price):
            return f"the fills differ from bar {min(mine.bar, theirs.bar)} on"
    for name in ("cash", "value"):
        for row, (mine, theirs) in enumerate(zip(getattr(one, name), getattr(other, name), strict=True)):
            if not close(mine, theirs):
                return f"the {name} differs by {abs(mine - theirs):.3g} from bar {one.first_row + row} on"
    return _orders_apart(one, other)


def _orders_apart(one: Result, other: Result) -> str:
    """The same for the logs of orders and the stop's levels; strategies without either have empty ones."""
    if len(one.orders) != len(other.orders):
        return f"the orders differ: {len(one.orders)} and {len(other.orders)}"
    for mine, theirs in zip(one.orders, other.orders, strict=True):
        bare = [msgspec.structs.replace(order, price=None) for order in (mine, theirs)]
        if bare[0] != bare[1] or not _same_price(mine.price, theirs.price):
            return f"the orders differ from order {mine.ref} on"
    if len(one.stops) != len(other.stops):
        return f"the stop levels differ: {len(one.stops)} and {len(other.stops)}"
    for row, (level, another) in enumerate(zip(one.stops, other.stops, strict=True)):
        if not _same_price(level, another):
            return f"the stop levels differ from bar {one.first_row + row} on"
    return ""


def _same_price(one: float | None, other: float | None) -> bool:
    return one is other if one is None or other is None else close(one, other)


def close(one: float, other: float) -> bool:
    """Equal within AGREE."""
    return math.isclose(one, other, rel_tol=AGREE, abs_tol=AGREE)
