"""On which days of the week the bars fall: dates a day off put bars on weekends and leave a working day empty.

A market that is open on Sundays looks the same, so this is said and not refused.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backtrader_bench.market.csv_dates import Dates

_MONDAY, _THURSDAY, _FRIDAY, _SATURDAY, _SUNDAY = 0, 3, 4, 5, 6
_HALF_DAY = 12 * 3600


class _Shift(NamedTuple):
    """How weeks look whose dates are off."""

    held: frozenset[int]
    """Days of the weekend that have bars."""
    empty: frozenset[int]
    span: str
    question: str

    def fits(self, days: set[int]) -> bool:
        """Whether a week with bars on ``days`` looks like this."""
        return self.held <= days and not self.empty & days


_LATE = _Shift(
    frozenset({_SATURDAY}),
    frozenset({_SUNDAY, _MONDAY}),
    "on Tuesday to Saturday and never on Monday",
    "are the dates a day late{there}?",
)
_EARLY = _Shift(
    frozenset({_SUNDAY}),
    frozenset({_FRIDAY, _SATURDAY}),
    "on Sunday to Thursday and never on Friday",
    "are the dates a day early{there}, or is this a market open on Sundays?",
)
_TWO_DAYS = _Shift(
    frozenset({_SATURDAY, _SUNDAY}),
    frozenset({_THURSDAY, _FRIDAY}),
    "on Saturday to Wednesday and never on Thursday or Friday",
    "are the dates two days off{there}, or is this a market open on weekends?",
)


def week_warnings(name: str, dates: Dates) -> list[str]:
    """A word where the weekdays of the bars, of all or of some weeks in a row, suggest dates that are off."""
    weeks: dict[int, set[int]] = {}
    for day in sorted(dates.days):
        ordinal = date.fromisoformat(day).toordinal() - 1
        weeks.setdefault(ordinal // 7, set()).add(ordinal % 7)
    stamp = _stamp(dates)
    found = [_shifted(shift, weeks, sorted(dates.days), stamp) for shift in (_LATE, _EARLY, _TWO_DAYS)]
    return [f"{name}: {text}" for text in found if text]


def _shifted(shift: _Shift, weeks: Mapping[int, set[int]], days: Sequence[str], stamp: int | None) -> str:
    """What to say of the weeks that look like ``shift``; empty where there are too few."""
    fitting = [week for week, held in weeks.items() if shift.fits(held)]
    in_a_row = [one for pair in pairwise(weeks) if set(pair) <= set(fitting) for one in pair]
    why = _why(shift, stamp)
    if len(fitting) >= 2 and 2 * len(fitting) >= len(weeks):
        return f"the bars fall {shift.span}: {shift.question.format(there='')}{why}"
    if in_a_row:
        first, last = (_bar_of(week, days) for week in (in_a_row[0], in_a_row[-1]))
        there = shift.question.format(there=" there")
        return f"about {first[0]} to {last[-1]} the bars fall {shift.span}, unlike the rest: {there}{why}"
    if fitting and why and len(weeks) <= 2:
        return f"a bar on {_weekday(min(shift.held))} {_held_day(shift, fitting[0], days)}: " + (
            f"{shift.question.format(there='')}{why}"
        )
    return ""


def _bar_of(week: int, days: Sequence[str]) -> list[str]:
    return [day for day in days if (date.fromisoformat(day).toordinal() - 1) // 7 == week]


def _held_day(shift: _Shift, week: int, days: Sequence[str]) -> str:
    return next(day for day in _bar_of(week, days) if date.fromisoformat(day).weekday() in shift.held)


def _weekday(day: int) -> str:
    return "Saturday" if day == _SATURDAY else "Sunday"


def _stamp(dates: Dates) -> int | None:
    """The time of day in UTC that all bars carry, give or take an hour for summer time, unless it is midnight."""
    times = [time for time in dates.times if time is not None]
    if not dates.utc or len(times) < len(dates.times) or max(times) - min(times) > 3600 or not min(times):
        return None
    return min(times)


def _why(shift: _Shift, stamp: int | None) -> str:
    """The explanation that the time of day in UTC offers."""
    if stamp is None or (shift is _LATE) != (stamp < _HALF_DAY):
        return ""
    clock = f"{stamp // 3600:02}:{stamp // 60 % 60:02} UTC"
    where = "the evening before" if shift is _LATE else "midnight of the next day"
    return f" {clock} may be {where} at the exchange"
