"""What agents are called on a screen."""

from __future__ import annotations

import pytest

from backtrader_bench.agents.shown import LONGEST, names, short


@pytest.mark.parametrize(("agent", "wanted"), [
    ("oracle", "oracle"),
    ("codex:gpt-5.5", "codex:gpt-5.5"),
    ("api:openai/some-model?temperature=0.5", "api:openai/some-model?temperature=0.5"),
    ("command:llama3=ollama run {model}", "llama3"),
    ("command:/home/me/very/long/folder/agent.sh", "command:agent.sh"),
    ("command:python3 /home/me/agent.py -x", "command:python3 agent.py"[:LONGEST - 1] + "…"),
    ("command:sh -c 'cat /etc/x'", "command:sh -c cat /etc/x"),
    ("command:'", "command:'"),
    ("scripted:/tmp/a/b.jsonl", "scripted:b.jsonl"),
])  # fmt: skip
def test_short(agent: str, wanted: str) -> None:
    assert short(agent) == wanted


def test_two_that_would_be_called_the_same_keep_their_whole_names() -> None:
    agents = ["command:/a/x.sh", "command:/b/x.sh", "command:/a/y.sh", "command:m=x", "command:m=y", "m"]
    found = names([*agents, *agents])
    assert list(found) == agents
    assert len(set(found.values())) == len(agents)
    assert found["command:/a/y.sh"] == "command:y.sh" and found["command:/a/x.sh"] == "command:/a/x.sh"
