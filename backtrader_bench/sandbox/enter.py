"""Confines this process, then becomes the command: ``python -I -S enter.py FD COMMAND...``

FD holds the order, a JSON object; see ``launch``. Runs in a bare interpreter: the standard library alone, and
nothing of this package.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import stat
import struct
import sys
from collections.abc import Iterable
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every machine
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_DEVICE = _READ_FILE | _WRITE_FILE | _READ_DIR | _IOCTL | _TRUNCATE
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2


def main() -> None:
    """Confine and execute."""
    fd, command = int(sys.argv[1]), sys.argv[2:]
    with os.fdopen(fd, "rb") as file:
        order = json.load(file)
    os.chdir(order["work"])
    confine(order)
    os.execvpe(command[0], command, order["env"])


def confine(order: dict[str, Any]) -> None:
    """Limits, Landlock and filter of ``order``, each where it names one; OSError when the kernel refuses."""
    if order["limits"] is not None:
        limit(order["limits"])
    if order["landlock"] is not None:
        try:
            landlock(order["landlock"])
        except OSError:
            if not order["landlock"].get("optional"):
                raise
    if order["seccomp"] is not None:
        filter_calls(bytes.fromhex(order["seccomp"]))


def limit(limits: dict[str, int]) -> None:
    """Resource limits: memory, CPU seconds, processes, file bytes, open files; no core file."""
    processes = limits["processes"] + (tasks_of_user() if limits.get("others", True) else 0)
    for kind, value in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["open"]),
        (resource.RLIMIT_CORE, 0),
    ):
        lower(kind, value, value)
    lower(resource.RLIMIT_CPU, limits["cpu"], limits["cpu"] + 2)
    # When memory runs out, the kernel is to end this first.
    with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - pathlib costs start-up time
        file.write("1000")


def lower(kind: int, soft: int, hard: int) -> None:
    """Set a limit, or keep the one that stands where it is lower."""
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def tasks_of_user() -> int:
    """How many tasks this user has: the limit on processes counts them all, wherever they run."""
    user = os.getuid()
    count = 0
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == user:  # noqa: PTH116
                    count += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
            except OSError:  # it ended meanwhile
                continue
    return count


def landlock(rules: dict[str, Any]) -> None:
    """Only these paths from now on; no TCP without ``network``; no signal or abstract socket to the outside."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = checked(libc.syscall(_CREATE_RULESET, None, 0, 1), "Landlock")
    rights = (1 << 13) - 1
    for bit, since in ((13, 2), (14, 3), (15, 5)):
        rights |= 1 << bit if version >= since else 0
    network = 0 if rules["network"] or version < 4 else 3
    attributes = struct.pack("=QQQ", rights, network, 3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = checked(libc.syscall(_CREATE_RULESET, attributes, size, 0), "Landlock")
    kinds = (("read", _READ), ("list", _READ_DIR), ("devices", _DEVICE), ("write", rights))
    for paths, allowed in ((rules[kind], allowed) for kind, allowed in kinds):
        allow(libc, ruleset, paths, allowed & rights)
    no_new_rights(libc)
    checked(libc.syscall(_RESTRICT_SELF, ruleset, 0), "Landlock")
    os.close(ruleset)


def allow(libc: Any, ruleset: int, paths: Iterable[str], rights: int) -> None:
    """A rule a path; paths that are not there are left out."""
    for path in paths:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rule = struct.pack("=Qi", rights & _FILE_RIGHTS, fd)
        else:
            rule = struct.pack("=Qi", rights, fd)
        checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"Landlock for {path}")
        os.close(fd)


def filter_calls(program: bytes) -> None:
    """Install a seccomp filter."""
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_rights(libc)
    steps = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(steps))
    checked(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0), "seccomp")


def no_new_rights(libc: Any) -> None:
    """No program started from here on gains rights by being set-uid."""
    checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def checked(result: int, what: str) -> int:
    """The result of a call, or its error."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


if __name__ == "__main__":
    main()
