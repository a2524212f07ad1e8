"""Names of runs: the time, a name of the user's, and a number where that is taken."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from backtrader_bench import store
from backtrader_bench.agents.runs.manifest import manifest_path
from backtrader_bench.errors import StoreError, UsageError

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

LONGEST_NAME = 60
MOST = 1000


def run_name(when: datetime, name: str | None) -> str:
    """``run_YYYYMMDD_HHMMSS`` and, behind a ``_``, ``name`` with what a path can't hold replaced by ``-``."""
    stem = f"run_{when:%Y%m%d_%H%M%S}"
    if name is None:
        return stem
    kept = safe(name)
    if not kept:
        raise UsageError(f"--run-name {name[:40]!r} holds no letter or digit that a file name could keep")
    return f"{stem}_{kept}"


def safe(name: str) -> str:
    """A name of the user's with what a path can't hold replaced by ``-``; empty where nothing is left."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:LONGEST_NAME]


def called(run: str) -> str:
    """What a run was called by its user, as its name has it; empty where it was not."""
    return run[len("run_YYYYMMDD_HHMMSS_") :]


def logs_path(run: str) -> Path:
    """Where the transcripts of ``run`` are kept."""
    return store.home() / "logs" / run


def claim(stem: str) -> str:
    """Make the folder of a new run, called ``stem``, or ``stem_2`` and so on where that is taken; the run's name.

    Making the folder is what takes the name: of two processes only one can. StoreError: it can't be made.
    """
    for number in range(1, MOST):
        run = stem if number == 1 else f"{stem}_{number}"
        if _made(logs_path(run)):
            return run
    raise StoreError(f"{stem} and {MOST} names after it are taken in {store.home() / 'logs'}")


def let_go(run: str) -> None:
    """Give back a name that nothing was written under: without a manifest or a session it would only be in the way."""
    if not manifest_path(run).exists():
        with suppress(OSError):
            logs_path(run).rmdir()


def _made(path: Path) -> bool:
    """Whether ``path`` was made just now; False when it was there already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir()
    except OSError as error:
        if isinstance(error, FileExistsError) and path.parent.is_dir():
            return False
        raise StoreError(f"cannot create the folder {path}: {error.strerror}; BENCH_HOME names another place") from None
    return True
