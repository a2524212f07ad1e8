"""What a walk has seen so far, on disk: ids of any number of records in little memory.

A private SQLite database in a temporary file that goes when it is closed. Names are kept as 16 bytes of their hash
and paths as numbers, so that a million records are some 100 MB of disk.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

CACHE_KIB = 32 * 1024
_TABLES = """
create table records (name blob primary key, path integer, line integer, content blob, mark text) without rowid;
create table tapes (sha256 text primary key, path integer, line integer, source text, records integer) without rowid;
"""


class Before(NamedTuple):
    """An earlier record of the same name."""

    path: str
    line: int
    content: bytes
    """The first 16 bytes of what was given as the digest of its line."""
    mark: str
    """What the walk noted of it."""


class Seen:
    """Names of records by space (``questions``, ``attempts`` ...), and the tapes that questions rest on."""

    def __init__(self) -> None:
        """An empty one."""
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(f"pragma cache_size = -{CACHE_KIB}")
        self._db.execute("pragma synchronous = off")
        self._db.execute("pragma journal_mode = off")
        self._db.executescript(_TABLES)
        # Never committed: every commit of its own would write out its pages.
        self._db.execute("begin")
        self._paths: dict[str, int] = {}
        self._names: list[str] = []

    def __enter__(self) -> Seen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def before(self, space: str, name: str) -> Before | None:
        """The record of that name that was put last, if any."""
        row = self._db.execute(
            "select path, line, content, mark from records where name = ?", (_short(space, name),)
        ).fetchone()
        return Before(self._names[row[0]], *row[1:]) if row else None

    def put(self, space: str, name: str, path: str, line: int, content: bytes, mark: str = "") -> None:
        """Note a record, in place of one of the same name."""
        self._db.execute(
            "insert or replace into records values (?, ?, ?, ?, ?)",
            (_short(space, name), self._number(path), line, content[:16], mark),
        )

    def has(self, space: str, name: str) -> bool:
        """Whether a record of that name was put."""
        found = self._db.execute("select 1 from records where name = ?", (_short(space, name),)).fetchone()
        return found is not None

    def use_tape(self, sha256: str, path: str, line: int, source: str) -> None:
        """Note that a question rests on a tape; the first place that does is kept."""
        self._db.execute(
            "insert into tapes values (?, ?, ?, ?, 1) on conflict do update set records = records + 1",
            (sha256, self._number(path), line, source),
        )

    def tapes(self) -> Iterator[tuple[str, str, int, str, int]]:
        """Hash, first path and line, source and number of questions of each, in order of the first place."""
        for sha256, path, *rest in self._db.execute("select * from tapes order by path, line"):
            line, source, records = rest
            yield sha256, self._names[path], line, source, records

    def _number(self, path: str) -> int:
        if path not in self._paths:
            self._paths[path] = len(self._names)
            self._names.append(path)
        return self._paths[path]


def _short(space: str, name: str) -> bytes:
    return hashlib.blake2b(f"{space} {name}".encode(errors="replace"), digest_size=16).digest()
