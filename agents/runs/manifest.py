"""What a run was: its settings, files, agents and sessions, in ``db/summary/RUN.manifest.json``.

Attempts are only ever appended. The manifest is the one file of a run that is replaced, whole, when a session begins
or ends.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import store
from backtrader_bench.attempts import Mode
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.records import mended, parse_json

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST_VERSION = 1


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What decides which questions are asked and how: a resumed run must have the same."""

    agents: tuple[str, ...]
    """As given: ``codex:gpt-5.5``."""
    mode: Mode = "no-tools"
    repeats: int = 1
    timeout: float = 600.0
    """Seconds of wall time a try."""
    ask_value: bool = False
    rotate: bool = False
    """Each question with its options in all four cyclic orders."""
    data_access: str = "prices"
    """With tools: ``prices`` (the bars as prices.csv), ``none``, or ``network``. Without: ``none``."""
    seed: int = 42
    limit: int | None = None
    """Most questions asked, drawn by the seed."""
    own_config: bool = False
    """The agents run with the user's own login and configuration."""


class QuestionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that questions came from."""

    path: str
    """Absolute."""
    sha256: str
    """Of the file's bytes."""
    questions: int
    """Read from it, duplicates left out."""


class AgentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent was when a session began."""

    agent: str
    backend: str
    model: str | None
    """As asked for; attempts say what the agent reported."""
    version: str | None
    program: str | None
    """Path of what was started; None for offline agents."""
    no_tools_by: str
    """What keeps tools away in no-tools mode."""
    reports: tuple[str, ...]
    """Which of tokens, cost and model its output states."""
    login: str | None = None
    """What could be told of it without a request."""
    isolation: str = ""
    """What keeps its workspace apart from everything else, in words."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One call of ``bench run``: the first, or one that resumed."""

    started: str
    """UTC, ISO 8601, to the second."""
    process: int
    command: tuple[str, ...]
    versions: dict[str, str]
    agents: tuple[AgentFacts, ...]
    host: dict[str, Any]
    isolation: dict[str, Any]
    """What keeps agents from the store and from each other, as found when the session began."""
    running: dict[str, Any]
    """Settings that may differ between sessions: jobs, retries, caps, fsync."""
    mark: str = ""
    """What its agents' processes carry in their environment: a killed session's are found by it."""
    workspaces: str = ""
    """The temporary folder that its agents work in."""
    ended: str | None = None
    """None while it runs, and for good when it was killed."""
    outcome: str | None = None
    """``done``, ``incomplete`` (some keys have no answer), ``budget``, ``interrupted``, ``failed``."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    schema_version: int = MANIFEST_VERSION
    run: str
    given: dict[str, Any]
    """Options as given on the command line."""
    settings: Settings
    """All of them, defaults filled in."""
    files: tuple[QuestionFile, ...]
    questions_sha256: str
    """Of the ids of all questions to ask, in the order of the plan."""
    questions: int
    planned: int
    """Attempts: questions x agents x repeats x orders of the options."""
    prompts_sha256: str
    """Of all that agents are told around a question."""
    tapes: dict[str, int]
    """SHA-256 of bars -> how many of the questions rest on them; published records name none."""
    sessions: tuple[Session, ...]

    @property
    def started(self) -> str:
        """When the first session began."""
        return self.sessions[0].started

    @property
    def ended(self) -> str | None:
        """When the last session ended; None when it is running or was killed."""
        return self.sessions[-1].ended

    @property
    def imported(self) -> bool:
        """Whether another tool asked the questions."""
        return "imported" in self.given

    @property
    def continued_by(self) -> str:
        """How what is missing can be had, for a message."""
        if self.imported:
            return "it was cut off while a log was taken in; bench import takes it in again"
        return f"bench run --resume {self.run} goes on"


def manifest_path(run: str) -> Path:
    """Where the manifest of ``run`` is kept; the folder is made."""
    return store.folder("summary") / f"{run}.manifest.json"


def write(manifest: Manifest) -> None:
    """Put the manifest in its place, whole. StoreError: disk. UsageError: as :func:`encoded`."""
    store.replace_file(manifest_path(manifest.run), encoded(manifest))


def encoded(manifest: Manifest) -> bytes:
    """The manifest's file, found to read back. UsageError: it holds what no reader would take."""
    for one in manifest.files:
        if mended(one.path) != one.path:
            raise UsageError(f"{ascii(one.path)[1:-1]}: the name is no text (half a character); give the file another")
    try:
        text = json.dumps(msgspec.to_builtins(manifest), ensure_ascii=False, indent=2, allow_nan=False)
        data = text.encode() + b"\n"
        decoded(data, "manifest")
    except UnicodeEncodeError as error:
        around = ascii(error.object[max(0, error.start - 20) : error.end + 20])
        raise UsageError(f"the run's manifest can't hold half a character: {around}") from None
    except (ValueError, TypeError, RecursionError, RecordError) as error:
        raise UsageError(f"the run can't be noted in a manifest: {error}") from None
    return data


def read(path: Path) -> Manifest:
    """The manifest in ``path``. StoreError: it can't be read. RecordError: it is none of this version."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    return decoded(data, str(path))


def decoded(data: bytes, path: str) -> Manifest:
    """The manifest that ``data`` holds. RecordError: none of this version; it names ``path``."""
    fields = parse_json(data, path)
    version = fields.get("schema_version") if isinstance(fields, dict) else None
    if version != MANIFEST_VERSION or isinstance(version, bool):
        raise RecordError(f"{path}: schema_version {version!r} is unknown; this version reads {MANIFEST_VERSION}")
    try:
        return msgspec.convert(fields, Manifest)
    except msgspec.ValidationError as error:
        raise RecordError(f"{path}: {error}") from None
