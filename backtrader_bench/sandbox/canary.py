"""Tries to get out of a room and says what it could do; runs in a bare interpreter.

Reads seven lines from the file ``bait`` (mark, file, file in the store or nothing, port, abstract socket, process id,
bytes to allocate) and prints a JSON object of what was possible. What only the outside can judge (a file or its
permissions changed, a signal received, a limit lowered) it just tries.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import json
import mmap
import os
import resource
import signal
import socket
from collections.abc import Callable


def reach(family: int, kind: int, address: object) -> bool:
    """Whether something outside could be talked to."""
    with socket.socket(family, kind) as caller:
        caller.settimeout(2)
        caller.connect(address)  # type: ignore[arg-type]
        return caller.send(b"canary") > 0


def read(path: str, token: str) -> bool:
    """Whether the file was read."""
    with open(path) as file:  # noqa: PTH123
        return token in file.read()


def write(path: str) -> bool:
    """Try to put a file beside one outside."""
    with open(path, "w") as file:  # noqa: PTH123
        return bool(file.write("x"))


def seen(token: str, what: str) -> bool:
    """Whether a process outside can be told by its command line or environment."""
    for path in glob.glob(f"/proc/[0-9]*/{what}"):  # noqa: PTH207
        if path.split("/")[2] != str(os.getpid()) and possible(functools.partial(read, path, token)):
            return True
    return False


def signalled(pid: int) -> bool:
    """Try to signal a process outside; in a namespace the number may be our own."""
    if pid != os.getpid():
        os.kill(pid, signal.SIGUSR1)
    return pid != os.getpid()


def allocated(size: int) -> bool:
    """Whether so much address space was had; no page of it is touched."""
    mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    return True


def slowed(pid: int) -> bool:
    """Whether the priority of a process outside could be lowered."""
    return pid != os.getpid() and (
        done(lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
        or done(lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
    )


def limited(pid: int) -> bool:
    """Try to lower a limit of a process outside."""
    return pid != os.getpid() and bool(resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)))


def queued(token: str) -> bool:
    """Whether a message queue could be made, which outlives who made it."""
    library, name = ctypes.CDLL(None), b"/bench-" + token.encode()
    if library.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None) < 0:
        return False
    library.mq_unlink(name)
    return True


def possible(attempt: Callable[[], bool]) -> bool:
    """The attempt's word, False when it is refused."""
    try:
        return attempt()
    except (OSError, ValueError, MemoryError, AttributeError):
        return False


def done(attempt: Callable[[], None]) -> bool:
    """Whether it was not refused."""
    try:
        attempt()
    except OSError:
        return False
    return True


def main() -> None:
    """Try all of it."""
    with open("bait") as file:  # noqa: PTH123
        token, path, kept, port, abstract, pid, size = file.read().split("\n")
    local = ("127.0.0.1", int(port))
    possible(lambda: write(path + ".written"))
    possible(lambda: limited(int(pid)))
    found = {
        "tcp": possible(lambda: reach(socket.AF_INET, socket.SOCK_STREAM, local)),
        "udp": possible(lambda: reach(socket.AF_INET, socket.SOCK_DGRAM, local)),
        "abstract": possible(lambda: reach(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)),
        "read": possible(lambda: read(path, token)),
        "store": bool(kept) and possible(lambda: read(kept, token)),
        "queue": possible(lambda: queued(token)),
        "slowed": possible(lambda: slowed(int(pid))),
        "cmdline": seen(token, "cmdline"),
        "environ": seen(token, "environ"),
        "memory": possible(lambda: allocated(int(size))),
    }
    # Last: the one ends the process, the others close the file.
    possible(lambda: signalled(int(pid)))
    done(lambda: os.utime(path, (1, 1)))
    done(lambda: os.chmod(path, 0))  # noqa: PTH101
    print(json.dumps(found))


if __name__ == "__main__":
    main()
