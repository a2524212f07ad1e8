"""Finds the header of a price file and the rows under it: separator, preamble, header rows, footers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError
from backtrader_bench.market.csv_columns import (
    HeaderProblem,
    assign,
    count_roles,
    is_date_name,
    is_symbol_name,
    strip_symbol,
)
from backtrader_bench.market.csv_dates import MONTHS, looks_like_date
from backtrader_bench.market.csv_numbers import MISSING, looks_like_number
from backtrader_bench.market.csv_text import Row, Text, one_line, split

if TYPE_CHECKING:
    from collections.abc import Sequence

DELIMITERS = (",", ";", "\t", "|")
_PREAMBLE = 40
"""Rows within which the header must come."""
_MOST_ROWS = 60_000
"""Rows that are looked at. There are fewer days since 1900, so a file with more is refused for what these show."""
_DAILY = frozenset({"d", "1d", "daily", "day", "1440", "1day"})
_KLINES = {"date": 0, "open": 1, "high": 2, "low": 3, "close": 4, "volume": 5}
_DAY_LESS_ONE = {13: 86_400_000 - 1, 16: 86_400_000_000 - 1}


@dataclass
class Table:
    """The data rows of a file and which cell of each holds what."""

    name: str
    delimiter: str
    roles: dict[str, int]
    rows: list[Row]
    symbol: str | None
    """As the file itself names it, if it does."""
    warnings: list[str]
    labels: list[str]
    """How messages call each row's day: the cell as written, until the dates are known."""
    header: Sequence[str] = ()
    """The names of the columns as written; empty where the file has none."""

    def column(self, role: str) -> list[str]:
        """The cells of one column, a row each; those of three columns where they share the date."""
        at = self.roles[role]
        if role == "date" and "year" in self.roles:
            parts = (self.roles["year"], self.roles["month"], at)
            return ["-".join(row.cells[part] for part in parts) for row in self.rows]
        return [row.cells[at] for row in self.rows]

    def fault(self, index: int, problem: str) -> DataError:
        """An error about data row ``index`` (from 0): file, physical line, row number from 1, day."""
        return DataError(self.remark(index, problem))

    def remark(self, index: int, problem: str) -> str:
        """The words of :meth:`fault`, for a warning."""
        day = f", {self.labels[index][:40]}" if self.labels[index] else ""
        return one_line(f"{self.name}, line {self.rows[index].line} (row {index + 1}{day}): {problem}")


def read_table(text: Text) -> Table:
    """The table in ``text``. DataError: no header, no rows, rows of another width."""
    delimiter, at = _find_header(text)
    rows = list(islice(split(text, delimiter), _MOST_ROWS))
    if at is None:
        return _without_header(text, delimiter, rows)
    cells, symbol, date_at, first = _header_rows(text, rows, at)
    while not cells[-1]:
        cells = cells[:-1]
    try:
        stripped, named = strip_symbol(cells)
        symbol = symbol or named
        if symbol and " and " in symbol:
            raise HeaderProblem(f"several symbols ({symbol[:80]}); save one symbol a file")
        if date_at is not None:
            stripped[date_at] = "date"
        roles = assign(stripped)
    except HeaderProblem as problem:
        raise DataError(one_line(f"{text.name}, line {rows[at].line} (header): {problem}")) from None
    table = Table(text.name, delimiter, roles, rows[first:], symbol, list(text.warnings), [], cells)
    _leave_out_footer(table)
    return _checked(table, len(cells), cells)


def _find_header(text: Text) -> tuple[str, int | None]:
    """The separator, and the index of the header among the rows that hold anything (None: no header)."""
    told = re.match(r"\ufeff?\"?sep=(.)\"?\s*[\r\n]", text.body, re.I)
    best: tuple[int, str, int | None] = (1, ",", None)
    for delimiter in told[1] if told else DELIMITERS:
        for index, row in enumerate(islice(split(text, delimiter, strict=False), _PREAMBLE)):
            score = 0 if any(map(looks_like_number, row.cells)) else count_roles(row.cells)
            if score > best[0]:
                best = (score, delimiter, index)
    return best[1], best[2]


def _header_rows(text: Text, rows: Sequence[Row], at: int) -> tuple[list[str], str | None, int | None, int]:
    """Column names, symbol, index of the date column where a row of its own names it, index of the first data
    row.

    yfinance and pandas-datareader write two levels of names and then the index's: ``Price,Close,...``,
    ``Ticker,AAPL,...``, ``Date,,...``, the first two in either order.
    """
    for row in rows[:at]:
        if sum(map(looks_like_number, row.cells)) >= 3:
            raise DataError(
                f"{text.name}, line {row.line}: figures stand before the header (line "
                f"{rows[at].line}); "
                "the header must come first"
            )
    cells, after = rows[at].cells, rows[at + 1 : at + 3]
    for offset, row in enumerate(after):
        filled = [i for i, cell in enumerate(row.cells) if cell]
        if len(filled) == 1 and is_date_name(row.cells[filled[0]]):
            level = after[0] if offset else (rows[at - 1] if at else None)
            return cells, _tickers(level, cells), filled[0], at + 2 + offset
    if after and is_symbol_name(after[0].cells[0]) and not any(map(looks_like_number, after[0].cells)):
        return cells, _tickers(after[0], cells), 0, at + 2
    return cells, None, None, at + 1


def _tickers(level: Row | None, header: Sequence[str]) -> str | None:
    """The symbols of a row of tickers, joined by "and" when there are several."""
    if level is None:
        return None
    found = [cell for cell, name in zip(level.cells, header, strict=False) if cell and count_roles([name])]
    unique = list(dict.fromkeys(cell for cell in found if not is_symbol_name(cell)))
    return " and ".join(unique) or None


def _without_header(text: Text, delimiter: str, rows: list[Row]) -> Table:
    """Binance's klines, which often have no header but can be recognised; anything else is refused."""
    if all(_is_kline(row.cells) for row in rows):
        warning = f"{text.name}: no header; read as Binance klines, 12 columns"
        table = Table(text.name, delimiter, _KLINES, rows, None, [*text.warnings, warning], [])
        return _checked(table, 12, ())
    first = text.body.strip().splitlines()[0][:60]
    if count_roles(first.split()) >= 4:
        raise DataError(f"{text.name}: columns are separated by spaces; separate them by commas or tabs")
    if rows and all(_is_kline(row.cells, exactly_daily=False) for row in rows):
        raise DataError(f"{text.name}: no header, and bars shorter than a day (intraday); give daily bars")
    if "</" in text.body and "<" in first:
        raise DataError(f"{text.name}: a web page (HTML), not CSV; the download probably failed, fetch it again")
    raise DataError(
        f"{text.name}: no header line with column names (it begins {first!r}); "
        "the first line must name the columns: Date,Open,High,Low,Close,Volume"
    )


def _is_kline(cells: Sequence[str], *, exactly_daily: bool = True) -> bool:
    """Twelve cells whose seventh, the close time, lies a day less one unit after the first, the open time.

    Without ``exactly_daily``: any time less.
    """
    if len(cells) != 12 or not (re.fullmatch("[0-9]+", cells[0]) and re.fullmatch("[0-9]+", cells[6])):
        return False
    length, day = int(cells[6]) - int(cells[0]), _DAY_LESS_ONE.get(len(cells[0]), 0)
    return length == day or (not exactly_daily and 0 < length < day)


def _leave_out_footer(table: Table) -> None:
    """Drop notes under the last bar, with a warning; a bar that was cut off is no note."""
    notes = []
    while table.rows and _is_note(table.rows[-1].cells, table.roles["date"]):
        notes.append(table.rows.pop())
    if notes and table.rows:
        first = next(cell for cell in notes[-1].cells if cell)
        table.warnings.append(
            f"{table.name}: {len(notes)} line(s) of notes after the last bar left out, "
            f"from line {notes[-1].line}: {first[:40]!r}"
        )


def _is_note(cells: Sequence[str], date_at: int) -> bool:
    filled = [cell for cell in cells if cell]
    first = filled[0].casefold()
    if looks_like_date(cells[date_at] if date_at < len(cells) else "") or first in MISSING:
        return False
    words = re.match(r"[^\w]*([^\W\d_]{2,})", first)
    if words is None or sum(map(looks_like_number, filled)) >= 3:
        return False
    # "Jan 2" and "Jan" may be what is left of a date.
    return words[1][:3] not in MONTHS or (len(first) >= 4 and not re.search(r"\d", first))


def _checked(table: Table, width: int, header: Sequence[str]) -> Table:
    if not table.rows:
        raise DataError(f"{table.name}: a header but no rows of data; fetch it again, or another window")
    at = table.roles["date"]
    table.labels = [row.cells[at] if at < len(row.cells) else "" for row in table.rows]
    for index, row in enumerate(table.rows):
        if header and header[at] and row.cells[at : at + 1] == [header[at]]:
            raise table.fault(index, "the header again; were two files joined? Keep one header and one run of dates")
        if len(row.cells) < width:
            last = " (the file seems cut off)" if index == len(table.rows) - 1 else ""
            raise table.fault(index, f"{len(row.cells)} field(s) instead of {width}{last}; fetch the file again")
        if any(row.cells[width:]):
            raise table.fault(
                index,
                f"{len(row.cells)} fields instead of {width}; a separator inside a number or name needs quotes",
            )
        if any("\n" in cell or "\r" in cell for cell in row.cells):
            raise table.fault(index, "a quoted cell runs over several lines; is a closing quote missing?")
    return table


def refuse_several_symbols(table: Table) -> None:
    """DataError at the first row of a second symbol or currency; keeps the file's own symbol in the table."""
    symbol = _one_value(table, "symbol", "save one symbol a file")
    _one_value(table, "currency", "convert to one currency")
    table.symbol = table.symbol or symbol or None


def _one_value(table: Table, role: str, way_out: str) -> str:
    """What all filled cells of a column say; empty where there is no such column."""
    first = ""
    for index, cell in enumerate(table.column(role) if role in table.roles else ()):
        first = first or cell
        if cell and cell != first:
            raise table.fault(index, f"the {role} changes from {first[:40]} to {cell[:40]}; {way_out}")
    return first


def refuse_other_intervals(table: Table) -> None:
    """DataError at the first row that calls itself weekly, hourly, ..."""
    if "interval" not in table.roles:
        return
    for index, cell in enumerate(table.column("interval")):
        if cell and cell.casefold() not in _DAILY:
            raise table.fault(index, f"bars of period {cell[:20]!r}, not daily; give one bar a day")
