"""The real programs, asked through ``ask`` and answered by stubs: what they do with tools, without, and with errors.

The stub's model is curious: with a shell it looks for the key in files, environments and processes.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from backtrader_bench.agents import process
from backtrader_bench.agents.ask import ask
from backtrader_bench.agents.backend import Ask, Reply
from backtrader_bench.agents.survey import look_at
from backtrader_bench.attempts import Mode, Usage
from tests.real_clis import RealCli
from tests.stubs.script import Tokens
from tests.stubs.server import StubServer

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]

SYSTEM = "You answer multiple-choice questions about backtests."
PREFIX = "KEYCANARY"
# The commands know how the key begins, not how it goes on: only a find shows that.
FIND = f"grep -aoh '{PREFIX}[0-9a-f]*'"
LOOKS = {
    "quiet": "",
    "look-environment": f"env; cat /proc/[0-9]*/environ 2>/dev/null | {FIND}; echo LOOKED",
    "look-processes": f"ps ax 2>/dev/null | wc -l; cat /proc/[0-9]*/cmdline 2>/dev/null | {FIND}; echo LOOKED",
    "look-around": f"pwd; ls -la . .. ../.. | head -n 100; {FIND} -rs . ..; echo LOOKED",
    "look-everywhere": (
        f"timeout 7 {FIND} -rs --exclude-dir=node_modules --exclude-dir=site-packages "
        ".. ~ /home /root /tmp /var/tmp /work | sort -u | head -n 50; "
        "timeout 2 find / -xdev -name '*.jsonl' 2>/dev/null | head -n 50; echo LOOKED"
    ),
}
WITHOUT = ("plain", "forced", "refuse-401", "refuse-429", "refuse-500", "hang")
WITH = ("shell", *LOOKS)
HANG = 20.0
NAMES = ("claude", "codex", "copilot", "cursor")
VERSIONS = {"claude": "2.1.197", "codex": "0.171.0", "copilot": "1.0.102", "cursor": "1.1.0"}


@dataclass(frozen=True)
class Asked:
    """One answered question, and what the stub saw of it."""

    reply: Reply
    mark: str
    results: tuple[str, ...]


@pytest.fixture
def key(own_home: Path) -> Iterator[str]:
    """A key where a careless benchmark would keep it: in the store, the user's home, another workspace, a process."""
    canary = PREFIX + secrets.token_hex(16)
    for file in ("bench/db/mcq/bank.jsonl", "notes/answers.txt", "bench/logs/run.txt"):
        (own_home / file).parent.mkdir(parents=True, exist_ok=True)
        (own_home / file).write_text(f'{{"answer": "{canary}"}}\n')
    waiting = [sys.executable, "-c", "import time; time.sleep(600)", canary]
    with subprocess.Popen(waiting, env={**os.environ, "ANSWER_KEY": canary}) as other:
        yield canary
        other.kill()


def fingerprint(folder: Path) -> dict[str, str]:
    """The content of every file."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


def question(cli: RealCli, stub: StubServer, mode: Mode, case: str, place: Path, home: Path, key: str) -> Asked:
    """Ask one question in a workspace of its own, beside those of the others."""
    environ = cli.environ(stub.url, home) | {"ANSWER_KEY": key}
    if case == "refuse-401" and cli.name == "cursor":
        environ["CURSOR_API_KEY"] = "refused"  # its backend refuses before it hears the question
    work, private = place / secrets.token_hex(4), place / secrets.token_hex(4)
    work.mkdir()
    private.mkdir()
    (work / "prices.csv").write_text("date,close\n2020-01-02,10.5\n")
    # More than one argument can hold; the programs must take it from stdin.
    padding = "." * 200_000 if case in ("plain", "quiet") else ""
    mark = f"e2e-{secrets.token_hex(8)}"
    reply = ask(
        cli.backend,
        Ask(
            prompt=f"[case {case}] {padding} What is 6*7? End with <<< X >>>.", system=SYSTEM, mode=mode,
            model=cli.model, workspace=work, private=private, timeout=HANG if case == "hang" else 150.0,
            environ=environ,
        ),
        mark=mark,
    )  # fmt: skip
    served = stub.script.of(case)
    return Asked(reply, mark, served[-1].turn.results if served else ())


@pytest.mark.parametrize("name", NAMES)
def test_a_real_agent_with_and_without_tools(
    name: str,
    real_clis: Mapping[str, RealCli],
    stubs: Callable[..., StubServer],
    own_home: Path,
    tmp_path: Path,
    key: str,
) -> None:
    cli, stub = real_clis[name], stubs(LOOKS)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "answers.txt").write_text(key)
    before = fingerprint(own_home)
    jobs: list[tuple[Mode, str]] = [("no-tools", case) for case in WITHOUT]
    jobs += [("with-tools", case) for case in WITH]
    # The slow ones first: they wait, the others compute.
    jobs.sort(key=lambda job: not job[1].startswith(("refuse", "hang")))
    with ThreadPoolExecutor(5) as pool:
        futures = {case: pool.submit(question, cli, stub, mode, case, tmp_path, own_home, key) for mode, case in jobs}
        asked = {case: future.result() for case, future in futures.items()}

    check_answers(name, asked, stub)
    check_attempted_tool(name, asked["forced"], stub)
    check_errors(name, asked, stub)
    check_key_is_out_of_reach(asked, key)
    assert fingerprint(own_home) == before
    for one in asked.values():
        assert process.marked(one.mark) == set()
    for served in stub.script.served:
        if name != "cursor" and served.turn.case in WITHOUT:
            assert served.turn.tools == ()
        if served.turn.text:
            assert SYSTEM in served.turn.text
            assert key not in served.turn.text


LEAK = "SETTINGCANARY"
SETTINGS = {
    ".claude/CLAUDE.md": LEAK,
    ".claude/settings.json": json.dumps({"env": {"LEAK": LEAK}, "outputStyle": LEAK}),
    ".claude.json": json.dumps({"mcpServers": {LEAK: {"command": "/bin/false"}}}),
    ".codex/AGENTS.md": LEAK,
    ".codex/config.toml": f'developer_instructions = "{LEAK}"\n[mcp_servers.{LEAK}]\ncommand = "/bin/false"\n',
    ".codex/auth.json": json.dumps({"OPENAI_API_KEY": "sk-dummy-of-the-user"}),
    ".copilot/copilot-instructions.md": LEAK,
    ".copilot/mcp-config.json": json.dumps({"mcpServers": {LEAK: {"type": "local", "command": "/bin/false"}}}),
    ".cursor/rules/all.mdc": f"---\nalwaysApply: true\n---\n{LEAK}\n",
    ".cursor/mcp.json": json.dumps({"mcpServers": {LEAK: {"command": "/bin/false"}}}),
    "AGENTS.md": LEAK,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_users_settings_neither_leak_in_nor_change(
    name: str, real_clis: Mapping[str, RealCli], stubs: Callable[..., StubServer], own_home: Path, tmp_path: Path
) -> None:
    cli, stub = real_clis[name], stubs({"private": "", "own": ""})
    for file, content in SETTINGS.items():
        (own_home / file).parent.mkdir(parents=True, exist_ok=True)
        (own_home / file).write_text(content)
    before = fingerprint(own_home)
    for case in ("private", "own"):
        environ = cli.environ(stub.url, own_home)
        if case == "own":
            environ.pop("OPENAI_API_KEY", None)  # then Codex has nothing but the user's login
        work, private = tmp_path / f"{case}-work", tmp_path / f"{case}-private"
        work.mkdir()
        private.mkdir()
        reply = ask(
            cli.backend,
            Ask(
                prompt=f"[case {case}] What is 6*7?", system=SYSTEM, mode="with-tools", model=cli.model, timeout=150.0,
                workspace=work, private=private, environ=environ, own_config=case == "own",
            ),
        )  # fmt: skip
        assert reply.error is None
        assert reply.text == "<<< C >>>"
        assert len(stub.script.of(case)) == 1
        assert LEAK not in stub.script.of(case)[0].turn.text
        after = fingerprint(own_home)
        if case == "private" or name == "codex":
            assert after == before
        else:
            # With the user's own folder the program notes what it always does, but changes none of the settings.
            written = {".claude.json", ".copilot/config.json"}
            assert {file: after[file] for file in before if file not in written} == {
                file: before[file] for file in before if file not in written
            }


@pytest.mark.parametrize("name", NAMES)
def test_the_pinned_versions_are_found(name: str, real_clis: Mapping[str, RealCli], own_home: Path) -> None:
    cli = real_clis[name]
    found = look_at(cli.backend, cli.environ("http://127.0.0.1:9", own_home))
    assert found.found
    assert VERSIONS[name] in (found.version or "")
    assert (found.login or "").startswith("key in ")


def expected_usage(name: str, tokens: Tokens) -> Usage:
    """What an agent reports of what the stub served."""
    usage = Usage(
        input=tokens.fresh, cache_read=tokens.read, cache_write=tokens.written, output=tokens.output,
        reasoning=tokens.reasoning,
    )  # fmt: skip
    if name == "claude":
        return replace(usage, reasoning=None)
    if name == "copilot":
        # The protocol has no word for what a cache took up.
        return replace(usage, input=tokens.fresh + tokens.written, cache_write=0)
    return usage


def check_answers(name: str, asked: Mapping[str, Asked], stub: StubServer) -> None:
    """The answers, models, sums of tokens and tool calls of the questions that went well."""
    for case in ("plain", *WITH):
        reply = asked[case].reply
        assert reply.error is None, (case, reply.error)
        assert reply.text == ("<<< B >>>" if case == "shell" else "<<< C >>>"), case
        assert reply.session_id
        assert reply.model == {"claude": "claude-sonnet-4-5", "codex": "gpt-5.5"}.get(name, "stub-model")
        usage = reply.usage
        if name == "claude":  # this protocol doesn't tell thinking apart: unknown, or none, by the program's version
            assert usage.reasoning in (None, 0)
            usage = replace(usage, reasoning=None)
        assert usage == expected_usage(name, stub.script.tokens(case)), case
        command = LOOKS.get(case, "print(6*7)" if case == "shell" else "")
        assert len(reply.tool_calls) == bool(command), case
        for call in reply.tool_calls:
            assert call.name in ("Bash", "exec_command", "bash", "shell")
            assert call.executed is True
            assert command.split(" ")[0] in call.arguments
    assert "42" in asked["shell"].results[0]
    cost = asked["plain"].reply.cost
    assert (cost is not None and cost.source == "reported") == (name == "claude")


def check_attempted_tool(name: str, asked: Asked, stub: StubServer) -> None:
    """A tool that was called where none was allowed shows, and ended the run where the stream tells in time."""
    assert asked.reply.tool_calls
    assert "6*7" in asked.reply.tool_calls[0].arguments
    if name in ("claude", "codex", "copilot"):
        assert not any("42" in result for one in stub.script.of("forced") for result in one.turn.results)
        assert asked.reply.tool_calls[0].executed is not True


def check_errors(name: str, asked: Mapping[str, Asked], stub: StubServer) -> None:
    """Kinds and statuses of the provider's errors; a hang ends at the limit."""
    for case, kind, status in (
        ("refuse-401", "auth", 401), ("refuse-429", "rate_limit", 429), ("refuse-500", "overloaded", 500),
    ):  # fmt: skip
        reply = asked[case].reply
        assert reply.text == ""
        assert reply.error is not None
        assert reply.error.kind == kind
        assert reply.error.http_status == (None if (name, status) == ("cursor", 401) else status)
        assert reply.usage == Usage()
        # Retries are ours, where the program lets us say so.
        assert 1 <= len(stub.script.of(case)) <= {"claude": 1, "codex": 1, "copilot": 6, "cursor": 12}[name], case
    hung = asked["hang"].reply
    assert hung.timed_out
    assert hung.text == ""
    assert hung.seconds < HANG + 10
    assert stub.script.of("hang")


def check_key_is_out_of_reach(asked: Mapping[str, Asked], key: str) -> None:
    """The looks were had, saw what they may see, and did not see the key."""
    facts = asked["shell"].reply.isolation
    for case, command in LOOKS.items():
        if not command:
            continue
        (result,) = asked[case].results
        assert "LOOKED" in result, (case, result[:500])
        reachable = facts["fs"] != "hidden" and case == "look-everywhere"
        reachable |= facts["pids"] != "hidden" and case in ("look-environment", "look-processes")
        reachable |= facts["fs"] != "hidden" and case == "look-around"
        if not reachable:
            assert key not in result, case
    assert "prices.csv" in asked["look-around"].results[0]
    assert "PATH=" in asked["look-environment"].results[0]
    if os.environ.get("BENCH_REAL_CLI") == "require":
        assert facts["fs"] == facts["pids"] == "hidden"
