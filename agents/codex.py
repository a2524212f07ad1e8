"""Codex: ``codex exec --json``, with its session file, which alone tells of calls to tools that were taken away."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from backtrader_bench.agents import clis, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.agents.environment import DEFAULT_PATH
from backtrader_bench.agents.streams import Event
from backtrader_bench.attempts import Failure, ToolCall, Usage
from backtrader_bench.errors import MissingError

KEY = "CODEX_API_KEY"
KEYS = (KEY, "OPENAI_API_KEY")
ENDPOINT = "https://api.openai.com/v1"
NO_TOOLS_FEATURES = (
    "shell_tool", "unified_exec", "view_image", "multi_agent", "goals", "tool_suggest", "apps", "plugins",
    "image_generation", "hooks", "skill_search", "sleep_tool",
)  # fmt: skip
NO_TOOLS_SETTINGS = ("tools.experimental_request_user_input.enabled=false", "tools.update_plan.enabled=false")
# What would otherwise be told to the model about this machine, its user and the program's own ways.
QUIET = (
    'web_search="disabled"', "skills.include_instructions=false", "include_permissions_instructions=false",
    "include_environment_context=false", "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false", "project_doc_max_bytes=0",
)  # fmt: skip
PLAIN_ITEMS = frozenset({"agent_message", "reasoning", "error"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_ARGUMENTS = ("command", "query", "server", "tool", "changes", "arguments")
_RAN = {"completed": True, "failed": True, "declined": False}
_HIGH_DEMAND = "experiencing high demand"


def find(environ: Mapping[str, str]) -> Path | None:
    """``BENCH_CODEX``, else ``codex`` on the PATH; of an npm installation the native program."""
    system, machine = clis.target()
    native = f"@openai/codex-{system}-{machine}/vendor/*/bin/codex"
    return clis.find_program(environ, "BENCH_CODEX", ("codex",), [native, "@openai/codex/vendor/*/bin/codex"])


def login(environ: Mapping[str, str]) -> str:
    """A key in the environment, or a login of the user's own."""
    return clis.login_state(environ, KEYS, [_own_home(environ) / "auth.json"])


def command(ask: Ask, program: Path) -> Command:
    """The session file is kept in a private home, in both modes: it names model and tool calls."""
    home = clis.folder(ask.private / "codex")
    system = clis.write(ask.private / "system.txt", ask.system)
    settings = [f"model_instructions_file={_toml(str(system))}", *QUIET]
    env = clis.environment(ask, CODEX.allowed) | {"CODEX_HOME": str(home)}
    env.pop(KEY, None)
    if ask.own_config:
        _borrow_login(ask.environ, home)
        if ask.environ.get("OPENAI_BASE_URL"):
            settings.append(f"openai_base_url={_toml(ask.environ['OPENAI_BASE_URL'])}")
    else:
        settings += _provider(ask.environ)
        env[KEY] = ask.environ.get(KEY) or ask.environ.get("OPENAI_API_KEY") or ""
    argv = [
        str(program), "exec", "--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules",
        "--strict-config", "--color", "never", "--disable", "unbounded_connection_retries",
        *(["-m", ask.model] if ask.model else []), "-C", str(ask.workspace),
    ]  # fmt: skip
    if ask.mode == "no-tools":
        settings += [*NO_TOOLS_SETTINGS, f"model_catalog_json={_toml(str(_toolless(program, ask.private, ask.model)))}"]
        argv += ["-s", "read-only"]
        for feature in NO_TOOLS_FEATURES:
            argv += ["--disable", feature]
    else:
        argv.append("--dangerously-bypass-approvals-and-sandbox")
    for setting in settings:
        argv += ["-c", setting]
    return Command(
        argv=(*argv, "-"),
        stdin=ask.prompt.encode(),
        env=env,
        collect={"sessions": home / "sessions"},
        readable=clis.installation(program),
        writable=clis.own(ask, (_own_home(ask.environ) / "auth.json").resolve()),
    )


def _own_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("CODEX_HOME") or clis.home(environ) / ".codex")


def _borrow_login(environ: Mapping[str, str], home: Path) -> None:
    """The user's login file, linked: a token that is renewed meanwhile is then renewed for the user, too."""
    login_file = _own_home(environ) / "auth.json"
    link = home / "auth.json"
    if login_file.is_file() and not link.is_symlink():
        link.symlink_to(login_file.resolve())


def _provider(environ: Mapping[str, str]) -> list[str]:
    """An endpoint of our own naming: the built-in one can't be told to leave retries to us."""
    base = environ.get("OPENAI_BASE_URL") or ENDPOINT
    provider = (
        f'{{name="bench",base_url={_toml(base)},wire_api="responses",env_key="{KEY}",'
        "request_max_retries=0,stream_max_retries=0}"
    )
    return ['model_provider="bench"', f"model_providers.bench={provider}"]


def _toml(value: str) -> str:
    """A TOML string; JSON's escapes are a part of TOML's."""
    return json.dumps(value, ensure_ascii=False)


def _toolless(program: Path, private: Path, model: str | None) -> Path:
    """A model catalogue in which no model has a tool of its own. A model it doesn't know is added."""
    catalogue = json.loads(_catalogue(str(program), program.stat().st_mtime_ns))
    models = catalogue["models"]
    if model and all(entry.get("slug") != model for entry in models):
        models.append(models[0] | {"slug": model, "display_name": model})
    for entry in models:
        entry |= {
            "shell_type": "disabled", "apply_patch_tool_type": None, "experimental_supported_tools": [],
            "supports_search_tool": False, "model_messages": None,
        }  # fmt: skip
        entry.pop("tool_mode", None)
        entry.pop("multi_agent_version", None)
    return clis.write(private / "catalogue.json", json.dumps(catalogue))


@lru_cache(maxsize=4)
def _catalogue(program: str, _changed: int) -> bytes:
    """The catalogue that the program ships with; asked once a process and version."""
    with tempfile.TemporaryDirectory(prefix="bench-") as empty:
        done = subprocess.run(
            [program, "debug", "models", "--bundled"], capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
            env={"PATH": DEFAULT_PATH, "HOME": empty, "CODEX_HOME": empty},
        )  # fmt: skip
    if done.returncode != 0 or not streams.items((streams.decoded(done.stdout) or {}).get("models")):
        said = streams.one_line(streams.last_words(done.stderr))
        raise MissingError(f"{program} can't list its models, which no-tools mode needs: {said}")
    return done.stdout


def parse(raw: Raw) -> Reply:
    """The normal form. The answer is the last ``agent_message`` of a turn that was completed."""
    seen = list(streams.events(raw.stdout))
    session = list(streams.events(raw.files.get("sessions", b"")))
    ending = next((event for event in reversed(seen) if event.get("type") in ("turn.completed", "turn.failed")), None)
    error = _error(raw, ending, seen)
    messages = [item for event, item in _items(seen) if item.get("type") == "agent_message"]
    started = next((event for event in seen if event.get("type") == "thread.started"), {})
    return Reply(
        text=streams.text(messages[-1].get("text")) if messages and not error else "",
        session_id=streams.name(started.get("thread_id")),
        model=_model(session),
        usage=_usage(ending or {}, session),
        tool_calls=_session_calls(session) or _item_calls(seen) or _refused_calls(raw.stderr),
        error=error,
        timed_out=raw.timed_out,
    )


def is_tool_call(line: bytes) -> bool:
    """An item that is neither words nor thoughts nor an error. Calls to removed tools show in the session file only."""
    event = streams.decoded(line) or {}
    return any(item.get("type") not in PLAIN_ITEMS for _, item in _items([event]))


def _items(seen: list[Event]) -> list[tuple[Event, Event]]:
    named = [(event, streams.mapping(event.get("item"))) for event in seen if "item" in event]
    return [(event, item) for event, item in named if item]


def _item_calls(seen: list[Event]) -> tuple[ToolCall, ...]:
    """One call an item, as it was last reported."""
    latest: dict[str, Event] = {}
    for _, item in _items(seen):
        if item.get("type") not in PLAIN_ITEMS:
            latest[streams.text(item.get("id"))] = item
    return tuple(
        streams.tool_call(
            item.get("type"),
            {key: value for key, value in item.items() if key in _ARGUMENTS},
            _RAN.get(streams.text(item.get("status"))),
        )
        for item in latest.values()
    )


def _payloads(session: list[Event], kind: str) -> list[Event]:
    return [streams.mapping(event.get("payload")) for event in session if event.get("type") == kind]


def _session_calls(session: list[Event]) -> tuple[ToolCall, ...]:
    responses = _payloads(session, "response_item")
    outputs = {streams.text(item.get("call_id")): item for item in responses if item.get("type") in _OUTPUTS}
    calls = []
    for item in responses:
        if item.get("type") not in _CALLS:
            continue
        output = outputs.get(streams.text(item.get("call_id")))
        said: Any = output.get("output") if output else None
        executed = None if output is None else not str(said).lstrip("{'\"").startswith("unsupported")
        arguments = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
        calls.append(streams.tool_call(item.get("name") or item.get("type"), arguments, executed))
    return tuple(calls)


def _refused_calls(stderr: bytes) -> tuple[ToolCall, ...]:
    """Calls to removed tools, from the program's log: what is left of them where no session file is."""
    marker = "unsupported call: "
    lines = stderr.decode("utf-8", "replace").splitlines()
    return tuple(streams.tool_call(line.split(marker, 1)[1].strip(), None, False) for line in lines if marker in line)


def _model(session: list[Event]) -> str | None:
    """Of the main thread, which comes first; agents that it starts have session files of their own."""
    return next((streams.name(turn.get("model")) for turn in _payloads(session, "turn_context")), None)


def _usage(ending: Event, session: list[Event]) -> Usage:
    """Of the turn; of one that failed or was ended, what the session file has counted until then.

    Its input counts in what the cache served and what it took up.
    """
    counted = [event for event in _payloads(session, "event_msg") if event.get("type") == "token_count"]
    totals = [streams.mapping(streams.mapping(event.get("info")).get("total_token_usage")) for event in counted]
    usage = streams.mapping(ending.get("usage")) or next((total for total in reversed(totals) if total), {})
    read = streams.count(usage.get("cached_input_tokens"))
    written = streams.count(usage.get("cache_write_input_tokens"))
    return Usage(
        input=streams.uncached(streams.count(usage.get("input_tokens")), read, written),
        cache_read=read,
        cache_write=written,
        output=streams.count(usage.get("output_tokens")),
        reasoning=streams.count(usage.get("reasoning_output_tokens")),
    )


def _error(raw: Raw, ending: Event | None, seen: list[Event]) -> Failure | None:
    said = [streams.text(event.get("message")) for event in seen if event.get("type") == "error"]
    if ending is not None and ending.get("type") == "turn.failed" and not raw.timed_out:
        message = streams.text(streams.mapping(ending.get("error")).get("message")) or next(reversed(said), "")
        return streams.failure(message, status=500 if _HIGH_DEMAND in message else None)
    if raw.timed_out or raw.cancelled or ending is None or raw.code != 0:
        return streams.unended(raw, "codex", reversed(said))
    return None


CODEX = Backend(
    name="codex",
    title="Codex",
    install="npm install -g @openai/codex",
    no_tools_by="switches of the program and a catalogue of models without tools (none is offered, a call is refused)",
    reports=frozenset({"tokens", "model"}),
    allowed=(KEY,),
    find=find,
    login=login,
    command=command,
    parse=parse,
    is_tool_call=is_tool_call,
)
