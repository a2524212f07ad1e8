"""Reads price files as people have them into tapes: vendors' exports, spreadsheets, several header rows.

What has one reading is normalised; what would need a guess is refused with the file, the physical line, the
data row, the day and the way out. Odd but legal things become warnings of the tape. Order of work: bytes to
rows (csv_text), header to columns (csv_columns, csv_table), cells to dates and numbers (csv_dates,
csv_numbers), rows against each other (csv_checks).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError, StoreError
from backtrader_bench.market.csv_checks import Repairs, bar_warnings, newest_first, reading_warnings
from backtrader_bench.market.csv_columns import PRICES, squeeze
from backtrader_bench.market.csv_dates import read_dates
from backtrader_bench.market.csv_numbers import MISSING, NoNumber, either_way, find_decimal, read_price, read_volume
from backtrader_bench.market.csv_others import check_others
from backtrader_bench.market.csv_table import read_table, refuse_other_intervals, refuse_several_symbols
from backtrader_bench.market.csv_text import read_text
from backtrader_bench.market.csv_week import week_warnings
from backtrader_bench.market.mend import settle
from backtrader_bench.market.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrader_bench.market.csv_table import Table
    from backtrader_bench.market.csv_text import Text

    Bar = tuple[str, float, float, float, float, int]

EXTENSIONS = (".csv", ".csv.gz", ".txt", ".tsv")


def read_csv(path: Path, symbol: str | None = None) -> Tape:
    """The tape in ``path``, called ``symbol`` (default: the file's name without extension).

    DataError: anything that would need a guess, or breaks a rule of tapes. StoreError: the file can't be
    read.
    """
    text = read_text(path)
    table = read_table(text)
    clock = table.column("clock") if "clock" in table.roles else None
    dates = read_dates(table.name, table.column("date"), clock, table.fault)
    table.labels = dates.days
    table.warnings += dates.warnings
    refuse_several_symbols(table)
    refuse_other_intervals(table)
    check_others(table, dates.days)
    backwards = newest_first(table, dates)
    table.warnings += week_warnings(table.name, dates)
    repairs = Repairs()
    bars = _read_bars(table, dates.days, repairs)
    _refuse_cut_number(text, table, backwards)
    adjusted = _read_adjusted(table)
    if backwards:
        bars.reverse()
        adjusted = adjusted[::-1] if adjusted else None
    stem = _stem(path)
    _compare_symbols(table, symbol)
    warnings = reading_warnings(table, repairs, backwards)
    tape = Tape.checked(symbol or stem, f"csv:{table.name}", bars, adjusted)
    return replace(tape, warnings=(*warnings, *bar_warnings(tape)))


def find_file(path: Path, symbol: str) -> Path:
    """``path`` itself, or in a folder that of ``symbol`` in any case. DataError when there is none."""
    try:
        if not path.is_dir():
            return path
        names = sorted(entry.name for entry in path.iterdir())
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: {error}") from None
    if not symbol:
        raise DataError(f"{path}: a folder; give the symbol too, or the file")
    for extension in EXTENSIONS:
        wanted = symbol + extension
        found = [wanted] if wanted in names else [name for name in names if name.casefold() == wanted.casefold()]
        if len(found) == 1:
            return path / found[0]
    shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "") if names else "nothing"
    raise DataError(f"{path}: a folder without {symbol}.csv; it holds {shown}")


def _stem(path: Path) -> str:
    for extension in (".gz", *(extension for extension in EXTENSIONS if extension != ".csv.gz")):
        if path.name.casefold().endswith(extension):
            path = path.with_suffix("")
    return path.name


def _read_bars(table: Table, days: Sequence[str], repairs: Repairs) -> list[Bar]:
    columns = [table.column(role) for role in PRICES]
    volumes = table.column("volume")
    if all(cell.casefold() in MISSING for cell in volumes):
        raise DataError(f"{table.name}: column Volume is empty in every row; write 0 where the volume is unknown")
    decimal = find_decimal(columns, volumes, table.delimiter, table.fault)
    _refuse_fixed_point(table, columns)
    currencies: dict[str, str] = {}
    marks: dict[str, list[str]] = {role: [] for role in PRICES}
    bars: list[Bar] = []
    for index, day in enumerate(days):
        prices = []
        for role, column in zip(PRICES, columns, strict=True):
            try:
                price, currency = read_price(column[index], decimal)
            except NoNumber as problem:
                raise table.fault(index, f"{role.capitalize()} {problem}") from None
            if currency and currencies.setdefault("first", currency) != currency:
                raise table.fault(
                    index,
                    f"{role.capitalize()} is in {currency} after "
                    f"{currencies['first']}: two "
                    "currencies in one file; convert to one",
                )
            prices.append(price)
            marks[role].append(currency)
        _refuse_thousandfold(table, index, [column[index] for column in columns], prices, bars)
        opened, high, low, close = _settled(table, index, prices, repairs)
        bars.append((day, opened, high, low, close, _volume(table, index, volumes[index], decimal, repairs)))
    _refuse_some_marked(table, marks)
    return bars


def _refuse_thousandfold(
    table: Table, index: int, cells: Sequence[str], prices: Sequence[float], bars: Sequence[Bar]
) -> None:
    """DataError for ``1,011`` beside ``0.995``: thousands by the file's rule, decimals by its neighbours."""
    least = min([*prices, *bars[-1][1:5]] if bars else prices)
    for cell, price in zip(cells, prices, strict=True):
        if price >= 1000 and price > 100 * least and either_way(cell):
            raise table.fault(
                index, f"{cell!r} would be {price:g} beside {least:g}: decimals or thousands? Write one kind"
            )


def _refuse_some_marked(table: Table, marks: dict[str, list[str]]) -> None:
    """DataError where some prices of a column bear a currency and others none."""
    for role, found in marks.items():
        bare = found.count("")
        if 0 < bare < len(found):
            currency = next(filter(None, found))
            few_marked = 2 * bare >= len(found)
            index = found.index(currency if few_marked else "")
            said = f"is marked {currency}, others are bare" if few_marked else f"is bare, others are marked {currency}"
            raise table.fault(index, f"{role.capitalize()} {said}; write all prices in one currency and one way")


def _refuse_fixed_point(table: Table, columns: Sequence[Sequence[str]]) -> None:
    """DataError for the whole billionths of Databento's raw files."""
    stamped = table.header and squeeze(table.header[table.roles["date"]]) == "tsevent"
    if stamped and all(re.fullmatch("[0-9]{7,}", cell) for column in columns for cell in column):
        raise DataError(f"{table.name}: prices are whole billionths (fixed point); export them as decimals")


def _settled(table: Table, index: int, prices: list[float], repairs: Repairs) -> tuple[float, float, float, float]:
    """The prices, High and Low moved to the body where they miss it by noise; a fault where by more."""
    opened, high, low, close = prices
    high, low, moved = settle(opened, high, low, close)
    repairs.lifted += moved
    way_out = "correct the row or fetch it again"
    if high < max(opened, close):
        raise table.fault(index, f"High {high!r} is below Open or Close ({max(opened, close)!r}); {way_out}")
    if low > min(opened, close):
        raise table.fault(index, f"Low {low!r} is above Open or Close ({min(opened, close)!r}); {way_out}")
    return opened, high, low, close


def _volume(table: Table, index: int, cell: str, decimal: str, repairs: Repairs) -> int:
    try:
        volume, scaled = read_volume(cell, decimal)
    except NoNumber as problem:
        raise table.fault(index, f"Volume {problem}") from None
    whole = round(volume)
    repairs.scaled += scaled
    if whole != volume:
        repairs.fractional += 1
        repairs.example = repairs.example or f"{cell[:30]} is {whole}"
    return whole


def _read_adjusted(table: Table) -> list[float] | None:
    """Adj Close, or None with a warning where it is no column of prices: no backtest reads it."""
    if "adj" not in table.roles:
        return None
    cells = table.column("adj")
    if all(cell.casefold() in MISSING for cell in cells):
        return None
    decimal = find_decimal([*map(table.column, PRICES), cells], [], table.delimiter, table.fault)
    found = []
    for index, cell in enumerate(cells):
        try:
            found.append(read_price(cell, decimal)[0])
        except NoNumber as problem:
            line = table.rows[index].line
            table.warnings.append(f"{table.name}, line {line}: Adj Close {problem}; the column was left out")
            return None
    return found


def _refuse_cut_number(text: Text, table: Table, backwards: bool) -> None:
    """A last line without line break whose last number has lost decimals that every other row has."""
    cells = [row.cells[-1] for row in table.rows]
    if text.ends_whole or len(cells) < 5:
        return
    decimals = {len(re.split(r"[.,]", cell)[-1]) if re.search(r"[.,]", cell) else 0 for cell in cells[:-1]}
    last = len(re.split(r"[.,]", cells[-1])[-1]) if re.search(r"[.,]", cells[-1]) else 0
    if len(decimals) == 1 and last < min(decimals):
        raise table.fault(
            len(cells) - 1,
            f"the file ends in {cells[-1]!r}, fewer decimals than every row before: it seems cut off; fetch it again",
        )


def _compare_symbols(table: Table, symbol: str | None) -> None:
    """A warning when the file names another symbol than the one it was asked for."""
    if not symbol or not table.symbol:
        return
    plain = [re.sub(r"[^a-z0-9]", "", text.casefold()) for text in (symbol, table.symbol, table.symbol.split(".")[0])]
    if plain[0] not in plain[1:]:
        table.warnings.append(f"{table.name}: read as {symbol}, but it names its symbol {table.symbol[:40]}")
