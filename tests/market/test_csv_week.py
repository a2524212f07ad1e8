"""Weekdays of the bars and columns that no tape needs: what they tell of dates and of the instrument."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from backtrader_bench.market.csv_reader import read_csv


def week_file(tmp_path: Path, days: list[date], stamp: str = "") -> tuple[str, ...]:
    """The warnings about a file with a bar on each of ``days``."""
    rows = "".join(f"{day}{stamp},10,11,9,{10 + i / 1000},{100 + i}\n" for i, day in enumerate(days))
    (tmp_path / "ABC.csv").write_text("Date,Open,High,Low,Close,Volume\n" + rows)
    return read_csv(tmp_path / "ABC.csv").warnings


def weekdays(count: int) -> list[date]:
    """So many days from Monday to Friday, from Monday, 2 January 2023."""
    days = (date(2023, 1, 2) + timedelta(i) for i in range(2 * count))
    return [day for day in days if day.weekday() < 5][:count]


@pytest.mark.parametrize(
    ("shift", "stamp", "words"),
    [
        (1, "", "on Tuesday to Saturday and never on Monday: are the dates a day late?"),
        (1, " 06:00:00+09:00", "are the dates a day late?"),
        (1, "T01:00:00Z", "01:00 UTC may be the evening before"),
        (-1, "", "on Sunday to Thursday and never on Friday: are the dates a day early"),
        (-1, " 16:00:00", "are the dates a day early"),
        (-1, " 15:00:00+00:00", "15:00 UTC may be midnight of the next day"),
        (-1, "T13:00:00Z", "13:00 UTC may be midnight of the next day"),
        (-2, "", "on Saturday to Wednesday and never on Thursday or Friday"),
    ],
)
@pytest.mark.parametrize("count", [10, 40])
def test_dates_that_are_off_are_said(shift: int, stamp: str, words: str, count: int, tmp_path: Path) -> None:
    warnings = week_file(tmp_path, [day + timedelta(shift) for day in weekdays(count)], stamp)
    assert [text for text in warnings if words in text], warnings


def test_one_week_of_stamps_in_utc_is_said(tmp_path: Path) -> None:
    warnings = week_file(tmp_path, [day - timedelta(1) for day in weekdays(5)], "T15:00:00Z")
    assert any("a bar on Sunday 2023-01-01: are the dates a day early" in text for text in warnings)


@pytest.mark.parametrize(("shift", "word"), [(1, "a day late there"), (-1, "a day early there")])
def test_dates_that_are_off_in_a_part_of_the_file_are_said(shift: int, word: str, tmp_path: Path) -> None:
    days = weekdays(100)
    days = days[:60] + [day + timedelta(shift) for day in days[61:]]
    found = [text for text in week_file(tmp_path, days) if "unlike the rest" in text]
    assert len(found) == 1
    assert word in found[0]
    assert "about 2023-03-2" in found[0] or "about 2023-04-0" in found[0]


@pytest.mark.parametrize("stamp", ["", "T21:00:00Z", "T05:00:00Z", " 00:00:00+09:00"])
def test_nothing_to_say_about_common_weeks(stamp: str, tmp_path: Path) -> None:
    holidays = [day for day in weekdays(60) if day.toordinal() % 11]
    every = [date(2023, 1, 3) + timedelta(i) for i in range(19)]
    sundays_too = [date(2023, 1, 1) + timedelta(i) for i in range(28) if i % 7 != 6]
    for days in (weekdays(60), holidays, every, sundays_too):
        assert not any("are the dates" in text for text in week_file(tmp_path, days, stamp))


OTHERS = {
    "a bid that rests": ("Bid", ["9.5"] * 10 + ["9.6"] * 10, ""),
    "a flag for the last": ("final", ["true"] * 19 + ["false"], ""),
    "numbers of rows": ("Row Id", [str(i) for i in range(20)], ""),
    "months": ("Month Name", ["Jan"] * 10 + ["Feb"] * 10, ""),
    "a split": ("Stock Splits", ["0.0"] * 10 + ["4.0"] + ["0.0"] * 9, ""),
    "remarks": ("Remark", [""] * 10 + ["x"] * 3 + ["y"] * 3 + [""] * 4, ""),
    "a signal": ("Signal", ["BUY"] * 10 + ["SELL"] * 10, ""),
    "an exchange": ("Exchange", ["NYSE"] * 10 + ["LSE"] * 10, "Exchange changes from NYSE to LSE"),
    "one name throughout": ("company", ["Sun"] * 20, ""),
}


@pytest.mark.parametrize(("name", "cells", "words"), OTHERS.values(), ids=OTHERS)
def test_columns_that_no_tape_needs(name: str, cells: list[str], words: str, tmp_path: Path) -> None:
    rows = "".join(f"{d},10,11,9,{10 + i / 100},{100 + i},{cells[i]}\n" for i, d in enumerate(weekdays(20)))
    (tmp_path / "ABC.csv").write_text(f"Date,Open,High,Low,Close,Volume,{name}\n{rows}")
    warnings = read_csv(tmp_path / "ABC.csv").warnings
    assert len(warnings) == bool(words)
    assert all(words in text and "line 12 (row 11, 2023-01-16)" in text for text in warnings)
