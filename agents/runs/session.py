"""Beginning a run, or going on with one: what is to be asked, by whom, and the manifest that says so."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import __version__, arguments, bounds
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import names, read
from backtrader_bench.agents.runs.manifest import Manifest, Session, Settings
from backtrader_bench.agents.runs.plan import ALL_SHIFTS, Asked, digest, plan
from backtrader_bench.agents.runs.questions import (
    Asking,
    Questions,
    check_downloadable,
    check_values,
    choose,
    read_questions,
    tape_hashes,
)
from backtrader_bench.attempts import FINAL, attempt_id
from backtrader_bench.errors import UsageError
from backtrader_bench.records import LETTERS, SCHEMA_VERSION
from backtrader_bench.templates.prompts import system_text, user_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backtrader_bench.attempts import Attempt

BINDING = Settings.__struct_fields__
"""Names of the settings that a resumed run must share with its beginning."""


@dataclass(frozen=True)
class Work:
    """What a session has to do."""

    manifest: Manifest
    questions: Mapping[str, Asking]
    """Those to ask, by id."""
    plan: tuple[Asked, ...]
    """Everything, in order."""
    standing: tuple[Attempt, ...] = ()
    """Attempts of earlier sessions that stand."""
    earlier: tuple[Attempt, ...] = ()
    """Every record of earlier sessions: each has cost something."""
    duplicates: int = 0

    @property
    def todo(self) -> tuple[Asked, ...]:
        """What has no final attempt yet, in order."""
        final = {one.id for one in self.standing if one.status in FINAL}
        return tuple(asked for asked in self.plan if self.id_of(asked) not in final)

    @property
    def planned(self) -> dict[str, int]:
        """Attempts by agent."""
        return dict(Counter(asked.agent for asked in self.plan))

    def id_of(self, asked: Asked) -> str:
        """The attempt's id."""
        settings = self.manifest.settings
        return attempt_id(
            self.manifest.run, asked.question, asked.agent, settings.mode, asked.repeat, asked.shift
        )  # fmt: skip


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Settings from those given, defaults for the rest. UsageError: one that can't be, or that means nothing."""
    given = arguments.settings(given, bounds.RUN)
    agents = given.get("agents") or ()
    if not agents:
        raise UsageError("name at least one agent: --agent NAME[:MODEL]; bench agents lists them")
    if twice := [agent for agent, count in Counter(agents).items() if count > 1]:
        raise UsageError(f"--agent {twice[0]} is given twice; --repeats asks an agent again")
    if given.get("data_access") and given.get("mode") != "with-tools":
        raise UsageError("--data-access goes with --mode with-tools: without tools no file can be read")
    found = {name: given[name] for name in BINDING if name in given}
    if found.get("mode") != "with-tools":
        found["data_access"] = "none"
    return Settings(**{**found, "agents": agents})


def begin(files: Sequence[Path], given: Mapping[str, Any], name: str = "") -> Work:
    """The work of a new run that is not in the store yet; its manifest has no session. Nothing is written.

    UsageError, RecordError, StoreError: as :func:`settings_of` and :func:`read_questions`.
    """
    given = arguments.settings(given, bounds.RUN)
    settings = settings_of(given)
    if not files:
        raise UsageError("name at least one question file; bench build makes one")
    questions = read_questions(files)
    chosen = choose(questions.items, settings.limit, settings.seed)
    if settings.ask_value:
        check_values(chosen)
    if settings.data_access == "network":
        check_downloadable(chosen)
    asked = _plan(chosen, settings)
    manifest = Manifest(
        run=name, given=dict(given), settings=settings, files=questions.files,
        questions_sha256=digest([one.id for one in chosen]), questions=len(chosen), planned=len(asked),
        prompts_sha256=prompts_digest(settings), tapes=tape_hashes(chosen), sessions=(),
    )  # fmt: skip
    return Work(manifest, {one.id: one for one in chosen}, asked, duplicates=questions.duplicates)


def resume(run: str, files: Sequence[Path], given: Mapping[str, Any]) -> Work:
    """The work that is left of ``run``. Settings may be left out; those given must be the run's.

    UsageError: no such run, or settings, files or prompts are not what they were; the message says which.
    """
    found = read.read_run(run)
    manifest = found.manifest
    if manifest.imported:
        raise UsageError(f"{manifest.run} was taken in from another tool's log; bench import takes it in again")
    _same_settings(manifest, arguments.settings(given, bounds.RUN))
    questions = questions_of(manifest, files)
    chosen = choose(questions.items, manifest.settings.limit, manifest.settings.seed)
    if digest([one.id for one in chosen]) != manifest.questions_sha256:
        raise UsageError(f"{manifest.run} asked other questions than these files hold; give the files it began with")
    if prompts_digest(manifest.settings) != manifest.prompts_sha256:
        raise UsageError(
            f"{manifest.run} was begun with other prompts (version {manifest.sessions[0].versions['backtrader-bench']},"
            f" this is {__version__}); finish it there or start a new run"
        )
    return Work(
        manifest, {one.id: one for one in chosen}, _plan(chosen, manifest.settings),
        tuple(read.effective(found.attempts).values()), found.attempts, questions.duplicates,
    )  # fmt: skip


def questions_of(manifest: Manifest, files: Sequence[Path] = ()) -> Questions:
    """The questions of a run, from where they were or from ``files``, held to the digests that the manifest has.

    UsageError: a file is gone or another one; StoreError, RecordError as :func:`read_questions`.
    """
    from pathlib import Path

    paths = list(files) or [Path(one.path) for one in manifest.files]
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}, a question file of {manifest.run}, is gone; say where it is now")
    questions = read_questions(paths)
    before = [one.sha256 for one in manifest.files]
    for place, one in enumerate(questions.files):
        if one.sha256 not in before:
            was = f"sha256 {before[place][:12]} then, " if place < len(before) else ""
            raise UsageError(
                f"{one.path} is not what {manifest.run} was begun with ({was}{one.sha256[:12]} now); "
                "put the file back, or start a new run"
            )
    if [one.sha256 for one in questions.files] != before:
        raise UsageError(f"{manifest.run} was begun with {len(before)} files in another order or number; give those")
    return questions


def _same_settings(manifest: Manifest, given: Mapping[str, Any]) -> None:
    for name in BINDING:
        if name not in given:
            continue
        was, now = getattr(manifest.settings, name), given[name]
        if was != now:
            flag = "--agent" if name == "agents" else f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{manifest.run} was begun with {flag} {_shown(was)}, not {_shown(now)}; "
                "leave it out, or start a new run"
            )


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _plan(chosen: Sequence[Asking], settings: Settings) -> tuple[Asked, ...]:
    shifts = ALL_SHIFTS if settings.rotate else (0,)
    return tuple(plan([one.id for one in chosen], settings.agents, settings.repeats, shifts, settings.seed))


def prompts_digest(settings: Settings) -> str:
    """SHA-256 of all that agents are told around a question, ours or published."""
    bare = dict.fromkeys(LETTERS, "")
    listed = "\n".join(f"{letter}. " for letter in LETTERS)
    texts = [system_text(settings.mode, settings.data_access)]
    texts += [
        user_text(record, bare, ask_value=settings.ask_value)
        for record in ({"schema_version": SCHEMA_VERSION, "stem": ""}, {"question": listed})
    ]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def session(command: Sequence[str], **more: Any) -> Session:
    """A session that begins now, here."""
    return Session(
        started=utc_now(), process=os.getpid(), command=arguments.words("command", command),
        versions={"backtrader-bench": __version__, "python": platform.python_version()}, host=host_facts(), **more,
    )  # fmt: skip


def opened(manifest: Manifest, new: Session) -> Manifest:
    """The manifest with one more session."""
    return msgspec.structs.replace(manifest, sessions=(*manifest.sessions, new))


def closed(manifest: Manifest, outcome: str) -> Manifest:
    """The manifest with its last session ended now."""
    last = msgspec.structs.replace(manifest.sessions[-1], ended=utc_now(), outcome=outcome)
    return msgspec.structs.replace(manifest, sessions=(*manifest.sessions[:-1], last))


def named(work: Work, name: str | None) -> Work:
    """The work under a new run's name, which is taken in the store from now on.

    UsageError: the run can't have that name, or holds what its manifest couldn't.
    """
    manifests.encoded(work.manifest)
    run = names.claim(names.run_name(datetime.now(UTC), name))
    return replace(work, manifest=msgspec.structs.replace(work.manifest, run=run))


def utc_now() -> str:
    """ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def host_facts() -> dict[str, Any]:
    """What of this machine bears on time-outs and speed; nothing that says whose it is."""
    facts: dict[str, Any] = {
        "system": platform.system(), "release": platform.release(), "machine": platform.machine(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }  # fmt: skip
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        facts["memory_bytes"] = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return facts
