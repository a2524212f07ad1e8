"""One sandbox for the runs of one program: starts the warm interpreter in it, hands it runs, watches and ends them.

Layout, below the folder for temporary files; only ``room`` is visible inside, and one run's folder at a time is in it:

    bench-room-XXXX/  room/run-K-XXXX/main.py   working folder of run K
                      out/K.stdout              streams, handed in as descriptors

What a run says or does is never trusted: an answer that is none, a file that was closed, a stopped interpreter count
against the program, not against the sandbox.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec

from backtrader_bench.checker.programs import folders, processes
from backtrader_bench.checker.programs.program import (
    LIMITS,
    OUTPUT_BYTES,
    TIMEOUT,
    ProgramRun,
    cpu_limit,
    ended,
    environment,
)
from backtrader_bench.errors import SandboxError
from backtrader_bench.sandbox.keys import keys_shown
from backtrader_bench.sandbox.launch import (
    ENTER,
    interpreter,
    landlock_order,
    launch,
    seccomp_order,
    start,
    system_folders,
)
from backtrader_bench.sandbox.room import Level, Limits, Room

ZYGOTE = Path(__file__).with_name("zygote.py")
MODULES = ("backtrader", "numpy", "pandas")
PREFIX = "bench-room-"
_START_SECONDS, _STARTS = 120.0, 2
_STALE_SECONDS = 60.0
_TICK = 0.2
_MESSAGE_BYTES = 1 << 20
_BLIND_SECONDS = 2.0
"""How long processes of a run may be such that what they hold can't be seen: a moment after each start they are."""
_CONTROL = "pass"


class _Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the zygote may say of a run: how it ended, or why it could not be started."""

    code: Annotated[int, msgspec.Meta(ge=-255, le=255)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e6)] | None = None
    left: bool = False
    error: str | None = None


class _Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended, by what the zygote said or by what had to be done about it."""

    code: int | None = None
    seconds: float | None = None
    left: bool = False
    killed: str | None = None
    timed_out: bool = False


class _Fault(Exception):
    """The sandbox failed in a run, by itself or by what the program did to it."""


class _Blindness:
    """Since when some process could not be looked into. Counts once one could: on some machines none ever can."""

    def __init__(self) -> None:
        self.sighted = False
        self.since: float | None = None

    def too_long(self, pids: int, unseen: int) -> bool:
        """Take note of a look at so many processes; whether it has been going on for too long."""
        now = time.monotonic()
        self.sighted = self.sighted or unseen < pids
        self.since = (self.since or now) if unseen else None
        return self.sighted and self.since is not None and now - self.since > _BLIND_SECONDS


class Worker:
    """Runs a program for seed after seed. A context manager: nothing of it is left when it is closed.

    Not for use by two threads at once, and to be used by the thread that made it: at L3 the sandbox ends with it.
    """

    def __init__(self, *, level: Level, limits: Limits = LIMITS, python: str | None = None) -> None:
        self.level = level
        self.limits = limits
        self.python = interpreter() if python in (None, sys.executable) else str(python)
        self.folders, self.libraries = library_folders(self.python)
        check_store_hidden(self.folders)
        clear_stale()
        self.count = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.inside: socket.socket | None = None
        self.front: frozenset[int] = frozenset()
        self.code = ""
        self.faults = 0
        self._open()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End whatever runs and remove every file."""
        self._end()
        folders.remove(self.base)
        self.lock.close()

    def run(self, code: str, seed: int, *, timeout: float = TIMEOUT, fresh: bool = False) -> ProgramRun:
        """One run. SandboxError when the sandbox itself fails.

        A first failure may be the machine's: the run is made again, with all things new. At a second one a program
        that does nothing decides: where that runs, the failure came of what this one does, and counts against it
        (``killed``: ``worker``).
        """
        if code != self.code:
            self.code, self.faults = code, 0
        while True:
            begun = time.monotonic()
            try:
                return self._run(code, seed, timeout, fresh)
            except _Fault as fault:
                self.faults += 1
                self.close()
                self._open()
                if self.faults > 1:
                    self._control()
                    self.faults = 0
                    seconds = round(time.monotonic() - begun, 4)
                    return ProgramRun(
                        seed=seed, stdout="", stderr=f"{fault}\n", code=None, seconds=seconds, fresh=fresh,
                        killed="worker",
                    )  # fmt: skip

    def _control(self) -> None:
        """SandboxError when not even a program that does nothing runs."""
        try:
            done = self._run(_CONTROL, 0, TIMEOUT, fresh=False)
        except _Fault as fault:
            raise SandboxError(f"the sandbox failed: {fault}") from None
        if done.failed:
            raise SandboxError(f"the sandbox failed: a program that does nothing ended with {done.code}: {done.stderr}")

    def _run(self, code: str, seed: int, timeout: float, fresh: bool) -> ProgramRun:
        """One try at a run; _Fault."""
        inside = self._started()
        self.count += 1
        try:
            with contextlib.ExitStack() as opened:
                folder = self._folder(code)
                # Read by the descriptor afterwards: what became of the name, or of its permissions, is no matter.
                streams = [
                    opened.enter_context((self.base / "out" / f"{self.count}.{name}").open("w+b", buffering=0))
                    for name in ("stdout", "stderr")
                ]
                order = self._order(folder, seed, timeout, fresh)
                begun = time.monotonic()
                try:
                    socket.send_fds(inside, [json.dumps(order).encode()], [stream.fileno() for stream in streams])
                    outcome = self._outcome(inside, folder, begun + timeout)
                except (BrokenPipeError, ConnectionResetError):
                    outcome = _Outcome(killed="worker")
                seconds = time.monotonic() - begun
                if outcome.code is None:
                    self._end()
                self._remove(folder)
                return _result(seed, outcome, streams, seconds, fresh)
        except OSError as error:
            raise _Fault(str(error)) from error

    def _folder(self, code: str) -> Path:
        """A folder with the program in it, under a name that no earlier run could know."""
        self.room.chmod(0o755)
        folder = Path(tempfile.mkdtemp(prefix=f"run-{self.count}-", dir=self.room))
        (folder / "main.py").write_text(code, encoding="utf-8", errors="surrogatepass")
        user = self.room.stat().st_uid
        if user != os.geteuid():
            os.chown(folder, user, user)
        # Nothing can be put beside it, where later runs would find it.
        self.room.chmod(0o555)
        return folder

    def _remove(self, folder: Path) -> None:
        self.room.chmod(0o755)
        folders.remove(folder)
        self.room.chmod(0o555)
        for name in ("stdout", "stderr"):
            (self.base / "out" / f"{self.count}.{name}").unlink(missing_ok=True)

    def verify(
        self, code: str, base_seed: int, other_seeds: Sequence[int], *, timeout: float = TIMEOUT
    ) -> list[ProgramRun]:
        """The base seed in a fresh interpreter, the base seed again and the others in warm ones.

        The two base runs differ in all that a program must not depend on: the order of hashes, what uninitialised
        memory holds, the time, the state of global generators, libraries that something else had imported. Ends with
        the first run that failed.
        """
        runs = [self.run(code, base_seed, timeout=timeout, fresh=True)]
        for seed in (base_seed, *other_seeds):
            if runs[-1].failed:
                break
            runs.append(self.run(code, seed, timeout=timeout))
        return runs

    def _order(self, folder: Path, seed: int, timeout: float, fresh: bool) -> dict[str, Any]:
        of_run = Room(work=folder, readable=self.folders)
        rules = landlock_order(of_run)
        if self.level == "L3":  # what is visible was decided already; this keeps the run from the zygote and the rest
            rules = {**rules, "read": ["/"], "optional": True}
        return {
            "folder": str(folder),
            "seed": seed,
            "fresh": fresh,
            "python": self.python,
            "env": environment(seed, folder, python=self.python, fresh=fresh, libraries=self.libraries),
            "cpu": cpu_limit(self.limits, timeout),
            "limits": None,
            "landlock": None if self.level == "L1" else rules,
            "seccomp": seccomp_order(of_run) if self.level == "L2" else None,
        }

    def _outcome(self, inside: socket.socket, folder: Path, deadline: float) -> _Outcome:
        """What the zygote says of the run, or what we had to do about it."""
        blind = _Blindness()
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([inside], [], [], min(_TICK, left))
            if ready:
                return _understood(inside.recv(_MESSAGE_BYTES))
            # Limits are for each process and each file; these are for all of them.
            if over := self._over(folder, blind):
                return _Outcome(killed=over)
        return _Outcome(timed_out=True)

    def _over(self, folder: Path, blind: _Blindness) -> str | None:
        """What the run uses too much of, if anything."""
        assert self.process is not None
        pids = [pid for pid in processes.descendants(self.process.pid) if pid not in self.front]
        limits = self.limits
        held = processes.held(pids, self.room, most_memory=limits.memory_bytes, most_file=limits.file_bytes)
        if held.memory > 1.5 * limits.memory_bytes:
            return "memory"
        if held.disk + folders.used(folder) > 4 * limits.file_bytes:
            return "disk"
        return "hidden" if blind.too_long(len(pids), held.unseen) else None

    def _open(self) -> None:
        """Folders of our own."""
        self.base = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        self.lock = (self.base / "lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.room = self.base / "room"
        self.room.mkdir()
        (self.base / "out").mkdir()

    def _started(self) -> socket.socket:
        """The socket to a zygote that is ready; starts one where there is none."""
        if self.inside is not None:
            return self.inside
        reason = ""
        for _ in range(_STARTS):  # a machine that is busy may need more than the time; a night is not to end by that
            try:
                self.inside = self._start()
            except (_Fault, OSError) as error:
                reason = str(error)
            else:
                return self.inside
        raise SandboxError(f"the sandbox could not be started, {_STARTS} times: {reason}")

    def _start(self) -> socket.socket:
        """Start a zygote; _Fault when it does not get ready."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        room = Room(work=self.room, readable=(ENTER, ZYGOTE, *self.folders), limits=self.limits)
        # Below L3 each run confines itself, more tightly than the zygote could be.
        level: Level = "L3" if self.level == "L3" else "L1"
        command = [self.python, str(ZYGOTE), str(theirs.fileno()), str(ENTER)]
        env = environment(0, self.room, python=self.python, fresh=False, libraries=self.libraries)
        with (self.base / "out" / "zygote").open("wb") as log, theirs:
            self.process = start(
                launch(command, room, level, env),
                pass_fds=(theirs.fileno(),), stdout=subprocess.DEVNULL, stderr=log, env={}, start_new_session=True,
            )  # fmt: skip
        ours.settimeout(_START_SECONDS)
        said = ""
        try:
            ours.send(json.dumps({"modules": MODULES}).encode())
            ready = ours.recv(_MESSAGE_BYTES)
        except TimeoutError:
            ready, said = b"", f"it was not ready within {_START_SECONDS:.0f} s"
        except OSError:
            ready = b""
        if not ready:
            lines = (self.base / "out" / "zygote").read_text(errors="replace").strip().splitlines()
            ours.close()
            self._end()
            raise _Fault("; ".join([*lines[-1:], *([said] if said else [])]) or "no reason given")
        ours.settimeout(None)
        self.front = frozenset(processes.descendants(self.process.pid))
        return ours

    def _end(self) -> None:
        """End the zygote and all that came from it."""
        if self.process is None:
            return
        user = self.room.stat().st_uid
        processes.end(processes.descendants(self.process.pid))
        self.process.wait()
        if self.inside is not None:
            self.inside.close()
        processes.sweep(self.base, user if user != os.geteuid() else None)
        self.process = self.inside = None


def _understood(message: bytes) -> _Outcome:
    """The outcome in a message of the zygote; _Fault where it could not start the run. What is no such message is a
    run's doing."""
    try:
        said = msgspec.json.decode(message, type=_Said)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Outcome(killed="worker")
    if said.error is not None:
        raise _Fault(said.error)
    if said.code is None or said.seconds is None:
        return _Outcome(killed="worker")
    return _Outcome(code=said.code, seconds=said.seconds, left=said.left, killed=ended(said.code))


def _result(seed: int, outcome: _Outcome, streams: Sequence[BinaryIO], seconds: float, fresh: bool) -> ProgramRun:
    texts = [os.pread(stream.fileno(), OUTPUT_BYTES, 0).decode("utf-8", "replace") for stream in streams]
    return ProgramRun(
        seed=seed,
        stdout=texts[0],
        stderr=texts[1],
        code=outcome.code,
        seconds=round(seconds if outcome.seconds is None else outcome.seconds, 4),
        fresh=fresh,
        timed_out=outcome.timed_out,
        killed=outcome.killed,
        output_cut=max(os.fstat(stream.fileno()).st_size for stream in streams) > OUTPUT_BYTES,
        left_processes=outcome.left,
    )


def check_store_hidden(shown: Sequence[Path]) -> None:
    """SandboxError when the store lies in a folder that runs are shown, or would be once it is made: below /usr, or
    in a virtual environment that is also the checkout."""
    if found := keys_shown((*shown, *system_folders())):
        folder, kept = found
        raise SandboxError(f"runs are shown {folder}, and {kept} is in it; set BENCH_HOME to another folder")


def clear_stale() -> None:
    """End and remove what workers left that were killed: their folders are locked as long as they live. One that was
    killed while it removed its folder may have left it without a lock."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        lock = folder / "lock"
        with contextlib.suppress(OSError):
            if not lock.exists() and folder.lstat().st_uid == os.geteuid():
                _clear(folder, folder.lstat().st_mtime)
                continue
            with lock.open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _clear(folder, lock.stat().st_mtime)


def _clear(folder: Path, since: float) -> None:
    if time.time() - since > _STALE_SECONDS:
        processes.sweep(folder.resolve(), None)
        folders.remove(folder)


@functools.cache
def library_folders(python: str) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Folders that ``python`` and the libraries of a verifier need, and those that it won't find by itself.

    Asked of the interpreter, once a process; libraries without compiled files, which load several times slower, are
    compiled on the way. Nothing is imported from the working folder (``-P``), whose files may be named like modules of
    the library. SandboxError when it can't be started.
    """
    done = subprocess.run(
        [python, "-P", "-c", _ASK, *MODULES], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise SandboxError(f"{python} can't run programs: {done.stderr.strip().splitlines()[-1:]}")
    answer = json.loads(done.stdout)
    own = [Path(path) for path in answer["own"]]
    packages = dict.fromkeys(Path(path) for path in answer["packages"])
    outside = tuple(path for path in packages if not any(path.is_relative_to(folder) for folder in own))
    return (*own, *outside), outside


_ASK = """
import compileall, importlib.util, json, os, sys
packages = []
for name in sys.argv[1:]:
    spec = importlib.util.find_spec(name)
    if spec is None:
        continue
    folder = os.path.dirname(spec.origin)
    packages.append(os.path.dirname(folder))
    if not os.path.exists(importlib.util.cache_from_source(spec.origin)) and os.access(folder, os.W_OK):
        compileall.compile_dir(folder, quiet=2, workers=1)
print(json.dumps({"own": [sys.prefix, sys.base_prefix], "packages": packages}))
"""
