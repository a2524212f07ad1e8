"""Random tapes and configurations that look for the places where two engines could part."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

import msgspec

from backtrader_bench.backtest.result import BacktestSpec, Result
from backtrader_bench.market.tape import Tape

Bar = tuple[str, float, float, float, float, int]


def tape(random: Random, bars: int) -> Tape:
    """``bars`` bars of one of four tempers: cents that often tie, flat runs, wide gaps, smooth floats."""
    temper = random.choice(("cents", "flat", "gaps", "smooth"))
    price = random.choice((0.5, 8.0, 100.0, 4000.0))
    step = {"cents": 0.01, "flat": 0.005, "gaps": 0.06, "smooth": 0.015}[temper]
    day, made = date(2010, 1, 4), []
    for _ in range(bars):
        if not (temper == "flat" and random.random() < 0.7):
            price *= 1 + random.gauss(0.0003, step)
        opened = price * (1 + (random.gauss(0, step) if temper in ("gaps", "smooth") else 0))
        made.append(_bar(day.isoformat(), opened, price, temper != "smooth"))
        day += timedelta(days=1)
    return Tape.checked("RND", "csv:RND.csv", made)


def _bar(day: str, opened: float, closed: float, cents: bool) -> Bar:
    opened, closed = max(opened, 0.05), max(closed, 0.05)
    if cents:
        opened, closed = round(opened, 2), round(closed, 2)
    return day, opened, max(opened, closed) + 0.01, min(opened, closed) - 0.01, closed, 1000


def params(random: Random, strategy: str, longest: int) -> dict[str, int | float]:
    """Parameters of ``strategy`` with periods up to ``longest``, in any order of size."""

    def period() -> int:
        return random.randint(1, longest)

    drawn: dict[str, int | float] = {"target_percent": random.choice((1.0, 1.0, 0.5, 0.31, 1.2))}
    if strategy == "rolling_window_mean":
        return {**drawn, "pfast": period(), "window": period()}
    drawn |= {"pfast": period(), "pslow": period()}
    if strategy == "macd_crossover":
        drawn["psignal"] = random.randint(1, 9)
    if strategy == "rsi_strategy":
        drawn |= {"rsi_period": period(), "rsi_buy_threshold": random.choice((10, 30, 45, 50, 55.5))}
        drawn["rsi_sell_threshold"] = random.choice((45, 50, 60, 70, 90))
    return drawn


NAMES = ("sma_crossover", "rolling_window_mean", "exponential_weighted_moving_average", "rsi_strategy",
         "macd_crossover")  # fmt: skip


def world(seed: int, most: int = 1500) -> tuple[Tape, BacktestSpec]:
    """One tape and one configuration that it is long enough for."""
    random = Random(seed)
    bars = random.randint(31, random.choice((60, 250, most)))
    strategy = random.choice(NAMES)
    spec = BacktestSpec(
        strategy=strategy,
        params=params(random, strategy, min(random.choice((3, 10, 60)), (bars - 12) // 2)),
        initial_cash=random.choice((12.34, 500.0, 50_000.0, 1e6)),
        commission_rate=random.choice((0.0, 0.0005, 0.001, 0.005, random.uniform(0, 0.005))),
        stake=random.choice((1, 7, 100, 1000, 10**6)),
        sizing=random.choice(("capped", "capped", "fixed")),
        fill_delay=random.choice((0, 0, 0, 1)),
    )
    return tape(random, bars), spec


@dataclass(frozen=True)
class Gap:
    """How far two results are apart: events equal or not, columns by their largest difference."""

    events: bool
    largest: float
    """Of fast, slow, cash, value, net P/L, fill prices and stop levels; relative above 1."""


def gap(one: Result, other: Result) -> Gap:
    """Compare two engines' results of one backtest."""

    def shape(result: Result) -> object:
        return (
            result.first_row,
            [(f.bar, f.side, f.size) for f in result.fills],
            [(t.open_bar, t.close_bar, t.size) for t in result.trades],
            result.signals,
            result.rejections,
            result.position,
            [msgspec.structs.replace(order, price=None) for order in result.orders],
            [level is None for level in result.stops],
        )

    names = ("fast", "slow", "cash", "value")
    columns = [(getattr(one, name), getattr(other, name)) for name in names]
    columns.append(([t.net for t in one.trades], [t.net for t in other.trades]))
    # backtrader keeps a fill's price as a weighted average, which can move its last bit.
    columns.append(([f.price for f in one.fills], [f.price for f in other.fills]))
    for numbers in (lambda r: [o.price for o in r.orders], lambda r: r.stops):
        columns.append(tuple([n for n in numbers(r) if n is not None] for r in (one, other)))  # type: ignore[arg-type]
    pairs = [pair for left, right in columns for pair in zip(left, right, strict=False)]
    largest = max((abs(a - b) / max(1.0, abs(a)) for a, b in pairs), default=0.0)
    return Gap(shape(one) == shape(other) and one.rows == other.rows, largest)
