"""Daily bars from Yahoo Finance through yfinance: as quoted, adjusted for splits only.

A download runs in a process of its own. yfinance can hang for minutes against a network that swallows
packets, whatever time-out it is given, and a process is the one thing that can always be ended. Its caches go
to a folder that is deleted afterwards: what it has kept from earlier days must not decide what a build sees
today.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from backtrader_bench.errors import MissingError
from backtrader_bench.market.mend import settle
from backtrader_bench.market.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

DEADLINE = 60.0
"""Seconds a download may take."""
EARLIEST = "1962-01-01"
"""Where a window without a start begins; Yahoo has nothing older."""
_OTHERS = "other data: --data bundled, --data synthetic, --data csv:PATH"
_Row = tuple[str, float, float, float, float, float, float]


def download(symbol: str, start: str | None = None, end: str | None = None, deadline: float | None = None) -> Tape:
    """The bars of ``symbol`` with ``start <= date < end``, downloaded now.

    MissingError: no network, no such symbol, no bars, or no answer within ``deadline`` seconds (default
    DEADLINE). DataError: what came breaks a rule of tapes.
    """
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    rows, reason = _in_own_process(symbol, start or EARLIEST, end or tomorrow, deadline or DEADLINE)
    if not rows:
        window = f"from {start or 'the beginning'} to before {end or 'today'}"
        raise MissingError(f"yfinance gave no bars of {symbol} {window}: {reason}; {_OTHERS}")
    bars, moved = [], 0
    for day, open_, high, low, close, _, volume in rows:
        high, low, was_moved = settle(open_, high, low, close)
        moved += was_moved
        # A volume that is no number stays one that the rules of tapes refuse.
        bars.append((day, open_, high, low, close, int(volume) if volume >= 0 else -1))
    tape = Tape.checked(symbol, "yfinance", bars, [row[5] for row in rows])
    warnings = []
    if moved:
        noise = "that missed it by rounding noise"
        warnings.append(f"yfinance: High or Low moved to the body on {moved} bar(s) {noise}")
    if tape.dates[-1] >= datetime.now(UTC).date().isoformat():
        warnings.append(f"yfinance: the last bar ({tape.dates[-1]}) is of today and may still change")
    return replace(tape, warnings=tuple(warnings))


def _in_own_process(symbol: str, start: str, end: str, deadline: float) -> tuple[list[_Row], str]:
    """The rows, or none and why. The process is gone when this returns, however it returns."""
    # Forked where that is safe, because it is ten times faster; elsewhere a new interpreter.
    start_process: Callable[..., BaseProcess] = (
        multiprocessing.get_context("fork").Process
        if sys.platform == "linux"
        else multiprocessing.get_context("spawn").Process
    )
    ours, theirs = multiprocessing.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="bench-yahoo-", ignore_cleanup_errors=True) as cache:
        process = start_process(target=_child, args=(theirs, symbol, start, end, cache, deadline), daemon=True)
        process.start()
        theirs.close()
        try:
            if not ours.poll(deadline):
                return [], f"no answer within {deadline:g} seconds"
            answer: tuple[list[_Row], str] = ours.recv()
            return answer
        except EOFError:
            return [], "the download ended without an answer"
        finally:
            process.kill()
            process.join()
            ours.close()


def _child(pipe: Connection, symbol: str, start: str, end: str, cache: str, deadline: float) -> None:
    """Download and send; everything yfinance prints goes nowhere, its complaint comes back as the reason."""
    if hasattr(signal, "alarm"):
        # Should the parent be killed before it can end this process, this ends it.
        signal.alarm(int(deadline) + 5)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    try:
        pipe.send(_download(symbol, start, end, cache))
    # What yfinance raises is open-ended (its own, requests', curl's, pandas', peewee's): here, at the end of
    # a process that does nothing else, all of it means the same, and the parent says so in one line.
    except Exception as error:  # noqa: BLE001
        pipe.send(([], f"{type(error).__name__}: {error}"[:200]))


def _download(symbol: str, start: str, end: str, cache: str) -> tuple[list[_Row], str]:
    import yfinance

    yfinance.set_tz_cache_location(cache)
    frame = yfinance.download(
        symbol,
        start=start,
        end=end,
        auto_adjust=False,
        multi_level_index=False,
        actions=False,
        progress=False,
        threads=False,
    )
    if frame is None or frame.empty:
        return [], _complaint(symbol)
    # The printed date of an exchange's own midnight is the trading date; converted to UTC it might be
    # another.
    days = [stamp.date().isoformat() for stamp in frame.index]
    names = ("Open", "High", "Low", "Close", "Adj Close", "Volume")
    columns = [[float(value) for value in frame[name]] for name in names]
    rows = list(zip(days, *columns, strict=True))
    return [row for row in rows if start <= row[0] < end], "no bars in the window"


def _complaint(symbol: str) -> str:
    """What yfinance noted about the symbol, where this version of it keeps such notes."""
    with contextlib.suppress(ImportError, AttributeError):
        from yfinance import shared

        if noted := shared._ERRORS.get(symbol.upper()):
            return str(noted)[:200]
    return "an empty answer (wrong symbol, or no network?)"
