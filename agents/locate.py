"""Finding programs, and what a sandbox must show for them to run."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM = tuple(Path(name) for name in ("/usr", "/bin", "/sbin", "/lib", "/lib64"))
"""Readable in every sandbox."""


def which(name: str, environ: Mapping[str, str]) -> Path | None:
    """The program of that name on the user's PATH, or the one at that path; absolute, links kept."""
    found = shutil.which(name, path=environ.get("PATH") or os.defpath)
    return Path(found).absolute() if found else None


def installation(program: Path) -> tuple[Path, ...]:
    """The files and folders outside the system's that ``program`` needs to read.

    A link's target counts with its folder. A virtual environment counts whole, with the interpreter that it was made
    from. Of another folder only the program itself: its folder may hold anything.
    """
    needed: list[Path] = []
    for path in dict.fromkeys((program, *_links(program))):
        if not _in_system(path):
            root = path.parent.parent
            needed.append(root if (root / "pyvenv.cfg").is_file() else path)
    if Path(sys.executable) in (program, *_links(program)):
        needed += [Path(sys.prefix), Path(sys.base_prefix)]
    return tuple(dict.fromkeys(path for path in needed if not _in_system(path)))


def _links(path: Path) -> list[Path]:
    """What a chain of links leads to, one by one."""
    found: list[Path] = []
    while path.is_symlink() and len(found) < 40:
        path = Path(os.path.normpath(path.parent / path.readlink()))
        found.append(path)
    return found


def _in_system(path: Path) -> bool:
    return any(path == root or root in path.parents for root in SYSTEM)
