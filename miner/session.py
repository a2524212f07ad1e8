"""A session of attempts: begun or resumed, in waves, until all are made or something ends it.

A wave is as many attempts as run at the same time. All of a wave see what was decided before it and nothing of each
other, and their decisions are written in order when the wave is over, so that what ends first changes nothing.
"""

from __future__ import annotations

import os
import platform
import secrets
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backtrader_bench import __version__, bounds, store
from backtrader_bench.agents import process, workspace
from backtrader_bench.agents.ask import AskCancelled
from backtrader_bench.agents.runs import names
from backtrader_bench.agents.runs.budget import Caps, reached
from backtrader_bench.arguments import hold, instance, optional
from backtrader_bench.errors import LockedError
from backtrader_bench.miner import asking, journal, ledger, report
from backtrader_bench.miner.asking import Asker
from backtrader_bench.miner.attempt import Ended, Tools, View, duplicate_of, record_line, run_attempt
from backtrader_bench.miner.categories import counted, steer
from backtrader_bench.miner.decisions import ACCEPTED, BLAMELESS, KEPT, UNSCREENED
from backtrader_bench.miner.journal import Journal, SessionFile, Sitting
from backtrader_bench.miner.similar import Known
from backtrader_bench.miner.verifying import Sandbox
from backtrader_bench.templates.prompts.mining import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.agents.usage import Prices
    from backtrader_bench.agents.workspace import Workspaces
    from backtrader_bench.miner.records import AttemptLine, SessionLine
    from backtrader_bench.miner.settings import Settings
    from backtrader_bench.sandbox.room import Isolation

HOPELESS_IN_A_ROW = 3
"""Attempts that an agent without login, quota or program ends in a row, after which the session ends too."""
LONGEST_HISTORY = 50
"""Attempts that a generator is told of, the last ones: more would only make prompts dear."""
EXIT = {
    "attempts": 0, "until_accepted": 0, "max_hours": 5, "max_tokens": 5, "max_cost": 5, "agents_failing": 3,
    "goal_missed": 5,
}  # fmt: skip
"""Exit code by what ended the session. ``goal_missed``: all attempts are made, and fewer accepted than wanted."""


def exit_code(line: SessionLine) -> int:
    """As what ended it says; 3 where all attempts were made, nothing was kept, and most got no answer from agents."""
    silent = sum(count for name, count in line.decisions.items() if name in BLAMELESS)
    failed = 2 * silent > line.attempts and not KEPT & set(line.decisions)
    return 3 if failed and line.ended_by in ("attempts", "goal_missed") else EXIT[line.ended_by]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a session ends early; may differ when it is resumed."""

    until_accepted: int | None = None
    caps: Caps = field(default_factory=Caps)

    def __post_init__(self) -> None:
        """UsageError: a limit that can't be."""
        hold(self, {"until_accepted": optional(bounds.ACCEPTED), "caps": instance("Caps", lambda: Caps)})


class Ending(Exception):
    """A budget is spent; what is half done stays so."""

    def __init__(self, why: str, words: str) -> None:
        super().__init__(words)
        self.why = why


@dataclass(frozen=True)
class Watch:
    """What the screen is told."""

    stage: Callable[[int, str], None] = lambda attempt, stage: None
    finished: Callable[[AttemptLine], None] = lambda line: None
    say: Callable[[str], None] = lambda text: None


@contextmanager
def only_one(run: str, say: Callable[[str], None]) -> Iterator[None]:
    """Be the only mining session of this store. LockedError names the one that is; a dead one's lock is taken over."""
    path = _held()
    left = store.left_lock(path)
    try:
        with store.lock(path, what=run):
            if left is not None:
                say(f"took over the lock that {left} left behind")
            yield
    except LockedError:
        holder = store.left_lock(path) or "another process"
        raise LockedError(
            f"another mining session holds this store: {holder}; wait for it, or set BENCH_HOME to another place"
        ) from None


def _held() -> Path:
    """What a mining session locks."""
    return store.folder("mcq") / "mining"


def begin(settings: Settings, name: str) -> SessionFile:
    """A new session with its name taken."""
    run = journal.new_run(datetime.now(UTC), settings.attempts, name)
    session = SessionFile(run=run, settings=settings)
    try:
        journal.write_session(session)
    except BaseException:
        names.let_go(run)
        raise
    return session


def tell_waiting(run: str) -> None:
    """Let those that find the store held know by which session: to be said by the holder, once the name is known."""
    store.tell_lock(_held(), run)


def sweep(session: SessionFile) -> int:
    """End what killed processes of this session left running, and remove their workspaces; how many there were.

    Only while the store is held: then none of them is alive.
    """
    count = 0
    for one in session.sittings:
        if one.seconds is None:
            count += process.sweep(one.mark)
            folder = Path(one.workspaces)
            if folder.name.startswith("bench-") and folder.is_dir() and folder.stat().st_uid == os.getuid():
                workspace.remove(folder)
    return count


@dataclass(frozen=True, kw_only=True)
class Host:
    """What a process brings to a session: agents, sandbox, environment."""

    agents: Mapping[str, Agent]
    isolation: Isolation
    environ: Mapping[str, str]
    prices: Prices | None = None
    command: Sequence[str] = ()
    keep_workspaces: bool = False
    fsync: bool = True


def perform(session: SessionFile, limits: Limits, host: Host, watch: Watch) -> SessionLine:
    """Make the attempts that are left, and close the session; its last line. The store is held by the caller.

    KeyboardInterrupt: finished attempts are kept, others go on where they were when the session is resumed.
    """
    files = journal.open_journal(session.run, fsync=host.fsync)
    before = sum(one.seconds or 0.0 for one in session.sittings)
    began = time.monotonic()
    with workspace.Workspaces(keep=host.keep_workspaces) as places:
        sitting = Sitting(
            started=datetime.now(UTC).isoformat(timespec="seconds"), process=os.getpid(), mark=secrets.token_hex(8),
            command=tuple(host.command), isolation=msgspec.to_builtins(host.isolation), workspaces=str(places.root),
            versions={"backtrader-bench": __version__, "python": platform.python_version()},
        )  # fmt: skip
        opened = msgspec.structs.replace(session, sittings=(*session.sittings, sitting))
        journal.write_session(opened)
        try:
            why = _Sitting(opened, files, limits, host, watch, places, began).run()
        finally:
            spent = round(time.monotonic() - began, 3)
            done = msgspec.structs.replace(sitting, seconds=spent)
            journal.write_session(msgspec.structs.replace(opened, sittings=(*session.sittings, done)))
    line = report.session_line(session.run, files.finished.values(), why, before + spent)
    last = files.last_session_line
    if last is None or msgspec.structs.replace(last, seconds=0, ended_by="") != msgspec.structs.replace(
        line, seconds=0, ended_by=""
    ):
        files.append_summary(line)
    return line


class _Sitting:
    """One process's part of a session."""

    def __init__(
        self, session: SessionFile, files: Journal, limits: Limits, host: Host, watch: Watch, places: Workspaces,
        began: float,
    ) -> None:  # fmt: skip
        self.session, self.settings, self.files, self.limits = session, session.settings, files, limits
        self.watch, self.began = watch, began
        self.stop = threading.Event()
        self.asker = Asker(
            self.settings, files, host.agents, places, session.sittings[-1].mark, host.environ, host.prices, self.stop,
            go_on=self.go_on, used=files.used(self.settings.attempts),
        )  # fmt: skip
        self.tools = Tools(self.settings, files, self.asker, Sandbox(host.isolation), watch.stage, self.go_on)
        self.known, self.written = known_questions(session.run, set(files.finished))
        self.hopeless = 0

    def run(self) -> str:
        """Attempt after attempt; what ended it."""
        with _interruptible(self.stop):
            try:
                while todo := self._wave():
                    self._make(todo)
                    if self.hopeless >= HOPELESS_IN_A_ROW:
                        return "agents_failing"
            except Ending as ending:
                self.watch.say(str(ending))
                return ending.why
            except AskCancelled:
                raise KeyboardInterrupt from None
        if self.limits.until_accepted is not None:
            return "until_accepted" if self._accepted() >= self.limits.until_accepted else "goal_missed"
        return "attempts"

    def _wave(self) -> list[int]:
        """The next attempts to make; none when there is nothing left to do."""
        finished = self.files.finished
        if self.limits.until_accepted is not None and self._accepted() >= self.limits.until_accepted:
            return []
        # Waves are the same whether the session was interrupted or not: what is left of one is finished first.
        size = self.settings.jobs
        for first in range(1, self.settings.attempts + 1, size):
            wave = range(first, min(first + size, self.settings.attempts + 1))
            if left := [number for number in wave if number not in finished]:
                return left
        return []

    def _accepted(self) -> int:
        return sum(line.decision == ACCEPTED for line in self.files.finished.values())

    def _make(self, todo: list[int]) -> None:
        """One wave."""
        first = (todo[0] - 1) // self.settings.jobs * self.settings.jobs + 1
        past = [line for number, line in sorted(self.files.finished.items()) if number < first]
        views = {number: self._view(number, past) for number in todo}
        if len(todo) == 1:
            self._write(run_attempt(self.tools, todo[0], views[todo[0]]))
            return
        with ThreadPoolExecutor(len(todo), thread_name_prefix="attempt") as pool:
            futures = [pool.submit(run_attempt, self.tools, number, views[number]) for number in todo]
            try:
                for future in futures:
                    self._write(future.result())
            except BaseException:
                self.stop.set()
                raise

    def _view(self, number: int, past: Sequence[AttemptLine]) -> View:
        history = tuple(report.history_line(line, MEANINGS[line.decision]) for line in past[-LONGEST_HISTORY:])
        return View(history, self._category(number, past), self.known)

    def _category(self, number: int, past: Sequence[AttemptLine]) -> str | None:
        if self.settings.category is not None or not self.settings.steer:
            return self.settings.category
        outcomes = ((line.asked_category or line.category, line.decision) for line in past)
        won, lost = counted(outcomes, ACCEPTED, BLAMELESS)
        return steer(self.settings.seed, number, won, lost)

    def _write(self, ended: Ended) -> None:
        """Write a decision down: the question, then the line that makes the attempt finished."""
        line, question = ended.line, ended.question
        if question is not None and line.decision not in ("duplicate", "not_well_posed"):
            # Another of the same wave may have asked it meanwhile.
            if (same := duplicate_of(question, self.known)) is not None:
                line = msgspec.structs.replace(
                    line, decision=same.decision, reasons=same.reasons, detail=same.detail
                )  # fmt: skip
            else:
                path = self.files.kept if line.decision in KEPT else self.files.discarded
                if question.id not in self.written:
                    store.append_line(path, record_line(question), self.files.fsync)
                if line.decision != UNSCREENED:
                    self.known.add(question.id, question.stem)
        self.files.append_summary(line)
        self.hopeless = self.hopeless + 1 if ended.hopeless else 0
        self.watch.finished(line)

    def go_on(self) -> None:
        """Raise where the session is to end: asked for between stages, in any thread."""
        if self.stop.is_set():
            raise AskCancelled("interrupted")
        used = ledger.spent(self.asker.used)
        words = reached(self.limits.caps, used, 0, time.monotonic() - self.began)
        if words is not None:
            why = words.removeprefix("--").partition(" ")[0].replace("-", "_")
            raise Ending(why, words)


def known_questions(run: str, finished: set[int]) -> tuple[Known, frozenset[str]]:
    """The mined questions of the store, and the ids of those that unfinished attempts of this session have written.

    The latter are not among the known: their attempt was cut off and is about to be decided again. Nor are those that
    no agent has answered yet: what kept it from doing so was not the question.
    """
    known, written = Known(), set()
    for question, _ in journal.mined():
        attempt = question.verification.attempt if question.verification else ""
        name, _, folder = attempt.partition("/")
        number = folder.removeprefix("attempt_")
        if name == run and not (number.isdigit() and int(number) in finished):
            written.add(question.id)
        elif UNSCREENED not in question.labels:
            known.add(question.id, question.stem)
    return known, frozenset(written)


@contextmanager
def _interruptible(stop: threading.Event) -> Iterator[None]:
    """TERM ends the session as Ctrl-C does, where neither comes ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        stop.set()
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        stop.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def check_host(
    settings: Settings, limits: Limits, environ: Mapping[str, str], prices: Prices | None
) -> dict[str, Agent]:
    """The agents, found before anything is begun. UsageError, MissingError as asking.agents_of and check_installed."""
    agents = asking.agents_of(settings)
    asking.check_installed(agents, environ, need_cost=limits.caps.usd is not None, prices=prices)
    return agents
