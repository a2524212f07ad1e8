"""From the bytes of a file that calls itself CSV to rows of cells, with the physical line of each.

Whatever is no text in columns (workbooks, archives, web pages, damaged files) is refused here, by name.
"""

from __future__ import annotations

import csv
import io
import re
import stat
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from backtrader_bench.errors import DataError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_BYTES = 16 * 2**20
"""Larger files are refused: a century of one symbol's daily bars is 2 to 6 MB."""
_LONGEST_LINE = 100_000
_SAVE_AS = "export it as CSV first"
_MAGIC = (
    (b"PAR1", f"a Parquet file; {_SAVE_AS}"),
    (b"\xd0\xcf\x11\xe0", f"an Excel workbook (.xls); {_SAVE_AS}"),
    (b"ARROW1", f"an Arrow (Feather) file; {_SAVE_AS}"),
    (b"FEA1", f"a Feather file; {_SAVE_AS}"),
    (b"\x89HDF", f"an HDF5 file; {_SAVE_AS}"),
    (b"SQLite format 3", f"an SQLite database; {_SAVE_AS}"),
    (b"%PDF", "a PDF document, not CSV"),
    (b"\x89PNG", "a PNG image, not CSV"),
    (b"\xff\xd8\xff", "a JPEG image, not CSV"),
    (b"{\\rtf", f"a rich-text document; {_SAVE_AS}"),
    (b"\x80\x04", f"a Python pickle; {_SAVE_AS}"),
    (b"\x80\x05", f"a Python pickle; {_SAVE_AS}"),
    (b"BZh", "bzip2-compressed; unpack it first"),
    (b"\xfd7zXZ", "xz-compressed; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed; unpack it first"),
    (b"7z\xbc\xaf", "a 7-Zip archive; unpack it first"),
    (b"Rar!", "a RAR archive; unpack it first"),
)
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_PAGE = re.compile(r"\s*<\s*(!doctype|!--|html|head|body|table|div|script|meta|title|p|h\d)\b", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_INVISIBLE = " \t\r\n\u00a0\u200b\u200e\u200f\u202f\u2060\ufeff"


class Row(NamedTuple):
    """One record of the file: the physical line it begins on (from 1) and its stripped cells."""

    line: int
    cells: list[str]


@dataclass
class Text:
    """A decoded file."""

    name: str
    body: str
    warnings: list[str] = field(default_factory=list)

    @property
    def ends_whole(self) -> bool:
        """Whether the last line ends in a line break."""
        return self.body.endswith(("\n", "\r"))


def one_line(text: str) -> str:
    """``text`` for a message: names and cells may hold line breaks, control codes, or bytes that are no text."""
    return "".join(char if char.isprintable() else "?" for char in text)


def read_text(path: Path) -> Text:
    """The decoded content of ``path``. DataError: it is no text; StoreError: it can't be read."""
    name = one_line(path.name or str(path))
    data = _unzip(_read(path, name), name)
    _refuse_known_formats(data, name)
    text = _decode(data, name)
    text.body = text.body.rstrip("\x1a").removeprefix("\ufeff")
    _refuse_other_text(text)
    return text


def split(text: Text, delimiter: str, *, strict: bool = True) -> Iterator[Row]:
    """The rows that hold anything, split at ``delimiter``; DataError for quotes that don't close."""
    reader = csv.reader(io.StringIO(text.body, newline=""), delimiter=delimiter, strict=strict, skipinitialspace=True)
    before = 0
    try:
        for cells in reader:
            line, before = before + 1, reader.line_num
            stripped = [cell.strip(_INVISIBLE) for cell in cells]
            if any(stripped):
                yield Row(line, stripped)
    except csv.Error as error:
        raise DataError(f"{text.name}, line {before + 1}: broken quotes or an endless cell ({error})") from None


def _read(path: Path, name: str) -> bytes:
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise DataError(f"{name}: a folder, not a file; give one of the files in it")
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{name}: a device or pipe, not a file")
        if found.st_size > MAX_BYTES:
            raise _too_large(name, f"{found.st_size / 2**20:,.0f} MB")
        return path.read_bytes()
    except OSError as error:
        where = str(path).encode("utf-8", "replace").decode()
        raise StoreError(f"{where}: {error.strerror or error}; check the name and its permissions") from None
    except ValueError:
        raise StoreError(f"{str(path)!r}: the name holds a null byte") from None


def _too_large(name: str, size: str) -> DataError:
    return DataError(
        f"{name}: {size}, and the limit is {MAX_BYTES >> 20} MB, far above one symbol's daily bars; cut out one symbol"
    )


def _unzip(data: bytes, name: str) -> bytes:
    """``data``, unpacked when it is gzip (several members too), whatever the file is called."""
    parts, size = [], 0
    while data.startswith(b"\x1f\x8b"):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            parts.append(unpacker.decompress(data, MAX_BYTES + 1 - size))
        except zlib.error:
            raise DataError(f"{name}: damaged (not a whole gzip file)") from None
        size += len(parts[-1])
        if size > MAX_BYTES:
            raise _too_large(name, f"unpacks to more than {MAX_BYTES >> 20} MB")
        if not unpacker.eof:
            raise DataError(f"{name}: damaged (its gzip data end too early); fetch it again")
        data = unpacker.unused_data
    if not parts:
        return data
    if data.strip(b"\0"):
        raise DataError(f"{name}: damaged (something else follows its gzip data); fetch it again")
    return b"".join(parts)


def _refuse_known_formats(data: bytes, name: str) -> None:
    if data.startswith(b"PK\x03\x04"):
        if b"[Content_Types].xml" in data[:4096] or b"xl/" in data:
            raise DataError(f"{name}: an Excel workbook (.xlsx), not CSV; {_SAVE_AS}")
        raise DataError(f"{name}: a zip archive, not CSV; unpack it first")
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise DataError(f"{name}: {what}")
    if data.startswith(b"\x1f\x8b"):
        raise DataError(f"{name}: gzip-compressed twice; unpack it first")


def _decode(data: bytes, name: str) -> Text:
    encoding = next((encoding for bom, encoding in _BOMS if data.startswith(bom)), None) or _bare_utf16(data)
    if encoding is None and b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise DataError(f"{name}, line {line}: a NUL byte; the file is binary or damaged, fetch it again")
    try:
        return Text(name, data.decode(encoding or "utf-8"))
    except UnicodeDecodeError as error:
        if encoding is not None:
            raise DataError(f"{name}: damaged {encoding} text (byte {error.start}); save it as UTF-8") from None
        return _windows_text(data, name, error)


def _bare_utf16(data: bytes) -> str | None:
    """UTF-16 without its mark: nearly every second byte is zero, and the others never."""
    even, odd, half = data[0::2].count(0), data[1::2].count(0), len(data) // 2
    if len(data) % 2 or not half:
        return None
    if not even and odd > 0.9 * half:
        return "utf-16-le"
    return "utf-16-be" if not odd and even > 0.9 * half else None


def _windows_text(data: bytes, name: str, error: UnicodeDecodeError) -> Text:
    """The text as Western European Windows writes it, with a warning: only words could suffer."""
    line = data[: error.start].count(b"\n") + 1
    try:
        body = data.decode("cp1252")
    except UnicodeDecodeError:
        raise DataError(
            f"{name}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    return Text(name, body, [f"{name}, line {line}: not UTF-8 but probably Windows-1252 text, read as that"])


def _refuse_other_text(text: Text) -> None:
    name, head = text.name, text.body[:1000].lstrip()
    if not head and not text.body.strip():
        raise DataError(f"{name}: empty, no data at all; fetch it again")
    if _PAGE.match(head) or (head.startswith("<") and "</html" in text.body.lower()):
        raise DataError(f"{name}: a web page (HTML), not CSV; the download probably failed, fetch it again")
    if head.startswith("<?xml"):
        raise DataError(f"{name}: an XML document, not CSV; {_SAVE_AS}")
    if re.match(r"[{\[]\s*[\"{\[\]}\d]", head):
        raise DataError(f"{name}: JSON, not CSV; {_SAVE_AS}")
    if head.startswith("version https://git-lfs"):
        raise DataError(f"{name}: a Git LFS pointer, not the data; run git lfs pull")
    longest = max(re.split(r"[\r\n]+", text.body), key=len)
    if len(longest) > _LONGEST_LINE:
        raise DataError(f"{name}: a line of {len(longest):,} characters ({longest[:30]!r}...); no price file has that")
    if bad := _CONTROL.search(text.body):
        line = len(re.findall(r"\r\n|\r|\n", text.body[: bad.start()])) + 1
        raise DataError(
            f"{name}, line {line}: control character 0x{ord(bad.group()):02x}; the file is binary or damaged"
        )
