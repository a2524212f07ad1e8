"""One session of a run: its manifest, its agents, its workspaces, and the conductor between them."""

from __future__ import annotations

import os
import secrets
import signal
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from backtrader_bench import bounds, store
from backtrader_bench.agents import isolation, process, registry, survey, workspace
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import names
from backtrader_bench.agents.runs import session as sessions
from backtrader_bench.agents.runs.budget import Caps, spent
from backtrader_bench.agents.runs.conduct import Conductor
from backtrader_bench.agents.runs.manifest import AgentFacts
from backtrader_bench.agents.runs.schedule import Schedule
from backtrader_bench.agents.runs.trying import Trier, check_tapes
from backtrader_bench.arguments import hold, instance, optional, path
from backtrader_bench.errors import MissingError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.agents.runs.conduct import Ending, Watch
    from backtrader_bench.agents.runs.manifest import Manifest, Settings
    from backtrader_bench.agents.runs.session import Work
    from backtrader_bench.agents.usage import Prices


def _prices() -> type:
    from backtrader_bench.agents.usage import Prices

    return Prices


PRICES = instance("read_prices", _prices)
"""A check for a price table."""


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

    def __post_init__(self) -> None:
        """UsageError: what no command line would take."""
        hold(self, {**bounds.RUNNING, "caps": instance("Caps", lambda: Caps), "prices": optional(PRICES),
                    "data": optional(path)})  # fmt: skip


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
        if one.ended is None and one.mark:
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
    mark = secrets.token_hex(8)
    # Named before it is made: killed at any moment, the next session knows where to look.
    folder = Path(tempfile.gettempdir()).resolve() / f"bench-{mark}"
    manifest = sessions.opened(work.manifest, sessions.session(
        command, agents=tuple(facts_of(agent, environ) for agent in agents.values()), isolation=isolation_of(agents),
        running=_as_told(running), mark=mark, workspaces=str(folder),
    ))  # fmt: skip
    manifests.write(manifest)
    outcome = "failed"
    try:
        with _folder(folder, keep=running.keep_workspaces) as workspaces:
            ending = _conduct(work, agents, running, environ, watch, workspaces, mark)
        outcome = ending.outcome
    finally:
        manifests.write(sessions.closed(manifest, outcome))
    return ending


def _conduct(
    work: Work,
    agents: Mapping[str, Agent],
    running: Running,
    environ: Mapping[str, str],
    watch: Callable[[Conductor], Watch],
    workspaces: workspace.Workspaces,
    mark: str,
) -> Ending:
    backends = {text: agent.backend.name for text, agent in agents.items()}
    # Not seeded: that clients wait differently long is the point of the draw.
    schedule = Schedule(work.todo, backends, running.jobs, running.retries, Random())
    try_one = Trier(
        work, agents, schedule, workspaces, mark=mark, environ=environ, prices=running.prices, data=running.data,
        fsync=running.fsync,
    )  # fmt: skip
    conductor = Conductor(schedule, try_one, jobs=running.jobs, caps=running.caps, used=spent(work.earlier))
    conductor.watch = watch(conductor)
    with _signals(conductor.interrupt):
        return conductor.run()


@contextmanager
def _folder(folder: Path, *, keep: bool) -> Iterator[workspace.Workspaces]:
    """The workspaces of a session, under ``folder``, which only this user can enter."""
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror}; set TMPDIR") from None
    try:
        with workspace.Workspaces(keep=keep, parent=folder) as workspaces:
            yield workspaces
    finally:
        if not keep:
            workspace.remove(folder)


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
    """Be the only process that works on ``run`` while the block runs. LockedError names the one that does.

    A new run that fails before its manifest is written leaves nothing.
    """
    try:
        with store.lock(manifests.manifest_path(run)):
            yield
    except BaseException:
        names.let_go(run)
        raise


def isolation_of(agents: Mapping[str, Agent]) -> dict[str, Any]:
    """What keeps agents' programs from the store and from each other on this machine; empty where none is started."""
    started = any(agent.backend.command is not None for agent in agents.values())
    return isolation.facts() if started else {}


def facts_of(agent: Agent, environ: Mapping[str, str]) -> AgentFacts:
    """What an agent is here and now."""
    found = survey.look_at(agent.backend, environ)
    return AgentFacts(
        agent=agent.text, backend=found.name, model=agent.model, version=found.version, program=found.program,
        login=found.login, no_tools_by=found.no_tools_by, isolation=found.isolation, reports=found.reports,
    )  # fmt: skip
