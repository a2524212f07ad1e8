"""Running agents on questions."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.runs import perform, read
from backtrader_bench.agents.runs import session as sessions
from backtrader_bench.agents.runs.perform import Running
from backtrader_bench.agents.runs.tally import AgentTally, tally
from backtrader_bench.arguments import checked, function, instance, optional, paths, text, texts, words
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from backtrader_bench.agents.runs.conduct import Ending, Tried
    from backtrader_bench.agents.runs.manifest import Manifest
    from backtrader_bench.agents.runs.session import Work
    from backtrader_bench.attempts import Attempt


@dataclass(frozen=True)
class Ran:
    """A run as the store has it, and how this session of it ended."""

    run: str
    """Its name, for ``report``, ``compare`` and ``resume``."""
    manifest: Manifest
    attempts: tuple[Attempt, ...]
    """Those that stand, in the order in which each was first asked."""
    ending: Ending
    """``outcome`` is ``done``, ``incomplete``, ``budget`` or ``interrupted``."""
    tallies: dict[str, AgentTally]
    """Counts by agent."""

    @property
    def path(self) -> Path:
        """The file of attempts."""
        return read.attempts_path(self.run)

    @property
    def done(self) -> bool:
        """Whether everything has a final outcome; ``run(resume=...)`` asks what has not."""
        return self.ending.outcome == "done"


@checked(
    files=paths, agents=texts, resume=optional(text), name=optional(text),
    running=optional(instance("Running", lambda: Running)), command=words, watch=function,
)  # fmt: skip
def run(
    *files: str | Path, agents: Sequence[str] = (), resume: str | None = None, name: str | None = None,
    running: Running | None = None, command: Sequence[str] = ("backtrader_bench.api.run",),
    watch: Callable[[Tried | None], None] = lambda tried: None, **given: Any,
) -> Ran:  # fmt: skip
    """Ask ``agents`` (``claude``, ``codex:MODEL``, ``oracle``) the questions of ``files``; every attempt is kept.

    ``given`` are settings by the names of ``agents.runs.manifest.Settings``: ``mode`` (``no-tools``, ``with-tools``),
    ``repeats``, ``rotate``, ``ask_value``, ``limit``, ``seed``, ``timeout`` and so on. ``running`` says how the session
    goes about it: jobs, retries, caps. ``resume`` goes on with a run, or ``last``. ``watch`` is called after each try.

    Failures of agents are data, see the statuses in ``attempts``. UsageError: settings that can't be. MissingError: an
    agent or bars are missing. LockedError: another process works on the run.
    """
    chosen = {**({"agents": tuple(agents)} if agents else {}), **given}
    for option in chosen:
        if option not in sessions.BINDING:
            raise UsageError(f"unknown setting {option!r}; there are {', '.join(sessions.BINDING)}")
    how = running or Running()
    with _work([Path(one) for one in files], chosen, resume, name) as begun:
        found = perform.agents_of(begun.manifest.settings)
        perform.check(begun, found, how, os.environ)
        work = begun if resume else sessions.named(begun, name)
        with _held(work, resume):
            ending = perform.perform(work, found, how, list(command), os.environ, lambda conductor: watch)
    return _ran(work, ending)


@contextmanager
def _work(files: list[Path], chosen: dict[str, Any], resume: str | None, name: str | None) -> Iterator[Work]:
    """The work; of a run to be resumed, while it is held and what killed sessions left is gone."""
    if resume is None:
        yield sessions.begin(files, chosen)
        return
    if name is not None:
        raise UsageError("a name is for a new run; one that is resumed has its own")
    run = read.run_named(resume)
    with perform.holding(run):
        perform.sweep(read.read_run(run).manifest)
        yield sessions.resume(run, files, chosen)


@contextmanager
def _held(work: Work, resume: str | None) -> Iterator[None]:
    if resume is not None:
        yield
        return
    with perform.holding(work.manifest.run):
        yield


def _ran(work: Work, ending: Ending) -> Ran:
    stored = read.read_run(work.manifest.run)
    standing = tuple(read.effective(stored.attempts).values())
    return Ran(work.manifest.run, stored.manifest, standing, ending, tally(work.planned, standing))


__all__ = ["Ran", "Running", "run"]
