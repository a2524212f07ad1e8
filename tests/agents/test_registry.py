"""Agents as the user writes them."""

from __future__ import annotations

import pytest

from backtrader_bench.agents import registry
from backtrader_bench.agents.backend import Backend
from backtrader_bench.errors import UsageError


@pytest.mark.parametrize("name", registry.BACKENDS)
def test_every_backend_is_whole(name: str) -> None:
    backend = registry.get(name)
    assert isinstance(backend, Backend)
    assert backend.name == name
    assert backend.modes
    assert (backend.answer is None) == (backend.command is not None and backend.parse is not None)
    assert all(text and "\n" not in text for text in (backend.title, backend.install, backend.no_tools_by))
    assert backend.reports <= {"tokens", "cost", "model"}


def test_name_and_model() -> None:
    agent = registry.parse("guesser:closest_to_mean")
    assert (agent.text, agent.backend.name, agent.model) == ("guesser:closest_to_mean", "guesser", "closest_to_mean")
    assert registry.parse(" oracle ").model is None
    assert registry.parse("command:a=sh -c 'x:y'").model == "a=sh -c 'x:y'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("orcale", "did you mean oracle"),
        ("gpt", "there are .*oracle"),
        ("oracle:", "model after the colon"),
        ("oracle:x", "oracle has no models"),
        ("guesser:closest_to_man", "did you mean .*closest_to_mean"),
        ("guesser:zzz", "there are uniform"),
        ("scripted", "scripted:FILE"),
        ("scripted:/no/such/file", "cannot read"),
        ("api", "api:openai/MODEL"),
        ("api:openai", "api:openai/MODEL"),
        ("api:google/gemini", "api:openai/MODEL"),
        ("api:openai/m?temprature=1", "no setting 'temprature'"),
        ("api:openai/m?temperature=hot", "can't be 'hot'"),
        ("", "there are"),
    ],
)
def test_errors_name_the_fix(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        registry.parse(text)


def test_modes() -> None:
    agent = registry.parse("api:openai/m")
    registry.check_mode(agent, "no-tools")
    with pytest.raises(UsageError, match="use --mode no-tools"):
        registry.check_mode(agent, "with-tools")
