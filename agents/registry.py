"""Every backend by name, imported when it is asked for, and agents as the user writes them: ``NAME[:MODEL]``."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from backtrader_bench.agents.backend import Backend
    from backtrader_bench.attempts import Mode

BACKENDS = {
    "claude": "backtrader_bench.agents.claude:CLAUDE",
    "codex": "backtrader_bench.agents.codex:CODEX",
    "copilot": "backtrader_bench.agents.copilot:COPILOT",
    "cursor": "backtrader_bench.agents.cursor:CURSOR",
    "cursor-cli": "backtrader_bench.agents.cursor:CURSOR_CLI",
    "api": "backtrader_bench.agents.api:API",
    "command": "backtrader_bench.agents.command:COMMAND",
    "oracle": "backtrader_bench.agents.oracle:ORACLE",
    "guesser": "backtrader_bench.agents.guesser:GUESSER",
    "scripted": "backtrader_bench.agents.scripted:SCRIPTED",
}
"""name -> module:attribute of a :class:`Backend`; adding one is its module and a line here."""


@dataclass(frozen=True)
class Agent:
    """A backend with the model to ask of it."""

    text: str
    """As given, which is how records name it."""
    backend: Backend
    model: str | None = None


def get(name: str) -> Backend:
    """The backend of that name; UsageError with the nearest name for another."""
    if name not in BACKENDS:
        near = difflib.get_close_matches(name, BACKENDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(BACKENDS)}"
        raise UsageError(f"no agent is called {name[:80]!r}; {hint}")
    module, _, attribute = BACKENDS[name].partition(":")
    backend: Backend = getattr(importlib.import_module(module), attribute)
    return backend


def parse(text: str) -> Agent:
    """The agent that ``NAME`` or ``NAME:MODEL`` means; UsageError: no such name, a model that is empty or wrong."""
    name, colon, model = text.strip().partition(":")
    backend = get(name.strip())
    if colon and not model.strip():
        raise UsageError(f"{text!r}: write the model after the colon, or leave the colon out")
    agent = Agent(text.strip(), backend, model.strip() or None)
    if backend.check is not None:
        backend.check(agent.model)
    return agent


def check_mode(agent: Agent, mode: Mode) -> None:
    """UsageError where the agent can't be asked in ``mode``."""
    if mode not in agent.backend.modes:
        raise UsageError(f"{agent.backend.name} can't be asked {mode}; use --mode {agent.backend.modes[0]}")
