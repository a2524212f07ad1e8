"""One sandbox for the runs of one program: starts the warm interpreter in it, hands it runs, watches and ends them.

Layout, below the folder for temporary files; only ``room`` is visible inside, and one run's folder at a time is in it:

    bench-room-XXXX/  room/run-K/main.py   working folder of run K
                      out/K.stdout         streams, handed in as descriptors
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from backtrader_bench import store
from backtrader_bench.checker.programs import processes
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
from backtrader_bench.sandbox.launch import ENTER, landlock_order, launch, seccomp_order, start
from backtrader_bench.sandbox.room import Level, Limits, Room

ZYGOTE = Path(__file__).with_name("zygote.py")
MODULES = ("backtrader", "numpy", "pandas")
PREFIX = "bench-room-"
_START_SECONDS = 120.0
_STALE_SECONDS = 60.0
_TICK = 0.2
_MESSAGE_BYTES = 1 << 20
_FOLDER_FILES = 10_000


class Worker:
    """Runs a program for seed after seed. A context manager: nothing of it is left when it is closed.

    Not for use by two threads at once, and to be used by the thread that made it: at L3 the sandbox ends with it.
    """

    def __init__(self, *, level: Level, limits: Limits = LIMITS, python: str | None = None) -> None:
        self.level = level
        self.limits = limits
        self.python = python or sys.executable
        self.folders, self.libraries = library_folders(self.python)
        check_store_hidden(self.folders)
        clear_stale()
        self.base = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        self.lock = (self.base / "lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.room = self.base / "room"
        self.room.mkdir()
        (self.base / "out").mkdir()
        self.count = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.inside: socket.socket | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End whatever runs and remove every file."""
        self._end()
        _remove(self.base)
        self.lock.close()

    def run(self, code: str, seed: int, *, timeout: float = TIMEOUT, fresh: bool = False) -> ProgramRun:
        """One run. SandboxError when the sandbox itself fails."""
        inside = self._started()
        self.count += 1
        folder = self.room / f"run-{self.count}"
        folder.mkdir()
        user = self.room.stat().st_uid
        (folder / "main.py").write_text(code, encoding="utf-8", errors="surrogatepass")
        if user != os.geteuid():
            os.chown(folder, user, user)
        streams = [self.base / "out" / f"{self.count}.{name}" for name in ("stdout", "stderr")]
        order = self._order(folder, seed, timeout, fresh)
        files = [stream.open("wb") for stream in streams]
        begun = time.monotonic()
        try:
            socket.send_fds(inside, [json.dumps(order).encode()], [file.fileno() for file in files])
            answer = self._answer(inside, folder, begun + timeout)
        except (BrokenPipeError, ConnectionResetError):
            answer = {"killed": "worker"}
        finally:
            for file in files:
                file.close()
        if "code" not in answer:
            self._end()
        _remove(folder)
        if "error" in answer:
            raise SandboxError(f"the sandbox failed: {answer['error']}")
        return self._result(seed, answer, streams, time.monotonic() - begun, fresh)

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
            rules = {**rules, "read": ["/"], "write": [*rules["write"], "/dev/shm"], "optional": True}
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

    def _answer(self, inside: socket.socket, folder: Path, deadline: float) -> dict[str, Any]:
        """What the zygote says of the run, or what we had to do about it."""
        assert self.process is not None
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([inside], [], [], min(_TICK, left))
            if ready:
                message = inside.recv(_MESSAGE_BYTES)
                answer: dict[str, Any] = json.loads(message) if message else {"killed": "worker"}
                return answer
            # Limits are for each process and each file; these are for all of them.
            if processes.memory(processes.descendants(self.process.pid)) > 1.5 * self.limits.memory_bytes:
                return {"killed": "memory"}
            if _used(folder) > 4 * self.limits.file_bytes:
                return {"killed": "disk"}
        return {"timed_out": True}

    def _result(
        self, seed: int, answer: dict[str, Any], streams: list[Path], seconds: float, fresh: bool
    ) -> ProgramRun:
        sizes = [stream.stat().st_size for stream in streams]
        texts = [stream.open("rb").read(OUTPUT_BYTES).decode("utf-8", "replace") for stream in streams]
        for stream in streams:
            stream.unlink()
        code = answer.get("code")
        return ProgramRun(
            seed=seed,
            stdout=texts[0],
            stderr=texts[1],
            code=code,
            seconds=round(answer.get("seconds", seconds), 4),
            fresh=fresh,
            timed_out=answer.get("timed_out", False),
            killed=answer.get("killed") or (ended(code) if code is not None else None),
            output_cut=max(sizes) > OUTPUT_BYTES,
            left_processes=answer.get("left", False),
        )

    def _started(self) -> socket.socket:
        """The socket to a zygote that is ready; starts one where there is none."""
        if self.inside is not None:
            return self.inside
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        room = Room(work=self.room, readable=(ENTER, ZYGOTE, *self.folders), limits=self.limits)
        # Below L3 each run confines itself, more tightly than the zygote could be.
        level: Level = "L3" if self.level == "L3" else "L1"
        command = [self.python, str(ZYGOTE), str(theirs.fileno()), str(ENTER)]
        env = environment(0, self.room, python=self.python, fresh=False, libraries=self.libraries)
        with (self.base / "out" / "zygote").open("wb") as log:
            self.process = start(
                launch(command, room, level, env),
                pass_fds=(theirs.fileno(),), stdout=subprocess.DEVNULL, stderr=log, env={}, start_new_session=True,
            )  # fmt: skip
        theirs.close()
        self.inside = ours
        ours.settimeout(_START_SECONDS)
        setting = {"modules": MODULES, "scratch": ["/tmp", "/dev/shm"] if self.level == "L3" else []}
        try:
            ours.send(json.dumps(setting).encode())
            ready = ours.recv(_MESSAGE_BYTES)
        except OSError:
            ready = b""
        if not ready:
            said = (self.base / "out" / "zygote").read_text(errors="replace").strip().splitlines()
            self._end()
            raise SandboxError(f"the sandbox could not be started: {said[-1] if said else 'no reason given'}")
        ours.settimeout(None)
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


def check_store_hidden(shown: Sequence[Path]) -> None:
    """SandboxError when the store lies in a folder that runs are shown: a virtual environment that is also the
    checkout."""
    home = store.home().resolve()
    for kept in (home / "db", home / "logs"):
        for folder in shown:
            if kept.exists() and kept.is_relative_to(folder.resolve()):
                raise SandboxError(f"runs are shown {folder}, and {kept} is in it; set BENCH_HOME to another folder")


def clear_stale() -> None:
    """End and remove what workers left that were killed: their folders are locked as long as they live."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/lock"):
        with contextlib.suppress(OSError), lock.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - lock.stat().st_mtime > _STALE_SECONDS:
                processes.sweep(lock.parent.resolve(), None)
                _remove(lock.parent)


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


def _used(folder: Path) -> int:
    """Bytes in a folder; more than any limit when it holds too many files to count."""
    total = 0
    for seen, size in enumerate(_sizes(folder)):
        total += size
        if seen > _FOLDER_FILES:
            return 1 << 62
    return total


def _sizes(folder: Path) -> Iterator[int]:
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield (Path(place) / name).lstat().st_size


def _remove(folder: Path) -> None:
    """Remove a folder, closed folders within included."""
    for place, names, _ in os.walk(folder):
        for name in names:
            inner = Path(place) / name
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
