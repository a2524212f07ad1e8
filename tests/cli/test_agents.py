"""``bench agents``: the list, and trying one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from backtrader_bench.agents import registry
from backtrader_bench.cli.main import run

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No real agent is started by these tests, whatever this machine has."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_TOKEN")) or name.startswith("BENCH_C"):
            monkeypatch.delenv(name)


def test_the_list_names_every_agent(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-shown")
    assert run(["agents"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == list(registry.BACKENDS)
    assert "Claude Code: not found" in out
    assert "npm install" in out
    assert "key in ANTHROPIC_API_KEY" in out
    assert "sk-never-shown" not in out


def test_the_list_as_json(capsys: Captured) -> None:
    assert run(["agents", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["agents"]}
    assert list(found) == list(registry.BACKENDS)
    assert (found["claude"]["found"], found["claude"]["version"]) == (False, None)
    assert found["oracle"]["found"]
    assert found["api"]["modes"] == ["no-tools"]
    assert all(one["no_tools_by"] and one["isolation"] and one["install"] for one in found.values())


def test_a_program_that_is_there_says_its_version(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho \"9.8.7 (made up) $SECRET\"\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SECRET", "leaked")
    assert run(["agents"]) == 0
    assert f"9.8.7 (made up), {program}" in capsys.readouterr().out


def test_trying_agents(capsys: Captured, tmp_path: Path) -> None:
    assert run(["agents", "test", "oracle"]) == 0
    out = capsys.readouterr().out
    assert "with-tools: right" in out
    assert "no-tools: right" in out
    script = tmp_path / "script.jsonl"
    script.write_text('{"mode": "no-tools", "text": "<<< {wrong} >>>"}\n{"usage": {"input": 5}, "cost": 0.25}\n')
    assert run(["agents", "test", f"scripted:{script}", "--json"]) == 1
    replies = json.loads(capsys.readouterr().out)["replies"]
    assert {mode: reply["outcome"] for mode, reply in replies.items()} == {
        "with-tools": "right", "no-tools": "not the right answer"
    }  # fmt: skip
    assert replies["with-tools"]["usage"]["input"] == 5
    assert replies["with-tools"]["usage"]["output"] is None
    assert replies["with-tools"]["cost"] == {"usd": 0.25, "source": "reported"}


def test_what_is_missing_has_an_exit_code_of_its_own(capsys: Captured) -> None:
    assert run(["agents", "test", "claude"]) == 3
    assert "missing" in capsys.readouterr().out
    assert run(["agents", "test", "command:no-such-program", "--mode", "no-tools"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["claud"], "did you mean claude"),
        (["api:openai/m", "--mode", "with-tools"], "use --mode no-tools"),
        (["scripted"], "scripted:FILE"),
    ],
)
def test_wrong_usage_is_one_line(capsys: Captured, words: list[str], message: str) -> None:
    assert run(["agents", "test", *words]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
