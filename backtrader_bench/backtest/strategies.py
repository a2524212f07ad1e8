"""The strategies: their parameters, defaults and bounds. Adding one is one entry here and one class in ``rules.py``.

Defaults of the first five are those of the published Backtrader-Bench. Every strategy trades one symbol long only: it
decides on the close of a bar, its market order fills at the next bar's open, and while an order is pending no new
signal is looked at. The last four exit by resting orders or pay slippage, see docs/orders.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Params = dict[str, int | float]


@dataclass(frozen=True)
class Parameter:
    """One parameter: an int default makes it an integer, a float default a number; bounds are inclusive."""

    name: str
    default: int | float
    low: float
    high: float

    def checked(self, value: Any, strategy: str) -> int | float:
        """``value`` as this parameter's type, or a UsageError."""
        integer = isinstance(self.default, int)
        wanted = f"{'an integer' if integer else 'a number'} from {self.low:g} to {self.high:g}"
        ok = isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high
        if not ok or (integer and value != int(value)):
            raise UsageError(f"{strategy}: {self.name} is {value!r}; it must be {wanted}")
        return int(value) if integer else float(value)


@dataclass(frozen=True)
class Strategy:
    """One registry entry."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    varied: tuple[str, ...]
    """The parameters by which questions on alternative parameter sets are written."""
    sma_periods: Callable[[Params], tuple[int, int]]
    """Periods of the recorded fast and slow SMA."""
    warm_up: Callable[[Params], int]
    """Bars before the first row, from the strategy's own indicators (the recorded SMAs come on top)."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Other names under which published files carry a parameter, as (theirs, ours)."""
    resting: bool = False
    """Whether its exits rest in the market (stops, limits), so that ``fill_delay`` means nothing for it."""

    @property
    def defaults(self) -> Params:
        """A fresh dict of every parameter's default."""
        return {p.name: p.default for p in self.parameters}

    def first_row(self, params: Params) -> int:
        """Bar of the first row: all indicators have a value there. A backtest needs one bar more than this."""
        return max(self.warm_up(params), max(self.sma_periods(params)) - 1)

    def complete(self, given: Mapping[str, Any]) -> Params:
        """``given`` checked and filled up with defaults, in registry order; UsageError names what is wrong."""
        renamed = dict(self.aliases)
        named = {renamed.get(name, name): value for name, value in given.items()}
        known = {p.name: p for p in self.parameters}
        for name in named:
            if name not in known:
                raise UsageError(f"{self.name} has no parameter {name!r}; it takes {', '.join(known)}")
        return {p.name: p.checked(named.get(p.name, p.default), self.name) for p in self.parameters}


def _period(name: str, default: int, low: int = 1) -> Parameter:
    return Parameter(name, default, low, 2000)


def _share(name: str, default: float) -> Parameter:
    """A fraction of a price."""
    return Parameter(name, default, 0.0001, 0.9999)


_TARGET = Parameter("target_percent", 1.0, 0.0001, 1.0)


def _fast_slow(params: Params) -> tuple[int, int]:
    return int(params["pfast"]), int(params["pslow"])


REGISTRY: dict[str, Strategy] = {
    entry.name: entry
    for entry in (
        Strategy(
            "sma_crossover", "buy when SMA(pfast) crosses above SMA(pslow), close when it crosses below",
            (_period("pfast", 10), _period("pslow", 30), _TARGET), ("pfast", "pslow"),
            _fast_slow, lambda p: max(_fast_slow(p)),
        ),
        Strategy(
            "rolling_window_mean", "buy when the close is above SMA(window), close when it is not",
            (_period("pfast", 10), _period("window", 90), _TARGET), ("window",),
            lambda p: (int(p["pfast"]), int(p["window"])), lambda p: int(p["window"]) - 1, (("pslow", "window"),),
        ),
        Strategy(
            "exponential_weighted_moving_average", "buy when EMA(pfast) is above EMA(pslow), close when it is below",
            (_period("pfast", 5), _period("pslow", 30), _TARGET), ("pfast", "pslow"),
            _fast_slow, lambda p: max(_fast_slow(p)) - 1,
        ),
        Strategy(
            "rsi_strategy", "buy when RSI(rsi_period) is below rsi_buy_threshold, close when above rsi_sell_threshold",
            (_period("pfast", 12), _period("pslow", 20), Parameter("rsi_buy_threshold", 10, 0, 100),
             _period("rsi_period", 12, 2), Parameter("rsi_sell_threshold", 90, 0, 100), _TARGET),
            ("rsi_period", "rsi_buy_threshold", "rsi_sell_threshold"),
            _fast_slow, lambda p: int(p["rsi_period"]),
        ),
        Strategy(
            "macd_crossover", "buy when MACD(pfast, pslow) crosses above its EMA(psignal), close when it crosses below",
            (_period("pfast", 12), _period("psignal", 9), _period("pslow", 26), _TARGET), ("pfast", "pslow"),
            _fast_slow, lambda p: max(_fast_slow(p)) + int(p["psignal"]) - 1,
        ),
        Strategy(
            "bracket_breakout", "buy on a close above the highs before it, with a stop and a limit order as its exits",
            (_period("pfast", 10), _period("pslow", 30), _period("lookback", 20), _share("stop_percent", 0.05),
             Parameter("limit_percent", 0.1, 0.0001, 10.0), _TARGET), ("lookback", "stop_percent", "limit_percent"),
            _fast_slow, lambda p: int(p["lookback"]), resting=True,
        ),
        Strategy(
            "trailing_stop", "buy when SMA(pfast) crosses above SMA(pslow), trail a stop, close when it crosses below",
            (_period("pfast", 10), _period("pslow", 30), _share("trail_percent", 0.1), _TARGET),
            ("pfast", "pslow", "trail_percent"), _fast_slow, lambda p: max(_fast_slow(p)), resting=True,
        ),
        Strategy(
            "atr_stop", "buy when SMA(pfast) crosses above SMA(pslow), exit at a stop that ratchets by the ATR",
            (_period("pfast", 10), _period("pslow", 30), _period("atr_period", 14),
             Parameter("atr_multiplier", 3.0, 0.01, 100.0), _TARGET), ("pfast", "pslow", "atr_multiplier"),
            _fast_slow, lambda p: max(*_fast_slow(p), int(p["atr_period"])), resting=True,
        ),
        Strategy(
            "slippage_cross", "sma_crossover with slippage on every fill, up to the bar's high or low",
            (_period("pfast", 10), _period("pslow", 30), _share("slip_percent", 0.005), _TARGET), ("pfast", "pslow"),
            _fast_slow, lambda p: max(_fast_slow(p)),
        ),
    )
}  # fmt: skip


def strategy_named(name: str) -> Strategy:
    """The registry entry, or a UsageError that lists the names."""
    if name not in REGISTRY:
        raise UsageError(f"unknown strategy {name!r}; there are {', '.join(REGISTRY)}")
    return REGISTRY[name]
