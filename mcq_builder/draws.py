"""Which questions a template can ask of a backtest: an iterator of distinct ``template_params``, in seeded order.

Each drawer yields every possibility once, or, where there are too many to list, distinct ones up to a limit. So a
bank has a duplicate only when its configurations have nothing else to ask.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.checker.engine import simulate
from backtrader_bench.mcq_builder.answers.easy import signal_state
from backtrader_bench.mcq_builder.answers.medium import action
from backtrader_bench.mcq_builder.answers.orders import filled_exits
from backtrader_bench.mcq_builder.context import Skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from backtrader_bench.mcq_builder.context import Context

_LIMIT = 2000
_OTHER_VALUES = {"trail_percent": (0.03, 0.05, 0.08, 0.1, 0.15), "atr_multiplier": (1.5, 2.0, 2.5, 3.0, 4.0)}
_SPANS = (5, 10, 15, 20, 21, 30, 40, 42, 50, 60, 63, 80, 90, 100, 120, 126, 150, 200, 250, 252)


def draws(template: str, of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    """The parameters that ``template`` can be asked with; Skip when it can't be asked at all."""
    drawer = _DRAWERS.get(template)
    return drawer(of, rng) if drawer else iter([{}])


def _shuffled(items: Any, rng: Random) -> list[Any]:
    listed = list(items)
    rng.shuffle(listed)
    return listed


def _any_bar(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    for day in _shuffled(of.tape.dates, rng):
        yield {"date": day}


def any_row(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    """Every row once."""
    for day in _shuffled(of.row_of, rng):
        yield {"date": day}


def _sma(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    for which, day in _shuffled(product(("fast", "slow"), of.row_of), rng):
        yield {"which": which, "date": day}


def _evenly(classes: dict[str, list[Any]], rng: Random, name: str = "date") -> Iterator[dict[str, Any]]:
    """Dates (or numbers) such that each class comes up equally often, so that no class is a good guess.

    Ends when one runs out.
    """
    if not all(classes.values()):
        raise Skip("not every state that the options offer occurs in this backtest")
    pools = {label: _shuffled(members, rng) for label, members in classes.items()}
    while True:
        label = rng.choice(list(pools))
        if not pools[label]:
            return
        yield {name: pools[label].pop()}


def _by_class(names: tuple[str, ...], classify: Callable[[Context, int], str]) -> Callable[..., Any]:
    def drawer(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
        classes: dict[str, list[str]] = {name: [] for name in names}
        for day, row in of.row_of.items():
            classes[classify(of, row)].append(day)
        return _evenly(classes, rng)

    return drawer


def _holding_class(of: Context, row: int) -> str:
    # Three parts held to one part flat: 0 stands among the options of every such question, and is right in a quarter.
    return "flat" if not of.result.position[row] else f"held{row % 3}"


def _bracket(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    classes: dict[str, list[Any]] = {"stop": [], "limit": []}
    for n, order in enumerate(filled_exits(of.result), 1):
        classes[order.role].append(n)
    return _evenly(classes, rng, "n")


def _trailed_row(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    standing = [day for day, row in of.row_of.items() if of.result.stops[row] is not None]
    for day in _shuffled(standing, rng):
        yield {"date": day}


def _nth(count: Callable[[Context], int]) -> Callable[..., Any]:
    def drawer(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
        for n in _shuffled(range(1, count(of) + 1), rng):
            yield {"n": n}

    return drawer


def _golden(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    rows = of.result.rows
    if rows < 40:
        raise Skip("too few rows for a sub-period")
    seen = set()
    for _ in range(_LIMIT):
        length = rng.randrange(rows // 4, rows)
        start = rng.randrange(0, rows - length)
        if (start, length) not in seen:
            seen.add((start, length))
            yield {"from": of.day(start), "to": of.day(start + length)}


def _neighbours(of: Context) -> list[dict[str, int | float]]:
    """Other sets of the varied parameters near the configuration's, its own left out."""
    base = of.base_set()
    if of.spec.strategy == "rsi_strategy":
        thresholds = [(low, 100 - low) for low in (10, 15, 20, 25, 30, 35, 40, 45)]
        found = [
            {"rsi_period": period, "rsi_buy_threshold": float(low), "rsi_sell_threshold": float(high)}
            for period, (low, high) in product((5, 7, 9, 10, 12, 14, 16, 21, 25), thresholds)
        ]
    elif list(base) == ["window"]:
        found = [{"window": window} for window in range(10, 2 * int(base["window"]) + 21, 5)]
    elif of.spec.strategy == "bracket_breakout":
        spans = [int(base["lookback"]) + step for step in (-10, -5, 0, 5, 10, 15, 20) if base["lookback"] + step >= 2]
        found = [
            {"lookback": span, "stop_percent": stop, "limit_percent": limit}
            for span, stop, limit in product(spans, (0.02, 0.03, 0.05, 0.08, 0.1), (0.05, 0.08, 0.1, 0.15, 0.2))
        ]
    else:
        fast, slow = int(base["pfast"]), int(base["pslow"])
        fasts = [fast + step for step in (-4, -3, -2, 0, 2, 3, 5, 7) if fast + step >= 2]
        slows = [slow + step for step in (-10, -5, 0, 5, 8, 10, 15, 20, 30) if slow + step >= 3]
        found = [{"pfast": a, "pslow": b} for a, b in product(fasts, slows) if a < b]
        for name, values in _OTHER_VALUES.items():
            if name in base:
                found = [{**one, name: value} for one, value in product(found, values)]
    kinds = {name: type(value) for name, value in of.spec.params.items()}
    typed = [{name: kinds[name](value) for name, value in one.items()} for one in found]
    return [one for one in typed if one != base]


def _alternative(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    for one in _shuffled(_neighbours(of), rng):
        yield {"alternative": one}


def _four_sets(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    nearby = _neighbours(of)
    if len(nearby) < 4:
        raise Skip("too few other parameter sets")
    seen = set()
    for _ in range(200):
        metric = rng.choice(("net_pnl", "max_drawdown", "sharpe_ratio"))
        sets = rng.sample(nearby, 4)
        key = (metric, tuple(sorted(str(one) for one in sets)))
        if key not in seen:
            seen.add(key)
            yield {"metric": metric, "sets": sets}


def _rates(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    """Four rates around the one at which the result turns negative, the right one's place among them drawn first.

    The search runs in the checker's engine, which is some forty times faster; it chooses what is asked, never the key.
    """
    turn = breakeven(of)
    seen = set()
    for _ in range(60):
        rank, ratio = rng.randrange(4), rng.uniform(1.1, 1.35)
        middle = turn * ratio ** rng.uniform(0.25, 0.75)
        rates = [round(middle * ratio ** (step - rank), 4) for step in range(4)]
        if rates[0] <= 0 or rates[3] >= 0.5 or len(set(rates)) < 4 or tuple(rates) in seen:
            continue
        seen.add(tuple(rates))
        if [_net_at(of, rate) < 0 for rate in rates] == [place >= rank for place in range(4)]:
            yield {"rates": rates}


def _net_at(of: Context, rate: float) -> float:
    """Net result at a commission rate, in the checker's engine."""
    spec = msgspec.structs.replace(of.spec, commission_rate=rate)
    return simulate(of.tape, spec).value[-1] - of.spec.initial_cash


def breakeven(of: Context) -> float:
    """A commission rate at which the result turns negative, to a relative 1e-3, by bisection."""
    # From about 5% on, 95% of the cash no longer buys what it should and nothing is traded at all.
    low, high = 0.0, 0.05
    if not of.result.fills or _net_at(of, low) <= 0 or _net_at(of, high) >= 0:
        raise Skip("no commission rate turns a profit into a loss")
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _net_at(of, middle) < 0 else (middle, high)
    return high


def _spans(of: Context, rng: Random) -> Iterator[dict[str, Any]]:
    for rows in _shuffled([span for span in _SPANS if span < of.result.rows // 2], rng):
        yield {"rows": rows}


_DRAWERS: dict[str, Callable[[Context, Random], Iterator[dict[str, Any]]]] = {
    "high_on_date": _any_bar,
    "volume": _any_bar,
    "broker_cash": any_row,
    "portfolio_value": any_row,
    "sma": _sma,
    "position_on_date": _by_class(("flat", "held0", "held1", "held2"), _holding_class),
    "signal_state_on_date": _by_class(("above_long", "above_flat", "below_long", "below_flat"), signal_state),
    "strategy_action_on_date": _by_class(("buy", "sell", "hold", "flat"), action),
    "nth_trade_pnl": _nth(lambda of: len(of.result.trades)),
    "cash_after_nth_order": _nth(lambda of: len(of.result.fills)),
    "golden_cross_count": _golden,
    "sma_comparison": _alternative,
    "signal_diff": _alternative,
    "best_parameter_set": _four_sets,
    "commission_breakeven": _rates,
    "worst_rolling_window": _spans,
    "bracket_exit_kind": _bracket,
    "stop_trail_level_on_date": _trailed_row,
    "atr_stop_exit_date": _nth(lambda of: len(filled_exits(of.result))),
}
