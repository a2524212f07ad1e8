"""What ``bench doctor`` looks at and prints. It changes nothing and, unless asked, requests nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from backtrader_bench import __version__, store
from backtrader_bench.cli import configuration, configuring
from backtrader_bench.cli.live import plain
from backtrader_bench.errors import BenchError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

State = Literal["ok", "note", "problem"]
PYTHONS = ((3, 11), (3, 14))
"""From, and below which."""
LEAST_FREE, FEW_FREE = 2**28, 2**31
"""Bytes: below the first runs fail soon, below the second it is said."""
EXTRAS = {"db": "duckdb", "audit": "scikit-learn", "api": "openai", "cluster": "distributed"}
ERROR_FIXES = {
    "config": "correct that line; bench config --all lists every option",
    "data": "install backtrader-bench again: its bundled prices are damaged",
    "store": "change permissions, or set BENCH_HOME to another place",
}
"""By topic, where a check meets an error."""
MARKS: dict[State, str] = {"ok": "ok", "note": "-", "problem": "!!"}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    topic: str
    state: State
    """``problem``: work of some kind can't be done. ``note``: worth knowing."""
    text: str
    fix: str = ""


def doctor(*, network: bool, as_json: bool) -> int:
    """Look at everything; 3 when there is a problem."""
    checks: list[Check] = []
    for topic, look in {**TOPICS, **({"network": _network} if network else {})}.items():
        for check in _looked(topic, look):
            if not as_json:
                _print(check, first=not checks or checks[-1].topic != topic)
            checks.append(check)
    problems = [check for check in checks if check.state == "problem"]
    if as_json:
        about = {"version": __version__, "problems": len(problems), "checks": [asdict(check) for check in checks]}
        click.echo(json.dumps(about, indent=2))
    else:
        click.echo(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}" if problems else "nothing in the way")
    return 3 if problems else 0


def _looked(topic: str, look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """A check that meets an error of ours is a problem, and not the end of the others."""
    try:
        yield from look()
    except BenchError as error:
        yield Check(topic, "problem", str(error), ERROR_FIXES.get(topic, "as the line says"))


def _print(check: Check, *, first: bool) -> None:
    click.echo(plain(f"{check.topic if first else '':<9} {MARKS[check.state]:<2} {check.text}"))
    if check.fix:
        click.echo(plain(f"{'':<12} fix: {check.fix}"))


def _python() -> Iterator[Check]:
    least, below = PYTHONS
    text = f"{sys.version.split()[0]}, {sys.executable}"
    good = least <= sys.version_info[:2] < below
    fix = "" if good else f"make an environment with Python {least[0]}.{least[1]} to {below[0]}.{below[1] - 1}"
    yield Check("python", "ok" if good else "problem", text, fix)


def _packages() -> Iterator[Check]:
    found, missing = [f"backtrader-bench {__version__}"], list[str]()
    try:
        lines = requires("backtrader-bench") or []
    except PackageNotFoundError:
        lines = []
        yield Check("packages", "note", "run from a checkout that is not installed: nobody checked what it needs")
    for line in lines:
        requirement, _, marker = line.partition(";")
        if marker:
            continue
        name = re.split(r"[^A-Za-z0-9._-]", requirement.strip())[0]
        (found if _version(name) else missing).append(f"{name} {_version(name) or ''}".strip())
    yield Check("packages", "ok", ", ".join(found))
    for name in missing:
        yield Check("packages", "problem", f"{name} is not installed", f"pip install {name}")
    if extras := [extra for extra, name in EXTRAS.items() if _version(name) is None]:
        listed = ",".join(extras)
        yield Check("packages", "note", f"extras that are not installed: {', '.join(extras)}",
                    f"pip install 'backtrader-bench[{listed}]', as far as they are needed")  # fmt: skip


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _agents() -> Iterator[Check]:
    from backtrader_bench.agents import survey

    away = []
    for one in survey.look_at_all(os.environ):
        if one.problem:
            yield Check("agents", "problem", f"{one.name}: {one.problem}", one.install)
        elif one.found:
            told = ", ".join(text for text in (one.version, one.program, one.login) if text)
            yield Check("agents", "ok", f"{one.name}: {told}" if told else one.name)
        else:
            away.append(one.name)
    if away:
        yield Check("agents", "note", f"not found: {', '.join(away)} (only needed to ask them)",
                    "bench agents says how to get each")  # fmt: skip


def _sandbox() -> Iterator[Check]:
    from backtrader_bench.sandbox import selftest
    from backtrader_bench.sandbox.room import Isolation

    best = None
    for level in selftest.LEVELS:
        found = selftest.holds(level)
        if isinstance(found, Isolation):
            best = found
            break
        yield Check("sandbox", "note", found)
    fix = "install bubblewrap (apt-get install bubblewrap, or pip install 'backtrader-bench[sandbox]')"
    if best is None:
        yield Check("sandbox", "problem", "not even limits can be set: verifiers can't run, so bench mine can't", fix)
    elif best.level == "L1":
        yield Check("sandbox", "problem", f"{selftest.said(best)}: bench mine runs no verifier", fix)
    else:
        yield Check("sandbox", "ok", selftest.said(best), "" if best.level == "L3" else fix)
    agents = selftest.best(profile="agent")
    if agents.fs == "open":
        text = "agents can read your files: keys are absent from their folder, not out of reach"
        yield Check("sandbox", "note", text, fix)


def _data() -> Iterator[Check]:
    from backtrader_bench.market import bundled, synthetic

    for symbol in bundled.HASHES:
        bundled.bundled(symbol)
    yield Check("data", "ok", f"bundled: {', '.join(bundled.HASHES)}, hashes as they should be")
    made = synthetic.synthetic("SYNX", "calm", 0, "2016-01-04", "2016-03-01")
    yield Check("data", "ok", f"synthetic: {len(made)} bars made")
    yield Check("data", "note", "yfinance needs the network; bench doctor --network tries it")


def _network() -> Iterator[Check]:
    from backtrader_bench.market import yahoo

    try:
        tape = yahoo.download("AAPL", "2024-01-02", "2024-01-12")
    except BenchError as error:
        yield Check("network", "problem", str(error), "check network and proxy, or use bundled, synthetic or csv: bars")
    else:
        yield Check("network", "ok", f"yfinance: {len(tape)} bars of AAPL")


def _config() -> Iterator[Check]:
    context = click.get_current_context().find_root()
    group = context.command
    assert isinstance(group, click.Group)
    found = configuration.load(Path.cwd(), os.environ)
    configuring.prepare(context, group, found)
    faults = [*configuring.faults(context, group)] or [*_unmeant(context, group)]
    if not faults:
        yield Check("config", "ok", str(found.path) if found else "no bench.toml here or above")
    for fault in faults:
        yield Check("config", "problem", fault, "correct it; bench config --all lists every option")
    for note in configuring.unknown_variables(context, group, os.environ):
        yield Check("config", "note", note, "unset it, or spell it as bench config --json does")


def _unmeant(context: click.Context, group: click.Group) -> Iterator[str]:
    """What the commands with most settings would refuse although every value is of the right type."""
    from backtrader_bench.agents import registry
    from backtrader_bench.mcq_builder.settings import SETTINGS, Settings
    from backtrader_bench.miner.settings import OFFLINE, settings_of

    def build(given: dict[str, Any]) -> None:
        Settings.of({name: given[name] for name in SETTINGS if given[name] not in (None, ())})

    def run(given: dict[str, Any]) -> None:
        for agent in given["agents"]:
            registry.parse(agent)

    def mine(given: dict[str, Any]) -> None:
        made = settings_of({**given, "seed": given["seed"] or 0})
        solvers = (made.generator_agent, *made.no_tools_agents, made.with_tools_agent, made.second_verifier)
        for agent in filter(None, solvers):
            if agent != OFFLINE:
                registry.parse(agent)

    for name, look in {"build": build, "run": run, "mine": mine}.items():
        try:
            look(configuring.parameters(context, group, name))
        except BenchError as error:
            yield f"bench {name} refuses what it is given: {error}"


def _store() -> Iterator[Check]:
    home = store.home()
    by = "$BENCH_HOME" if os.environ.get("BENCH_HOME") else "the current folder; BENCH_HOME names another"
    folder = home if home.is_dir() else next(path for path in home.parents if path.is_dir())
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Check("store", "problem", f"{home} can't be written to", "change its permissions, or set BENCH_HOME")
    if not (home / "db").is_dir():
        yield Check("store", "note", f"none yet in {home} ({by})")
        return
    from backtrader_bench.upkeep import places

    files = [path for kind in places.KINDS for path in places.files(home, kind)]
    torn = [path for path in files if not _ends_whole(path)]
    yield Check("store", "ok", f"{home / 'db'} ({by}): {len(files)} files of records")
    for path in torn:
        yield Check("store", "note", f"{places.shown(path, home)} ends in half a line",
                    "nothing to do: the next append sets it aside")  # fmt: skip
    for path, what in places.leftovers(home):
        yield Check("store", "note", f"{places.shown(path, home)}: {what}")


def _ends_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            if not file.seek(0, 2):
                return True
            file.seek(-1, 2)
            return file.read(1) == b"\n"
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None


def _disk() -> Iterator[Check]:
    home = store.home()
    folder = home if home.is_dir() else next(path for path in home.parents if path.is_dir())
    free = shutil.disk_usage(folder).free
    state: State = "problem" if free < LEAST_FREE else "note" if free < FEW_FREE else "ok"
    fix = "" if state == "ok" else "free some space; db/cache may be deleted at any time"
    yield Check("disk", state, f"{free / 2**30:.1f} GiB free at {folder}", fix)


def _locks() -> Iterator[Check]:
    found = sorted((store.home() / "db").rglob(".*.lock"))
    if not found:
        yield Check("locks", "ok", "nobody holds one")
    for path in found:
        target = path.with_name(path.name.removeprefix(".").removesuffix(".lock"))
        holder = store.left_lock(target) or "another process"
        if _held(path):
            yield Check("locks", "note", f"{target} is held by {holder}", "wait for it, or end it")
        else:
            yield Check("locks", "note", f"{target} was held by {holder}, which is gone",
                        "nothing to do: the next one takes it over")  # fmt: skip


def _held(path: Path) -> bool:
    """Whether a process has the lock now; asked without taking it where it is free for longer than a moment."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


TOPICS: dict[str, Callable[[], Iterator[Check]]] = {
    "python": _python, "packages": _packages, "agents": _agents, "sandbox": _sandbox, "data": _data,
    "config": _config, "store": _store, "disk": _disk, "locks": _locks,
}  # fmt: skip
