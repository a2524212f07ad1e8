"""The room that an agent's program runs in: what hides the keys, the store and the user's files from it."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.process import MARK, Start
from backtrader_bench.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrader_bench.agents.backend import Ask, Command
    from backtrader_bench.sandbox.room import Room

ENFORCED: dict[str, Any] = {
    "workspace": "enforced", "by": "bubblewrap", "level": "L3", "fs": "hidden", "pids": "hidden", "net": "open",
}  # fmt: skip
"""The program sees its workspace, its private folder, the system and its own installation; no process of others."""
ABSENT: dict[str, Any] = {
    "workspace": "absent", "by": "nothing", "level": "none", "fs": "open", "pids": "open", "net": "open",
}  # fmt: skip
"""Nothing hides anything: the key is in no place that the agent was told of, and that is all."""
_TRIAL = 20.0


@dataclass(frozen=True)
class Entered:
    """A command made ready to start."""

    start: Start
    facts: Mapping[str, Any]
    """For the record: what holds, ``hidden`` or ``open``."""
    close: Callable[[], None] = lambda: None
    """To be called once it was started, or could not be."""


def enter(command: Command, ask: Ask, mark: str) -> Entered:
    """``command`` in a room where only its workspace and private folder are, if this machine can; else as it is."""
    from backtrader_bench.sandbox.launch import launch

    env = {**command.env, MARK: mark}
    if facts() is ABSENT:
        return Entered(Start(argv=command.argv, env=env, cwd=ask.workspace, stdin=command.stdin), ABSENT)
    room = _room(ask.workspace, command.readable, (ask.private, *command.writable))
    ready = launch(command.argv, room, "L3", env)
    start = Start(
        argv=ready.argv, env={MARK: mark, **ready.env}, cwd=ask.workspace, stdin=command.stdin,
        pass_fds=ready.pass_fds, preexec=ready.preexec, room=True,
    )  # fmt: skip
    return Entered(start, ENFORCED, ready.close)


def _room(work: Path, readable: tuple[Path, ...] = (), writable: tuple[Path, ...] = ()) -> Room:
    from backtrader_bench.sandbox.room import Room

    return Room(work=work, readable=readable, writable=writable, network=True, nested=True)


@functools.cache
def facts() -> Mapping[str, Any]:
    """What holds for agents on this machine: tried once, with a file outside that must not be seen."""
    return ENFORCED if _holds() else ABSENT


def _holds() -> bool:
    from backtrader_bench.sandbox.launch import launch

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work, outside = Path(folder, "work"), Path(folder, "outside")
        work.mkdir()
        outside.write_text("x")
        script = f"test -d {work} && ! test -e {outside} && ! test -e /proc/$1 && echo holds"
        try:
            ready = launch(("sh", "-c", script, "sh", "99999999"), _room(work), "L3", {"PATH": "/usr/bin:/bin"})
        except SandboxError:
            return False
        with closing(ready):
            try:
                done = subprocess.run(
                    ready.argv, pass_fds=ready.pass_fds, stdin=subprocess.DEVNULL, capture_output=True,
                    timeout=_TRIAL, check=False,
                )  # fmt: skip
            except (OSError, subprocess.TimeoutExpired):
                return False
    return done.stdout == b"holds\n"
