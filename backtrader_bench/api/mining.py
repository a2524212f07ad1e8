"""Mining questions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench import bounds
from backtrader_bench.agents.runs.perform import PRICES
from backtrader_bench.arguments import checked, flag, instance, optional, text, words
from backtrader_bench.errors import UsageError
from backtrader_bench.mcq_builder.seeds import drawn_seed
from backtrader_bench.miner import journal, session
from backtrader_bench.miner.session import Host, Limits, Watch
from backtrader_bench.miner.settings import Settings, safe_name, settings_of
from backtrader_bench.sandbox import selftest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrader_bench.agents.usage import Prices
    from backtrader_bench.miner.records import SessionLine
    from backtrader_bench.records import Question
    from backtrader_bench.sandbox.room import Level

MODELS = ("generator_model", "no_tools_models", "with_tools_model")


@dataclass(frozen=True)
class Mined:
    """A mining session, ended or cut short by a limit."""

    run: str
    """Its name, for ``resume``."""
    line: SessionLine
    """Counts by decision, reason and category, what was spent, and what ended it."""

    @property
    def path(self) -> Path:
        """The file of questions that were kept, accepted or for review; not there before the first."""
        return journal.Journal(self.run).kept

    @property
    def questions(self) -> list[Question]:
        """The questions that were kept."""
        return [question for question, path in journal.mined() if path == self.path]


@checked(
    resume=optional(text), name=optional(text), limits=optional(instance("Limits", lambda: Limits)),
    require_sandbox=optional(bounds.SANDBOX), allow_unsafe=flag, prices=optional(PRICES), keep_workspaces=flag,
    fsync=flag, command=words, watch=optional(instance("Watch", lambda: Watch)),
)  # fmt: skip
def mine(
    *, resume: str | None = None, name: str | None = None, limits: Limits | None = None,
    require_sandbox: Level | None = None, allow_unsafe: bool = False, prices: Prices | None = None,
    keep_workspaces: bool = False, fsync: bool = True, command: Sequence[str] = ("backtrader_bench.api.mine",),
    watch: Watch | None = None, **given: Any,
) -> Mined:  # fmt: skip
    """Mine hard questions: generate each with a program that answers it, verify, screen, validate, keep.

    ``given`` are settings by the names of ``miner.settings.Settings``: ``attempts``, ``generator_agent`` and so on; the
    defaults need no model. ``resume`` goes on with a session, or ``last``. ``limits`` end it early. ``require_sandbox``
    (``L3``, ``L2``) refuses to run verifiers with less; ``allow_unsafe`` runs them with your files in their reach.

    UsageError: settings that can't be. MissingError, SandboxError: an agent, its login or a sandbox is missing.
    LockedError: another session holds the store.
    """
    for option in given:
        if option not in (*Settings.__struct_fields__, *MODELS):
            raise UsageError(f"unknown setting {option!r}; there are {', '.join(Settings.__struct_fields__)}")
    if resume is not None and (given or name):
        raise UsageError("settings are kept with a session; resume goes on with what it was begun with")
    seed = given.get("seed")
    settings = (
        journal.read_session(resume).settings
        if resume is not None
        else settings_of({**given, "seed": drawn_seed() if seed is None else seed})
    )
    bounds, word = limits or Limits(), safe_name(name)
    agents = session.check_host(settings, bounds, os.environ, prices)
    isolation = selftest.best(required=require_sandbox, allow_unsafe=allow_unsafe)
    told = watch or Watch()
    with session.only_one(resume or f"mining{word}", told.say):
        opened = session.begin(settings, word) if resume is None else journal.read_session(resume)
        session.sweep(opened)
        host = Host(
            agents=agents, isolation=isolation, environ=os.environ, prices=prices, command=tuple(command),
            keep_workspaces=keep_workspaces, fsync=fsync,
        )  # fmt: skip
        return Mined(opened.run, session.perform(opened, bounds, host, told))


__all__ = ["Limits", "Mined", "Watch", "mine"]
