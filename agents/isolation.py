"""The room that an agent's program runs in: what hides the keys, the store and the user's files from it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.agents.process import MARK, Start
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from backtrader_bench.agents.backend import Ask, Command
    from backtrader_bench.sandbox.room import Isolation, Level

PARTS = ("agents", "checker", "mcq_builder", "miner", "templates")
"""Folders of this package that may lie elsewhere (an editable installation)."""


@dataclass(frozen=True)
class Entered:
    """A command made ready to start."""

    start: Start
    facts: Mapping[str, Any]
    """For the record: see :func:`facts`."""
    close: Callable[[], None] = lambda: None
    """To be called once it was started, or could not be."""


def enter(command: Command, ask: Ask, mark: str) -> Entered:
    """``command`` in the best room that this machine has for agents: its workspace, its private folder and what it
    names, besides the system. Without one, as it is. UsageError: it would be shown the store."""
    from backtrader_bench.sandbox.launch import launch
    from backtrader_bench.sandbox.room import Room

    level = held().level
    _check_store_hidden((*command.readable, *command.writable), level)
    env = {**command.env, MARK: mark}
    if level == "L1":
        return Entered(Start(argv=command.argv, env=env, cwd=ask.workspace, stdin=command.stdin), facts())
    readable = tuple(path for path in command.readable if path.exists())
    writable = (ask.private, *(path for path in command.writable if path.exists()))
    room = Room(
        work=ask.workspace, readable=readable, writable=writable, hidden=own_code(), network=True, nested=True
    )  # fmt: skip
    ready = launch(command.argv, room, level, env)
    start = Start(
        argv=ready.argv, env={**ready.env, MARK: mark}, cwd=ask.workspace, stdin=command.stdin,
        pass_fds=ready.pass_fds, preexec=ready.preexec, room=level == "L3",
    )  # fmt: skip
    return Entered(start, facts(), ready.close)


@functools.cache
def own_code() -> tuple[Path, ...]:
    """The folders of this package. The interpreter that agents are given may have it among its libraries, and with it
    the second engine and how each template's key is derived: nothing that someone who is asked for it should find."""
    from importlib.util import find_spec
    from pathlib import Path

    specs = [find_spec(name) for name in ("backtrader_bench", *(f"backtrader_bench.{part}" for part in PARTS))]
    return tuple(Path(spec.origin).parent for spec in specs if spec and spec.origin)


def _check_store_hidden(named: Iterable[Path], level: Level) -> None:
    """The keys must not lie in what an agent may read, by whatever mistake: a home folder that is also the virtual
    environment or below /usr, a template that names a bank. Where nothing is hidden only what is named counts, and
    the system's folders: a store there may be why no level was found to hold."""
    from pathlib import Path

    from backtrader_bench.sandbox.keys import keys_shown
    from backtrader_bench.sandbox.launch import AGENT_DEVICES, system_folders

    shared = tuple(map(Path, AGENT_DEVICES)) if level == "L2" else ()
    if found := keys_shown((*named, *system_folders(network=True), *shared)):
        path, kept = found
        raise UsageError(f"agents are shown {path.resolve()}, and the keys are in {kept}; move one, or set BENCH_HOME")


@functools.cache
def held() -> Isolation:
    """What holds for agents on this machine, found by trying, once a process."""
    from backtrader_bench.sandbox.selftest import best

    return best(profile="agent")


def facts() -> dict[str, Any]:
    """What holds, for records and manifests: ``workspace`` is ``enforced`` where files outside are hidden, else
    ``absent`` (the key is in no place that the agent was told of, and that is all); and the parts of the isolation."""
    found = held()
    return {"workspace": "enforced" if found.fs == "hidden" else "absent", **msgspec.to_builtins(found)}
