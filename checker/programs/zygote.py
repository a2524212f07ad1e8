"""A warm interpreter that forks for each run: ``python zygote.py FD ENTER``, inside the sandbox.

FD is a socket to the process outside; each message is one JSON object. First come modules to import, answered when
that is done; then an order a run, with two descriptors for the run's streams, answered when it is over.
A script of the standard library alone: nothing of this package is visible where it runs.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import ctypes
import importlib
import importlib.util
import json
import os
import random
import select
import signal
import socket
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_MESSAGE_BYTES = 1 << 20
_LAST_FILE = 1 << 16
_GRACE = 0.3
"""Seconds that helpers of a finished program (multiprocessing's tracker) have to end by themselves."""


def main() -> None:
    """Import, then a run a message until the other side closes."""
    outside = socket.socket(fileno=int(sys.argv[1]))
    enter = load(sys.argv[2])
    sys.path.pop(0)  # the folder of this script
    # Orphans of runs come to us, to be ended. When the other side goes, by kill -9 too, its end of the socket tells.
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # Runs share its user: they must not read or write its memory.
    prctl(_PR_SET_DUMPABLE, 0)
    setting = json.loads(outside.recv(_MESSAGE_BYTES))
    for name in setting["modules"]:
        # A program that needs it says so itself.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    outside.send(b'{"ready": true}')
    while True:
        message, fds, _, _ = socket.recv_fds(outside, _MESSAGE_BYTES, 2)
        if not message:
            return
        order = json.loads(message)
        started = time.monotonic()
        try:
            child = fork()
        except OSError as error:  # the user has no process left to give
            outside.send(json.dumps({"error": f"no process for a run: {error}"}).encode())
            continue
        if child == 0:
            begin(order, fds, enter, outside)
        for fd in fds:
            os.close(fd)
        outside.send(json.dumps(attend(child, started, outside)).encode())


def load(path: str) -> Any:
    """A module from its file."""
    spec = importlib.util.spec_from_file_location("enter", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fork() -> int:
    """A fork, with some patience: the limit counts what else the user runs just now."""
    for wait in (0.1, 0.5, 2.0):
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(wait)
    return os.fork()


def begin(order: dict[str, Any], fds: list[int], enter: Any, outside: socket.socket) -> None:
    """In the child: what fails before the program starts is not the program's fault, and is told."""
    try:
        settle(order, fds, enter)
    except BaseException as error:  # noqa: BLE001 - told, whatever it is
        outside.send(json.dumps({"error": f"a run could not be confined: {error}"}).encode())
        os._exit(1)
    # By name, too: what number it has is no matter of the limit on open files.
    outside.close()
    os.closerange(3, _LAST_FILE)
    become(order)


def settle(order: dict[str, Any], fds: list[int], enter: Any) -> None:
    """In the child: streams, session, folder, environment, limits, and no way back."""
    os.setsid()
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    prctl(_PR_SET_DUMPABLE, 1)
    nothing = os.open("/dev/null", os.O_RDONLY)
    for fd, target in ((nothing, 0), (fds[0], 1), (fds[1], 2)):
        os.dup2(fd, target)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["env"])
    with contextlib.suppress(OSError):  # when memory runs out, the kernel is to end this first
        Path("/proc/self/oom_score_adj").write_text("1000")
    enter.lower(enter.resource.RLIMIT_CPU, order["cpu"], order["cpu"] + 2)
    enter.confine(order)


def become(order: dict[str, Any]) -> None:
    """In the child: the program, as ``python main.py`` would run it."""
    file = str(Path(order["folder"]) / "main.py")
    if order["fresh"]:
        os.execve(order["python"], [order["python"], "main.py"], order["env"])
    reseed()
    sys.argv = ["main.py"]
    sys.path.insert(0, order["folder"])
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=file, __builtins__=builtins)
    sys.modules["__main__"] = module
    leave(outcome(file, module.__dict__))


def outcome(file: str, names: dict[str, Any]) -> int:
    """Execute the program; its exit code."""
    try:
        exec(compile(Path(file).read_bytes(), file, "exec"), names)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:  # noqa: BLE001 - what the interpreter does with an error that nobody caught
        trace = error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def leave(code: int) -> None:
    """End as the interpreter does, but without taking the libraries apart, which costs more than most runs."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = code or 120
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code & 0xFF)


def reseed() -> None:
    """Fresh state for the global generators: forks would draw the same numbers, and hide that nobody seeded them."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def attend(child: int, started: float, outside: socket.socket) -> dict[str, Any]:
    """Wait for the child, end what it left."""
    waiter = os.pidfd_open(child)
    ready = select.select([waiter, outside.fileno()], [], [])[0]
    seconds = time.monotonic() - started
    os.close(waiter)
    if waiter not in ready:
        end_children()
        os._exit(1)
    _, status = os.waitpid(child, 0)
    left = not childless(_GRACE) and end_children()
    return {"code": os.waitstatus_to_exitcode(status), "seconds": seconds, "left": left}


def childless(seconds: float) -> bool:
    """Whether no descendant is left, or the last ended within so many seconds: orphans become our children."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if not found:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)


def end_children() -> bool:
    """Kill every descendant; True, since there were some. What outruns this is ended from outside."""
    for _ in range(200):
        for pid in children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if childless(0.01):
            break
    return True


def children() -> list[int]:
    """Direct children, orphans of runs included."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1]
                if int(parent) == os.getpid():
                    found.append(int(entry.name))
    return found


def prctl(option: int, value: int) -> None:
    """A setting of this process."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
