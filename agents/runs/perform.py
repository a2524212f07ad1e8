"""One session of a run: its manifest, its agents, its workspaces, and the conductor between them."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from backtrader_bench import store
from backtrader_bench.agents import process, registry, workspace
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import session as sessions
from backtrader_bench.agents.runs.budget import Caps, spent
from backtrader_bench.agents.runs.conduct import Conductor
from backtrader_bench.agents.runs.manifest import AgentFacts
from backtrader_bench.agents.runs.schedule import Schedule
from backtrader_bench.agents.runs.trying import Trier, check_tapes
from backtrader_bench.errors import MissingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.agents.runs.conduct import Ending, Watch
    from backtrader_bench.agents.runs.manifest import Manifest, Settings
    from backtrader_bench.agents.runs.session import Work
    from backtrader_bench.agents.usage import Prices


@dataclass(frozen=True, kw_only=True)
class Running:
    """How a session goes about it; a resumed run may have others."""

    jobs: int = 4
    retries: int = 5
    caps: Caps = field(default_factory=Caps)
    fsync: bool = True
    keep_workspaces: bool = False
    prices: Prices | None = None
    data: Path | None = None
    """Prices to hand out instead of the store's."""


def agents_of(settings: Settings) -> dict[str, Agent]:
    """The agents by the names that the settings give them. UsageError: no such agent, or not in this mode."""
    found = {text: registry.parse(text) for text in settings.agents}
    for agent in found.values():
        registry.check_mode(agent, settings.mode)
    return found


def check(work: Work, agents: Mapping[str, Agent], running: Running, environ: Mapping[str, str]) -> None:
    """Raise now what would otherwise end the session, or make a cap useless, after the first questions.

    MissingError: a program or bars are missing. UsageError: ``--max-cost`` for an agent whose cost nobody knows.
    """
    for text, agent in agents.items():
        backend = agent.backend
        if backend.find is not None and backend.find(environ) is None:
            raise MissingError(f"{text}: {backend.title} is not installed; {backend.install}")
        known = backend.offline or "cost" in backend.reports or _priced(agent, running.prices)
        if running.caps.usd is not None and not known:
            raise UsageError(f"--max-cost: {text} reports no cost; give a table with its model's prices by --prices")
    if work.manifest.settings.data_access == "prices":
        check_tapes([work.questions[name] for name in dict.fromkeys(one.question for one in work.todo)], running.data)


def _priced(agent: Agent, prices: Prices | None) -> bool:
    # Without a model the agent's own default runs, whose name is known only afterwards.
    return prices is not None and (agent.model is None or agent.model in prices.models)


def sweep(manifest: Manifest) -> int:
    """End what killed sessions of a run left behind: processes and workspaces; how many processes there were.

    To be called while the run is held, so that no session of it is alive.
    """
    count = 0
    for one in manifest.sessions:
        if one.ended is None:
            count += process.sweep(one.mark)
            folder = Path(one.workspaces)
            if folder.name.startswith("bench-") and folder.is_dir() and folder.stat().st_uid == os.getuid():
                workspace.remove(folder)
    return count


def perform(
    work: Work,
    agents: Mapping[str, Agent],
    running: Running,
    command: Sequence[str],
    environ: Mapping[str, str],
    watch: Callable[[Conductor], Watch],
) -> Ending:
    """Ask what is left of ``work``, whose run is held by the caller. The manifest says how it ended, come what may.

    StoreError, MissingError, UsageError: nothing more could be asked; what was finished is kept.
    """
    manifest = work.manifest
    mark = secrets.token_hex(8)
    with workspace.Workspaces(keep=running.keep_workspaces) as workspaces:
        manifest = sessions.opened(manifest, sessions.session(
            command, agents=tuple(facts_of(agent, environ) for agent in agents.values()), isolation={},
            running=_as_told(running), mark=mark, workspaces=str(workspaces.root),
        ))  # fmt: skip
        manifests.write(manifest)
        backends = {text: agent.backend.name for text, agent in agents.items()}
        schedule = Schedule(work.todo, backends, running.jobs, running.retries, Random())
        try_one = Trier(
            work, agents, schedule, workspaces, mark=mark, environ=environ, prices=running.prices,
            data=running.data, fsync=running.fsync,
        )  # fmt: skip
        conductor = Conductor(
            schedule, try_one, jobs=running.jobs, caps=running.caps, used=spent(work.earlier),
        )  # fmt: skip
        conductor.watch = watch(conductor)
        outcome = "failed"
        try:
            with _signals(conductor.interrupt):
                ending = conductor.run()
            outcome = ending.outcome
        finally:
            manifests.write(sessions.closed(manifest, outcome))
    return ending


def _as_told(running: Running) -> dict[str, object]:
    told = asdict(running)
    told["prices"] = {model: dict(parts) for model, parts in running.prices.models.items()} if running.prices else None
    told["data"] = str(running.data) if running.data else None
    return told


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C and TERM call ``stop`` while the block runs. Those that come ignored (nohup) stay so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda *_: stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def holding(run: str) -> Iterator[None]:
    """Be the only process that works on ``run`` while the block runs. LockedError names the one that does."""
    with store.lock(manifests.manifest_path(run)):
        yield


def facts_of(agent: Agent, environ: Mapping[str, str]) -> AgentFacts:
    """What an agent is here and now."""
    backend = agent.backend
    program = backend.find(environ) if backend.find is not None else None
    return AgentFacts(
        agent=agent.text, backend=backend.name, model=agent.model, version=None,
        program=str(program) if program else None, no_tools_by=backend.no_tools_by,
        reports=tuple(sorted(backend.reports)),
    )  # fmt: skip
