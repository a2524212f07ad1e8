"""Dates as people and vendors write them. One column has one format, found from all its cells.

A column of day/month dates is read only when some cell proves the order; a cell-by-cell parser would take
06/02 for June and 13/02 for February in the same file. Times of day are read to tell daily bars from others
and otherwise ignored; of a stamp with a zone the date is the one that is printed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fault = Callable[[int, str], Exception]
    YearMonthDay = tuple[int, int, int]

MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10,
    "nov": 11, "dec": 12, "mrz": 3, "mär": 3, "mai": 5, "okt": 10, "dez": 12,
}  # fmt: skip
_FULL_MONTHS = {
    "january": 1, "february": 2, "march": 3, "april": 4, "june": 6, "july": 7, "august": 8, "sept": 9,
    "september": 9, "october": 10, "november": 11, "december": 12, "januar": 1, "februar": 2, "märz": 3,
    "juni": 6, "juli": 7, "oktober": 10, "dezember": 12, **MONTHS,
}  # fmt: skip
_TIME = (
    r"(?:(?:[T,]\s*|\s+)(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s*(?:[AaPp]\.?[Mm]\.?)?)\s*"
    r"(?P<zone>Z|[+-]\d{2}:?(?:\d{2})?|[A-Z]{2,5}(?:[+-]\d{1,4})?)?)?"
)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = rf"(?:(?P<weekday>{'|'.join(WEEKDAYS)})[a-z]*\.?,?\s+)?"
_UTC = frozenset({"Z", "UTC", "GMT", "+00", "+0000", "+00:00", "-00:00"})
_FORMATS = (
    ("ymd", re.compile(rf"(?P<y>\d{{4}})(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)(?P<d>\d{{1,2}}){_TIME}")),
    (
        "numbers",
        re.compile(rf"(?P<a>\d{{1,2}})(?P<sep>[-/.])(?P<b>\d{{1,2}})(?P=sep)(?P<c>\d{{4}}|\d{{2}}){_TIME}"),
    ),
    ("compact", re.compile(rf"(?P<y>\d{{4}})(?P<m>\d{{2}})(?P<d>\d{{2}})(?:[T\s]?(?P<hms>\d{{6}})|{_TIME})")),
    ("epoch", re.compile(r"(?P<epoch>\d{9,10}|\d{13}|\d{16}|\d{19})(?:\.0*)?")),
    (
        "day month year",
        re.compile(
            rf"{_WEEKDAY}(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s/.]*(?P<month>[^\W\d_]{{3,9}})\.?"
            rf"[-\s/.,]*'?(?P<y>\d{{4}}|\d{{2}}){_TIME}",
            re.I,
        ),
    ),
    (
        "month day year",
        re.compile(
            rf"{_WEEKDAY}(?P<month>[^\W\d_]{{3,9}})\.?[-\s/]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
            rf"[-\s/,]+'?(?P<y>\d{{4}}|\d{{2}}){_TIME}",
            re.I,
        ),
    ),
    (
        "year month day",
        re.compile(rf"(?P<y>\d{{4}})[-\s/](?P<month>[^\W\d_]{{3,9}})[-\s/](?P<d>\d{{1,2}}){_TIME}", re.I),
    ),
)
_UNITS = {9: 1, 10: 1, 13: 10**3, 16: 10**6, 19: 10**9}
_EARLIEST = 1900
_LONGEST = 60
"""Characters of a date; searching longer cells would only cost time."""
_EVENING = 18 * 3600
WRITE = "write dates as YYYY-MM-DD"


@dataclass
class Dates:
    """ISO dates, a row each; seconds of the day (None: no time given); what was assumed."""

    days: list[str]
    times: list[int | None]
    warnings: list[str] = field(default_factory=list)
    utc: bool = False
    """Whether the stamps say that they are in UTC, or count from its epoch."""


def looks_like_date(cell: str) -> bool:
    """Whether ``cell`` is, or begins like, a date."""
    cell = cell[:_LONGEST]
    return bool(re.match(r"\d{1,4}[-/.]?\d|\d{1,2}[-\s][A-Za-z]", cell)) or any(p.fullmatch(cell) for _, p in _FORMATS)


def read_dates(name: str, cells: Sequence[str], clock: Sequence[str] | None, fault: Fault) -> Dates:
    """The dates of a column; ``clock`` is a second column with times of day, if there is one.

    Raises DataError, or what ``fault(row index, problem)`` makes where one row is to blame.
    """
    for index, cell in enumerate(cells):
        if len(cell) > _LONGEST:
            raise fault(index, _no_date(cell))
    kind, matches = _one_format(cells, fault)
    found = _epochs(matches, fault) if kind == "epoch" else _calendar(name, kind, cells, matches, fault)
    if clock is not None:
        found.times = [_clock(cell, index, fault) for index, cell in enumerate(clock)]
    limit = (date.today() + timedelta(days=366)).isoformat()
    for index, day in enumerate(found.days):
        if day < f"{_EARLIEST}-01-01":
            raise fault(index, f"{cells[index]!r} would be {day}, before {_EARLIEST}; {WRITE}")
        if day > limit:
            raise fault(index, f"{cells[index]!r} would be {day}, far in the future; {WRITE}")
    _refuse_shifted(name, found)
    return found


def _one_format(cells: Sequence[str], fault: Fault) -> tuple[str, list[re.Match[str]]]:
    """The format of the first cell and every cell's match of it."""
    kind, pattern = next(((k, p) for k, p in _FORMATS if p.fullmatch(cells[0])), ("", None))
    if pattern is None:
        raise fault(0, _no_date(cells[0]))
    matches = []
    first: tuple[str, int] | None = None
    for index, cell in enumerate(cells):
        match = pattern.fullmatch(cell)
        if match is None:
            known = any(p.fullmatch(cell) for _, p in _FORMATS)
            raise fault(
                index,
                f"date {cell[:30]!r} is written in another way than {cells[0][:30]!r}; write all alike"
                if known
                else _no_date(cell),
            )
        look = _look(match)
        first = first or look
        if look != first:
            raise fault(index, f"date {cell[:30]!r} is written in another way than {cells[0][:30]!r}; write all alike")
        matches.append(match)
    return kind, matches


def _look(match: re.Match[str]) -> tuple[str, int]:
    """What all dates of a column share: the separator, the digits of the year, the unit of an epoch."""
    groups = match.groupdict()
    if epoch := groups.get("epoch"):
        return "", _UNITS[len(epoch)]
    return groups.get("sep") or "", len(groups.get("c") or groups.get("y") or "")


def _no_date(cell: str) -> str:
    if cell.casefold() in ("", "null", "nan", "nat", "none", "n/a", "na", "-"):
        return f"the date is missing ({cell or 'empty'}); fill it in or remove the row"
    if re.fullmatch(r"#+", cell):
        return "the date is lost (#####: the spreadsheet's column was too narrow); widen it and export again"
    if re.fullmatch(r"[1-6]\d{4}(\.\d+)?", cell):
        return f"date {cell!r} is a spreadsheet's day number; format the column as a date and export again"
    if re.fullmatch(r"\d([.,]\d+)?[eE]\+?\d+", cell):
        return f"date {cell!r} has lost digits in a spreadsheet; export again from the source"
    return f"{cell[:40]!r} is no date; {WRITE}"


def _calendar(name: str, kind: str, cells: Sequence[str], matches: Sequence[re.Match[str]], fault: Fault) -> Dates:
    warnings: list[str] = []
    if kind == "numbers":
        parts = _day_and_month(name, cells, matches, fault, warnings)
    else:
        parts = [_parts(match, index, fault) for index, match in enumerate(matches)]
    days = []
    for index, (year, month, day) in enumerate(parts):
        if not _exists(year, month, day):
            raise fault(index, f"{cells[index][:30]!r} is no day of the calendar; correct it")
        _compare_weekday(matches[index], date(year, month, day), index, fault)
        days.append(date(year, month, day).isoformat())
    times = [_seconds(match, index, fault) for index, match in enumerate(matches)]
    return Dates(days, times, warnings, all(match.groupdict().get("zone") in _UTC for match in matches))


def _compare_weekday(match: re.Match[str], day: date, index: int, fault: Fault) -> None:
    said = match.groupdict().get("weekday")
    if said and said.casefold() != WEEKDAYS[day.weekday()]:
        raise fault(index, f"{match[0][:40]!r} names another weekday than {day:%A}, which {day} is; correct the date")


def _parts(match: re.Match[str], index: int, fault: Fault) -> YearMonthDay:
    groups = match.groupdict()
    if "month" not in groups:
        return int(groups["y"]), int(groups["m"]), int(groups["d"])
    month = _FULL_MONTHS.get(groups["month"].casefold())
    if month is None:
        raise fault(index, f"{groups['month']!r} is no month this reader knows; {WRITE}")
    return _year(groups["y"]), month, int(groups["d"])


def _day_and_month(
    name: str, cells: Sequence[str], matches: Sequence[re.Match[str]], fault: Fault, warnings: list[str]
) -> list[YearMonthDay]:
    """Three numbers a date: the one order that makes all of them days of the calendar."""
    orders = {"day first": ("c", "b", "a"), "month first": ("c", "a", "b")}
    if len(matches[0]["c"]) == 2:
        orders["year first"] = ("a", "b", "c")
    readings = {order: [(_year(m[y]), int(m[mo]), int(m[d])) for m in matches] for order, (y, mo, d) in orders.items()}
    fails = {order: _first_bad(parts) for order, parts in readings.items()}
    fits = [order for order, bad in fails.items() if bad is None]
    if len(fits) > 1 and "year first" in fits and not _monotonic(readings["year first"]):
        fits.remove("year first")
    if not fits:
        bad = max(index for index in fails.values() if index is not None)
        raise fault(
            bad,
            f"date {cells[bad][:30]!r} fits neither day-first nor month-first together with the rows before; {WRITE}",
        )
    if len(fits) > 1 and any(readings[order] != readings[fits[0]] for order in fits):
        if matches[0]["sep"] == "." and fits[0] == "day first":
            warnings.append(f"{name}: dates such as {cells[0]} read day first, as dots mean; no day above 12 proves it")
        else:
            raise DataError(
                f"{name}: dates are ambiguous (day/month order): {cells[0][:30]!r} may be read {' or '.join(fits)}, "
                f"and no row settles it; {WRITE}"
            )
    return readings[fits[0]]


def _first_bad(parts: Sequence[YearMonthDay]) -> int | None:
    return next((index for index, part in enumerate(parts) if not _exists(*part)), None)


def _monotonic(parts: Sequence[YearMonthDay]) -> bool:
    pairs = list(pairwise(parts))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _year(text: str) -> int:
    """Two digits are 1970 to 2069."""
    return int(text) if len(text) == 4 else int(text) + (1900 if int(text) >= 70 else 2000)


def _seconds(match: re.Match[str], index: int, fault: Fault) -> int | None:
    groups = match.groupdict()
    text = groups.get("hms") or groups.get("time")
    return None if text is None else _clock(text, index, fault)


def _clock(cell: str, index: int, fault: Fault) -> int | None:
    """Seconds of the day in ``16:00``, ``4:00 PM``, ``160000``; None for an empty cell."""
    if not cell:
        return None
    text = cell.strip()
    match = re.fullmatch(r"(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?\s*(?:([AaPp])\.?[Mm]\.?)?", text)
    if match is None and re.fullmatch("0{1,3}", text):
        return 0
    if match is None:
        raise fault(index, f"time {cell[:20]!r} is no time of day")
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if match[4]:
        hour = hour % 12 + (12 if match[4] in "pP" else 0)
    if hour > 23 or minute > 59 or second > 60:
        raise fault(index, f"time {cell[:20]!r} is no time of day")
    return hour * 3600 + minute * 60 + second


def _epochs(matches: Sequence[re.Match[str]], fault: Fault) -> Dates:
    """UTC dates and times of seconds, milliseconds, microseconds or nanoseconds since 1970."""
    days: list[str] = []
    times: list[int | None] = []
    for index, match in enumerate(matches):
        seconds = int(match["epoch"]) // _UNITS[len(match["epoch"])]
        try:
            moment = datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            raise fault(index, f"{match['epoch']} is no time stamp") from None
        days.append(moment.date().isoformat())
        times.append(seconds % 86_400)
    return Dates(days, times, utc=True)


def _refuse_shifted(name: str, found: Dates) -> None:
    """Late stamps, bars on Sundays, none on Fridays: next days' midnights in UTC, each date a day off."""
    late = all(time is not None and time >= _EVENING for time in found.times)
    weekdays = {date.fromisoformat(day).weekday() for day in found.days}
    if late and 6 in weekdays and 4 not in weekdays and len(found.days) >= 5:
        raise DataError(
            f"{name}: bars on Sundays and none on Fridays: these stamps are midnights of "
            "the next day in "
            f"UTC; {WRITE} of the exchange"
        )
