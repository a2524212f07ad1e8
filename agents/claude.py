"""Claude Code: ``claude -p`` with a stream of JSON lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from backtrader_bench.agents import clis, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.agents.streams import Event
from backtrader_bench.attempts import Cost, Failure, ToolCall, Usage

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
# Retries are ours; a stalled stream asked a second time would be paid for twice.
SETTINGS = {
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "DISABLE_AUTOUPDATER": "1",
}


def find(environ: Mapping[str, str]) -> Path | None:
    """``BENCH_CLAUDE``, else ``claude`` on the PATH; of an npm installation the native program."""
    system, machine = clis.target()
    native = f"@anthropic-ai/claude-code-{system}-{machine}{'-musl' if clis.musl() else ''}/claude"
    return clis.find_program(environ, "BENCH_CLAUDE", ("claude",), [native])


def login(environ: Mapping[str, str]) -> str:
    """A key in the environment, or a login of the user's own."""
    return clis.login_state(environ, KEYS, [_own_home(environ) / ".credentials.json"])


def _own_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("CLAUDE_CONFIG_DIR") or clis.home(environ) / ".claude")


def command(ask: Ask, program: Path) -> Command:
    """The prompt goes in on stdin: the options for tools would swallow it as an argument."""
    system = clis.write(ask.private / "system.txt", ask.system)
    tools = [""] if ask.mode == "no-tools" else ["Bash", "--allowedTools", "Bash"]
    argv = [
        str(program), "-p", "--output-format", "stream-json", "--verbose",
        *(["--model", ask.model] if ask.model else []),
        "--strict-mcp-config", "--setting-sources=", "--disable-slash-commands", "--no-session-persistence",
        "--system-prompt-file", str(system),
        # Without it the request carries more than our words; it knows no login but a key.
        *(["--bare"] if ask.environ.get("ANTHROPIC_API_KEY") and not ask.own_config else []),
        "--tools", *tools,
    ]  # fmt: skip
    env = clis.environment(ask, CLAUDE.allowed) | SETTINGS
    if not ask.own_config:
        env["CLAUDE_CONFIG_DIR"] = str(clis.folder(ask.private / "claude"))
    elif ask.environ.get("CLAUDE_CONFIG_DIR"):
        env["CLAUDE_CONFIG_DIR"] = ask.environ["CLAUDE_CONFIG_DIR"]
    return Command(
        argv=tuple(argv),
        stdin=ask.prompt.encode(),
        env=env,
        readable=clis.installation(program),
        writable=clis.own(ask, _own_home(ask.environ)),
    )


def parse(raw: Raw) -> Reply:
    """The normal form. The answer is the ``result`` event's, and only where that event says no error."""
    seen = list(streams.events(raw.stdout))
    result = next((event for event in reversed(seen) if event.get("type") == "result"), None)
    init = next((event for event in seen if event.get("type") == "system" and event.get("subtype") == "init"), {})
    ending: Event = result or {}
    refused = ending.get("stop_reason") == "refusal"
    error = None if refused else _error(raw, result, seen)
    return Reply(
        text="" if error or refused else streams.text(ending.get("result")),
        session_id=streams.name(ending.get("session_id") or init.get("session_id")),
        model=_model(init, ending),
        usage=_usage(ending),
        cost=_cost(ending),
        tool_calls=_tool_calls(seen),
        error=error,
        timed_out=raw.timed_out,
        refused=refused,
    )


def is_tool_call(line: bytes) -> bool:
    """An assistant's message with a block of type ``tool_use`` (or one that the provider's server runs)."""
    if b"tool_use" not in line:
        return False
    return any(True for _ in _calls(streams.decoded(line) or {}))


def _calls(event: Event) -> list[Event]:
    if event.get("type") != "assistant":
        return []
    blocks = streams.items(streams.mapping(event.get("message")).get("content"))
    return [block for block in blocks if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use")]


def _tool_calls(seen: list[Event]) -> tuple[ToolCall, ...]:
    results: dict[str, Event] = {}
    notes: dict[str, str] = {}
    for event in seen:
        if event.get("type") == "user":
            for block in streams.items(streams.mapping(event.get("message")).get("content")):
                if block.get("type") == "tool_result":
                    results[streams.text(block.get("tool_use_id"))] = block
            for note in streams.items(event.get("tool_result_meta")):
                notes[streams.text(note.get("id"))] = streams.text(note.get("non_execution_kind"))
        elif event.get("type") == "system" and event.get("subtype") == "permission_denied":
            notes[streams.text(event.get("tool_use_id"))] = "denied"
    calls = []
    for event in seen:
        for block in _calls(event):
            key = streams.text(block.get("id"))
            executed = _executed(results.get(key), notes.get(key, ""))
            calls.append(streams.tool_call(block.get("name"), block.get("input"), executed))
    return tuple(calls)


def _executed(result: Event | None, note: str) -> bool | None:
    if note:
        return False
    if result is None:
        return None
    words = str(result.get("content"))[:2000]
    refused = "<tool_use_error>" in words or "requires approval" in words or "was rejected" in words
    return not (result.get("is_error") is True and refused)


def _model(init: Event, result: Event) -> str | None:
    models = streams.mapping(result.get("modelUsage"))
    return streams.name(init.get("model")) or next((streams.text(key) for key in models), None)


def _usage(result: Event) -> Usage:
    """Of the whole run, as single messages state placeholders. An error before any reply states zeros: unknown."""
    usage = streams.mapping(result.get("usage"))
    models = streams.items(list(streams.mapping(result.get("modelUsage")).values()))
    if not models and not any(streams.count(value) for value in usage.values()):
        return Usage()
    thinking = streams.count(streams.mapping(usage.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(
        input=streams.count(usage.get("input_tokens")),
        cache_read=streams.count(usage.get("cache_read_input_tokens")),
        cache_write=streams.count(usage.get("cache_creation_input_tokens")),
        output=streams.count(usage.get("output_tokens")),
        reasoning=thinking,
    )


def _cost(result: Event) -> Cost | None:
    usd = result.get("total_cost_usd")
    if not isinstance(usd, (int, float)) or isinstance(usd, bool) or not 0 < usd < 1e6:
        return None
    return Cost(usd=float(usd), source="reported")


def _error(raw: Raw, result: Event | None, seen: list[Event]) -> Failure | None:
    if raw.timed_out or raw.cancelled or result is None:
        retries = [event for event in seen if event.get("subtype") == "api_retry"]
        return streams.unended(raw, "claude", (streams.text(event.get("error")) for event in reversed(retries)))
    said = streams.text(result.get("result"))
    if result.get("is_error") is not False or result.get("subtype") != "success":
        listed = result.get("errors")
        told = "; ".join(streams.text(item) for item in listed) if isinstance(listed, list) else ""
        status = streams.count(result.get("api_error_status"))
        hint = streams.text(result.get("api_error")) or streams.text(result.get("api_error_type"))
        message = said or told or streams.text(result.get("subtype"))
        kind = None if status else streams.kind_of(None, f"{message} {hint}")
        return streams.failure(message, status=status, kind=kind)
    if raw.code != 0:
        return streams.unended(raw, "claude")
    return None


CLAUDE = Backend(
    name="claude",
    title="Claude Code",
    install="npm install -g @anthropic-ai/claude-code",
    no_tools_by='a switch of the program (--tools "": no tool is offered, a call to one is refused)',
    reports=frozenset({"tokens", "cost", "model"}),
    allowed=(*KEYS, "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL"),
    find=find,
    login=login,
    command=command,
    parse=parse,
    is_tool_call=is_tool_call,
)
