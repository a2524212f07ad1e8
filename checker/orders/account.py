"""Cash, one position and its trades, in backtrader's float order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Closed(NamedTuple):
    """One round trip, from the first share to none; P/L before and after the fees of both sides."""

    open_bar: int
    close_bar: int
    side: str
    """``long`` or ``short``."""
    size: int
    """Most shares held."""
    entry: float
    """Average price."""
    gross: float
    net: float
    fees: float


class State(NamedTuple):
    """What holds from ``bar`` on."""

    bar: int
    cash: float
    size: int
    entry: float


@dataclass
class Account:
    """``size`` is signed, ``entry`` the average price of the position."""

    cash: float
    rate: float
    size: int = 0
    entry: float = 0.0
    closed: list[Closed] = field(default_factory=list)
    history: list[State] = field(default_factory=list)
    """A state a change, the last of a bar counts."""
    _opened: int = 0
    _most: int = 0
    _gross: float = 0.0
    _fees: float = 0.0

    def fee(self, size: int, price: float) -> float:
        """Commission on a number of shares of either sign."""
        return abs(size) * self.rate * price

    def rehearse(self, cash: float, held: int, size: int, price: float) -> tuple[float, int]:
        """Cash and position after ``size`` at ``price`` from another cash and position; nothing is kept."""
        closing, opening = split(held, size)
        if closing:
            cash = cash + -closing * price - self.fee(closing, price)
        if opening:
            cash = cash - opening * price - self.fee(opening, price)
        return cash, held + size

    def affords(self, opening: int, price: float) -> bool:
        """Whether cash stays at or above 0 after opening so many shares."""
        return self.cash - opening * price - self.fee(opening, price) >= 0

    def close(self, size: int, price: float, bar: int) -> float:
        """Trade ``size`` shares against the position; the P/L before fees."""
        pnl = -size * (price - self.entry)
        self.cash += -size * self.entry + pnl
        self.cash -= self.fee(size, price)
        self._gross += pnl
        self._fees += self.fee(size, price)
        self.size += size
        if self.size == 0:
            side = "long" if size < 0 else "short"
            self.closed.append(
                Closed(self._opened, bar, side, self._most, self.entry, self._gross,
                       self._gross - self._fees, self._fees)
            )  # fmt: skip
            self._gross = self._fees = 0.0
            self._most, self.entry = 0, 0.0
        self.history.append(State(bar, self.cash, self.size, self.entry))
        return pnl

    def open(self, size: int, price: float, bar: int) -> None:
        """Trade ``size`` shares that add to the position or begin one."""
        self.cash -= size * price
        self.cash -= self.fee(size, price)
        self._fees += self.fee(size, price)
        if self.size:
            self.entry = (self.entry * self.size + size * price) / (self.size + size)
        else:
            self.entry, self._opened = price, bar
        self.size += size
        self._most = max(self._most, abs(self.size))
        self.history.append(State(bar, self.cash, self.size, self.entry))


def split(held: int, size: int) -> tuple[int, int]:
    """How much of ``size`` closes a position of ``held`` shares, and how much opens one; all signed."""
    if held == 0 or (held > 0) == (size > 0):
        return 0, size
    closing = size if abs(size) <= abs(held) else -held
    return closing, size - closing


def value_of(cash: float, held: int, entry: float, price: float) -> float:
    """Cash and position at ``price``."""
    worth = held * price
    if held <= 0:
        return cash + worth
    # The broker takes a long position's gain out and adds it again; without that the last bit differs now and then.
    gain = held * (price - entry)
    return cash + ((worth - gain) + gain)
