"""One trivial question, to see that an agent can be asked."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.agents.ask import ask
from backtrader_bench.agents.backend import Ask
from backtrader_bench.agents.workspace import Workspaces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.agents.backend import Reply
    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.attempts import Mode

SYSTEM = "Answer the question. Give your answer as the last line of your reply."
QUESTION = """What is 17 + 25?

A. 32
B. 43
C. 42
D. 52

Give your answer as <<< X >>>, with A, B, C or D in place of X."""
KEY = "C"
OPTIONS = {"A": "32", "B": "43", "C": "42", "D": "52"}
RECORD = {"id": "trial", "question": QUESTION, "answer": KEY, "type": "", "config": {}}
"""For the offline agents."""


def put(agent: Agent, mode: Mode, environ: Mapping[str, str], timeout: float, own_config: bool = False) -> Reply:
    """Ask the question once in ``mode``, in a workspace of its own that is gone afterwards."""
    with Workspaces() as workspaces, workspaces.place(QUESTION) as place:
        return ask(agent.backend, Ask(
            prompt=QUESTION, system=SYSTEM, mode=mode, model=agent.model, workspace=place.work, private=place.private,
            output=place.output, timeout=timeout, environ=environ, own_config=own_config,
            record=RECORD if agent.backend.offline else None,
        ))  # fmt: skip


def normal_form(reply: Reply) -> dict[str, Any]:
    """A reply's fields as JSON takes them, without the paths of its raw files."""
    fields = {one.name: getattr(reply, one.name) for one in dataclasses.fields(reply) if one.name != "raw"}
    found: dict[str, Any] = msgspec.to_builtins({**fields, "isolation": dict(reply.isolation)})
    return found
