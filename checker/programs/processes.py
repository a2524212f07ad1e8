"""Processes of a room, seen from outside: what they use, and their end. Linux's ``/proc``."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SECONDS = 10.0
_SHARED = b"/dev/zero"
"""How mappings are called of shared memory that has no file."""


@dataclass
class Held:
    """What processes hold that no folder shows."""

    memory: int = 0
    """Bytes in memory that are not files', and shared memory without a file. Pages that forks share count in each."""
    disk: int = 0
    """Bytes of files that have no name any more."""
    unseen: int = 0
    """How many processes could not be looked into."""


def descendants(root: int) -> list[int]:
    """Processes that descend from ``root``, itself first."""
    children: dict[int, list[int]] = {}
    for pid in _pids():
        with contextlib.suppress(OSError, IndexError, ValueError):
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def held(pids: list[int], room: Path, *, most_memory: int, most_file: int) -> Held:
    """What they hold, of files those that were in ``room``.

    A mapping keeps all of a file in being however little of the file it shows: it counts as the most that its file
    could be, ``most_memory`` bytes of shared memory and ``most_file`` on disk. What a process holds both open and
    mapped counts twice.
    """
    found = Held()
    opened: dict[tuple[int, int], int] = {}
    mapped: dict[tuple[bytes, bytes], bytes] = {}
    for pid in pids:
        try:
            found.memory += _own_memory(pid)
            opened.update(_nameless(pid))
            mapped.update(_mapped(pid, os.fsencode(room)))
        except PermissionError:
            found.unseen += not _gone(pid)
        except (OSError, IndexError, ValueError):  # it ended meanwhile
            continue
    shared = sum(name.startswith(_SHARED) for name in mapped.values())
    found.memory += shared * most_memory
    found.disk = sum(opened.values()) + (len(mapped) - shared) * most_file
    return found


def _own_memory(pid: int) -> int:
    _, resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[:3]
    return (int(resident) - int(shared)) * _PAGE


def _nameless(pid: int) -> Iterator[tuple[tuple[int, int], int]]:
    """Device, number and size of each file that it has open and that has no name."""
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            status = entry.stat()
            if stat.S_ISREG(status.st_mode) and not status.st_nlink:
                yield (status.st_dev, status.st_ino), status.st_size


def _mapped(pid: int, room: bytes) -> Iterator[tuple[tuple[bytes, bytes], bytes]]:
    """Device, number and former name of each file of the room, or of shared memory, that it has mapped and that has
    no name. Libraries may have lost theirs by an update."""
    for line in Path(f"/proc/{pid}/maps").read_bytes().splitlines():
        if line.endswith(b" (deleted)"):
            _, _, _, device, number, name = line.split(None, 5)
            if room in name or name.startswith(_SHARED):
                yield (device, number), name


def _gone(pid: int) -> bool:
    try:
        return _over(pid)
    except OSError:
        return True


def end(pids: list[int]) -> None:
    """Kill each that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def sweep(room: Path, user: int | None) -> int:
    """End every process that belongs to a room, whoever its parent is; how many there were.

    A process belongs to it by its environment or working folder, which name the room, or by its user id, where the
    room had one to itself. Again and again, since a process may fork while it is looked for.
    """
    ended: set[int] = set()
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        found = list(_of_room(room, user))
        if not found:
            break
        end(found)
        ended.update(found)
        time.sleep(0.002)
    return len(ended)


def _of_room(room: Path, user: int | None) -> Iterator[int]:
    mark = os.fsencode(room)
    for pid in _pids():
        if pid == os.getpid():
            continue
        with contextlib.suppress(OSError):
            of_user = user is not None and Path(f"/proc/{pid}").stat().st_uid == user
            if (of_user or _names(pid, mark)) and not _over(pid):
                yield pid


def _names(pid: int, mark: bytes) -> bool:
    if mark in Path(f"/proc/{pid}/environ").read_bytes():
        return True
    return os.fsencode(Path(f"/proc/{pid}/cwd").readlink()).startswith(mark)


def _over(pid: int) -> bool:
    """Whether it has ended already and only waits to be fetched by its parent."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def _pids() -> list[int]:
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]
