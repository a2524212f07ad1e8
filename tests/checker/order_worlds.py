"""Random tapes and configurations for the strategies with order mechanics, and the events that came up."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from itertools import pairwise
from random import Random

from backtrader_bench.backtest.result import BacktestSpec, LoggedOrder, Result
from backtrader_bench.market.tape import Tape

NAMES = ("bracket_breakout", "trailing_stop", "atr_stop", "slippage_cross")


def tape(random: Random, bars: int) -> Tape:
    """Bars with real ranges: long shadows, gaps over night, closes that repeat, prices in cents."""
    price, day, made = random.choice((3.0, 40.0, 250.0)), date(2012, 1, 2), []
    step, gaps, shadows = random.choice(((0.01, 0.003, 0.01), (0.02, 0.02, 0.02), (0.03, 0.06, 0.05)))
    for _ in range(bars):
        opened = price * (1 + (random.gauss(0, gaps) if random.random() < 0.5 else 0))
        price = opened * (1 + (random.gauss(0.0005, step) if random.random() < 0.9 else 0))
        opened, price = max(round(opened, 2), 0.5), max(round(price, 2), 0.5)
        high = round(max(opened, price) * (1 + abs(random.gauss(0, shadows)) * (random.random() < 0.8)), 2)
        low = round(min(opened, price) * (1 - min(abs(random.gauss(0, shadows)), 0.5) * (random.random() < 0.8)), 2)
        made.append((day.isoformat(), opened, max(high, opened, price), min(low, opened, price), price, 1000))
        day += timedelta(days=1)
    return Tape.checked("RND", "csv:RND.csv", made)


def params(random: Random, strategy: str, longest: int) -> dict[str, int | float]:
    """Parameters of a strategy with order mechanics."""
    drawn: dict[str, int | float] = {"target_percent": random.choice((1.0, 1.0, 0.6, 1.05))}
    drawn |= {"pfast": random.randint(1, longest), "pslow": random.randint(1, longest)}
    if strategy == "bracket_breakout":
        drawn |= {"lookback": random.randint(1, longest), "stop_percent": random.choice((0.01, 0.03, 0.05, 0.12))}
        drawn["limit_percent"] = random.choice((0.01, 0.04, 0.1, 0.3))
    if strategy == "trailing_stop":
        drawn["trail_percent"] = random.choice((0.01, 0.03, 0.08, 0.1, 0.2))
    if strategy == "atr_stop":
        drawn |= {"atr_period": random.randint(1, longest), "atr_multiplier": random.choice((0.5, 1.5, 3.0, 30.0))}
    if strategy == "slippage_cross":
        drawn["slip_percent"] = random.choice((0.0005, 0.002, 0.01, 0.05))
    return drawn


def world(seed: int, most: int = 700, strategy: str | None = None) -> tuple[Tape, BacktestSpec]:
    """One tape and one configuration with order mechanics; some run out of cash."""
    random = Random(f"orders {seed}")
    chosen = strategy or random.choice(NAMES)
    bars = random.randint(most // 3, most)
    prices = tape(random, bars)
    cash = random.choice((500.0, 50_000.0))
    sizing = random.choice(("capped", "capped", "fixed"))
    stake = 10**6 if sizing == "capped" else max(1, int(cash * random.uniform(0.6, 1.02) / prices.close[bars // 2]))
    spec = BacktestSpec(
        strategy=chosen, params=params(random, chosen, random.choice((4, 10, 25))), initial_cash=cash,
        commission_rate=random.choice((0.0, 0.001, 0.004)), stake=stake, sizing=sizing,
        fill_delay=random.choice((0, 0, 1)) if chosen == "slippage_cross" else 0,
    )  # fmt: skip
    return prices, spec


def events(tape: Tape, spec: BacktestSpec, result: Result) -> Counter[str]:
    """How often each kind of event of docs/orders.md came up."""
    found: Counter[str] = Counter()
    for order in result.orders:
        found[f"{order.role} {order.status}"] += 1
        if order.status == "completed" and order.role in ("stop", "trail", "limit"):
            found[f"{order.role} through a gap"] += order.price == tape.open[order.bar or 0]
    if spec.strategy == "bracket_breakout":
        for start in range(0, len(result.orders), 3):
            found += _bracket_events(tape, spec, *result.orders[start : start + 3])
    for before, after in pairwise(result.stops):
        found["stop moved up"] += before is not None and after is not None and after > before
    if spec.strategy == "slippage_cross":
        for fill in result.fills:
            limit = tape.high[fill.bar] if fill.side == "buy" else tape.low[fill.bar]
            found["slippage stopped by the bar" if fill.price == limit else "slippage in full"] += 1
    return +found


def _bracket_events(
    tape: Tape, spec: BacktestSpec, main: LoggedOrder, stop: LoggedOrder, limit: LoggedOrder
) -> Counter[str]:
    found: Counter[str] = Counter()
    if main.status == "margin":
        found["bracket refused at submission" if stop.status == "rejected" else "bracket refused at execution"] += 1
    if stop.status == "completed":
        wanted = tape.close[main.created] * (1 + spec.params["limit_percent"])
        found["both children in one bar"] += tape.high[stop.bar or 0] >= wanted
        found["sibling cancelled"] += limit.status == "cancelled"
    found["sibling cancelled"] += limit.status == "completed" and stop.status == "cancelled"
    return found
