"""GitHub Copilot CLI: JSON lines on stdout, tokens in a file of their own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from filelock import FileLock

from backtrader_bench.agents import clis, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.agents.environment import DEFAULT_PATH
from backtrader_bench.agents.streams import Event
from backtrader_bench.attempts import Failure, ToolCall, Usage
from backtrader_bench.errors import MissingError

KEYS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN")
_NOT_RUN = ("does not exist", "denied", "not allowed", "rejected", "permission")


def find(environ: Mapping[str, str]) -> Path | None:
    """``BENCH_COPILOT``, else ``copilot`` on the PATH; of an npm installation the native program."""
    system, machine = clis.target()
    native = f"@github/copilot-{system}{'musl' if clis.musl() else ''}-{machine}/copilot"
    return clis.find_program(environ, "BENCH_COPILOT", ("copilot",), [native])


def login(environ: Mapping[str, str]) -> str:
    """A key in the environment, or a login of the user's own."""
    return clis.login_state(environ, KEYS, [_own_home(environ) / "config.json"])


def command(ask: Ask, program: Path) -> Command:
    """There is no option for a system prompt, so it goes before the question, both on stdin."""
    usage = ask.private / "usage.json"
    unpacked = _unpacked(str(program), program.stat().st_mtime_ns)
    env = clis.environment(ask, COPILOT.allowed, COPILOT_AUTO_UPDATE="false", COPILOT_PKG_CACHE_HOME=str(unpacked))
    if ask.own_config:
        env["COPILOT_HOME"] = str(_own_home(ask.environ))
    else:
        env["COPILOT_HOME"] = str(clis.folder(ask.private / "copilot"))
    argv = [
        str(program), "--output-format", "json", "--no-color", "--no-auto-update", "--no-custom-instructions",
        "--disable-builtin-mcps", "--no-ask-user", "--no-remote", "--stream", "off", "--log-level", "none",
        "--usage-output-file", str(usage), *(["--model", ask.model] if ask.model else []), "-C", str(ask.workspace),
        # Any name that no tool has will do; an empty one is ignored and leaves all of them.
        "--available-tools=none" if ask.mode == "no-tools" else "--allow-all",
    ]  # fmt: skip
    return Command(
        argv=tuple(argv),
        stdin=clis.whole_prompt(ask).encode(),
        env=env,
        collect={"usage": usage},
        # Without a login of its own the program takes that of GitHub's.
        readable=(*clis.installation(program), unpacked, *clis.own(ask, clis.home(ask.environ) / ".config" / "gh")),
        writable=clis.own(ask, _own_home(ask.environ)),
    )


@lru_cache(maxsize=4)
def _unpacked(program: str, changed: int) -> Path:
    """The folder that the program unpacks itself into (235 MB, some seconds), shared by all asks of this user.

    In a private home it would do so for every question.
    """
    name = hashlib.sha256(f"{program}\0{changed}".encode()).hexdigest()[:16]
    root = clis.folder(Path(tempfile.gettempdir()) / f"bench-copilot-{os.getuid()}")
    if root.is_symlink() or root.stat().st_uid != os.getuid() or root.stat().st_mode & 0o077:
        raise MissingError(f"{root} is not this user's alone; remove it")
    with FileLock(root / f"{name}.lock"), tempfile.TemporaryDirectory(prefix="bench-") as empty:
        env = {"PATH": DEFAULT_PATH, "HOME": empty, "COPILOT_AUTO_UPDATE": "false"}
        done = subprocess.run(
            [program, "--version"], capture_output=True, timeout=300, stdin=subprocess.DEVNULL, cwd=empty,
            env=env | {"COPILOT_PKG_CACHE_HOME": str(root / name)},
        )  # fmt: skip
    if done.returncode != 0:
        said = streams.one_line(streams.last_words(done.stderr))
        raise MissingError(f"{program} can't unpack itself into {root}: {said}")
    return root / name


def _own_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("COPILOT_HOME") or clis.home(environ) / ".copilot")


def parse(raw: Raw) -> Reply:
    """The normal form. The answer is the last message that asks for no tool."""
    seen = list(streams.events(raw.stdout))
    result = next((event for event in reversed(seen) if event.get("type") == "result"), None)
    messages = [data for kind, data in _data(seen) if kind == "assistant.message"]
    final = next((data for data in reversed(messages) if not streams.items(data.get("toolRequests"))), None)
    error = _error(raw, result, seen)
    metrics = streams.mapping((streams.decoded(raw.files.get("usage", b"")) or {}).get("modelMetrics"))
    return Reply(
        text=streams.text(final.get("content")) if final and not error else "",
        session_id=streams.name((result or {}).get("sessionId")),
        model=_model(seen, metrics),
        usage=_usage(metrics),
        tool_calls=_tool_calls(seen),
        error=error,
        timed_out=raw.timed_out,
    )


def is_tool_call(line: bytes) -> bool:
    """A message that asks for a tool, or the start of one, whether there is such a tool or not."""
    return bool(_tool_calls([streams.decoded(line) or {}]))


def _data(seen: list[Event]) -> list[tuple[str, Event]]:
    return [(streams.text(event.get("type")), streams.mapping(event.get("data"))) for event in seen]


def _tool_calls(seen: list[Event]) -> tuple[ToolCall, ...]:
    asked: dict[str, tuple[object, object]] = {}
    executed: dict[str, bool | None] = {}
    for kind, data in _data(seen):
        if kind == "assistant.message":
            for request in streams.items(data.get("toolRequests")):
                call = (request.get("name"), request.get("arguments"))
                asked.setdefault(streams.text(request.get("toolCallId")), call)
        elif kind == "tool.execution_start":
            asked.setdefault(streams.text(data.get("toolCallId")), (data.get("toolName"), data.get("arguments")))
        elif kind == "tool.execution_complete":
            executed[streams.text(data.get("toolCallId"))] = _executed(data)
    return tuple(streams.tool_call(tool, given, executed.get(key)) for key, (tool, given) in asked.items())


def _executed(data: Event) -> bool | None:
    if data.get("success") is True or streams.mapping(data.get("shellExecution")):
        return True
    said = streams.text(streams.mapping(data.get("error")).get("message"))
    return not any(words in said for words in _NOT_RUN) if said else None


def _model(seen: list[Event], metrics: Event) -> str | None:
    told = [data for kind, data in _data(seen) if kind in ("assistant.message", "model.call_start")]
    named = (streams.text(data.get("model")) for data in reversed(told))
    return next((model for model in named if model), None) or next((streams.text(key) for key in metrics), None)


def _usage(metrics: Event) -> Usage:
    """Summed over models; its input counts in what caches served and took up. A count that one lacks is unknown."""
    usages = [streams.mapping(entry.get("usage")) for entry in streams.items(list(metrics.values()))]

    def total(field: str) -> int | None:
        counts = [streams.count(usage.get(field)) for usage in usages]
        known = [value for value in counts if value is not None]
        return sum(known) if counts and len(known) == len(counts) else None

    read, written = total("cacheReadTokens"), total("cacheWriteTokens")
    return Usage(
        input=streams.uncached(total("inputTokens"), read, written),
        cache_read=read,
        cache_write=written,
        output=total("outputTokens"),
        reasoning=total("reasoningTokens"),
    )


def _error(raw: Raw, result: Event | None, seen: list[Event]) -> Failure | None:
    told: Event | None = None
    failed: list[str] = []
    for kind, data in _data(seen):
        if kind == "session.error":
            told = data
        elif kind == "model.call_failure":
            failed.append(f"HTTP {data.get('statusCode')}: {streams.text(data.get('errorMessage'))}")
        elif kind == "assistant.message":
            told, failed = None, []  # it got over what was before
    if raw.timed_out or raw.cancelled:
        return streams.unended(raw, "copilot", reversed(failed))
    if told is not None:
        message = streams.text(told.get("message")) or streams.text(told.get("errorType"))
        return streams.failure(message, status=streams.count(told.get("statusCode")))
    if result is None or raw.code != 0 or result.get("exitCode") != 0:
        return streams.unended(raw, "copilot", reversed(failed))
    return None


COPILOT = Backend(
    name="copilot",
    title="GitHub Copilot CLI",
    install="npm install -g @github/copilot",
    no_tools_by="a switch of the program (--available-tools: none is offered, a call to one is refused)",
    reports=frozenset({"tokens", "model"}),
    allowed=(*KEYS, "COPILOT_PROVIDER_*", "COPILOT_MODEL", "COPILOT_OFFLINE", "GH_HOST", "COPILOT_GH_HOST"),
    find=find,
    login=login,
    command=command,
    parse=parse,
    is_tool_call=is_tool_call,
)
