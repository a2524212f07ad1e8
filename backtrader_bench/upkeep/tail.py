"""The last records of a file of the store, and those that come while one looks. Reads from the end: size costs nothing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from backtrader_bench.errors import StoreError, UsageError
from backtrader_bench.upkeep import places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK = 2**16


def pick(home: Path, name: str | None) -> Path:
    """The file that is meant: a path, a run's or bank's name, or (None) the one that was written last.

    Of a run that has several files its attempts count. UsageError: there is none.
    """
    from pathlib import Path

    if name is not None and Path(name).is_file():
        return Path(name)
    known = [path for kind in ("attempts", "summary", "reviews", "questions") for path in places.files(home, kind)]
    if name is None and known:
        return max(known, key=lambda path: path.stat().st_mtime_ns)
    for path in known:
        if path.stem == name:
            return path
    what = "holds no records yet" if name is None else f"has no file or run {name!r}; bench db tail lists the newest"
    raise UsageError(f"the store in {home} {what}")


def last(path: Path, count: int) -> tuple[list[bytes], int]:
    """The last ``count`` whole lines, and the offset behind them. StoreError: the file can't be read."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            start, found = end, b""
            while start and found.count(b"\n") <= count:
                start = max(0, start - BLOCK)
                file.seek(start)
                found = file.read(end - start)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    whole, mark, rest = found.rpartition(b"\n")
    lines = [line for line in (whole + mark).split(b"\n") if line.strip()]
    return lines[-count:] if count else [], end - len(rest)


def follow(path: Path, offset: int, pause: float = 0.5) -> Iterator[bytes]:
    """Whole lines that are appended after ``offset``, as they come; goes on until it is interrupted.

    A file that was cut (a torn tail set aside) is read on from its end. StoreError: it is gone.
    """
    while True:
        try:
            size = path.stat().st_size
            if size < offset:
                offset = size
            with path.open("rb") as file:
                file.seek(offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    offset += len(line)
                    yield line.rstrip(b"\r\n")
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from None
        time.sleep(pause)
