"""What there is on this machine of an agent, told without asking a vendor anything."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from backtrader_bench import __version__
from backtrader_bench.agents import environment, isolation, process, registry
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.agents.backend import Backend

PATIENCE = 20.0
"""Seconds for a program to say its version."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One agent here and now."""

    name: str
    title: str
    found: bool
    problem: str | None = None
    """Why not, where that is not simply that it isn't installed."""
    program: str | None = None
    version: str | None = None
    login: str | None = None
    """What can be told without a request."""
    modes: tuple[str, ...] = ()
    no_tools_by: str = ""
    reports: tuple[str, ...] = ()
    isolation: str = ""
    """What keeps its workspace apart."""
    install: str = ""


def look_at_all(environ: Mapping[str, str]) -> list[Found]:
    """Every agent, in the order of the registry."""
    backends = [registry.get(name) for name in registry.BACKENDS]
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda backend: look_at(backend, environ), backends))


def look_at(backend: Backend, environ: Mapping[str, str]) -> Found:
    """One agent."""
    problem = None
    try:
        program = backend.find(environ) if backend.find is not None else None
    except UsageError as error:
        program, problem = None, str(error)
    return Found(
        name=backend.name, title=backend.title, found=program is not None or backend.find is None, problem=problem,
        program=str(program) if program and not backend.offline else None,
        version=version(backend, program, environ), login=backend.login(environ) if backend.login else None,
        modes=backend.modes, no_tools_by=backend.no_tools_by, reports=tuple(sorted(backend.reports)),
        isolation=isolation_of(backend), install=backend.install,
    )  # fmt: skip


def isolation_of(backend: Backend) -> str:
    """What keeps the agent's workspace apart from everything else, in words."""
    if backend.answer is not None:
        return "none needed: a part of this program, run in its own process"
    held = isolation.held()
    if held.fs == "open":
        return "nothing: the key is not in its folder or environment, but files of this user can be read"
    by = {"L3": "bubblewrap", "L2": "Landlock"}[held.level]
    return f"{by}: other files {held.fs}, other processes {held.pids}, network {held.net}"


def version(backend: Backend, program: Path | None, environ: Mapping[str, str]) -> str | None:
    """The first line that the program says of its version; this package's for offline agents, None where unknown."""
    if backend.offline:
        return __version__
    if program is None:
        return None
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        patterns = (*environment.ALWAYS, *environment.NETWORK)
        env = {"PATH": environment.DEFAULT_PATH, **environment.select(environ, patterns), "HOME": name, "TMPDIR": name}
        start = process.Start(argv=(str(program), *backend.version_argv), env=env, cwd=folder)
        ended = process.run(start, folder, PATIENCE, f"version-{secrets.token_hex(8)}")
    lines = (ended.raw.stdout or ended.raw.stderr).decode(errors="replace").strip().splitlines()
    return lines[0].strip()[:80] if lines and ended.raw.code == 0 else None
