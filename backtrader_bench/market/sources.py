"""Where bars come from: ``load("bundled", "AAPL")``, ``load("csv:prices/", "ABC", "2020-01-01")``.

A source is a class with one method, ``read``; adding one is that class and its entry in ``SOURCES``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from backtrader_bench.errors import UsageError
from backtrader_bench.market import bundled, synthetic
from backtrader_bench.market.tape import is_iso_date

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.market.tape import Tape

SYMBOL = re.compile(r"[A-Za-z0-9^][A-Za-z0-9.^=_-]{0,31}")
SPELLINGS = "auto, bundled, synthetic[:REGIME[:SEED]], csv:PATH or yfinance"
_SLACK_DAYS = 7
"""A window may begin or end this many days beyond the bars before a warning is due: weekends and holidays."""


class Source(Protocol):
    """Reads one symbol. ``start`` is a hint of what is wanted, ``end`` too; the caller cuts to the window."""

    def read(self, symbol: str, start: str | None, end: str | None) -> Tape:
        """The bars of ``symbol``, at least those of the window where the source has them."""


class Bundled:
    """The four tapes in the package."""

    def __init__(self, argument: str) -> None:
        _no_argument("bundled", argument)

    def read(self, symbol: str, start: str | None, end: str | None) -> Tape:
        """The whole tape."""
        return bundled.bundled(symbol)


class Synthetic:
    """``synthetic``, ``synthetic:REGIME`` or ``synthetic:REGIME:SEED``; calm and 0 where not given."""

    def __init__(self, argument: str) -> None:
        regime, _, seed = argument.partition(":")
        if seed and not re.fullmatch(r"[0-9]{1,19}", seed):
            raise UsageError(f"synthetic:{argument}: the seed must be a whole number from 0 up, not {seed!r}")
        self.regime, self.seed = regime or "calm", int(seed or 0)
        synthetic.check_regime(self.regime)

    def read(self, symbol: str, start: str | None, end: str | None) -> Tape:
        """Bars made for exactly this window."""
        return synthetic.synthetic(symbol, self.regime, self.seed, start, end)


class Csv:
    """``csv:PATH``: one file, or a folder that holds SYMBOL.csv."""

    def __init__(self, argument: str) -> None:
        if not argument or "\0" in argument:
            raise UsageError("csv: needs a path, such as csv:prices.csv or csv:folder/")
        self.path = Path(argument).expanduser()

    def read(self, symbol: str, start: str | None, end: str | None) -> Tape:
        """The whole file."""
        from backtrader_bench.market.csv_reader import find_file, read_csv

        return read_csv(find_file(self.path, symbol), symbol or None)


class Yfinance:
    """Yahoo Finance through the yfinance package: needs the network."""

    def __init__(self, argument: str) -> None:
        _no_argument("yfinance", argument)

    def read(self, symbol: str, start: str | None, end: str | None) -> Tape:
        """One download of exactly this window."""
        from backtrader_bench.market.yahoo import download

        return download(symbol, start, end)


class Auto:
    """Bundled where it has the symbol and the window, synthetic for SYN..., else yfinance."""

    def __init__(self, argument: str) -> None:
        _no_argument("auto", argument)

    def read(self, symbol: str, start: str | None, end: str | None) -> Tape:
        """Whatever the chosen source reads."""
        return choose(symbol, start, end).read(symbol, start, end)


SOURCES: dict[str, Callable[[str], Source]] = {
    "auto": Auto,
    "bundled": Bundled,
    "synthetic": Synthetic,
    "csv": Csv,
    "yfinance": Yfinance,
}
"""Name -> class; what follows the colon of a source's text goes to the constructor."""


def load(
    source: str, symbol: str, start: str | None = None, end: str | None = None, *, again: bool = False
) -> Tape:
    """The bars of ``symbol`` with ``start <= date < end`` (ISO dates; None leaves that side to the source).

    ``source`` is ``auto``, ``bundled``, ``synthetic[:REGIME[:SEED]]``, ``csv:PATH`` (a file or a folder of
    SYMBOL.csv; an empty symbol then means the file's stem) or ``yfinance``. A window that the source covers
    only in part gives the bars there are and a warning. A window that was downloaded before comes from the
    store, unless it is to be downloaded ``again`` (which changes nothing in the store). UsageError: the
    source, symbol or dates are no such thing. DataError: the bars break a rule of tapes, or none is in the
    window. MissingError: the network, or a symbol unknown to it.
    """
    reader = parse_source(source)
    if symbol or not isinstance(reader, Csv):
        check_symbol(symbol)
    check_window(start, end)
    if isinstance(reader, Auto):
        reader = choose(symbol, start, end)
    if isinstance(reader, Yfinance):
        return cut(_downloaded(reader, symbol, start, end, again), start, end)
    return cut(reader.read(symbol, start, end), start, end)


def _downloaded(reader: Source, symbol: str, start: str | None, end: str | None, again: bool) -> Tape:
    """One download a symbol and window, then the store's: what vendors change later must change no question."""
    from backtrader_bench.market import pins

    if again:
        return reader.read(symbol, start, end)
    kept = pins.recall(symbol, start, end)
    if kept is not None:
        return kept
    tape = reader.read(symbol, start, end)
    pins.remember(tape, start, end)
    return tape


def parse_source(source: str) -> Source:
    """The reader that ``source`` names, or UsageError."""
    name, _, argument = source.partition(":")
    if name not in SOURCES:
        hint = f"; for a file write csv:{source}" if Path(source.replace("\0", "")).suffix else ""
        raise UsageError(f"no data source {source!r}; use {SPELLINGS}{hint}")
    return SOURCES[name](argument)


def files(source: str) -> list[Path]:
    """The file or folder of the user's that ``source`` reads; none of other sources. UsageError as parse_source."""
    reader = parse_source(source)
    return [reader.path] if isinstance(reader, Csv) else []


def choose(symbol: str, start: str | None, end: str | None) -> Source:
    """What ``auto`` takes for this symbol and window."""
    if symbol in bundled.HASHES and (not start or start >= bundled.FIRST) and (not end or end <= bundled.END):
        return Bundled("")
    if symbol != symbol.upper() and (symbol.upper() in bundled.HASHES or symbol.upper().startswith("SYN")):
        raise UsageError(f"{symbol}: tickers are in capitals; write {symbol.upper()}, or choose --data yfinance")
    return Synthetic("") if symbol.startswith("SYN") else Yfinance("")


def check_symbol(symbol: str) -> None:
    """UsageError unless ``symbol`` is a plain ticker: no path, no control character, 32 at most."""
    if not SYMBOL.fullmatch(symbol) or ".." in symbol:
        shown = symbol if len(symbol) <= 40 else symbol[:40] + "..."
        raise UsageError(f"{shown!r} is no symbol; use 1 to 32 letters, digits and . ^ = _ -, such as BRK-B")


def check_window(start: str | None, end: str | None) -> None:
    """UsageError unless the dates that are given are ISO and ``end`` lies after ``start``."""
    for name, day in (("start", start), ("end", end)):
        if day is not None and not is_iso_date(day):
            raise UsageError(f"{name} date {day[:40]!r} is no calendar date; write YYYY-MM-DD")
    if start and end and end <= start:
        raise UsageError(f"end date {end} must come after start date {start} (the end is exclusive)")


def cut(tape: Tape, start: str | None, end: str | None) -> Tape:
    """The window of ``tape``, with a warning where it begins or ends well inside ``start`` to ``end``."""
    part = tape.window(start, end)
    missing = []
    if start and _days(start, part.dates[0]) > _SLACK_DAYS:
        missing.append(f"begins on {part.dates[0]}, after {start}")
    if end and _days(part.dates[-1], end) > _SLACK_DAYS + 1:
        missing.append(f"stops on {part.dates[-1]}, before {end}")
    if not missing:
        return part
    warning = f"{part.symbol} from {part.source} covers the window in part: it {' and '.join(missing)}"
    return replace(part, warnings=(*part.warnings, warning))


def _days(start: str, end: str) -> int:
    return date.fromisoformat(end).toordinal() - date.fromisoformat(start).toordinal()


def _no_argument(name: str, argument: str) -> None:
    if argument:
        raise UsageError(f"{name}:{argument}: {name} takes nothing after a colon")
