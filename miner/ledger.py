"""What calls used: by role, by model, in all. Pure; unknown stays unknown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.agents.runs.budget import Spent, tokens_of
from backtrader_bench.attempts import Cost, Usage
from backtrader_bench.miner.records import ROLES, Role, Spending

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backtrader_bench.attempts import Attempt

PARTS = ("input", "cache_read", "cache_write", "output", "reasoning")


@dataclass(frozen=True)
class Call:
    """One ask of an agent, whatever came of it."""

    role: Role
    agent: str
    model: str | None
    """As reported."""
    usage: Usage
    cost: Cost | None
    seconds: float

    @property
    def name(self) -> str:
        """The model, as well as it is known."""
        return self.model or self.agent


def of_attempt(role: Role, attempt: Attempt) -> Call:
    """A solver's attempt as a call."""
    return Call(role, attempt.agent, attempt.model, attempt.usage, attempt.cost, attempt.seconds)


def by_role(calls: Iterable[Call]) -> dict[str, Spending]:
    """What each role used, in the order of ROLES; roles without a call are left out."""
    kept = list(calls)
    found = {role: summed(call for call in kept if call.role == role) for role in ROLES}
    return {role: one for role, one in found.items() if one.calls}


def summed(calls: Iterable[Call]) -> Spending:
    """All together."""
    total = Spending()
    for call in calls:
        total = added(total, Spending(
            calls=1, with_tokens=tokens_of(call.usage) is not None, usage=call.usage,
            with_cost=call.cost is not None, cost=call.cost.usd if call.cost else None, seconds=call.seconds,
        ))  # fmt: skip
    return total


def added(one: Spending, other: Spending) -> Spending:
    """Two sums together."""
    parts = {name: _sum(getattr(one.usage, name), getattr(other.usage, name)) for name in PARTS}
    return Spending(
        calls=one.calls + other.calls,
        with_tokens=one.with_tokens + other.with_tokens,
        usage=Usage(**parts, estimated=one.usage.estimated or other.usage.estimated),
        with_cost=one.with_cost + other.with_cost,
        cost=None if one.cost is None and other.cost is None else (one.cost or 0.0) + (other.cost or 0.0),
        seconds=one.seconds + other.seconds,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def merged(tables: Iterable[Mapping[str, Spending]]) -> dict[str, Spending]:
    """Sums by role over several attempts."""
    found: dict[str, Spending] = {}
    for table in tables:
        for role, one in table.items():
            found[role] = added(found.get(role, Spending()), one)
    return {role: found[role] for role in ROLES if role in found}


def models(calls: Iterable[Call]) -> dict[str, int]:
    """Calls by model."""
    return dict(sorted(Counter(call.name for call in calls).items()))


def spent(total: Spending) -> Spent:
    """What a cap is held against."""
    return Spent(
        tokens=tokens_of(total.usage) or 0, with_tokens=total.with_tokens, estimated=total.usage.estimated,
        usd=total.cost or 0.0, with_usd=total.with_cost, tries=total.calls,
    )  # fmt: skip


def call_fields(call: Call) -> dict[str, Any]:
    """A call as JSON can hold it; :func:`call_of` reads it back."""
    return {
        "role": call.role, "agent": call.agent, "model": call.model, "usage": msgspec.to_builtins(call.usage),
        "cost": msgspec.to_builtins(call.cost), "seconds": call.seconds,
    }  # fmt: skip


def call_of(fields: Mapping[str, Any]) -> Call:
    """From :func:`call_fields`."""
    return Call(
        fields["role"], fields["agent"], fields["model"], msgspec.convert(fields["usage"], Usage),
        msgspec.convert(fields["cost"], Cost | None), float(fields["seconds"]),
    )  # fmt: skip
