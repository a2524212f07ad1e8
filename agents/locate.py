"""Finding programs, and what a sandbox must show for them to run."""

from __future__ import annotations

import os
import shutil
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
    """What ``program`` needs to read outside the system's folders, and nothing that may hold anything else.

    The file itself and whatever its links lead to; the ``lib`` beside a ``bin``; a virtual environment whole; and the
    root of a version manager whose ``shims`` it lies in.
    """
    needed: list[Path] = []
    for path in dict.fromkeys((program, *_links(program))):
        folder, root = path.parent, path.parent.parent
        whole = (root / "pyvenv.cfg").is_file() or folder.name == "shims"
        needed.append(root if whole else path)
        if folder.name == "bin" and (root / "lib").is_dir():
            needed.append(root / "lib")
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
