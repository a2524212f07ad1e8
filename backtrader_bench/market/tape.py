"""A tape is one symbol's daily bars, named by the SHA-256 of its canonical form.

Canonical form: UTF-8 CSV, ``\\n`` line ends, header ``Date,Open,High,Low,Close,Volume``, one line a bar in
ascending order; dates ISO 8601, prices by ``repr`` of the float (the shortest text that reads back to the same
float), volumes as integers. ``Adj Close``, where a source has it, is kept as a seventh column of a stored tape but
is no part of the name: vendors rewrite it at every dividend, and no backtest reads it. So
``zcat TAPE.csv.gz | cut -d, -f1-6 | sha256sum`` gives the name of any stored tape.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADER = "Date,Open,High,Low,Close,Volume"


@dataclass(frozen=True, eq=False)
class Tape:
    """One symbol's bars, oldest first; bar *i* is index *i* of every column.

    Prices are positive finite floats with ``high >= max(open, close)`` and ``low <= min(open, close)``; volumes
    are integers >= 0; dates are unique ISO strings. Build one with :meth:`checked`, which holds it to that.
    """

    symbol: str
    source: str
    """Where the bars came from: ``bundled``, ``synthetic:REGIME:SEED``, ``csv:NAME``, ``yfinance``."""
    dates: tuple[str, ...]
    open: tuple[float, ...]
    high: tuple[float, ...]
    low: tuple[float, ...]
    close: tuple[float, ...]
    volume: tuple[int, ...]
    adj_close: tuple[float, ...] | None = None
    warnings: tuple[str, ...] = ()
    """What a reader should know about the source file, one line each; no part of the hash."""

    @classmethod
    def checked(
        cls,
        symbol: str,
        source: str,
        bars: Sequence[tuple[str, float, float, float, float, int]],
        adj_close: Sequence[float] | None = None,
        warnings: Sequence[str] = (),
    ) -> Tape:
        """The tape of ``bars`` (date, open, high, low, close, volume), or a DataError naming the first bad bar."""
        if not bars:
            raise DataError(f"{source}: {symbol} has no bars")
        before = ""
        for number, bar in enumerate(bars, 1):
            problem = bar_problem(bar) or order_problem(before, bar[0])
            if problem:
                raise DataError(f"{source}: {symbol} bar {number} ({bar[0]}): {problem}")
            before = bar[0]
        dates, opens, highs, lows, closes, volumes = zip(*bars, strict=True)
        # An integer price would be written without its ".0" and so hash differently from what is read back.
        opens, highs, lows, closes = (tuple(map(float, prices)) for prices in (opens, highs, lows, closes))
        return cls(symbol, source, dates, opens, highs, lows, closes, volumes,
                   None if adj_close is None else tuple(adj_close), tuple(warnings))  # fmt: skip

    def __len__(self) -> int:
        return len(self.dates)

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the canonical form."""
        return hashlib.sha256(self.canonical()).hexdigest()

    def canonical(self, *, with_adj_close: bool = False) -> bytes:
        """The canonical form; with ``with_adj_close`` the stored form, whose seventh column is no part of the name."""
        columns = [self.dates, *(map(repr, c) for c in (self.open, self.high, self.low, self.close))]
        columns.append(map(str, self.volume))
        header = HEADER
        if with_adj_close and self.adj_close is not None:
            columns.append(map(repr, self.adj_close))
            header += ",Adj Close"
        lines = [header, *(",".join(row) for row in zip(*columns, strict=True))]
        return ("\n".join(lines) + "\n").encode()

    def window(self, start: str | None, end: str | None) -> Tape:
        """The bars with ``start <= date < end`` (ISO dates; None leaves that side open). DataError when none is."""
        lo = bisect_left(self.dates, start) if start else 0
        hi = bisect_left(self.dates, end) if end else len(self.dates)
        if lo >= hi:
            raise DataError(
                f"{self.symbol} from {self.source} has no bars from {start or self.dates[0]} to before "
                f"{end or 'its end'}: it spans {self.dates[0]} to {self.dates[-1]}"
            )
        if lo == 0 and hi == len(self.dates):
            return self
        cut = slice(lo, hi)
        return replace(
            self, dates=self.dates[cut], open=self.open[cut], high=self.high[cut], low=self.low[cut],
            close=self.close[cut], volume=self.volume[cut],
            adj_close=None if self.adj_close is None else self.adj_close[cut],
        )  # fmt: skip


def bar_problem(bar: tuple[str, float, float, float, float, int]) -> str | None:
    """What is wrong with one bar, or None. Comparisons are written so that NaN fails them."""
    day, open_, high, low, close, volume = bar
    for name, price in (("Open", open_), ("High", high), ("Low", low), ("Close", close)):
        if not 0 < price < float("inf"):
            return f"{name} is {price!r}; prices must be positive and finite"
    if high < max(open_, close):
        return f"High {high!r} is below Open or Close ({max(open_, close)!r})"
    if low > min(open_, close):
        return f"Low {low!r} is above Open or Close ({min(open_, close)!r})"
    if not 0 <= volume < 2**63:
        return f"Volume is {volume!r}; it must be an integer from 0 up"
    return None if is_iso_date(day) else f"{day!r} is no ISO date"


def order_problem(before: str, day: str) -> str | None:
    """What is wrong with ``day`` coming after ``before`` (both ISO), or None."""
    if day == before:
        return f"duplicate date {day}"
    return f"date {day} comes after {before}; dates must be ascending" if day < before else None


def is_iso_date(text: str) -> bool:
    """Whether ``text`` is YYYY-MM-DD and a day of the calendar."""
    if len(text) != 10:
        return False
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
