"""One program from start to end: fed its prompt, watched, ended at its deadline, and nothing of it left behind.

Shells that an agent starts run in sessions and process groups of their own and outlive a kill of the agent's group, so
every process is found again by a variable in its environment (:data:`MARK`), which children inherit. Linux only: the
look-up reads ``/proc``.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backtrader_bench.agents.backend import Raw

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping

MARK = "BENCH_MARK"
"""Environment variable that every process of an attempt carries."""
GRACE = 3.0
"""Seconds between TERM and KILL."""
DRAIN = 0.5
"""Seconds that output may go on after the program's end: a grandchild that keeps the pipe gets no more."""
SWEEP = 5.0
"""Seconds after which a process that KILL does not end (it hangs in the kernel) is given up."""
TICK = 0.05
"""Seconds between looks at the cancel event."""
_CHUNK = 1 << 16

Why = Literal["exit", "timeout", "tool_call", "cancel", "output", "not_started"]


@dataclass(frozen=True, kw_only=True)
class Caps:
    """Bounds on each output stream, in bytes."""

    memory: int = 16 << 20
    """What the parser gets: a longer stream loses whole lines from its middle."""
    disk: int = 256 << 20
    """Beyond it the program is ended."""
    line: int = 1 << 20
    """The watcher sees this much of a line."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """What to start, sandbox included."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Without the marker, but where a sandbox hands it on itself."""
    cwd: Path
    stdin: bytes = b""
    pass_fds: tuple[int, ...] = ()
    preexec: Callable[[], None] | None = None
    room: bool = False
    """Whether ``argv`` begins with a sandbox: TERM then goes to the processes inside, as the sandbox's own end would
    kill them without grace."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A program that has ended, by itself or not."""

    raw: Raw
    """Without ``files``."""
    why: Why
    seconds: float
    """Wall time from the start to the last byte read."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """``stdout`` and ``stderr``."""
    problem: OSError | ValueError | None = None
    """Why it could not be started."""


def run(
    start: Start,
    folder: Path,
    timeout: float,
    mark: str,
    *,
    watch: Callable[[bytes], bool] | None = None,
    cancel: threading.Event | None = None,
    caps: Caps = Caps(),
) -> Ended:
    """Run ``start`` to its end; ``folder`` gets the files ``stdout`` and ``stderr``.

    ``watch`` sees each line of stdout as it comes; when it says True the program is ended (``tool_call``), as it is
    when ``cancel`` is set. However it ends, all processes marked ``mark`` are gone on return. Many threads may run at
    once. OSError: the output can't be written.
    """
    began = time.monotonic()
    files = {name: folder / name for name in ("stdout", "stderr")}
    with _Sink(files["stdout"], caps, watch) as out, _Sink(files["stderr"], caps, None) as err:
        try:
            process = _popen(start, mark)
        except (OSError, ValueError) as problem:
            raw = Raw(stdout=b"", stderr=b"", code=None)
            return Ended(raw=raw, why="not_started", seconds=0.0, files=files, problem=problem)
        with contextlib.closing(_Session(process, mark, start.room, cancel)) as session:
            session.connect(start.stdin, out, err)
            why = session.until_end(began + timeout)
            code = session.end(gently=why != "exit")
        raw = Raw(
            stdout=out.kept(), stderr=err.kept(), code=code, timed_out=why == "timeout", cancelled=why == "tool_call"
        )
    return Ended(raw=raw, why=why, seconds=time.monotonic() - began, files=files)


class _Sink:
    """One output stream: on disk up to a cap; its beginning and its end in memory."""

    def __init__(self, path: Path, caps: Caps, watch: Callable[[bytes], bool] | None) -> None:
        self.caps, self.watch = caps, watch
        self.size = 0
        self.head, self.tail, self.line = bytearray(), bytearray(), bytearray()
        self.head_room, self.tail_room = caps.memory // 4, caps.memory - caps.memory // 4
        self.file = path.open("wb", buffering=0)

    def __enter__(self) -> _Sink:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def feed(self, data: bytes) -> Why | None:
        """Take some output; why the program must end now, if it must."""
        fits = data[: max(0, self.caps.disk - self.size)]
        self.size += len(data)
        unwritten = memoryview(fits)
        while unwritten:
            unwritten = unwritten[self.file.write(unwritten) :]
        into_head = self.head_room - len(self.head)
        self.head += fits[:into_head]
        self.tail += fits[into_head:]
        if len(self.tail) > 2 * self.tail_room:
            del self.tail[: -self.tail_room]
        if self.watch is not None and self._watched(data, self.watch):
            return "tool_call"
        return "output" if self.size > self.caps.disk else None

    def _watched(self, data: bytes, watch: Callable[[bytes], bool]) -> bool:
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._lengthen(part)
            line = bytes(self.line)
            self.line.clear()
            if watch(line):
                return True
        self._lengthen(rest)
        return False

    def _lengthen(self, part: bytes) -> None:
        self.line += part[: max(0, self.caps.line - len(self.line))]

    def kept(self) -> bytes:
        """All of it, or the lines at its beginning and end that the cap leaves."""
        if min(self.size, self.caps.disk) <= self.caps.memory:
            return bytes(self.head + self.tail)
        head = bytes(self.head[: self.head.rfind(b"\n") + 1])
        tail = bytes(self.tail[-self.tail_room :])
        return head + tail.partition(b"\n")[2]


def _popen(start: Start, mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        start.argv, cwd=start.cwd, env={**start.env, MARK: mark}, start_new_session=True, bufsize=0,
        stdin=subprocess.PIPE if start.stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=start.pass_fds, preexec_fn=start.preexec,
    )  # fmt: skip


class _Session:
    """A started program with its pipes. Not reaped before its end, so that its number stays its own."""

    def __init__(
        self, process: subprocess.Popen[bytes], mark: str, room: bool, cancel: threading.Event | None
    ) -> None:
        self.process, self.mark, self.room, self.cancel = process, mark, room, cancel
        self.why: Why | None = None
        self.ended = False
        self.unsent = memoryview(b"")
        self.kin: list[int] = []
        self.selector: selectors.BaseSelector = selectors.SelectSelector()
        self.exit_fd = -1

    def connect(self, stdin: bytes, out: _Sink, err: _Sink) -> None:
        """Listen to the program's end and its pipes."""
        self.selector = selectors.DefaultSelector()
        self.exit_fd = os.pidfd_open(self.process.pid)
        self.selector.register(self.exit_fd, selectors.EVENT_READ, self._exited)
        for pipe, sink in ((self.process.stdout, out), (self.process.stderr, err)):
            assert pipe is not None
            self._add(pipe.fileno(), selectors.EVENT_READ, self._reader(pipe.fileno(), sink))
        if self.process.stdin is not None:
            self.unsent = memoryview(stdin)
            self._add(self.process.stdin.fileno(), selectors.EVENT_WRITE, self._send)

    def _add(self, fd: int, events: int, handler: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self.selector.register(fd, events, handler)

    def _exited(self) -> None:
        self.ended = True
        self.selector.unregister(self.exit_fd)

    def _send(self) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        try:
            self.unsent = self.unsent[os.write(pipe.fileno(), self.unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            # The program closed its stdin: it has read what it wanted.
            self.unsent = self.unsent[:0]
        if not self.unsent:
            self.selector.unregister(pipe.fileno())
            pipe.close()

    def _reader(self, fd: int, sink: _Sink) -> Callable[[], None]:
        def read() -> None:
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                return
            if data:
                self.why = self.why or sink.feed(data)
            else:
                self.selector.unregister(fd)

        return read

    def _pump(self, until: float, done: Callable[[], bool]) -> bool:
        """Serve the pipes until ``done`` (True) or the time ``until`` (False)."""
        while not done():
            left = until - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self.selector.select(min(left, TICK) if self.cancel else left):
                key.data()
        return True

    def until_end(self, deadline: float) -> Why:
        """Wait for the program's end, a reason to end it, or the deadline."""
        if not self._pump(deadline, lambda: self.ended or self.why is not None or self._cancelled()):
            return "timeout"
        return self.why or ("exit" if self.ended else "cancel")

    def _cancelled(self) -> bool:
        return self.cancel is not None and self.cancel.is_set()

    def _silent(self) -> bool:
        pipes = (self.process.stdout, self.process.stderr)
        return not any(pipe and pipe.fileno() in self.selector.get_map() for pipe in pipes)

    def end(self, *, gently: bool) -> int:
        """See to it that nothing runs on, take what is left in the pipes; the exit code."""
        if gently and not self.ended:
            # Before anyone dies, as the children of the dead belong to nobody.
            self._remember_family()
            self._terminate()
            self._pump(time.monotonic() + GRACE, lambda: self.ended)
        if self.ended:
            # What it started may still be writing the last words; most programs leave nobody, and this is no wait.
            self._pump(time.monotonic() + DRAIN, self._silent)
        self._kill()
        self._pump(time.monotonic() + DRAIN, self._silent)
        return self.process.wait()

    def _terminate(self) -> None:
        if self.room:
            for number in marked(self.mark):
                if number != self.process.pid:
                    _signal(number, signal.SIGTERM)
        else:
            self._to_group(signal.SIGTERM)

    def _kill(self) -> None:
        self._remember_family()
        self._to_group(signal.SIGKILL)
        for handle in self.kin:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        self.kin.clear()
        sweep(self.mark)

    def _remember_family(self) -> None:
        """Handles rather than numbers, which others may get while we wait."""
        for number in family(self.process.pid):
            with contextlib.suppress(OSError):
                self.kin.append(os.pidfd_open(number))

    def _to_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def close(self) -> None:
        """Let go of everything, also after an exception: the program must not outlive it."""
        if self.process.returncode is None:
            self._kill()
            self.process.wait()
        self.selector.close()
        if self.exit_fd >= 0:
            os.close(self.exit_fd)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def sweep(prefix: str, within: float = SWEEP) -> int:
    """KILL every process whose marker begins with ``prefix``, again until none is left; how many there were.

    For what a killed session left behind: give the run's own prefix, never a shorter one.
    """
    if len(prefix) < 8:
        raise ValueError(f"{prefix!r} is too short to tell one run from another")
    deadline = time.monotonic() + within
    seen: set[int] = set()
    while found := marked(prefix):
        seen |= found
        for number in found:
            _kill_marked(number, prefix)
        if time.monotonic() > deadline:
            break
        time.sleep(0.005)
    return len(seen)


def marked(prefix: str) -> set[int]:
    """Numbers of the processes whose marker begins with ``prefix``; never this one."""
    return {number for number in _processes() if _carries(number, prefix)} - {os.getpid()}


def _processes() -> Iterator[int]:
    with contextlib.suppress(FileNotFoundError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - twice as fast


def _carries(number: int, prefix: str) -> bool:
    """Whether the environment that a process was started with has the marker; False for another user's."""
    return f"\0{MARK}={prefix}".encode() in b"\0" + _read(f"/proc/{number}/environ")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - read for every process of the machine
            return file.readall()
    except OSError:
        return b""


def _kill_marked(number: int, prefix: str) -> None:
    # Looked at again through a handle, so that a number that was given to another process meanwhile is no mistake.
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(number)
        try:
            if _carries(number, prefix):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def family(number: int) -> list[int]:
    """The living descendants of a process, those that cleaned their environment included."""
    found: list[int] = []
    todo = [number]
    while todo:
        one = todo.pop()
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{one}/task"):  # noqa: PTH208
                todo += [int(child) for child in _read(f"/proc/{one}/task/{task}/children").split()]
        if one != number:
            found.append(one)
    return found


def _signal(number: int, which: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.kill(number, which)
