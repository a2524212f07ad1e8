"""Scheme ``ladder``: the key at a uniformly drawn rank, the other values stepped 2% to 8% below and above it.

For tapes that the solver can see. It is not certified: a composite's parts stay consistent with each other, volumes
keep the tape's lots and win rates the number of trades, but a learned attacker still gains a few points on it.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.options.steps import (
    NO_ROOM,
    date_steps,
    decimal_steps,
    index_steps,
    integer_steps,
    matched,
)
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from backtrader_bench.mcq_builder.context import Answer, Context
    from backtrader_bench.templates.kinds import Kind

    Shape = Callable[[Context, Mapping[str, Any], Answer, Random], "Made"]

Made = list[tuple["Answer", str]]
"""Three distractors, each with a word on how it came to be."""


def ladder(template: str, of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Three distractors for ``key``; Skip when there is no room for them."""
    shape = _SHAPES.get(template)
    if shape:
        return shape(of, params, key, rng)
    return _origin(independent(template, of, key, rng), "ladder")


def _origin(answers: list[Answer], origin: str) -> Made:
    return [(answer, origin) for answer in answers]


def independent(template: str, of: Context, key: Answer, rng: Random) -> list[Answer]:
    """Each part on a ladder of its own, with a rank of its own."""
    ranks = {part.field: rng.randrange(4) for part in TEMPLATES[template].parts}
    columns = {
        part.field: _part_steps(of, part.kind, key[part.field], ranks[part.field], rng, bounds(template, of))
        for part in TEMPLATES[template].parts
    }
    return matched(columns, ranks, rng)


def bounds(template: str, of: Context) -> tuple[float | None, int | None]:
    """Lower bound of amounts and upper bound of counts that the text itself implies; None where there is none."""
    rows = of.result.rows
    highest = {"time_under_water": rows - 1, "idle_longest_stretch": rows, "longest_holding": rows - 2,
               "longest_losing_streak": len(of.result.trades)}  # fmt: skip
    # The first row still holds the initial cash, so that no peak can lie below it.
    lowest = {"peak_portfolio_date": of.spec.initial_cash}
    return lowest.get(template), highest.get(template)


def trading_days(of: Context) -> tuple[str, ...]:
    """The dates on which something can happen: from the row after the first on."""
    return of.tape.dates[of.result.first_row + 1 :]


def _day(of: Context, day: str) -> int:
    """Index of a date among the trading days; Skip for the first row's, which is none."""
    days = trading_days(of)
    if day < days[0]:
        raise Skip(NO_ROOM)
    return days.index(day)


def _part_steps(
    of: Context, kind: Kind, value: Any, rank: int, rng: Random, bound: tuple[float | None, int | None]
) -> list[Any]:
    low, high = bound
    if kind.name == "date":
        return list(date_steps(trading_days(of), _day(of, value), rank, rng))
    if kind.name == "volume":
        return _volume_steps(of, value, rank, rng)
    if kind.decimals is None:
        return list(integer_steps(value, rank, rng, high=high))
    return list(decimal_steps(value, rank, kind, rng, low))


def _volume_steps(of: Context, value: int, rank: int, rng: Random) -> list[int]:
    """Volumes in the lots of the tape; where it has odd lots too, all four are round lots or none is."""
    lot = reduce(math.gcd, of.tape.volume) or 1
    if lot == 1 and value % 100 == 0:
        lot = 100
    values: list[int] = integer_steps(value, rank, rng, lot=lot)
    if lot == 1:
        for place, other in enumerate(values):
            if place != rank and other % 100 == 0:
                values[place] = other + rng.randrange(1, 100)
    if len(set(values)) < 4 or values != sorted(values):
        raise Skip(NO_ROOM)
    return values


def _labels(template: str) -> Shape:
    def shape(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
        return [({"value": word}, "another state") for word in TEMPLATES[template].phrases if word != key["value"]]

    return shape


def _position(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """No shares stands among the options always; three sizes are on a ladder around the held one, or another day's."""
    held = key["value"] or rng.choice([size for size in of.result.position if size])
    # A capped buy is never larger than the stake, which the text states.
    sizes = integer_steps(held, rng.randrange(3), rng, low=1, high=of.spec.stake)[:3]
    if not key["value"]:
        return [({"value": size}, "ladder around another day's size") for size in sizes]
    others = [({"value": size}, "ladder") for size in sizes if size != held]
    return [({"value": 0}, "no position"), *others]


def _signals(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Buys and sells move together: a long-only strategy alternates them. Where only resting orders sell, buys move."""
    rank = rng.randrange(4)
    sells = key["sells"] > 0 or not of.strategy.resting
    buys = integer_steps(key["buys"], rank, rng, low=max(0, key["buys"] - key["sells"]) if sells else 0)
    moved = [n - key["buys"] for place, n in enumerate(buys) if place != rank]
    return [({"buys": key["buys"] + by, "sells": key["sells"] + by * sells}, "ladder") for by in moved]


def _first_buy(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Other days of the window, each with its own close and the size that a buy decided the day before would have."""
    if key["shares"] == of.spec.stake:
        raise Skip("the number of shares stands in the configuration")
    rank = rng.randrange(4)
    days = of.tape.dates
    first = of.result.first_row + 1
    places = index_steps(days.index(key["date"]) - first, rank, rng, len(days) - 1 - first, 15)
    indices = [first + place for place in places]
    made: Made = []
    for place, index in enumerate(indices):
        if place != rank:
            spend = of.spec.initial_cash * float(of.spec.params["target_percent"]) * 0.95
            size = min(of.spec.stake, int(spend / of.tape.close[index - 1]))
            made.append(({"shares": size, "close": of.tape.close[index], "date": days[index]}, "a buy on another day"))
    return made


def _outcomes(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    total = key["won"] + key["lost"]
    rank = rng.randrange(4)
    won = integer_steps(key["won"], rank, rng, high=total)
    return [({"won": w, "lost": total - w}, "ladder, same trades") for place, w in enumerate(won) if place != rank]


def _win_rate(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    total = sum(1 for trade in of.result.trades if trade.net)
    won = round(key["value"] * total / 100)
    made = _outcomes(of, params, {"won": won, "lost": total - won}, rng)
    return [({"value": answer["won"] / total * 100}, origin) for answer, origin in made]


def _holding_period(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """A mean over n trades is k/n; so are its rivals."""
    count = len(of.result.trades)
    rank = rng.randrange(4)
    totals = integer_steps(round(key["value"] * count), rank, rng, low=count)
    return [({"value": total / count}, "ladder, same trades") for place, total in enumerate(totals) if place != rank]


def _shares_traded(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    rank = rng.randrange(4)
    left = key["bought"] - key["sold"]
    bought = integer_steps(key["bought"], rank, rng, low=left)
    rest = [b for place, b in enumerate(bought) if place != rank]
    return [({"bought": b, "sold": b - left, "total": 2 * b - left}, "ladder, same shares left") for b in rest]


def _days_inside(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    rank = rng.randrange(4)
    total = key["total"]
    inside = integer_steps(key["inside"], rank, rng, high=total)
    return [
        ({"inside": i, "outside": total - i, "total": total}, "ladder, same rows")
        for place, i in enumerate(inside)
        if place != rank
    ]


def _drawdown_window(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Peak, trough, dollars and the peak's value each on a ladder; percent follows from the last two."""
    days = trading_days(of)
    first, last = _day(of, key["peak"]), _day(of, key["trough"])
    reach = min(12, (last - first - 1) // 6)
    ranks = {name: rng.randrange(4) for name in ("peak", "trough", "dollars", "top")}
    kinds = {part.field: part.kind for part in TEMPLATES["max_drawdown_window"].parts}
    if reach < 1:
        raise Skip(NO_ROOM)
    columns: dict[str, list[Any]] = {
        "peak": [days[i] for i in index_steps(first, ranks["peak"], rng, len(days) - 1, reach)],
        "trough": [days[i] for i in index_steps(last, ranks["trough"], rng, len(days) - 1, reach)],
        "dollars": decimal_steps(key["dollars"], ranks["dollars"], kinds["dollars"], rng),
        "top": decimal_steps(key["dollars"] / key["percent"] * 100, ranks["top"], kinds["dollars"], rng),
    }
    made = matched(columns, ranks, rng)
    return _origin([{**one, "percent": one["dollars"] / one.pop("top") * 100} for one in made], "ladder")


def _recovery(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Other numbers of rows after the same trough, each with the date that it leads to."""
    days = of.tape.dates
    back = days.index(key["date"])
    trough = back - key["days"]
    rank = rng.randrange(4)
    rows = integer_steps(key["days"], rank, rng, low=1, high=len(days) - 1 - trough)
    rest = [n for place, n in enumerate(rows) if place != rank]
    return [({"days": n, "date": days[trough + n]}, "ladder, same trough") for n in rest]


def _comparison(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Both sets with both amounts: the right one, and one step below or above it."""
    kind = TEMPLATES["sma_comparison"].parts[1].kind
    sets = [of.base_set(), dict(params["alternative"])]
    other = sets[1] if key["params"] == sets[0] else sets[0]
    rank = rng.choice((1, 2))
    wrong = decimal_steps(key["pnl"], rank, kind, rng)[3 - rank]
    return [
        ({"params": key["params"], "pnl": wrong}, "the better set, another amount"),
        ({"params": other, "pnl": key["pnl"]}, "the other set"),
        ({"params": other, "pnl": wrong}, "the other set, another amount"),
    ]


def _signal_diff(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    ranks = {name: rng.randrange(4) for name in ("first", "second")}
    columns: dict[str, list[Any]] = {name: list(integer_steps(key[name], ranks[name], rng)) for name in ranks}
    made = matched(columns, ranks, rng)
    return _origin([{**one, "difference": abs(one["first"] - one["second"])} for one in made], "ladder")


def _sets(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    return [({"value": dict(one)}, "another candidate") for one in params["sets"] if one != key["value"]]


def _rates(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    return [({"value": rate}, "another candidate") for rate in params["rates"] if rate != key["value"]]


def _bracket_exit(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Both kinds with both dates: the right one, and one some sessions before or after it on which prices turned."""
    days = of.tape.dates
    wrong = days[_other_turn(of, days.index(key["date"]), rng)]
    other = next(kind for kind in TEMPLATES["bracket_exit_kind"].phrases if kind != key["kind"])
    return [
        ({"kind": key["kind"], "date": wrong}, "the right order, another date"),
        ({"kind": other, "date": key["date"]}, "the other order"),
        ({"kind": other, "date": wrong}, "the other order, another date"),
    ]


def _other_turn(of: Context, exit_bar: int, rng: Random) -> int:
    """A bar up to 15 from an exit, before or after it, whose close moved far the other way.

    A stop goes with a fall and a limit with a rise; so each of the two kinds has a day that looks like it.
    """
    closes = of.tape.close
    if not 16 <= exit_bar < len(closes) - 16:
        raise Skip(NO_ROOM)
    side = rng.choice((-1, 1))
    fell = closes[exit_bar] < closes[exit_bar - 1]
    moves = {bar: closes[bar] / closes[bar - 1] - 1 for bar in range(exit_bar + side, exit_bar + 16 * side, side)}
    turns = sorted((bar for bar in moves if moves[bar] > 0) if fell else (bar for bar in moves if moves[bar] < 0),
                   key=lambda bar: -abs(moves[bar]))  # fmt: skip
    if len(turns) < 3:
        raise Skip(NO_ROOM)
    return rng.choice(turns[:3])


def _trail_level(of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Levels that the day's bar allows: a trail stands at or above what its close sets, and below its low."""
    bar, share = of.bar(of.row_of[params["date"]]), float(of.spec.params["trail_percent"])
    close, level = of.tape.close[bar], key["value"]
    # Three steps must fit on either side, whatever the rank, or the bar alone would tell ranks apart.
    most = min(level - (close - close * share), of.tape.low[bar] - level) / 3
    if most < 0.012 * level:
        raise Skip("the day's own bar leaves no room for other levels")
    rank, values = rng.randrange(4), [level]
    for place in range(3):
        step = rng.uniform(0.0105 * level, min(most, 0.04 * level))
        if place < rank:
            values.insert(0, values[0] - step)
        else:
            values.append(values[-1] + step)
    return _origin([{"value": value} for place, value in enumerate(values) if place != rank], "ladder within the bar")


_SHAPES: dict[str, Shape] = {
    "position_on_date": _position,
    "signal_state_on_date": _labels("signal_state_on_date"),
    "strategy_action_on_date": _labels("strategy_action_on_date"),
    "buy_sell_signals": _signals,
    "first_buy": _first_buy,
    "trade_outcomes": _outcomes,
    "win_rate": _win_rate,
    "avg_holding_period": _holding_period,
    "total_shares_traded": _shares_traded,
    "days_in_position": _days_inside,
    "max_drawdown_window": _drawdown_window,
    "drawdown_recovery_days": _recovery,
    "sma_comparison": _comparison,
    "signal_diff": _signal_diff,
    "best_parameter_set": _sets,
    "commission_breakeven": _rates,
    "bracket_exit_kind": _bracket_exit,
    "stop_trail_level_on_date": _trail_level,
}
