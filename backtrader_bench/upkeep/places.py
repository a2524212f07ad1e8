"""Which files of a store are what, and reading their lines whatever state they are in."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from backtrader_bench.errors import StoreError, UsageError
from backtrader_bench.store import LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Kind = Literal["questions", "attempts", "summary", "reviews"]
FOLDERS: dict[Kind, str] = {"questions": "mcq", "attempts": "attempts", "summary": "summary", "reviews": "reviews"}
KINDS: tuple[Kind, ...] = tuple(FOLDERS)


class Line(NamedTuple):
    """One line of a file."""

    number: int
    """From 1."""
    data: bytes
    """Without its line end; empty where the line is longer than a record may be."""
    whole: bool
    """False for what stands after the last newline."""
    too_long: bool = False


def database(home: Path) -> Path:
    """``home/db``; UsageError where there is none: a check of nothing must not look like one that found nothing."""
    path = home / "db"
    if not path.is_dir():
        raise UsageError(f"there is no store in {home} (no folder db); BENCH_HOME names another place")
    return path


def files(home: Path, kind: Kind) -> list[Path]:
    """The files of records of one kind, in order of their paths."""
    return sorted(path for path in (database(home) / FOLDERS[kind]).rglob("*.jsonl") if path.is_file())


def manifests(home: Path, kind: Kind) -> list[Path]:
    """The manifests beside them."""
    return sorted(path for path in (database(home) / FOLDERS[kind]).rglob("*.manifest.json") if path.is_file())


def leftovers(home: Path) -> Iterator[tuple[Path, str]]:
    """What crashes left in the store, and what it is; none of it is needed or in the way."""
    for path in sorted(database(home).rglob("*")):
        if path.name.endswith(".torn"):
            yield path, "half lines that were set aside after a crash"
        elif path.name.startswith(".bench-") and path.name.endswith(".tmp"):
            yield path, "left by a process that was killed while it wrote; the next write there removes it"


def shown(path: Path, home: Path) -> str:
    """A path as messages name it: relative to the home folder where it is inside."""
    return str(path.relative_to(home)) if path.is_relative_to(home) else str(path)


def lines(path: Path, read: Callable[[int], None] = lambda count: None) -> Iterator[Line]:
    """The non-blank lines of a file, faults and all; memory stays flat. ``read`` is told of the bytes that went by.

    StoreError: the file can't be read.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while data := file.readline(LONGEST_LINE + 1):
                number += 1
                size = len(data)
                too_long = size > LONGEST_LINE
                while too_long and not data.endswith(b"\n") and (data := file.readline(LONGEST_LINE)):
                    size += len(data)
                read(size)
                if too_long:
                    yield Line(number, b"", True, too_long=True)
                elif not data.isspace():
                    yield Line(number, data.rstrip(b"\r\n"), data.endswith(b"\n"))
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from None


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes. StoreError: it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from None


def total_bytes(home: Path) -> int:
    """How many bytes of records there are."""
    return sum(path.stat().st_size for kind in KINDS for path in files(home, kind))
