"""What the backends of programs share: finding the native one, and its environment, files and login."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from backtrader_bench.agents import locate
from backtrader_bench.agents.backend import Ask
from backtrader_bench.agents.environment import base
from backtrader_bench.errors import UsageError

_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def target() -> tuple[str, str]:
    """This machine as npm's platform packages name it: ``("linux", "x64")``."""
    machine = platform.machine().lower()
    return sys.platform, _MACHINES.get(machine, machine)


def musl() -> bool:
    """Whether this machine's C library is musl, for which npm has packages of their own."""
    return sys.platform == "linux" and platform.libc_ver()[0] != "glibc"


def find_program(
    environ: Mapping[str, str],
    override: str,
    names: Iterable[str],
    natives: Iterable[str] = (),
    *,
    resolve: bool = True,
) -> Path | None:
    """The program of one agent.

    The variable ``override`` names it outright (UsageError where it names nothing that runs); otherwise the first of
    ``names`` on the PATH. ``natives`` are places of the native program in a ``node_modules`` folder: what was found is
    replaced by one of them when it lies in such a folder. ``resolve`` follows links (an interpreter of a virtual
    environment must be started by its link).
    """
    given = environ.get(override)
    if given:
        chosen = shutil.which(given, path=environ.get("PATH", os.defpath))
        if chosen is None:
            raise UsageError(f"{override}={given}: no such program; correct the path or unset the variable")
        return _native(Path(chosen), natives) if resolve else Path(chosen).absolute()
    for name in names:
        chosen = shutil.which(name, path=environ.get("PATH", os.defpath))
        if chosen is not None:
            return _native(Path(chosen), natives)
    return None


def _native(found: Path, natives: Iterable[str]) -> Path:
    real = found.resolve()
    places = [folder for folder in real.parents if folder.name == "node_modules"]
    # npm may nest the platform's package below the package that wants it.
    places += [folder / "node_modules" for folder in real.parents if (folder / "node_modules").is_dir()]
    for place in places:
        for native in natives:
            for candidate in sorted(place.glob(native)):
                if candidate.is_file() and os.access(candidate, os.X_OK):
                    return candidate
    return real


def installation(program: Path) -> tuple[Path, ...]:
    """What a program needs to read of its own: its npm package whole, as it may come with helpers; else as usual."""
    for folder in program.parents:
        scope = folder.parent if folder.parent.name.startswith("@") else folder
        if scope.parent.name == "node_modules":
            return (folder,)
    return locate.installation(program)


def login_state(environ: Mapping[str, str], keys: Iterable[str], files: Iterable[Path]) -> str:
    """What can be said of a login without a request; no file is opened."""
    for key in keys:
        if environ.get(key):
            return f"key in {key}"
    for file in files:
        if file.is_file():
            return f"login file {file} (used with the agent's own configuration)"
    return "none found"


def own(ask: Ask, *paths: Path) -> tuple[Path, ...]:
    """Of the user's own files those that are there, where the user's own configuration is wanted."""
    return tuple(path for path in paths if path.exists()) if ask.own_config else ()


def home(environ: Mapping[str, str]) -> Path:
    """The user's home folder."""
    return Path(environ.get("HOME") or Path.home())


def environment(ask: Ask, allowed: Iterable[str], **more: str) -> dict[str, str]:
    """What the process may have; the user's own home folder where their own configuration is wanted."""
    env = base(ask, allowed, **more)
    return env | {"HOME": str(home(ask.environ))} if ask.own_config else env


def whole_prompt(ask: Ask) -> str:
    """The system's part before the user's, for programs that take no system prompt."""
    return f"{ask.system}\n\n{ask.prompt}" if ask.system else ask.prompt


def folder(path: Path) -> Path:
    """``path``, made for this user alone where it is missing."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def write(path: Path, content: str) -> Path:
    """``path`` with ``content``, readable by this user alone."""
    folder(path.parent)
    path.touch(mode=0o600)
    path.write_text(content, encoding="utf-8")
    return path
