"""What a sandboxed process may see and use, and what a machine was found to enforce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

Level = Literal["L3", "L2", "L1"]
"""L3: bubblewrap with seccomp and limits. L2: Landlock, seccomp and limits. L1: limits and a clean environment only."""


class Isolation(msgspec.Struct, frozen=True, kw_only=True):
    """What held in the self-test; goes into records. ``open`` where nothing stops it."""

    level: Level
    net: Literal["blocked", "open"]
    fs: Literal["hidden", "open"]
    """Files outside the room."""
    pids: Literal["hidden", "open"]
    """Processes outside: to see, signal or read."""
    mem: Literal["limited", "open"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds on one process tree."""

    cpu_seconds: int = 120
    memory_bytes: int = 2 << 30
    processes: int = 64
    file_bytes: int = 16 << 20
    """Largest file, output included: output goes to a file."""
    open_files: int = 256


@dataclass(frozen=True, kw_only=True)
class Room:
    """A process's world."""

    work: Path
    """Its working directory, writable."""
    readable: tuple[Path, ...] = ()
    """Bound read-only, besides the system's own folders and the interpreter."""
    writable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    """Folders that are empty (L2: whose files can't be read) although they lie in what is bound, but for what
    ``readable`` names within them."""
    network: bool = False
    nested: bool = False
    """Whether programs inside may make a sandbox of their own (agents bring one)."""
    limits: Limits | None = None


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How to start a command in a room: what to give to ``subprocess.Popen``."""

    argv: tuple[str, ...]
    pass_fds: tuple[int, ...] = ()
    preexec: Callable[[], None] | None = None
    """Of levels without a program of their own in front."""
    close: Callable[[], None] = lambda: None
    """To be called once the process was started: closes what ``pass_fds`` handed over."""
    env: Mapping[str, str] = field(default_factory=dict)
    """To be added to the environment."""
