"""What agents are called on a screen, where a whole command line has no room."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING

from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 24
"""Characters of a name that was made shorter."""


def short(agent: str) -> str:
    """``NAME`` of ``command:NAME=...``; else a command or script without the folders of its files."""
    backend, _, rest = agent.partition(":")
    if backend == "command":
        from backtrader_bench.agents.command import split

        with suppress(UsageError):
            model, words = split(rest)
            return model or _cut(f"command:{' '.join(_base(word) for word in words)}")
    return _cut(f"scripted:{_base(rest)}") if backend == "scripted" and rest else agent


def names(agents: Iterable[str]) -> dict[str, str]:
    """Agent, as given -> what to call it: :func:`short`, or the whole text where two would be called the same."""
    asked = list(dict.fromkeys(agents))
    found = {agent: short(agent) for agent in asked}
    times = Counter(found.values())
    return {agent: name if times[name] == 1 else agent for agent, name in found.items()}


def _base(word: str) -> str:
    return PurePath(word).name if word.startswith(("/", "./", "../", "~")) else word


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
