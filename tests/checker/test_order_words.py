"""A third, naive trader written from the words of the questions alone: they are enough to get every fill.

No broker, no queue: one loop a strategy, as a solver with the question and the bars would write it.
"""

from __future__ import annotations

import math

import pytest

from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.checker.engine import simulate
from backtrader_bench.market.tape import Tape
from tests.checker.order_worlds import NAMES, world

Fill = tuple[int, str, int, float]


class Solver:
    """The configuration block, line by line."""

    def __init__(self, tape: Tape, spec: BacktestSpec) -> None:
        self.tape, self.spec, self.p = tape, spec, spec.params
        self.cash, self.held = spec.initial_cash, 0
        self.fills: list[Fill] = []

    def crossings(self) -> list[int]:
        """1 where SMA(pfast) crosses above SMA(pslow), -1 where below, else 0."""
        closes, found, sign = self.tape.close, [], 0
        fast, slow = int(self.p["pfast"]), int(self.p["pslow"])
        for bar in range(len(closes)):
            now = 0
            if bar + 1 >= max(fast, slow):
                mean = [math.fsum(closes[bar + 1 - n : bar + 1]) / n for n in (fast, slow)]
                now = (mean[0] > mean[1]) - (mean[0] < mean[1])
            found.append(now if now and sign and now != sign else 0)
            sign = now or sign
        return found

    def size(self, bar: int) -> int:
        if self.spec.sizing == "fixed":
            return self.spec.stake
        return min(self.spec.stake, int(self.cash * self.p["target_percent"] * 0.95 / self.tape.close[bar]))

    def buy(self, decided: int, size: int, price: float) -> bool:
        """Filled on the bar after ``decided``, unless the cash doesn't cover it at the close or at the price."""
        rate = self.spec.commission_rate
        for paid in (self.tape.close[decided], price):
            if self.cash - size * paid - size * rate * paid < 0:
                return False
        self.cash = self.cash - size * price - size * rate * price
        self.held, self.entry = size, price
        self.fills.append((decided + 1, "buy", size, price))
        return True

    def sell(self, bar: int, price: float) -> None:
        size = self.held
        proceeds = size * self.entry + size * (price - self.entry)
        self.cash = self.cash + proceeds - size * self.spec.commission_rate * price
        self.held = 0
        self.fills.append((bar, "sell", size, price))

    def stopped(self, bar: int, level: float) -> float | None:
        """Where a sell stop fills in a bar."""
        if self.tape.open[bar] <= level:
            return self.tape.open[bar]
        return level if self.tape.low[bar] <= level else None


def bracket_breakout(s: Solver, first: int) -> None:
    tape, n = s.tape, int(s.p["lookback"])
    bar, last = first, len(tape) - 1
    while bar < last:
        close = tape.close[bar]
        size = s.size(bar)
        if not (close > max(tape.high[bar - n : bar]) and size) or not s.buy(bar, size, tape.open[bar + 1]):
            bar += 1
            continue
        stop, limit = close * (1 - s.p["stop_percent"]), close * (1 + s.p["limit_percent"])
        bar += 2
        while bar <= last and s.held:
            price = s.stopped(bar, stop)
            if price is None and tape.high[bar] >= limit:
                price = max(tape.open[bar], limit)
            if price is None:
                bar += 1
            else:
                s.sell(bar, price)


def trailing_stop(s: Solver, first: int) -> None:
    cross = s.crossings()
    level: float | None = None
    pending = ordered = 0
    for bar in range(first, len(s.tape)):
        if pending == 1:
            s.buy(bar - 1, ordered, s.tape.open[bar])
        elif pending == -1:
            s.sell(bar, s.tape.open[bar])
        elif s.held and level is not None:
            price = s.stopped(bar, level)
            if price is not None:
                s.sell(bar, price)
        pending = 0
        close = s.tape.close[bar]
        if not s.held:
            level, ordered = None, s.size(bar)
            pending = 1 if cross[bar] > 0 and ordered else 0
        elif cross[bar] < 0:
            level, pending = None, -1
        else:
            new = close - close * s.p["trail_percent"]
            level = new if level is None else max(level, new)


def true_range_averages(tape: Tape, n: int) -> list[float]:
    ranges = [max(tape.high[b], tape.close[b - 1]) - min(tape.low[b], tape.close[b - 1]) for b in range(1, len(tape))]
    found = [math.nan] * n + [math.fsum(ranges[:n]) / n]
    for one in ranges[n:]:
        found.append(found[-1] * (1 - 1 / n) + one * (1 / n))
    return found


def atr_stop(s: Solver, first: int) -> None:
    cross, averages = s.crossings(), true_range_averages(s.tape, int(s.p["atr_period"]))
    level, ordered = 0.0, 0
    for bar in range(first, len(s.tape)):
        if ordered:
            s.buy(bar - 1, ordered, s.tape.open[bar])
            ordered = 0
        elif s.held and level:
            price = s.stopped(bar, level)
            if price is not None:
                s.sell(bar, price)
        if s.held:
            level = max(level, s.tape.close[bar] - s.p["atr_multiplier"] * averages[bar])
        else:
            level = 0.0
            ordered = s.size(bar) if cross[bar] > 0 else 0


def slippage_cross(s: Solver, first: int) -> None:
    cross, slip = s.crossings(), s.p["slip_percent"]
    for bar in range(first, len(s.tape) - 1):
        opened = s.tape.open[bar + 1]
        if s.held and cross[bar] < 0:
            s.sell(bar + 1, max(opened * (1 - slip), s.tape.low[bar + 1]))
        elif not s.held and cross[bar] > 0 and s.size(bar):
            s.buy(bar, s.size(bar), min(opened * (1 + slip), s.tape.high[bar + 1]))


SOLVERS = {function.__name__: function for function in (bracket_breakout, trailing_stop, atr_stop, slippage_cross)}


@pytest.mark.parametrize("name", NAMES)
def test_the_words_are_enough_to_get_every_fill(name: str) -> None:
    fills = 0
    for seed in range(1000, 1060):
        tape, spec = world(seed, most=300, strategy=name)
        if spec.fill_delay:
            continue
        result, solver = simulate(tape, spec), Solver(tape, spec)
        SOLVERS[name](solver, result.first_row)
        found = [(fill.bar, fill.side, fill.size, pytest.approx(fill.price)) for fill in result.fills]
        assert solver.fills == found, f"world {seed}: {spec}"
        fills += len(found)
    assert fills > 400
