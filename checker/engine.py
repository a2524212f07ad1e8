"""The second engine: backtrader's backtests from the published semantics alone, without backtrader.

A backtest is two steps. A strategy of :data:`STRATEGIES` turns closes into :class:`Wishes`, which know
nothing of cash; :func:`_trade` goes from one wish to the next that matters and keeps the account, or, where a strategy
has more than market orders, a trader of ``orders/`` does with a simulated broker. Floats are combined in backtrader's
order, so that sizes, refusals and ties come out the same, not nearly so.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.backtest.result import Fill, Rejection, Result, Signal, Trade
from backtrader_bench.checker.indicators import Closes, crossings, placed, rsi, smoothed
from backtrader_bench.checker.orders.indicators import highest_before
from backtrader_bench.checker.orders.sizing import shares
from backtrader_bench.checker.orders.traders import AtrStop, BracketBreakout, SlippageCross, Trader, TrailingStop, trade
from backtrader_bench.errors import BacktestError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrader_bench.backtest.result import BacktestSpec, Side
    from backtrader_bench.checker.indicators import Flags, Floats
    from backtrader_bench.market.tape import Tape

LARGEST = 1e15
"""No amount, stake or parameter beyond this: above it a float no longer holds every cent."""


@dataclass(frozen=True)
class Wishes:
    """What a strategy wants at each close, one entry a bar of the tape; before ``first`` nothing counts."""

    first: int
    """First bar on which every indicator has a value."""
    fast: Floats
    slow: Floats
    """The recorded averages, NaN where they have no value yet."""
    buy: Flags
    """Closes on which it buys when flat."""
    sell: Flags
    """Closes on which it closes its position."""


@dataclass(frozen=True)
class Strategy:
    """One trading rule: the names of its parameters, the bars it needs, and its wishes."""

    periods: tuple[str, ...]
    """Parameters that count bars: integers from 1 up."""
    levels: tuple[str, ...]
    """Other parameters: numbers."""
    needs: Callable[[Mapping[str, int]], int]
    """The first bar on which every indicator has a value."""
    wishes: Callable[[Closes, Mapping[str, float], Mapping[str, int]], tuple[Flags, Flags]]
    recorded: tuple[str, str] = ("pfast", "pslow")
    """The parameters whose simple averages are recorded beside the strategy."""
    trader: Callable[[Tape, BacktestSpec, Flags, Flags], Trader] | None = None
    """Who trades on the wishes with more than market orders."""
    delays: bool = True
    """Whether its orders can be delayed: resting orders can't."""


def _sma_crossover(closes: Closes, params: Mapping[str, float], n: Mapping[str, int]) -> tuple[Flags, Flags]:
    return crossings(closes.difference(n["pfast"], n["pslow"]))


def _rolling_window_mean(closes: Closes, params: Mapping[str, float], n: Mapping[str, int]) -> tuple[Flags, Flags]:
    # The average of one close is that close, exactly.
    above = closes.difference(1, n["window"]) > 0
    return above, ~above


def _exponential(closes: Closes, params: Mapping[str, float], n: Mapping[str, int]) -> tuple[Flags, Flags]:
    fast, slow = closes.ema(n["pfast"]), closes.ema(n["pslow"])
    return fast > slow, fast < slow


def _rsi(closes: Closes, params: Mapping[str, float], n: Mapping[str, int]) -> tuple[Flags, Flags]:
    strength = rsi(closes, n["rsi_period"])
    return strength < params["rsi_buy_threshold"], strength > params["rsi_sell_threshold"]


def _macd(closes: Closes, params: Mapping[str, float], n: Mapping[str, int]) -> tuple[Flags, Flags]:
    macd = closes.ema(n["pfast"]) - closes.ema(n["pslow"])
    known = tuple(macd[~np.isnan(macd)].tolist())
    signal = smoothed(known, n["psignal"], 2.0 / (1.0 + n["psignal"]))
    return crossings(macd - placed(signal, len(macd)))


def _breakout(closes: Closes, params: Mapping[str, float], n: Mapping[str, int]) -> tuple[Flags, Flags]:
    above = closes.array > highest_before(closes.highs, n["lookback"])
    return above, np.zeros_like(above)


def _crossing_bar(n: Mapping[str, int]) -> int:
    return max(n["pfast"], n["pslow"])


# A crossing compares with the bar before, so it needs one bar more than its averages.
STRATEGIES = {
    "sma_crossover": Strategy(
        ("pfast", "pslow"), ("target_percent",), lambda n: max(n["pfast"], n["pslow"]), _sma_crossover
    ),
    "rolling_window_mean": Strategy(
        ("pfast", "window"), ("target_percent",), lambda n: n["window"] - 1, _rolling_window_mean,
        recorded=("pfast", "window"),
    ),
    "exponential_weighted_moving_average": Strategy(
        ("pfast", "pslow"), ("target_percent",), lambda n: max(n["pfast"], n["pslow"]) - 1, _exponential
    ),
    "rsi_strategy": Strategy(
        ("rsi_period", "pfast", "pslow"), ("rsi_buy_threshold", "rsi_sell_threshold", "target_percent"),
        lambda n: n["rsi_period"], _rsi,
    ),
    "macd_crossover": Strategy(
        ("pfast", "pslow", "psignal"), ("target_percent",),
        lambda n: max(n["pfast"], n["pslow"]) + n["psignal"] - 1, _macd,
    ),
    "bracket_breakout": Strategy(
        ("pfast", "pslow", "lookback"), ("stop_percent", "limit_percent", "target_percent"),
        lambda n: n["lookback"], _breakout, trader=BracketBreakout, delays=False,
    ),
    "trailing_stop": Strategy(
        ("pfast", "pslow"), ("trail_percent", "target_percent"), _crossing_bar, _sma_crossover,
        trader=TrailingStop, delays=False,
    ),
    "atr_stop": Strategy(
        ("pfast", "pslow", "atr_period"), ("atr_multiplier", "target_percent"),
        lambda n: max(_crossing_bar(n), n["atr_period"]), _sma_crossover, trader=AtrStop, delays=False,
    ),
    "slippage_cross": Strategy(
        ("pfast", "pslow"), ("slip_percent", "target_percent"), _crossing_bar, _sma_crossover, trader=SlippageCross
    ),
}  # fmt: skip


def simulate(tape: Tape, spec: BacktestSpec) -> Result:
    """The result of ``spec`` on all bars of ``tape``.

    BacktestError: unknown strategy, a parameter missing, unknown or out of range, fewer bars than the
    indicators need, an amount that is no usable number.
    """
    wishes = _wishes(tape, spec)
    trader = strategy_named(spec.strategy).trader
    if trader is not None:
        averages = (column[wishes.first :].tolist() for column in (wishes.fast, wishes.slow))
        return trade(trader(tape, spec, wishes.buy, wishes.sell), wishes.first, *averages)
    account = _trade(tape, spec, wishes)
    rows = np.array(tape.close[wishes.first :])
    lengths = np.diff([*account.since, len(tape)])
    cash, held, entry = (np.repeat(column, lengths) for column in (account.cashes, account.sizes, account.entries))
    worth = held * rows
    gain = held * (rows - entry)
    return Result(
        first_row=wishes.first,
        fast=wishes.fast[wishes.first :].tolist(),
        slow=wishes.slow[wishes.first :].tolist(),
        cash=cash.tolist(),
        # The broker takes the gain out and adds it again; without that the last bit differs now and then.
        value=(cash + ((worth - gain) + gain)).tolist(),
        position=held.tolist(),
        fills=account.fills,
        trades=account.trades,
        signals=account.signals,
        rejections=account.rejections,
    )


def _wishes(tape: Tape, spec: BacktestSpec) -> Wishes:
    strategy = strategy_named(spec.strategy)
    check_spec(spec)
    periods = {name: int(spec.params[name]) for name in strategy.periods}
    first = max(strategy.needs(periods), *(periods[name] - 1 for name in strategy.recorded))
    if first >= len(tape):
        raise BacktestError(f"{spec.strategy} with these parameters needs {first + 1} bars, not {len(tape)}")
    closes = Closes(tape.close, np.array(tape.close), np.array(tape.high))
    buy, sell = strategy.wishes(closes, spec.params, periods)
    fast, slow = closes.pair(*(periods[name] for name in strategy.recorded))
    return Wishes(first, fast, slow, buy, sell)


def strategy_named(name: str) -> Strategy:
    """The entry of :data:`STRATEGIES`; BacktestError when there is none."""
    if name not in STRATEGIES:
        raise BacktestError(f"unknown strategy {name!r}; there are {', '.join(STRATEGIES)}")
    return STRATEGIES[name]


def check_spec(spec: BacktestSpec) -> None:
    """Hold ``spec`` to what a backtest can be run with; BacktestError names the first value that can't."""
    strategy = strategy_named(spec.strategy)
    wanted = {*strategy.periods, *strategy.levels}
    if wanted != set(spec.params):
        odd = ", ".join(sorted(wanted ^ set(spec.params)))
        raise BacktestError(f"{spec.strategy} takes {', '.join(sorted(wanted))}; missing or unknown: {odd}")
    for name in strategy.periods:
        _whole(name, spec.params[name], 1)
    for name in strategy.levels:
        _finite(name, spec.params[name])
        _inside(name, spec.params[name])
    _whole("stake", spec.stake, 1)
    _whole("fill_delay", spec.fill_delay, 0)
    if spec.fill_delay and not strategy.delays:
        raise BacktestError(f"fill_delay is {spec.fill_delay}; the resting orders of {spec.strategy} can't be delayed")
    _finite("initial_cash", spec.initial_cash)
    _finite("commission_rate", spec.commission_rate)
    if spec.initial_cash <= 0 or spec.params["target_percent"] <= 0:
        raise BacktestError("initial_cash and target_percent must be above 0")
    if not 0 <= spec.commission_rate < 1:
        raise BacktestError(f"commission_rate is {spec.commission_rate!r}; it must be from 0 to below 1")
    if spec.sizing not in ("capped", "fixed"):
        raise BacktestError(f"sizing is {spec.sizing!r}; it must be capped or fixed")


# Beyond these an order has no price, or a stop stands on the wrong side of it.
BOUNDS = {
    "stop_percent": (0.0, 1.0), "trail_percent": (0.0, 1.0), "slip_percent": (0.0, 1.0),
    "limit_percent": (0.0, LARGEST), "atr_multiplier": (0.0, LARGEST),
}  # fmt: skip


def _inside(name: str, value: float) -> None:
    low, high = BOUNDS.get(name, (-math.inf, math.inf))
    if not low < value < high:
        raise BacktestError(f"{name} is {value!r:.40}; it must lie between {low:g} and {high:g}")


def _whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise BacktestError(f"{name} is {value!r:.40}; it must be a whole number from {least} up")


def _finite(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        raise BacktestError(f"{name} is {value!r:.40}; it must be a number")


@dataclass
class Account:
    """Cash and position as they change; the four columns get an entry with every fill."""

    cash: float
    rate: float
    size: int = 0
    entry: float = 0.0
    opened: Fill | None = None
    since: list[int] = field(default_factory=list)
    """Bar from which the next three hold."""
    cashes: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    entries: list[float] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    trades: list[Trade] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)

    def note(self, bar: int) -> None:
        """Write the present state down as holding from ``bar`` on."""
        self.since.append(bar)
        self.cashes.append(self.cash)
        self.sizes.append(self.size)
        self.entries.append(self.entry)

    def after(self, side: Side, size: int, price: float) -> float:
        """Cash after an order of ``size`` at ``price``."""
        fee = size * self.rate * price
        if side == "buy":
            return self.cash - size * price - fee
        return self.cash + (size * self.entry + size * (price - self.entry)) - fee

    def send(self, side: Side, size: int, bar: int, created: float, price: float) -> None:
        """Check and execute on ``bar`` an order sent at the close ``created``, to fill at ``price``."""
        # At submission the order is tried at the price it was sent at; a close then brings in just that.
        if side == "buy":
            refused = self.after(side, size, created) < 0 or self.after(side, size, price) < 0
        else:
            refused = self.cash + size * created - size * self.rate * created < 0
        if refused:
            self.rejections.append(Rejection(bar, side, size))
            return
        self.cash = self.after(side, size, price)
        fill = Fill(bar, side, size, price, size * self.rate * price)
        self.fills.append(fill)
        if side == "buy":
            self.size, self.entry, self.opened = size, price, fill
        else:
            self._close(fill)
        self.note(bar)

    def _close(self, fill: Fill) -> None:
        assert self.opened is not None
        gross = fill.size * (fill.price - self.entry)
        fees = self.opened.commission + fill.commission
        self.trades.append(Trade(self.opened.bar, fill.bar, fill.size, gross, gross - fees, fees))
        self.size, self.entry, self.opened = 0, 0.0, None


def _trade(tape: Tape, spec: BacktestSpec, wishes: Wishes) -> Account:
    """Follow the wishes that find the account in the right state, one order at a time."""
    account = Account(float(spec.initial_cash), spec.commission_rate)
    account.note(wishes.first)
    wanted: dict[Side, list[int]] = {
        "buy": np.flatnonzero(wishes.buy).tolist(),
        "sell": np.flatnonzero(wishes.sell).tolist(),
    }
    bar = wishes.first
    while True:
        side: Side = "sell" if account.size else "buy"
        place = bisect_left(wanted[side], bar)
        if place == len(wanted[side]):
            return account
        decided = wanted[side][place]
        size = account.size or shares(spec, account.cash, tape.close[decided])
        if size <= 0:
            bar = decided + 1
            continue
        account.signals.append(Signal(decided, side))
        bar = decided + spec.fill_delay + 1
        if bar >= len(tape):
            return account
        account.send(side, size, bar, tape.close[bar - 1], tape.open[bar])
