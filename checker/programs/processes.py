"""Processes of a room, seen from outside: what they use, and their end. Linux's ``/proc``."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SECONDS = 10.0


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


def memory(pids: list[int]) -> int:
    """Bytes in memory that are not files', added up: pages that forks share count in each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            _, resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[:3]
            total += (int(resident) - int(shared)) * _PAGE
    return total


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
