"""What must hold between the rows of a price file, and what a user should hear about."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError
from backtrader_bench.market import facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.market.csv_dates import Dates
    from backtrader_bench.market.csv_table import Table
    from backtrader_bench.market.tape import Tape

_WEEKLY = 5
"""Median days between bars from which a file is no longer daily."""
_LONG_GAP = 45
_UNIT_JUMP = 8.0
"""Factor between two closes from which a change of unit or a split is likelier than a market."""


def newest_first(table: Table, dates: Dates) -> bool:
    """Whether the rows run backwards; DataError for a date twice, intraday bars, disorder, weekly bars."""
    days = dates.days
    steps = [(a > b) - (a < b) for a, b in pairwise(days)]
    backwards = steps.count(1) > steps.count(-1)
    first_at: dict[str, int] = {}
    for index, day in enumerate(days):
        if day in first_at:
            raise table.fault(index, _twice(table, dates, first_at[day], index))
        first_at[day] = index
        if index and steps[index - 1] == (-1 if backwards else 1):
            before = table.rows[index - 1].line
            order = "newest" if backwards else "oldest"
            raise table.fault(
                index,
                f"date {day} is out of order: it comes after {days[index - 1]} "
                f"(line {before}) "
                f"in a file sorted {order} first; sort the rows",
            )
    _refuse_sparse(table.name, days)
    _check_times(table, dates, backwards)
    return backwards


def _twice(table: Table, dates: Dates, first: int, second: int) -> str:
    day, line = dates.days[second], table.rows[first].line
    one, two = dates.times[first], dates.times[second]
    if one != two and None not in (one, two):
        return f"a second bar of {day} (line {line} has one at another time of day): intraday data; give one bar a day"
    if table.rows[first].cells == table.rows[second].cells:
        return f"duplicate date {day}: line {line} has the same row already; remove one"
    return f"duplicate date {day}: line {line} has another bar for it already; keep the right one"


def _refuse_sparse(name: str, days: Sequence[str]) -> None:
    if len(days) < 3:
        return
    ordinals = [date.fromisoformat(day).toordinal() for day in days]
    gap = median(abs(b - a) for a, b in pairwise(ordinals))
    if gap >= _WEEKLY:
        kind = "weekly" if gap < 15 else "monthly or sparser"
        raise DataError(f"{name}: not daily: bars are {gap:g} days apart (median), {kind} data; give daily bars")


def _check_times(table: Table, dates: Dates, backwards: bool) -> None:
    """Daily bars have one time of day, two or three where the zone changes; the newest may be running."""
    counts = Counter(time for time in dates.times if time is not None)
    newest = dates.times[0 if backwards else -1]
    if newest is not None and counts[newest] == 1 and len(counts) > 1 and newest % 60:
        table.warnings.append(f"{table.name}: the newest bar carries a time of its own; it may not be a whole day")
        del counts[newest]
    if len(counts) > 3:
        odd = counts.most_common()[3][0]
        raise table.fault(
            dates.times.index(odd),
            "bars have many different times of day: not daily but intraday or irregular data; give one bar a day",
        )


@dataclass
class Repairs:
    """What was mended or rounded while reading, by number of bars."""

    lifted: int = 0
    scaled: int = 0
    fractional: int = 0
    example: str = ""
    """The first volume that was rounded, and to what."""


def reading_warnings(table: Table, repairs: Repairs, backwards: bool) -> list[str]:
    """What the file did not say in plain form."""
    name, found = table.name, list(table.warnings)
    if backwards:
        found.append(f"{name}: newest first, reversed")
    if repairs.lifted:
        found.append(
            f"{name}: High or Low moved to the body on {repairs.lifted} bar(s) that missed it by rounding noise"
        )
    if repairs.scaled:
        found.append(f"{name}: volumes are rounded by the vendor (K, M, B) on {repairs.scaled} bar(s)")
    if repairs.fractional:
        found.append(f"{name}: volumes rounded to whole units on {repairs.fractional} bar(s): {repairs.example}")
    return found


def bar_warnings(tape: Tape) -> list[str]:
    """What breaks no rule of tapes and may still ruin a backtest."""
    name = tape.source.removeprefix("csv:")
    return [
        f"{name}: {text}"
        for text in (*_jumps(tape), *_splits(tape), *_gaps(tape), *_volumes(tape), *_weekends(tape))
        if text
    ]


def _jumps(tape: Tape) -> list[str]:
    found = []
    for i in range(1, len(tape)):
        factor = tape.close[i] / tape.close[i - 1]
        if factor >= _UNIT_JUMP or factor <= 1 / _UNIT_JUMP:
            found.append(
                f"about {max(factor, 1 / factor):.3g}x {'rise' if factor > 1 else 'drop'} between "
                f"{tape.dates[i - 1]} and {tape.dates[i]}; a change of unit (pence/pounds) or "
                "a split?"
            )
    for i, (high, low) in enumerate(zip(tape.high, tape.low, strict=True)):
        if high / low >= _UNIT_JUMP:
            found.append(f"High is {high / low:.3g} times Low on {tape.dates[i]}; are its prices in one unit?")
    return found[:5] if len(found) <= 5 else [*found[:5], f"{len(found) - 5} more jumps like these"]


def _splits(tape: Tape) -> list[str]:
    """Overnight moves by a small whole factor; the larger ones are jumps."""
    found = [jump for jump in facts.jumps(tape) if 1.9 < max(jump.ratio, 1 / jump.ratio) < 0.95 * _UNIT_JUMP]
    more = f", and {len(found) - 1} more like it" if len(found) > 1 else ""
    return [
        f"{jump.day} opens at {jump.ratio:.3g} times the close before, like a {jump.like} split{more}"
        for jump in found[:1]
    ]


def _gaps(tape: Tape) -> list[str]:
    ordinals = [date.fromisoformat(day).toordinal() for day in tape.dates]
    gaps = [(b - a, i) for i, (a, b) in enumerate(pairwise(ordinals)) if b - a > _LONG_GAP]
    if not gaps:
        return _thin(ordinals)
    longest, i = max(gaps)
    return [
        f"{len(gaps)} gap(s) above {_LONG_GAP} days, the longest of {longest} from {tape.dates[i]} to "
        f"{tape.dates[i + 1]}"
    ]


def _thin(ordinals: Sequence[int]) -> list[str]:
    """A word when many days from Monday to Friday have no bar, spread all over."""
    weekdays = sum((day - 1) % 7 < 5 for day in range(ordinals[0], ordinals[-1] + 1))
    share = len(ordinals) / max(weekdays, 1)
    return [f"bars on only {share:.0%} of the weekdays of its span"] if len(ordinals) >= 20 and share < 0.75 else []


def _volumes(tape: Tape) -> list[str]:
    silent = [i for i, volume in enumerate(tape.volume) if volume == 0]
    flat = [i for i in silent if tape.high[i] == tape.low[i]]
    found = []
    if silent and len(silent) == len(tape):
        found.append("Volume is 0 on every bar")
    elif flat:
        found.append(f"{len(flat)} flat bar(s) with volume 0, first {tape.dates[flat[0]]}; filled holidays?")
    if len(silent) > len(flat) and len(silent) < len(tape):
        first = next(i for i in silent if tape.high[i] != tape.low[i])
        found.append(
            f"{len(silent) - len(flat)} bar(s) with volume 0 though the price moved, first {tape.dates[first]}"
        )
    rows = list(zip(tape.open, tape.high, tape.low, tape.close, tape.volume, strict=True))
    same = [i for i in range(1, len(rows)) if rows[i] == rows[i - 1] and tape.volume[i]]
    if same:
        found.append(f"{len(same)} bar(s) repeat the one before to the last digit, first {tape.dates[same[0]]}")
    return found


def _weekends(tape: Tape) -> list[str]:
    """Weekend bars in a series that has them now and then; markets open all week have many."""
    off = [day for day in tape.dates if date.fromisoformat(day).weekday() >= 5]
    return [f"{len(off)} bar(s) on a weekend, first {off[0]}"] if 0 < len(off) < 0.12 * len(tape) else []
