"""The columns that no tape needs, read for one thing: whether they say that the rows are not of one instrument."""

from __future__ import annotations

import re
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

from backtrader_bench.market.csv_columns import NAMES, squeeze
from backtrader_bench.market.csv_dates import MONTHS, WEEKDAYS, looks_like_date
from backtrader_bench.market.csv_numbers import MISSING, looks_like_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.market.csv_table import Table

    Runs = list[tuple[int, str]]
    """Index of the first row of each stretch of equal cells, and the cell; empty cells belong to the stretch."""

_INSTRUMENTS = frozenset(
    f"{NAMES['symbol']} permno permco permid gvkey iid conid cusip ncusip sedol ric figi company companyname issuer "
    "assetid assetcode assetname securityid securityname stockname tscode indexcode indexname fundname".split()
)
_LAST_WORDS = frozenset(
    ["code", "id", "name", "no", "nr", "key", "symbol", "ticker", "isin", "cusip", "sedol", "ric", "figi"]
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Columns that change within one instrument and may end like its name: month_name, condition code, trade id.
_OF_THE_DAY = re.compile(
    r"date|time|day|week|month|quarter|year|session|season|holiday|event|status|state|flag|cond|error|type|reason|"
    r"tradeid|tradeno|batch|file|split|div|adj|signal|regime|pattern|trend|strategy|note|comment"
)
_CURRENCY = re.compile("USD|EUR|GB[PX]|CHF|JPY|CAD|AUD|NZD|INR|CNY|HKD|SEK|NOK|DKK|PLN|KRW|TWD|SGD|BRL|ZAR|ILS", re.I)
_ANY_WEEKDAY = re.compile(rf"{'|'.join(WEEKDAYS)}|(mon|tues|wednes|thurs|fri|satur|sun)day|thurs?|tues|weds?", re.I)
_SWITCHES = frozenset(["true", "false", "yes", "no", "y", "n", "t", "f", "on", "off"])
_MOST = 5
"""Different words of a column that may be names of instruments or places; more are something else."""


def check_others(table: Table, days: Sequence[str]) -> None:
    """DataError where an unused column changes its instrument or currency, or names another weekday than the date's.

    Other words that change once and for all become warnings.
    """
    for at, name in enumerate(table.header):
        if at in table.roles.values():
            continue
        cells = [row.cells[at] for row in table.rows]
        filled = [cell for cell in cells if cell.casefold() not in MISSING]
        if len(set(filled)) < 2:
            continue
        if all(map(_ANY_WEEKDAY.fullmatch, filled)):
            _compare_weekdays(table, name, cells, days)
        else:
            _check_change(table, name, _runs(cells), filled)


def _compare_weekdays(table: Table, name: str, cells: Sequence[str], days: Sequence[str]) -> None:
    for index, (cell, day) in enumerate(zip(cells, days, strict=True)):
        said, found = cell[:3].casefold(), date.fromisoformat(day)
        if said in WEEKDAYS and said != WEEKDAYS[found.weekday()]:
            raise table.fault(index, f"{name or 'a column'} says {cell}, and {day} is a {found:%A}; correct the date")


def _runs(cells: Sequence[str]) -> Runs:
    filled = ((index, cell) for index, cell in enumerate(cells) if cell.casefold() not in MISSING)
    return [next(group) for _, group in groupby(filled, key=lambda pair: pair[1])]


def _check_change(table: Table, name: str, runs: Runs, filled: Sequence[str]) -> None:
    """A fault or a warning where the column, whose values are several, seems to name the instrument."""
    plain = squeeze(name)
    (_, before), (index, after) = runs[:2]
    change = f"{name[:40] or 'a column without name'} changes from {before[:40]} to {after[:40]}"
    if all(map(_CURRENCY.fullmatch, filled)):
        raise table.fault(index, f"{change}: two currencies in one file? Convert to one, or remove the column")
    steady = 2 * len(runs) <= len(filled)
    if (plain in _INSTRUMENTS and not all(map(looks_like_number, filled))) or (steady and _names_instrument(name)):
        raise table.fault(index, f"{change}: two instruments in one file? Save one a file, or remove the column")
    if steady and len(runs) == len(set(filled)) <= _MOST and _are_words(plain, table, filled):
        table.warnings.append(table.remark(index, f"{change}; are these two instruments or markets?"))


def _names_instrument(name: str) -> bool:
    """Whether a column of this name holds an instrument: PERMNO, assetCode, Company Name; not Bid."""
    plain, words = squeeze(name), _WORD.findall(name)
    if plain in _INSTRUMENTS:
        return True
    return len(words) > 1 and words[-1].casefold() in _LAST_WORDS and not _OF_THE_DAY.search(plain)


def _are_words(name: str, table: Table, filled: Sequence[str]) -> bool:
    """Whether the column holds words that are no switches, dates or remarks on few rows."""
    if 2 * len(filled) < len(table.rows) or _OF_THE_DAY.search(name):
        return False
    words = {cell.casefold() for cell in filled}
    return not (
        words <= _SWITCHES
        or all(map(looks_like_number, words))
        or all(looks_like_date(word) or word[:3] in MONTHS or re.match(r"q[1-4]\b", word) for word in words)
    )
