"""What a session leaves on disk as it goes, and how it is found again.

    logs/RUN/session.json             settings, and the sessions that worked on it
    logs/RUN/attempt_001/             everything of one attempt; ``state.json`` holds its finished stages
    db/attempts/RUN.jsonl             solvers' attempts
    db/summary/RUN.jsonl              a line a finished attempt, then one for the session
    db/mcq/RUN.jsonl                  questions kept
    db/mcq/discarded/RUN.jsonl        questions that solvers saw and that were not kept

An attempt is finished when its summary line is written, which is the last thing that is. Until then it can be begun
again from its last finished stage; what solvers said is found in ``db/attempts``.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import store
from backtrader_bench.agents.runs import names
from backtrader_bench.agents.runs.read import read_attempts
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.miner import ledger
from backtrader_bench.miner.records import AttemptLine, SessionLine, read_line, to_line
from backtrader_bench.miner.settings import Settings
from backtrader_bench.records import MINED, parse_json, to_question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from backtrader_bench.attempts import Attempt
    from backtrader_bench.miner.records import Line, Spending
    from backtrader_bench.records import Question

SESSION_VERSION = 1
PREFIX = "mining_"
log = logging.getLogger(__name__)


class Sitting(msgspec.Struct, frozen=True, kw_only=True):
    """One process that worked on a session."""

    started: str
    """UTC, ISO 8601, to the second."""
    process: int
    mark: str
    """By which what a killed process left behind is found."""
    command: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    isolation: dict[str, Any] = {}
    """What the sandbox of verifiers was found to enforce."""
    workspaces: str = ""
    """Temporary folder of agents' workspaces."""
    seconds: float | None = None
    """None while it runs, and for good when it was killed."""


class SessionFile(msgspec.Struct, frozen=True, kw_only=True):
    """``session.json``: the one file of a session that is replaced, whole, when a process begins or ends."""

    schema_version: int = SESSION_VERSION
    run: str
    settings: Settings
    sittings: tuple[Sitting, ...] = ()


@dataclass
class Journal:
    """The files of one session."""

    run: str
    fsync: bool = True
    lines: list[Line] = field(default_factory=list)
    """The summary so far."""
    attempts: list[Attempt] = field(default_factory=list)
    """What solvers said so far."""

    @property
    def logs(self) -> Path:
        """``logs/RUN``."""
        return names.logs_path(self.run)

    @property
    def summary(self) -> Path:
        """``db/summary/RUN.jsonl``."""
        return store.folder("summary") / f"{self.run}.jsonl"

    @property
    def solved(self) -> Path:
        """``db/attempts/RUN.jsonl``."""
        return store.folder("attempts") / f"{self.run}.jsonl"

    @property
    def kept(self) -> Path:
        """``db/mcq/RUN.jsonl``."""
        return store.folder("mcq") / f"{self.run}.jsonl"

    @property
    def discarded(self) -> Path:
        """``db/mcq/discarded/RUN.jsonl``."""
        return discarded_folder() / f"{self.run}.jsonl"

    @property
    def finished(self) -> dict[int, AttemptLine]:
        """Finished attempts by number."""
        return {line.attempt: line for line in self.lines if isinstance(line, AttemptLine)}

    @property
    def last_session_line(self) -> SessionLine | None:
        """How the session ended, as far as it did: None where attempts came after."""
        last = self.lines[-1] if self.lines else None
        return last if isinstance(last, SessionLine) else None

    def append_summary(self, line: Line) -> None:
        """Add a line to the summary."""
        store.append_line(self.summary, to_line(line), self.fsync)
        self.lines.append(line)

    def folder(self, attempt: int) -> Path:
        """``logs/RUN/attempt_001``, made."""
        path = self.logs / f"attempt_{attempt:03d}"
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot create the folder {path}: {error.strerror}") from None
        return path

    def state(self, attempt: int) -> dict[str, Any]:
        """The finished stages of an attempt: name -> what they found. Empty where it was not begun or can't be read."""
        path = self.folder(attempt) / "state.json"
        if not path.exists():
            return {}
        try:
            # Not as records are read: what programs printed is in it, half characters and all, and is judged as it was.
            found = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            log.warning("warning: %s: %s; the attempt starts again", path, error)
            return {}
        return found if isinstance(found, dict) else {}

    def used(self, attempts: int) -> Spending:
        """What all calls so far used: solvers' attempts, and what the states of the first ``attempts`` hold."""
        total = ledger.summed(ledger.of_attempt("no_tools", one) for one in self.attempts)
        for number in range(1, attempts + 1):
            if not (self.logs / f"attempt_{number:03d}").is_dir():
                continue
            state = self.state(number)
            calls = [call for stage in ("generate", "second") for call in state.get(stage, {}).get("calls", [])]
            total = ledger.added(total, ledger.summed(ledger.call_of(fields) for fields in calls))
        return total

    def write_state(self, attempt: int, state: dict[str, Any]) -> None:
        """Keep the finished stages, all or nothing."""
        store.replace_file(self.folder(attempt) / "state.json", json.dumps(state).encode())


def discarded_folder() -> Path:
    """``db/mcq/discarded``, made."""
    path = store.folder("mcq") / "discarded"
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot create the folder {path}: {error.strerror}") from None
    return path


def new_run(when: datetime, attempts: int, name: str) -> str:
    """Take the name of a new session: ``mining_YYYYMMDD_HHMMSS_rounds_N[_name]``, ``_2`` and on where it is taken."""
    return names.claim(f"{PREFIX}{when:%Y%m%d_%H%M%S}_rounds_{attempts}{name}")


def write_session(session: SessionFile) -> None:
    """Put ``session.json`` in its place. RecordError: it holds what couldn't be read again."""
    path = names.logs_path(session.run) / "session.json"
    text = json.dumps(msgspec.to_builtins(session), ensure_ascii=False, indent=2, allow_nan=False)
    # A command line may name files in bytes that are no text.
    data = text.encode(errors="replace") + b"\n"
    _session(data, path)
    store.replace_file(path, data)


def read_session(run: str) -> SessionFile:
    """A session's file; UsageError: there is none. RecordError: it is none of this version."""
    name = run_named(run)
    path = names.logs_path(name) / "session.json"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; the session never got so far") from None
    return _session(data, path)


def _session(data: bytes, path: Path) -> SessionFile:
    fields = parse_json(data, str(path))
    version = fields.get("schema_version") if isinstance(fields, dict) else None
    if version != SESSION_VERSION or isinstance(version, bool):
        raise RecordError(f"{path}: schema_version {version!r} is unknown; this version reads {SESSION_VERSION}")
    try:
        return msgspec.convert(fields, SessionFile)
    except msgspec.ValidationError as error:
        raise RecordError(f"{path}: {error}") from None


def sessions() -> list[str]:
    """The names of all mining sessions of the store, oldest first."""
    return sorted(path.parent.name for path in (store.home() / "logs").glob(f"{PREFIX}*/session.json"))


def run_named(run: str) -> str:
    """The name of an existing session: its name, a path of it, or ``last``. UsageError: there is none."""
    known = sessions()
    if run == "last" and known:
        return known[-1]
    name = run.rstrip("/").rpartition("/")[2].removesuffix(".jsonl")
    if name not in known:
        newest = f"; the newest is {known[-1]}" if known else ""
        raise UsageError(f"there is no mining session {run!r} in {store.home() / 'logs'}{newest}")
    return name


def open_journal(run: str, *, fsync: bool = True) -> Journal:
    """The files of a session as they stand; lines cut off by a crash are passed over (the next append sets them aside).

    RecordError: a whole line can't be read.
    """
    journal = Journal(run, fsync)
    journal.lines = [read_line(line, where) for line, where in whole_lines(journal.summary)]
    journal.attempts = read_attempts(journal.solved) if journal.solved.exists() else []
    return journal


def whole_lines(path: Path) -> Iterator[tuple[bytes, str]]:
    """The lines of a file that end in a newline, with where they stand; none where there is no file."""
    if not path.exists() or path.stat().st_size == 0:
        return
    lines = list(store.read_lines(path))
    with path.open("rb") as file:
        file.seek(-1, 2)
        cut = file.read(1) != b"\n"
    for number, line in lines[:-1] if cut else lines:
        yield line, f"{path}, line {number}"


def mined(run: str | None = None) -> Iterator[tuple[Question, Path]]:
    """The mined questions of the store, kept and discarded, or those of one session; lines of other kinds passed over.

    RecordError: a line of a mined question can't be read.
    """
    marker = f'"scheme": "{MINED}"'.encode()
    for folder in (store.folder("mcq"), discarded_folder()):
        for path in sorted(folder.glob("*.jsonl")):
            if run is not None and path.stem != run:
                continue
            for line, where in whole_lines(path):
                if marker in line:
                    yield to_question(parse_json(line, where), where), path
