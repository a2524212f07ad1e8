"""Reading a run back: its manifest, its attempts, and which attempt stands for each thing asked."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrader_bench import store
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import names
from backtrader_bench.attempts import FINAL, Attempt, to_attempt
from backtrader_bench.errors import UsageError
from backtrader_bench.records import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backtrader_bench.agents.runs.manifest import Manifest

RUN_NAME = re.compile(r"run_\d{8}_\d{6}(?:_[A-Za-z0-9.-]+)*")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Run:
    """A run as the store has it."""

    manifest: Manifest
    attempts: tuple[Attempt, ...]
    """Every record, in the order of writing; :func:`effective` has those that stand."""


def read_run(run: str) -> Run:
    """The run named ``run``: its name, what ``--run-name`` called it where no other has that, the path of its attempts
    or manifest, or ``last`` for the newest one.

    UsageError: there is no such run. StoreError, RecordError: a file of it can't be read; the message says which line.
    """
    name = run_named(run)
    path = attempts_path(name)
    return Run(manifests.read(manifests.manifest_path(name)), tuple(read_attempts(path)) if path.exists() else ())


def run_named(run: str) -> str:
    """The name of an existing run; see :func:`read_run` for what ``run`` may be."""
    known = runs()
    if run == "last" and known:
        return known[-1]
    name = run.rpartition("/")[2].removesuffix(".jsonl").removesuffix(".manifest.json")
    word = "" if "/" in run else names.safe(run)
    if word and name not in known and (called := [one for one in known if names.called(one) == word]):
        if len(called) > 1:
            raise UsageError(f"{len(called)} runs are called {run!r}, the last is {called[-1]}; name one of them whole")
        return called[0]
    if name not in known and name.startswith("mining_"):
        raise UsageError(
            f"{name} is a mining session; bench review {name} shows its questions, bench run asks them, and what that "
            "makes can be reported on"
        )
    if name not in known:
        newest = f"; the newest is {known[-1]}" if known else ""
        raise UsageError(f"there is no run {run!r} in {store.home() / 'db' / 'summary'}{newest}")
    return name


def runs() -> list[str]:
    """The names of all runs of the store, oldest first."""
    folder = store.home() / "db" / "summary"
    names = (path.name.removesuffix(".manifest.json") for path in folder.glob("run_*.manifest.json"))
    return sorted(name for name in names if RUN_NAME.fullmatch(name))


def attempts_path(run: str) -> Path:
    """Where the attempts of ``run`` are kept; the folder is made."""
    return store.folder("attempts") / f"{run}.jsonl"


def read_attempts(path: Path) -> list[Attempt]:
    """Every whole record of a file, in order. A torn last line is passed over: the next append sets it aside."""
    lines = list(store.read_lines(path))
    if lines and not _ends_whole(path):
        number, _ = lines.pop()
        log.warning("warning: %s, line %d is cut off and was passed over", path, number)
    found = []
    for number, line in lines:
        where = f"{path}, line {number}"
        found.append(to_attempt(parse_json(line, where), where))
    return found


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def files_of(manifest: Manifest) -> list[Path]:
    """All that reports and exports of a run may read: its own files, the questions it was asked, all of ``db/mcq``."""
    from pathlib import Path

    named = [Path(one.path) for one in manifest.files]
    banks = sorted((store.home() / "db" / "mcq").glob("*.jsonl"))
    return [manifests.manifest_path(manifest.run), attempts_path(manifest.run), *named, *banks]


def effective(attempts: Iterable[Attempt]) -> dict[str, Attempt]:
    """By attempt id, the record that stands for what was asked, in the order in which each was first asked.

    An outcome of ``FINAL`` stands until a record says that it replaces it; an error gives way to whatever came later.
    """
    standing: dict[str, Attempt] = {}
    for one in attempts:
        before = standing.get(one.id)
        if before is None or before.status not in FINAL or one.replaces == one.id:
            standing[one.id] = one
    return standing
