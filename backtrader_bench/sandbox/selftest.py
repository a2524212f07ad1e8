"""What this machine enforces, found by trying: a canary at each level, once a process.

The canary is told of a listener on loopback, a file outside its room and one in the store, a process with a mark in
its command line and environment, and 8 GiB of memory. What it reaches is open, whatever the level promises.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import secrets
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from backtrader_bench import store
from backtrader_bench.errors import SandboxError, StoreError
from backtrader_bench.sandbox.keys import keys_shown
from backtrader_bench.sandbox.launch import find_bwrap, interpreter, launch, start, system_folders
from backtrader_bench.sandbox.room import Isolation, Level, Limits, Room

LEVELS: tuple[Level, ...] = get_args(Level)
"""Best first."""
Profile = Literal["program", "agent"]
"""``program``: model-written code, no network, limits. ``agent``: a coding agent, with network and without limits."""
CANARY = Path(__file__).with_name("canary.py")
_SECONDS = 20.0
_HELD: dict[tuple[Profile, Level], dict[str, str]] = {
    ("program", "L3"): {"net": "blocked", "fs": "hidden", "pids": "hidden", "mem": "limited"},
    ("program", "L2"): {"net": "blocked", "fs": "hidden", "mem": "limited"},
    ("program", "L1"): {"mem": "limited"},
    ("agent", "L3"): {"fs": "hidden", "pids": "hidden"},
    ("agent", "L2"): {"fs": "hidden"},
}
"""What a level must be found to do to be called by its name."""
_FIX = "install bubblewrap (apt-get install bubblewrap, or pip install 'backtrader-bench[sandbox]')"


def best(*, required: Level | None = None, allow_unsafe: bool = False, profile: Profile = "program") -> Isolation:
    """The best level that holds here.

    SandboxError when that is below ``required``, or when it is L1, for programs, without ``allow_unsafe``. Agents run
    at L1 unless a level is required: what is open is in the isolation, for the record.
    """
    kept: list[str] = []
    for level in LEVELS:
        if required is not None and LEVELS.index(level) > LEVELS.index(required):
            raise SandboxError(f"a sandbox of level {required} is required, and {'; '.join(kept)}; {_FIX}")
        if level == "L1" and profile == "program" and not allow_unsafe:
            raise SandboxError(
                f"model-written code can't be kept in on this machine ({'; '.join(kept)}); {_FIX}, "
                "or give --allow-unsafe to run it with your files and network in its reach"
            )
        found = holds(level, profile)
        if isinstance(found, Isolation):
            return found
        kept.append(found)
    raise SandboxError(f"not even limits can be set on this machine: {'; '.join(kept)}")


def holds(level: Level, profile: Profile = "program") -> Isolation | str:
    """What the level enforces here, or why it can't be had; tried once a process and kept."""
    return _holds(level, profile, find_bwrap(), os.geteuid(), _store())


def said(isolation: Isolation) -> str:
    """One line for the start of a command: ``sandbox L3: network blocked, files hidden, ...``."""
    return (
        f"sandbox {isolation.level}: network {isolation.net}, other files {isolation.fs}, "
        f"other processes {isolation.pids}, memory {isolation.mem}"
    )


@functools.cache
def _holds(level: Level, profile: Profile, bwrap: str | None, user: int, home: Path | None) -> Isolation | str:
    if profile == "agent" and level == "L1":  # promises nothing, on any machine
        return Isolation(level="L1", net="open", fs="open", pids="open", mem="open")
    try:
        found = _try(level, profile, home)
    except (SandboxError, OSError) as error:
        return f"{level}: {error}"
    escapes = ", ".join(
        f"{name} {getattr(found, name)}"
        for name, state in _HELD[profile, level].items()
        if getattr(found, name) != state
    )
    return f"{level} does not hold: {escapes}" if escapes else found


def _store() -> Path | None:
    """The store's folder, where there is one."""
    try:
        home = store.home()
    except StoreError:
        return None
    return home if home.is_dir() else None


def _try(level: Level, profile: Profile, home: Path | None) -> Isolation:
    agent = profile == "agent"
    if level != "L1" and home is not None and (shown := keys_shown(system_folders(network=agent))):
        raise SandboxError(f"it shows {shown[0]}, and the store is in it; set BENCH_HOME to another folder")
    with tempfile.TemporaryDirectory(prefix="bench-canary-") as folder, _bait(Path(folder), home) as bait:
        work = Path(folder) / "work"
        work.mkdir()
        room = Room(work=work, network=agent, nested=agent, limits=None if agent else Limits(cpu_seconds=20))
        # Through a file: the canary looks for the mark in command lines, and a room's own would show it.
        (work / "bait").write_text("\n".join(bait.arguments))
        command = [interpreter(), "-I", "-S", "-c", CANARY.read_text()]
        process = start(
            launch(command, room, level, {"PATH": os.defpath}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={}, start_new_session=True,
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise SandboxError(f"the self-test did not end within {_SECONDS:.0f} s") from None
        outside = bait.harm()
    if process.returncode:
        lines = err.decode(errors="replace").strip().splitlines()
        raise SandboxError(lines[-1] if lines else f"the self-test ended with {process.returncode}")
    return _isolation(level, profile, {**json.loads(out), **outside})


def _isolation(level: Level, profile: Profile, could: dict[str, bool]) -> Isolation:
    def state(names: str, closed: str) -> Any:
        return "open" if any(could[name] for name in names.split()) else closed

    # Agents may make queues in a namespace of theirs, and change permissions: Landlock does not know these.
    more = "" if profile == "agent" else " changed queue"
    return Isolation(
        level=level,
        net=state("tcp udp abstract", "blocked"),
        fs=state("read store written" + more, "hidden"),
        pids=state("cmdline environ signalled limited slowed", "hidden"),
        mem=state("memory", "limited"),
    )


@dataclass(frozen=True)
class _Bait:
    arguments: list[str]
    secret: Path
    target: subprocess.Popen[bytes]
    before: tuple[object, ...]

    def harm(self) -> dict[str, bool]:
        """What was done to the file and the process."""
        status, limits = _state(self.secret, self.target.pid)
        return {
            "written": self.secret.with_name("secret.written").exists(),
            "changed": status != self.before[0],
            "limited": limits != self.before[1],
            "signalled": self._hit(),
        }

    def _hit(self) -> bool:
        """Whether the process outside got the canary's signal, which ends it."""
        try:
            return self.target.wait(0.02) == -signal.SIGUSR1
        except subprocess.TimeoutExpired:
            # On a busy machine a signal may wait longer than that for its process to run.
            return _pending(self.target.pid) or self.target.poll() == -signal.SIGUSR1


def _pending(pid: int) -> bool:
    """Whether a signal waits for a process, one of its own or one that ends it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    return any(int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:")))


def _state(secret: Path, pid: int) -> tuple[object, object]:
    """Mode and time of the file, limit of the process; None of one that has ended."""
    status = secret.stat()
    try:
        limits: object = resource.prlimit(pid, resource.RLIMIT_CORE)
    except ProcessLookupError:
        limits = None
    return (status.st_mode, status.st_mtime_ns), limits


@contextmanager
def _bait(folder: Path, home: Path | None) -> Iterator[_Bait]:
    """Files, a listener and a process, and what to tell the canary about them."""
    token = secrets.token_hex(12)
    secret = folder / "secret"
    secret.write_text(token)
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as abstract, _kept(home, token) as kept:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        abstract.bind(f"\0bench-{token}")
        abstract.listen()
        # Its own end bounds it, should this process be killed: `cat` reads a pipe that only we hold.
        target = subprocess.Popen(["cat", "-", f"/nowhere/{token}"], env={"MARK": token}, stdin=subprocess.PIPE)
        try:
            port, size = listener.getsockname()[1], 8 << 30
            told = [token, str(secret), str(kept or ""), str(port), f"bench-{token}", str(target.pid), str(size)]
            yield _Bait(told, secret, target, _state(secret, target.pid))
        finally:
            target.kill()
            target.wait()
            if target.stdin:
                target.stdin.close()


@contextmanager
def _kept(home: Path | None, token: str) -> Iterator[Path | None]:
    """A file beside the keys; None where the store's folder is not there or can't be written.

    It is called as the store's own temporary files, which are cleared when who made them was killed.
    """
    path = home and home / f".bench-{os.getpid()}-{token[:8]}.tmp"
    try:
        yield path if path and _written(path, token) else None
    finally:
        if path:
            with suppress(OSError):  # on a full disk it is there, and empty
                path.unlink()


def _written(path: Path, text: str) -> bool:
    try:
        path.write_text(text)
    except OSError:
        return False
    return True
