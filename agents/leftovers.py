"""What a program left behind, read as if it meant harm: regular files alone, no link followed, bounds on everything.

A named pipe in a file's place would hold its reader up for ever, a link would show a file that only we may read.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENTRIES, DEPTH = 10_000, 32
"""Of a folder: how many entries are looked at, and how deep."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_CHUNK = 1 << 20


@dataclass
class Walk:
    """One pass over a file or a folder; ``odd`` says afterwards what was left out and why."""

    room: int
    """Bytes that may still be read."""
    entries: int = field(default_factory=lambda: ENTRIES)
    odd: list[str] = field(default_factory=list)

    def files(self, path: Path, name: str) -> Iterator[tuple[PurePath, int]]:
        """Each regular file, in the order of the names: how it is called when ``path`` is called ``name``, and an open
        descriptor."""
        yield from self._entry(str(path), None, PurePath(name), DEPTH)

    def chunks(self, name: PurePath, fd: int) -> Iterator[bytes]:
        """The content of an open file as far as there is room."""
        while True:
            data = os.read(fd, min(_CHUNK, self.room + 1))
            if len(data) > self.room:
                yield data[: self.room]
                self.room = 0
                self.odd.append(f"{name}: cut, there is more than is kept")
                return
            if not data:
                return
            self.room -= len(data)
            yield data

    def _entry(self, path: str, above: int | None, name: PurePath, depth: int) -> Iterator[tuple[PurePath, int]]:
        try:
            fd = os.open(path, _FILE, dir_fd=above)
        except OSError as error:  # a link is ELOOP, a socket ENXIO
            self.odd.append(f"{name}: left out: {error.strerror}")
            return
        try:
            mode = os.fstat(fd).st_mode
            if stat.S_ISREG(mode):
                yield name, fd
            elif stat.S_ISDIR(mode) and depth:
                for one in self._names(fd, name):
                    yield from self._entry(one, fd, name / one, depth - 1)
            else:
                kind = "nested too deep" if stat.S_ISDIR(mode) else "neither a file nor a folder"
                self.odd.append(f"{name}: left out: {kind}")
        except OSError as error:
            self.odd.append(f"{name}: cannot be read: {error.strerror}")
        finally:
            os.close(fd)

    def _names(self, fd: int, name: PurePath) -> list[str]:
        names: list[str] = []
        with os.scandir(fd) as entries:
            for entry in entries:
                if not self.entries:
                    self.odd.append(f"{name}: cut, there are more files than are kept")
                    break
                self.entries -= 1
                names.append(entry.name)
        return sorted(names)


def read(path: Path, limit: int) -> bytes | None:
    """The content of a file, or of a folder's files joined in the order of their names, up to ``limit`` bytes; None
    where there is no regular file."""
    walk = Walk(limit)
    found: list[bytes] = []
    for name, fd in walk.files(path, path.name):
        found.append(b"".join(walk.chunks(name, fd)))
    return b"".join(found) if found else None


def copy(path: Path, folder: Path, name: str, limit: int) -> list[str]:
    """Copy a file, or a folder with its files, into ``folder`` as ``name``, up to ``limit`` bytes; a line for
    everything that was left out, cut, or could not be copied."""
    walk = Walk(limit)
    try:
        for one, fd in walk.files(path, name):
            place = folder / one
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                for data in walk.chunks(one, fd):
                    file.write(data)
    except OSError as error:
        walk.odd.append(f"{name}: cannot be copied: {error.strerror}")
    return walk.odd


def is_there(path: Path, private: Path) -> bool:
    """Whether something lies at ``path`` and no folder on the way from ``private`` to it is a link."""
    with suppress(ValueError, OSError):
        above = path.parent.relative_to(private)
        return os.path.lexists(path) and os.path.realpath(path.parent) == os.path.realpath(private) + _below(above)
    return False


def _below(path: PurePath) -> str:
    return "".join(f"/{part}" for part in path.parts)
