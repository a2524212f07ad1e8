"""What a run would send and about cost, before anyone is asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.answers import rotated
from backtrader_bench.agents.usage import count_tokens
from backtrader_bench.attempts import Usage
from backtrader_bench.templates.prompts import system_text, user_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.agents.runs.session import Work
    from backtrader_bench.agents.usage import Prices

ASSUMED = {"no-tools": (1, 1_500), "with-tools": (8, 6_000)}
"""By mode, how often a prompt is sent in one attempt (again with every tool's result) and tokens of output: a guess,
and called so where it is shown, as nobody knows them before."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One agent's part."""

    agent: str
    attempts: int
    input: int
    """Tokens of all prompts, each as often as it is sent."""
    output: int
    usd: float | None
    """None where no price is known, 0 for agents of this package."""

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "agent": self.agent, "attempts": self.attempts, "input_tokens": self.input, "output_tokens": self.output,
            "cost_usd": self.usd,
        }  # fmt: skip


def prompts(work: Work) -> Iterator[tuple[str, int, str]]:
    """Question id, shift and prompt of everything that is left to ask, each once, in the order of the plan."""
    settings = work.manifest.settings
    for question, shift in dict.fromkeys((one.question, one.shift) for one in work.todo):
        item = work.questions[question]
        text = user_text(item.record, rotated(item.options, shift), ask_value=settings.ask_value)
        yield question, shift, text


def estimates(work: Work, agents: Mapping[str, Agent], prices: Prices | None) -> list[Estimate]:
    """What is left to ask, by agent."""
    settings = work.manifest.settings
    system = count_tokens(system_text(settings.mode, settings.data_access))
    tokens = {(question, shift): system + count_tokens(text) for question, shift, text in prompts(work)}
    rounds, output = ASSUMED[settings.mode]
    found = []
    for text, agent in agents.items():
        mine = [tokens[one.question, one.shift] for one in work.todo if one.agent == text]
        usage = Usage(input=rounds * sum(mine), output=output * len(mine), estimated=True)
        cost = prices.cost(usage, (agent.model,)) if prices else None
        usd = 0.0 if agent.backend.offline else cost.usd if cost else None
        sent, said = usage.input or 0, usage.output or 0
        found.append(Estimate(agent=text, attempts=len(mine), input=sent, output=said, usd=usd))
    return found
