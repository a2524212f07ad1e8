"""Canaries: a text that stands in an export and nowhere else.

No question shows it, so that a transcript which holds it comes from someone who had the file, and a model that can
say it was trained on it.
"""

from __future__ import annotations

import re
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrader_bench.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PREFIX = "backtrader-bench-canary-"
ANY = re.compile(rb"backtrader-bench-canary-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SHORTEST = 12
"""Characters of a canary: anything shorter turns up by itself."""
OPENED = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/[0-9]+")
"""Pipes that a shell opened for this process; any other pipe may have nobody at its end."""
CHUNK = 2**20
OVERLAP = 2**10
"""Bytes that are looked at twice, so that a canary on an edge between two chunks is seen: the longest is as long."""


def text(identity: uuid.UUID) -> str:
    """The canary of an identity."""
    return f"{PREFIX}{identity}"


def make() -> str:
    """A new one, from the system's random numbers."""
    return text(uuid.uuid4())


def check(canary: str) -> str:
    """The canary, when it can serve as one; UsageError."""
    if len(canary) < SHORTEST or len(canary.encode(errors="replace")) > OVERLAP or not canary.isprintable():
        raise UsageError(f"a canary is one line of {SHORTEST} to {OVERLAP} characters; bench canary make gives one")
    return canary


@dataclass(frozen=True)
class Find:
    """A canary in a file."""

    path: Path
    line: int
    """From 1."""
    canary: str
    """As it stands there, or ``(part)`` and the random part alone."""


def find(paths: Iterable[Path], canaries: Iterable[str] = ()) -> tuple[list[Find], int]:
    """Where ``canaries`` (none given: any of this package's) stand in files and all that folders hold, and how many
    files were read. Case doesn't matter, and the random part alone is enough.

    StoreError: a path is missing or can't be read.
    """
    pattern = _pattern(tuple(canaries))
    found: list[Find] = []
    files = 0
    for path in _files(paths):
        files += 1
        found += _in_file(path, pattern)
    return found, files


def _pattern(canaries: tuple[str, ...]) -> re.Pattern[bytes]:
    if not canaries:
        return ANY
    # The longest first, so that a whole canary is reported whole.
    parts = {part for one in canaries for part in (one, one.removeprefix(PREFIX))}
    longest = sorted((part.encode() for part in parts), key=len, reverse=True)
    return re.compile(b"|".join(map(re.escape, longest)), re.IGNORECASE)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.is_file() and not one.is_symlink())
        elif path.is_file() or (path.is_fifo() and OPENED.fullmatch(str(path))):
            yield path
        elif path.exists():
            raise StoreError(f"{path} is no file or folder, and reading it might never end")
        else:
            raise StoreError(f"{path}: there is no such file or folder")


def _in_file(path: Path, pattern: re.Pattern[bytes]) -> list[Find]:
    found: dict[int, Find] = {}
    try:
        with path.open("rb") as file:
            tail, offset, lines = b"", 0, 0  # of what is held: its place in the file, and the lines before it
            while chunk := file.read(CHUNK):
                held = tail + chunk
                for match in pattern.finditer(held):
                    said = match[0].decode(errors="replace")
                    line = lines + held.count(b"\n", 0, match.start()) + 1
                    found.setdefault(offset + match.start(), Find(path, line, said))
                cut = max(0, len(held) - OVERLAP)
                lines += held.count(b"\n", 0, cut)
                offset += cut
                tail = held[cut:]
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    return [found[place] for place in sorted(found)]


def known(path: Path) -> list[str]:
    """The canaries that a file, or the files of an export's folder, hold. UsageError: none."""
    found, _ = find([path])
    named = list(dict.fromkeys(one.canary.lower() for one in found))
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        import json

        manifest = json.loads((path / "bench-export.json").read_bytes())
        if isinstance(manifest["canary"], str):
            named = list(dict.fromkeys([check(manifest["canary"]), *named]))
    if not named:
        raise UsageError(f"{path} holds no canary; give one with --canary TEXT")
    return named
