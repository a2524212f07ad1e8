"""Stored tapes: the bytes of a ``.csv.gz`` file and back.

This is the form that this project writes itself (pins, bundled data), so the reader takes that form alone and
is strict about it; files of other people go through :mod:`backtrader_bench.market.csv_reader`.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError
from backtrader_bench.market.tape import HEADER, Tape

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 256 * 2**20
"""Unpacked size above which a stored tape is refused: a million bars are about 60 MB."""
_ONLY_A_NAME = 8
"""Flag byte of a gzip header that holds the original name and nothing else."""


def encode(tape: Tape) -> bytes:
    """The tape's stored form, gzip-compressed without a time stamp: the same tape gives the same bytes.

    The gzip header carries ``SYMBOL.csv`` as the original file's name, which is how a store of hashes knows its
    symbols; it is no part of the hash.
    """
    packed = io.BytesIO()
    with gzip.GzipFile(f"{tape.symbol}.csv", "wb", 9, packed, mtime=0) as file:
        file.write(tape.canonical(with_adj_close=True))
    return packed.getvalue()


def symbol_of(data: bytes) -> str:
    """The symbol that :func:`encode` left in the header, or an empty string."""
    if data[:2] != b"\x1f\x8b" or len(data) < 11 or data[3] != _ONLY_A_NAME:
        return ""
    name = data[10:300].partition(b"\0")[0].decode("latin-1")
    return name.removesuffix(".csv") if name.isprintable() else ""


def decode(data: bytes, symbol: str, source: str, where: str) -> Tape:
    """The tape in ``data``; DataError names ``where`` and the line that is not of the stored form."""
    try:
        text = _unpack(data, where).decode("ascii")
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not a stored tape (byte {error.start} is not ASCII)") from None
    lines = text.splitlines()
    header = lines[0] if lines else ""
    if header not in (HEADER, HEADER + ",Adj Close"):
        raise DataError(f"{where}: not a stored tape (its first line is {header[:60]!r})")
    bars: list[tuple[str, float, float, float, float, int]] = []
    adjusted: list[float] = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split(",")
        try:
            bars.append(_bar(fields))
            adjusted.extend(float(text) for text in fields[6:])
        except (ValueError, IndexError):
            raise DataError(f"{where}: line {number} is no bar of a stored tape: {line[:80]!r}") from None
    if len(adjusted) not in (0, len(bars)):
        raise DataError(f"{where}: only {len(adjusted)} of {len(bars)} bars have an Adj Close")
    tape = Tape.checked(symbol, source, bars, adjusted or None)
    # So that the hash of the file and the hash of what was read are one and the same.
    if tape.canonical(with_adj_close=True).decode() != text:
        raise DataError(f"{where}: not a stored tape (its numbers or line ends are written in another way)")
    return tape


def _bar(fields: Sequence[str]) -> tuple[str, float, float, float, float, int]:
    day, open_, high, low, close, volume = fields[:6]
    return day, float(open_), float(high), float(low), float(close), int(volume)


def _unpack(data: bytes, where: str) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(data, MAX_BYTES)
    except zlib.error:
        raise DataError(f"{where}: damaged (not a whole gzip file)") from None
    if unpacker.unconsumed_tail:
        raise DataError(f"{where}: unpacks to more than {MAX_BYTES >> 20} MB")
    if not unpacker.eof:
        raise DataError(f"{where}: damaged (its end is missing)")
    return text
