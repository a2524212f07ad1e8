"""The room that an agent's program runs in: what hides the keys, the store and the user's files from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.process import Start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrader_bench.agents.backend import Ask, Command

ABSENT: dict[str, Any] = {"workspace": "absent", "fs": "open", "pids": "open", "net": "open"}
"""Nothing hides anything: the key is in no place that the agent was told of, and that is all."""


@dataclass(frozen=True)
class Entered:
    """A command made ready to start."""

    start: Start
    facts: Mapping[str, Any]
    """For the record: what holds, ``hidden`` or ``open``."""
    started: Callable[[], None] = lambda: None
    """To be called once it was started, or could not be."""


def enter(command: Command, ask: Ask) -> Entered:
    """``command`` in a room where only its workspace and private folder are, if this machine can; else as it is."""
    start = Start(argv=command.argv, env=command.env, cwd=ask.workspace, stdin=command.stdin)
    return Entered(start, ABSENT)
