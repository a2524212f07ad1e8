"""Cursor, by its Python SDK (in a child process of ours) and by its ``agent`` program."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backtrader_bench.agents import clis, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.agents.streams import Event
from backtrader_bench.attempts import Failure, ToolCall, Usage
from backtrader_bench.errors import UsageError

KEY = "CURSOR_API_KEY"
CHILD = Path(__file__).with_name("cursor_child.py")
ENDPOINTS = ("CURSOR_BACKEND_URL", "CURSOR_WEBSITE_URL")
# The workspace's own rules for the program, which has no switch that takes its tools away.
DENY = {"permissions": {"allow": [], "deny": ["Shell(**)", "Read(**)", "Write(**)", "WebFetch(**)", "Mcp(**)"]}}


# -- the SDK ----------------------------------------------------------------------------------------------------------


def find(environ: Mapping[str, str]) -> Path | None:
    """The interpreter that has cursor-sdk: ``BENCH_CURSOR``, else this one."""
    if environ.get("BENCH_CURSOR"):
        return clis.find_program(environ, "BENCH_CURSOR", (), resolve=False)
    return Path(sys.executable) if importlib.util.find_spec("cursor_sdk") else None


def check(model: str | None) -> None:
    """The SDK has no default. UsageError."""
    if model is None:
        raise UsageError("cursor has no model of its own choice: name one, such as cursor:composer-2")


def login(environ: Mapping[str, str]) -> str:
    """A key in the environment; the SDK knows no other login."""
    return clis.login_state(environ, [KEY], [])


def command(ask: Ask, program: Path) -> Command:
    """The child gets its orders as JSON on stdin; the key stays in its environment."""
    env = clis.environment(ask, CURSOR.allowed)
    if not ask.own_config:
        env["CURSOR_DATA_DIR"] = str(clis.folder(ask.private / "cursor"))
    orders: dict[str, Any] = {
        "prompt": clis.whole_prompt(ask),
        "model": ask.model,
        "workspace": str(ask.workspace),
        "tools": [] if ask.mode == "no-tools" else None,
    }
    return Command(
        argv=(str(program), "-I", str(CHILD)),
        stdin=json.dumps(orders).encode(),
        env=env,
        readable=(CHILD, *clis.installation(program), program.resolve().parent.parent),
        writable=clis.own(ask, clis.home(ask.environ) / ".cursor"),
    )


def parse(raw: Raw) -> Reply:
    """The normal form of the child's stream: the SDK's messages and, last, its result."""
    seen = list(streams.events(raw.stdout))
    result = next((event for event in reversed(seen) if _is_result(event)), None)
    ending: Event = result or {}
    error = _error(raw, result, seen)
    return Reply(
        text="" if error else streams.text(ending.get("result")),
        session_id=next((streams.name(event.get("agent_id")) for event in seen if event.get("agent_id")), None),
        model=streams.name(streams.mapping(ending.get("model")).get("id")),
        usage=_usage(ending),
        tool_calls=_tool_calls(seen),
        error=error,
        timed_out=raw.timed_out,
    )


def is_tool_call(line: bytes) -> bool:
    """A message of type ``tool_call``."""
    return (streams.decoded(line) or {}).get("type") == "tool_call"


def _is_result(event: Event) -> bool:
    return "RESULT" in (event.get("type"), event.get("cls"))


def _tool_calls(seen: list[Event]) -> tuple[ToolCall, ...]:
    """One call an id, as it was last reported; a result means that it ran."""
    latest: dict[str, Event] = {}
    for event in seen:
        if event.get("type") == "tool_call":
            latest[streams.text(event.get("call_id"))] = event
    done = {"completed": True, "error": None}
    return tuple(
        streams.tool_call(event.get("name"), event.get("args"), done.get(streams.text(event.get("status"))))
        for event in latest.values()
    )


def _usage(result: Event) -> Usage:
    """Its input is what no cache served; ``totalTokens`` means something else in each version and is left alone."""
    usage = streams.mapping(result.get("usage"))

    def part(*names: str) -> int | None:
        return next((streams.count(usage[name]) for name in names if name in usage), None)

    return Usage(
        input=part("inputTokens", "input_tokens"),
        cache_read=part("cacheReadTokens", "cache_read_tokens"),
        cache_write=part("cacheWriteTokens", "cache_write_tokens"),
        output=part("outputTokens", "output_tokens"),
        reasoning=part("reasoningTokens", "reasoning_tokens"),
    )


def _error(raw: Raw, result: Event | None, seen: list[Event]) -> Failure | None:
    said = [streams.text(event.get("message")) for event in seen if event.get("type") == "status"]
    if raw.timed_out or raw.cancelled or result is None:
        return streams.unended(raw, "cursor-sdk", reversed(said))
    if result.get("status") != "finished":
        told = streams.mapping(result.get("error"))
        message = streams.text(result.get("error_message")) or streams.text(told.get("message"))
        return streams.failure(message or f"the run ended as {streams.text(result.get('status')) or 'unknown'}")
    return streams.unended(raw, "cursor-sdk") if raw.code != 0 else None


CURSOR = Backend(
    name="cursor",
    title="Cursor (Python SDK)",
    install="pip install 'backtrader-bench[cursor]'",
    no_tools_by="the vendor's server (the request says that no tool is wanted; the program itself would run one)",
    reports=frozenset({"tokens", "model"}),
    allowed=(KEY, *ENDPOINTS),
    check=check,
    find=find,
    version_argv=("-I", "-c", "from importlib.metadata import version as v; print('cursor-sdk', v('cursor-sdk'))"),
    login=login,
    command=command,
    parse=parse,
    is_tool_call=is_tool_call,
)


# -- the agent program ------------------------------------------------------------------------------------------------


def find_cli(environ: Mapping[str, str]) -> Path | None:
    """``BENCH_CURSOR_CLI``, else ``cursor-agent`` or ``agent`` on the PATH."""
    return clis.find_program(environ, "BENCH_CURSOR_CLI", ("cursor-agent", "agent"))


def login_cli(environ: Mapping[str, str]) -> str:
    """A key in the environment, or a login of the user's own."""
    config = Path(environ.get("XDG_CONFIG_HOME") or clis.home(environ) / ".config")
    return clis.login_state(environ, [KEY], [config / "cursor" / "auth.json"])


def command_cli(ask: Ask, program: Path) -> Command:
    """Without tools there are only the workspace's rules; with tools, ``--force`` answers what it would ask."""
    env = clis.environment(ask, CURSOR_CLI.allowed)
    if not ask.own_config:
        env["CURSOR_DATA_DIR"] = str(clis.folder(ask.private / "cursor"))
    if ask.mode == "no-tools":
        clis.write(ask.workspace / ".cursor" / "cli.json", json.dumps(DENY))
    argv = [
        str(program), "-p", "--output-format", "stream-json", "--trust", "--workspace", str(ask.workspace),
        *(["--model", ask.model] if ask.model else []), *([] if ask.mode == "no-tools" else ["--force"]),
    ]  # fmt: skip
    return Command(
        argv=tuple(argv),
        stdin=clis.whole_prompt(ask).encode(),
        env=env,
        readable=(program.parent,),
        writable=clis.own(ask, clis.home(ask.environ) / ".cursor", clis.home(ask.environ) / ".config" / "cursor"),
    )


def parse_cli(raw: Raw) -> Reply:
    """The normal form; some failures leave nothing but words on stderr."""
    seen = list(streams.events(raw.stdout))
    result = next((event for event in reversed(seen) if event.get("type") == "result"), None)
    ending: Event = result or {}
    init = next((event for event in seen if event.get("type") == "system"), {})
    error = _error_cli(raw, result)
    return Reply(
        text="" if error else streams.text(ending.get("result")),
        session_id=streams.name(ending.get("session_id") or init.get("session_id")),
        model=streams.name(init.get("model")),
        usage=_usage(ending),
        tool_calls=_tool_calls_cli(seen),
        error=error,
        timed_out=raw.timed_out,
    )


def _tool_calls_cli(seen: list[Event]) -> tuple[ToolCall, ...]:
    latest: dict[str, ToolCall] = {}
    for event in seen:
        if event.get("type") != "tool_call":
            continue
        call = streams.mapping(event.get("tool_call"))
        tool = next((key for key in call if key.endswith("ToolCall")), "unknown")
        body = streams.mapping(call.get(tool))
        outcome = streams.mapping(body.get("result"))
        executed = None if not outcome else not {"rejected", "permissionDenied", "denied"} & set(outcome)
        named = tool.removesuffix("ToolCall")
        latest[streams.text(event.get("call_id"))] = streams.tool_call(named, body.get("args"), executed)
    return tuple(latest.values())


def _error_cli(raw: Raw, result: Event | None) -> Failure | None:
    if raw.timed_out or raw.cancelled or result is None:
        return streams.unended(raw, "agent")
    if result.get("is_error") is not False:
        return streams.failure(streams.text(result.get("result")) or streams.last_words(raw.stderr))
    return streams.unended(raw, "agent") if raw.code != 0 else None


CURSOR_CLI = Backend(
    name="cursor-cli",
    title="Cursor (agent program)",
    install="curl https://cursor.com/install -fsS | bash",
    no_tools_by="deny rules in the workspace, the prompt and the watch on the stream (the program has no switch)",
    reports=frozenset({"tokens", "model"}),
    allowed=(KEY,),
    find=find_cli,
    login=login_cli,
    command=command_cli,
    parse=parse_cli,
    is_tool_call=is_tool_call,
)
