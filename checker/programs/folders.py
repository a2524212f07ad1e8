"""Folders of runs, which may hold anything: how much, and their removal."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_MOST_ENTRIES = 10_000


def used(folder: Path) -> int:
    """Bytes in a folder; more than any limit when it holds too much to count or a folder that can't be looked into."""
    total = 0
    try:
        for seen, size in enumerate(_sizes(folder)):
            total += size
            if seen > _MOST_ENTRIES:
                return 1 << 62
    except PermissionError:
        return 1 << 62
    return total


def _sizes(folder: Path) -> Iterator[int]:
    """Of all that is in it; PermissionError where that can't be told, nothing for what goes meanwhile."""
    todo = [os.fspath(folder)]
    while todo:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                with contextlib.suppress(FileNotFoundError):
                    yield entry.stat(follow_symlinks=False).st_size


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, closed folders and folders of any depth included.

    No link is followed, wherever the name has come to lead; what can't be removed is left.
    """
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(folder.lstat().st_mode):
            folder.unlink()
            return
        top = _opened(folder)
        try:
            _empty(top)
        finally:
            os.close(top)
        folder.rmdir()


def _empty(top: int) -> None:
    """Folders within are moved up and emptied in their turn, so that none is ever deeper than one below ``top``."""
    moved = 0
    left: set[str] = set()
    while names := [name for name in os.listdir(top) if name not in left]:
        for name in names:
            try:
                if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=top)
                    continue
                moved = _emptied(top, name, moved)
                os.rmdir(name, dir_fd=top)
            except OSError:
                left.add(name)


def _emptied(top: int, name: str, moved: int) -> int:
    """Move what is in the folder ``name`` of ``top`` up into ``top`` under new names, counted on from ``moved``."""
    inner = _opened(name, top)
    try:
        for entry in os.listdir(inner):  # noqa: PTH208 - of a descriptor
            moved += 1
            if stat.S_ISDIR(os.stat(entry, dir_fd=inner, follow_symlinks=False).st_mode):
                os.close(_opened(entry, inner))  # a folder that is closed can't be moved
                os.rename(entry, f".removed-{os.getpid()}-{moved}", src_dir_fd=inner, dst_dir_fd=top)
            else:
                os.unlink(entry, dir_fd=inner)
    finally:
        os.close(inner)
    return moved


def _opened(name: str | Path, at: int | None = None) -> int:
    """A descriptor of a folder, whose owner may do everything in it from now on. OSError: it is none, or a link."""
    place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=at)
    try:
        here = f"/proc/self/fd/{place}"
        with contextlib.suppress(OSError):
            os.chmod(here, 0o700)  # noqa: PTH101 - of a descriptor
        return os.open(here, os.O_RDONLY | os.O_DIRECTORY)
    finally:
        os.close(place)
