"""What decides a session: given on the command line once, kept with the session, and the same when it is resumed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import arguments, bounds
from backtrader_bench.errors import UsageError
from backtrader_bench.miner.categories import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Mapping

OFFLINE = "offline"
"""The generator that ships with this package and needs no model."""
LONGEST_NAME = 60


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Of one session."""

    attempts: int = 10
    generator_agent: str = OFFLINE
    """As given: ``claude``, ``codex:gpt-5.5``; with ``--generator-model`` the model is appended here."""
    no_tools_agents: tuple[str, ...] = ("guesser",)
    """Draw k of the screen asks agent k modulo their number."""
    with_tools_agent: str = "oracle"
    second_verifier: str | None = None
    generator_timeout: float = 600.0
    code_timeout: float = 120.0
    no_tools_timeout: float = 120.0
    with_tools_timeout: float = 180.0
    choice_perturbations: int = 8
    seed_step: int = 1009
    seed: int
    category: str | None = None
    steer: bool = True
    no_tools_draws: int = 1
    no_tools_threshold: int
    """So many right draws discard a question."""
    holdout_draws: int = 0
    """Draws after the decision, which screen nothing."""
    with_tools_runs: int = 1
    retries: int = 2
    """How often a screen or validation that gave no answer is repeated."""
    jobs: int = 1
    """Attempts at the same time; those of one wave see the history before it."""
    own_config: bool = False

    @property
    def agents(self) -> dict[str, str]:
        """Role -> agent, for messages; the no-tools agents are joined."""
        named = {
            "generator": self.generator_agent, "no-tools solver": ", ".join(self.no_tools_agents),
            "with-tools solver": self.with_tools_agent,
        }  # fmt: skip
        return named if self.second_verifier is None else {**named, "second verifier": self.second_verifier}

    def base_seed(self, attempt: int) -> int:
        """``MCQ_SEED`` of an attempt's question."""
        from backtrader_bench.mcq_builder.seeds import stream

        return stream(self.seed, "base seed", attempt).randrange(1, 10**8)

    def other_seeds(self, attempt: int) -> list[int]:
        """The perturbed seeds."""
        base = self.base_seed(attempt)
        return [base + k * self.seed_step for k in range(1, self.choice_perturbations + 1)]


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Settings from those given, defaults for the rest. UsageError: one that can't be, or that means nothing.

    ``given`` may hold ``generator_model``, ``no_tools_model`` and ``with_tools_model`` beside the fields, which go to
    the agents without a model of their own.
    """
    given = arguments.settings(given, bounds.MINE)
    fields = {name: given[name] for name in Settings.__struct_fields__ if name in given}
    for role in ("generator", "with_tools"):
        if model := given.get(f"{role}_model"):
            name = f"{role}_agent"
            agent = fields.get(name) or (given.get("generator_agent") or _default(name))
            fields[name] = _with_model(agent, model, f"--{role.replace('_', '-')}")
    generator = fields.get("generator_agent", OFFLINE)
    if generator != OFFLINE:
        # Whoever writes questions answers them, unless told otherwise; the offline generator can't.
        fields.setdefault("with_tools_agent", generator)
        fields["no_tools_agents"] = tuple(fields.get("no_tools_agents") or ()) or (generator,)
    solvers = tuple(fields.get("no_tools_agents") or ()) or _default("no_tools_agents")
    models = tuple(given.get("no_tools_models") or ())
    if len(models) > len(solvers) and len(solvers) == 1:
        solvers = solvers * len(models)
    if len(models) > len(solvers):
        raise UsageError("--no-tools-model is given more often than --no-tools-agent; they go together in order")
    named = [_with_model(agent, model, "--no-tools") for agent, model in zip(solvers, models, strict=False)]
    fields["no_tools_agents"] = (*named, *solvers[len(models) :])
    draws = fields.get("no_tools_draws", 1)
    fields.setdefault("no_tools_threshold", draws // 2 + 1)
    found = Settings(**fields)
    _check(found)
    return found


def _default(name: str) -> Any:
    return next(one.default for one in msgspec.structs.fields(Settings) if one.name == name)


def _with_model(agent: str, model: str, flag: str) -> str:
    if ":" in agent:
        raise UsageError(f"{flag}-model {model} and {flag}-agent {agent}: the model is given twice")
    if agent == OFFLINE:
        raise UsageError(f"{flag}-model {model}: the offline generator has no models")
    return f"{agent}:{model}"


def _check(found: Settings) -> None:
    if not 1 <= found.no_tools_threshold <= found.no_tools_draws:
        raise UsageError(
            f"--no-tools-threshold {found.no_tools_threshold}: it must be from 1 to the number of draws, "
            f"{found.no_tools_draws}"
        )
    if found.category is not None and found.category not in CATEGORIES:
        raise UsageError(f"--category {found.category!r}: there are {', '.join(CATEGORIES)}")
    if found.category == "other" and found.generator_agent == OFFLINE:
        raise UsageError("--category other: the offline generator has nothing else")
    if found.second_verifier == OFFLINE or OFFLINE in (*found.no_tools_agents, found.with_tools_agent):
        raise UsageError("offline is a generator; offline solvers are guesser, oracle and scripted")


def safe_name(name: str | None) -> str:
    """A user's word as part of a path: ``_word``, empty for none. UsageError: nothing of it is left."""
    if name is None:
        return ""
    kept = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:LONGEST_NAME].rstrip("-.")
    if not kept:
        raise UsageError(f"--run-name {name[:40]!r} holds no letter or digit that a file name could keep")
    return f"_{kept}"
