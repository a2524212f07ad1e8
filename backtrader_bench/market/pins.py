"""Tapes kept under ``db/tapes/<sha256>.csv.gz``, and finding the bars that a record rests on.

Nothing leaves here for a record unless it hashes to what the record says. Bars that don't are *drift*: a
statement about the data, never about an answer.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from backtrader_bench import store
from backtrader_bench.errors import BenchError, DataError, MissingError, StoreError
from backtrader_bench.market import sources, worlds
from backtrader_bench.market.stored import decode, encode, symbol_of
from backtrader_bench.market.tape import is_iso_date
from backtrader_bench.records import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.records import TapeRef

SHA256 = re.compile(r"[0-9a-f]{64}")
DOWNLOADS = "downloads.jsonl"
COLUMNS = ("open", "high", "low", "close", "volume")


class DataDrift(DataError):
    """Bars that hash to something else than what was asked for."""


def save(tape: Tape) -> Path:
    """Keep ``tape`` in the store under its hash; a good file already there stays. StoreError: disk."""
    path = store.folder("tapes") / f"{tape.sha256}.csv.gz"
    with suppress(OSError, DataError):
        if decode(path.read_bytes(), tape.symbol, tape.source, str(path)).sha256 == tape.sha256:
            return path
    store.replace_file(path, encode(tape))
    return path


def load_pin(sha: str, symbol: str, source: str) -> Tape:
    """The pinned tape ``sha``, its hash verified.

    DataError: no hash at all. MissingError: not pinned here. DataDrift: the file was changed or damaged.
    """
    return _read_stored(_pin_path(sha), sha, symbol, source)


def remember(tape: Tape, start: str | None, end: str | None) -> None:
    """Pin a download, and note which window it answers in ``db/tapes/downloads.jsonl``."""
    save(tape)
    note = {"symbol": tape.symbol, "start": start, "end": end, "source": tape.source, "sha256": tape.sha256}
    store.append_line(store.folder("tapes") / DOWNLOADS, json.dumps(note).encode())


def recall(symbol: str, start: str | None, end: str | None) -> Tape | None:
    """The last download of exactly this window, or None. A window open at its end is never recalled: it grows."""
    path = store.home() / "db" / "tapes" / DOWNLOADS
    if start is None or end is None or not path.exists():
        return None
    last = None
    for number, line in store.read_lines(path):
        note = parse_json(line, f"{path}, line {number}")
        if isinstance(note, dict) and (note.get("symbol"), note.get("start"), note.get("end")) == (symbol, start, end):
            last = note
    return load_pin(str(last["sha256"]), symbol, str(last["source"])) if last else None


def pinned(home: Path | None = None) -> Iterator[Path]:
    """The files of a store's tapes (default: this one's), by hash; what is named otherwise is passed over."""
    folder = (home or store.home()) / "db" / "tapes"
    with suppress(FileNotFoundError):
        for path in sorted(folder.iterdir()):
            if SHA256.fullmatch(path.name.removesuffix(".csv.gz")) and path.name.endswith(".csv.gz"):
                yield path


def complete(prefix: str) -> str:
    """The one pinned hash that begins with ``prefix``; DataError when several do, MissingError when none does."""
    found = [path.name.removesuffix(".csv.gz") for path in pinned() if path.name.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(f"{prefix} begins {len(found)} pinned hashes; write more of it")
    raise MissingError(f"no tape {prefix} is pinned in {store.home() / 'db' / 'tapes'}; see bench data list")


def read_pin(path: Path) -> Tape:
    """A stored tape by the hash in its file's name, called by the symbol in its header; raises as load_pin does."""
    sha = path.name.removesuffix(".csv.gz")
    _check_hash(sha)
    with suppress(OSError), path.open("rb") as file:
        return _read_stored(path, sha, symbol_of(file.read(512)) or sha[:12], f"pinned:{sha[:12]}")
    return _read_stored(path, sha, sha[:12], "")


def find(
    ref: TapeRef,
    symbol: str,
    start: str | None,
    end: str | None,
    data: Path | None = None,
    allow_network: bool = False,
) -> Tape:
    """The bars that ``ref`` names, hash-verified: the tape of a record.

    With ``data`` (a file, or a folder of SYMBOL.csv or of pinned tapes) only that is looked at, cut to the
    window ``start`` to before ``end``. Without, the pinned file comes first, then the record's own source is
    read again (a csv from the current folder; yfinance only with ``allow_network``). DataDrift: what was
    found hashes to something else. MissingError: nothing was found; the message says where this looked.
    """
    _check_hash(ref.sha256)
    for day in (ref.first, ref.last):
        if not is_iso_date(day):
            raise DataError(f"the tape of the record names {day[:40]!r}, which is no date")
    sources.check_symbol(symbol)
    sources.check_window(start, end)
    if data is not None:
        return _from_data(ref, symbol, start, end, data)
    # A pinned file that changed is drift even where the source could stand in for it: someone edited the store.
    with suppress(MissingError):
        return load_pin(ref.sha256, symbol, ref.source)
    tape = _derive_again(ref, symbol, start, end, allow_network)
    if tape.sha256 != ref.sha256:
        raise DataDrift(f"{symbol} read again from {ref.source}: {_difference(ref, tape, None)}")
    return tape


def read_window(data: Path, symbol: str, start: str | None, end: str | None) -> Tape:
    """``symbol`` from the file or folder ``data``, cut to ``start`` to before ``end``; nothing to hold it
    against.

    MissingError when ``data`` is not there; else what :func:`sources.load` raises.
    """
    if not data.exists():
        raise MissingError(f"{data}: no such file or folder; give prices of {symbol} as a CSV file")
    return sources.load(f"csv:{data}", symbol, start, end)


def _from_data(ref: TapeRef, symbol: str, start: str | None, end: str | None, data: Path) -> Tape:
    pinned = data / f"{ref.sha256}.csv.gz"
    if pinned.is_file():
        return _read_stored(pinned, ref.sha256, symbol, ref.source)
    tape = read_window(data, symbol, start, end)
    if tape.sha256 == ref.sha256:
        return tape
    known: Tape | None = None
    with suppress(BenchError):
        known = find(ref, symbol, start, end)
    raise DataDrift(f"{data}: {symbol} {_difference(ref, tape, known)}")


def _derive_again(ref: TapeRef, symbol: str, start: str | None, end: str | None, allow_network: bool) -> Tape:
    """The window read from ``ref.source``; MissingError where that can't be done."""
    name, _, argument = ref.source.partition(":")
    looked = f"{symbol} {ref.first} to {ref.last} ({ref.sha256[:12]}): not pinned in {_pin_path(ref.sha256).parent}"
    if name == "csv":
        # The record may come from anyone: a name with a folder in it is never followed.
        if not argument or argument in (".", "..") or re.search(r"[/\\\0]", argument):
            raise MissingError(f"{looked}, and its source {ref.source[:80]!r} is no plain file name; use --data")
        if not Path(argument).is_file():
            raise MissingError(f"{looked}, and there is no {argument} in {Path.cwd()}; point --data at it")
    elif name == "yfinance" and not allow_network:
        raise MissingError(f"{looked}, and downloading it again needs --network; or point --data at the prices")
    elif name in ("world", "resampled"):
        return worlds.read_world(ref.source, symbol, ref.first, _day_after(ref.last))
    elif name not in ("bundled", "synthetic", "yfinance"):
        raise MissingError(f"{looked}, and its source {ref.source[:80]!r} is unknown; point --data at the prices")
    until = _day_after(ref.last) if end is None else end
    return sources.load(ref.source, symbol, start or ref.first, until, again=True)


def _day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def _read_stored(path: Path, sha: str, symbol: str, source: str) -> Tape:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise MissingError(f"{path}: no such pinned tape") from None
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    try:
        tape = decode(data, symbol, source, str(path))
    except DataError as error:
        raise DataDrift(str(error)) from None
    if tape.sha256 != sha:
        raise DataDrift(f"{path}: changed since it was pinned (it hashes to {tape.sha256[:12]}); restore or delete it")
    return tape


def _pin_path(sha: str) -> Path:
    _check_hash(sha)
    return store.home() / "db" / "tapes" / f"{sha}.csv.gz"


def _check_hash(sha: str) -> None:
    if not SHA256.fullmatch(sha):
        raise DataError(f"{sha[:80]!r} is no tape hash; expected 64 lower-case hexadecimal digits")


def _difference(ref: TapeRef, tape: Tape, known: Tape | None) -> str:
    """How ``tape`` differs from what ``ref`` names; bar by bar when the original (``known``) is at hand."""
    text = f"is not the data of the record (hashes to {tape.sha256[:12]}, the record says {ref.sha256[:12]})"
    if known is not None:
        return f"{text}: {compare(known, tape)}"
    mine, theirs = (len(tape), tape.dates[0], tape.dates[-1]), (ref.rows, ref.first, ref.last)
    if mine == theirs:
        return f"{text}: same span and number of bars ({len(tape)}), so some prices or volumes differ"
    return f"{text}: {mine[0]} bars {mine[1]} to {mine[2]}, the record says {theirs[0]} bars {theirs[1]} to {theirs[2]}"


def compare(old: Tape, new: Tape) -> str:
    """What changed from ``old`` to ``new``: bars that differ, are missing or are extra, and the first."""
    before, after = ({day: i for i, day in enumerate(tape.dates)} for tape in (old, new))
    changed = [day for day in old.dates if day in after and _values(old, before[day]) != _values(new, after[day])]
    missing = [day for day in old.dates if day not in after]
    extra = [day for day in new.dates if day not in before]
    parts = []
    if changed:
        was, now = _values(old, before[changed[0]]), _values(new, after[changed[0]])
        name = next(k for k in COLUMNS if was[k] != now[k])
        parts.append(
            f"{len(changed)} of {len(old)} bars differ, first {changed[0]} ({name} {was[name]} -> {now[name]})"
        )
    if missing:
        parts.append(f"{len(missing)} missing, first {missing[0]}")
    if extra:
        parts.append(f"{len(extra)} extra, first {extra[0]}")
    return "; ".join(parts) or "no bar differs"


def _values(tape: Tape, index: int) -> dict[str, float]:
    return {name: getattr(tape, name)[index] for name in COLUMNS}
