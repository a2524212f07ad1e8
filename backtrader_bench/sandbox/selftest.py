"""What this machine enforces, found by trying: a canary at each level, once a process.

The canary is told of a listener on loopback, a file outside its room, a process with a mark in its command line and
environment, and 8 GiB of memory. What it reaches is open, whatever the level promises.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from backtrader_bench.errors import SandboxError
from backtrader_bench.sandbox.launch import find_bwrap, launch, start
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
    return _holds(level, profile, find_bwrap(), os.geteuid())


def said(isolation: Isolation) -> str:
    """One line for the start of a command: ``sandbox L3: network blocked, files hidden, ...``."""
    return (
        f"sandbox {isolation.level}: network {isolation.net}, other files {isolation.fs}, "
        f"other processes {isolation.pids}, memory {isolation.mem}"
    )


@functools.cache
def _holds(level: Level, profile: Profile, bwrap: str | None, user: int) -> Isolation | str:
    if profile == "agent" and level == "L1":  # promises nothing, on any machine
        return Isolation(level="L1", net="open", fs="open", pids="open", mem="open")
    try:
        found = _try(level, profile)
    except (SandboxError, OSError) as error:
        return f"{level}: {error}"
    escapes = ", ".join(
        f"{name} {getattr(found, name)}"
        for name, state in _HELD[profile, level].items()
        if getattr(found, name) != state
    )
    return f"{level} does not hold: {escapes}" if escapes else found


def _try(level: Level, profile: Profile) -> Isolation:
    agent = profile == "agent"
    with tempfile.TemporaryDirectory(prefix="bench-canary-") as folder, _bait(Path(folder)) as bait:
        work = Path(folder) / "work"
        work.mkdir()
        room = Room(work=work, network=agent, nested=agent, limits=None if agent else Limits(cpu_seconds=20))
        # Through a file: the canary looks for the mark in command lines, and a room's own would show it.
        (work / "bait").write_text("\n".join(bait.arguments))
        command = [sys.executable, "-I", "-S", "-c", CANARY.read_text()]
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
        outside = {"signalled": bait.hit(), "written": (Path(folder) / "secret.written").exists()}
    if process.returncode:
        lines = err.decode(errors="replace").strip().splitlines()
        raise SandboxError(lines[-1] if lines else f"the self-test ended with {process.returncode}")
    return _isolation(level, {**json.loads(out), **outside})


def _isolation(level: Level, could: dict[str, bool]) -> Isolation:
    return Isolation(
        level=level,
        net="open" if could["tcp"] or could["udp"] or could["abstract"] else "blocked",
        fs="open" if could["read"] or could["written"] else "hidden",
        pids="open" if could["cmdline"] or could["environ"] or could["signalled"] else "hidden",
        mem="open" if could["memory"] else "limited",
    )


@dataclass(frozen=True)
class _Bait:
    arguments: list[str]
    target: subprocess.Popen[bytes]

    def hit(self) -> bool:
        """Whether the process outside got the canary's signal, which ends it."""
        try:
            return self.target.wait(0.02) == -signal.SIGUSR1
        except subprocess.TimeoutExpired:
            return False


@contextmanager
def _bait(folder: Path) -> Iterator[_Bait]:
    """A file, a listener and a process, and what to tell the canary about them."""
    token = secrets.token_hex(12)
    secret = folder / "secret"
    secret.write_text(token)
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as abstract:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        abstract.bind(f"\0bench-{token}")
        abstract.listen()
        # Its own end bounds it, should this process be killed: `cat` reads a pipe that only we hold.
        target = subprocess.Popen(["cat", "-", f"/nowhere/{token}"], env={"MARK": token}, stdin=subprocess.PIPE)
        try:
            port = listener.getsockname()[1]
            size = 8 << 30
            yield _Bait([token, str(secret), str(port), f"bench-{token}", str(target.pid), str(size)], target)
        finally:
            target.kill()
            target.wait()
            if target.stdin:
                target.stdin.close()
