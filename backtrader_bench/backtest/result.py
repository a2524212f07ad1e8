"""What goes into a backtest and what comes out, whichever engine ran it.

``bar`` always is an index into the tape that was run; row *r* of the result is bar ``first_row + r``.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

Side = Literal["buy", "sell"]
Sizing = Literal["capped", "fixed"]
Role = Literal["main", "stop", "limit", "trail", "close"]
Status = Literal["completed", "cancelled", "margin", "rejected", "open"]


class BacktestSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides a backtest but the tape."""

    strategy: str
    """Registry name, such as ``sma_crossover``."""
    params: dict[str, int | float]
    """Every parameter of the strategy, none left to a default."""
    initial_cash: float
    commission_rate: float
    """Share of traded value charged on each side: 0.001 is 0.1%."""
    stake: int
    """``capped``: the most shares of one buy; ``fixed``: the shares of every buy."""
    sizing: Sizing = "capped"
    """``capped``: ``min(stake, int(cash * target_percent * 0.95 / close))``; ``fixed``: ``stake``."""
    fill_delay: int = 0
    """Bars between a signal's close and the close at which its order is sent; 0 fills at the next open."""

    @property
    def key(self) -> str:
        """Hex SHA-256 of the canonical JSON: equal specs, equal keys."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class Fill(msgspec.Struct, frozen=True, array_like=True):
    """One executed order."""

    bar: int
    side: Side
    size: int
    """Shares, positive on both sides."""
    price: float
    commission: float


class Trade(msgspec.Struct, frozen=True, array_like=True):
    """One closed round trip: bought at ``open_bar``'s open, sold on ``close_bar``, at its open, a stop or a limit."""

    open_bar: int
    close_bar: int
    size: int
    gross: float
    """P/L before commission."""
    net: float
    """P/L after the commission of both sides."""
    commission: float


class Signal(msgspec.Struct, frozen=True, array_like=True):
    """A signal that was acted on: on the close of ``bar`` an order was decided (whether or not it later filled)."""

    bar: int
    side: Side


class Rejection(msgspec.Struct, frozen=True, array_like=True):
    """An order refused for want of cash, on the bar that refused it."""

    bar: int
    side: Side
    size: int


class LoggedOrder(msgspec.Struct, frozen=True, array_like=True):
    """One order of a strategy with order mechanics, as it stood when the backtest ended."""

    ref: int
    """From 1, in order of creation."""
    role: Role
    """``main`` enters; ``stop``, ``limit`` and ``trail`` rest and exit; ``close`` sells at the market."""
    side: Side
    size: int
    """Shares, positive on both sides."""
    created: int
    """Bar on whose close it was made."""
    status: Status
    """``margin``: refused for want of cash; ``rejected``: a child after its main order was; ``open``: still alive."""
    bar: int | None = None
    """Bar of the fill, cancel or refusal; None while open."""
    price: float | None = None
    """Fill price; None unless completed."""


class Result(msgspec.Struct, frozen=True):
    """A finished backtest. ``fast`` .. ``position`` have one entry a row, taken at the row's close.

    Rows begin with the first bar on which every indicator has a value and run to the tape's last bar.
    """

    first_row: int
    fast: list[float]
    """Simple moving average recorded beside the strategy, the shorter one."""
    slow: list[float]
    cash: list[float]
    value: list[float]
    """Cash plus position at the close."""
    position: list[int]
    """Shares held."""
    fills: list[Fill]
    trades: list[Trade]
    """Closed trades in order of closing."""
    signals: list[Signal]
    rejections: list[Rejection]
    orders: list[LoggedOrder] = []
    """Every order, in order of creation; kept only for the strategies with order mechanics."""
    stops: list[float | None] = []
    """For strategies with a stop: a row's entry is the level at which the stop stands after its close, the one that the
    next bar is tested against; None when no position is held or none stands."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.value)
