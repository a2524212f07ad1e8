"""``api:openai/MODEL`` and ``api:anthropic/MODEL``: one chat completion and no tools, the honest no-tools baseline.

Goes through the vendors' own SDKs (extra ``api``); their variables (``OPENAI_BASE_URL``, ``ANTHROPIC_BASE_URL``) lead
to compatible endpoints. Settings follow the model: ``api:openai/gpt-x?temperature=0&max_completion_tokens=20000``.
"""

from __future__ import annotations

import importlib.util
import site
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from backtrader_bench.agents import environment, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.attempts import ErrorKind, Failure, ToolCall, Usage
from backtrader_bench.errors import MissingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CHILD = Path(__file__).with_name("api_child.py")
INSTALL = "pip install 'backtrader-bench[api]', then set OPENAI_API_KEY or ANTHROPIC_API_KEY"
PATIENCE = 30.0
"""Seconds that the SDK waits beyond our deadline: the wall clock is ours."""

VERSIONS = "import importlib.metadata as m; print(*(f'{d.name} {d.version}' for n in ('anthropic', 'openai')" \
    " for d in m.distributions(name=n)), sep=', ')"


@dataclass(frozen=True)
class Provider:
    """A protocol."""

    keys: tuple[str, ...]
    """Variables that hold a key."""
    allowed: tuple[str, ...]
    """Further variables of its SDK."""
    settings: Mapping[str, Callable[[str], Any]]
    """What may follow the model, and how it is read."""


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "enabled", "budget_tokens": int(text)}


PROVIDERS = {
    "openai": Provider(
        ("OPENAI_API_KEY",), ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
        {"max_tokens": int, "max_completion_tokens": int, "temperature": float, "top_p": float, "seed": int,
         "reasoning_effort": str},
    ),
    "anthropic": Provider(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), ("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"),
        {"max_tokens": int, "temperature": float, "top_p": float, "thinking": _thinking},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """Whom to ask for what."""

    provider: str
    model: str
    settings: Mapping[str, Any]


def target(text: str | None) -> Target:
    """``PROVIDER/MODEL[?NAME=VALUE&...]``; UsageError says what is wrong with another."""
    name, _, rest = (text or "").partition("/")
    model, _, query = rest.partition("?")
    if name not in PROVIDERS or not model:
        raise UsageError(f"write api:openai/MODEL or api:anthropic/MODEL, not {('api:' + (text or ''))[:80]!r}")
    known, settings = PROVIDERS[name].settings, {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in known:
            raise UsageError(f"api:{name} has no setting {key[:40]!r}; there are {', '.join(known)}")
        try:
            settings[key] = known[key](value)
        except ValueError:
            raise UsageError(f"api:{name}: {key} can't be {value[:40]!r}") from None
    return Target(name, model, settings)


def _has_sdk(provider: str) -> bool:
    return importlib.util.find_spec(provider) is not None


def find(_: Mapping[str, str]) -> Path | None:
    """This interpreter, where it has one of the SDKs."""
    return Path(sys.executable) if any(map(_has_sdk, PROVIDERS)) else None


def login(environ: Mapping[str, str]) -> str:
    """Which keys there are."""
    names = [key for provider in PROVIDERS.values() for key in provider.keys if environ.get(key)]
    return f"key in {', '.join(names)}" if names else "none found"


def command(ask: Ask, program: Path) -> Command:
    """The order goes in on stdin; the child has the chosen provider's variables and no other's."""
    chosen = target(ask.model)
    provider = PROVIDERS[chosen.provider]
    if not _has_sdk(chosen.provider):
        raise MissingError(f"the {chosen.provider} SDK is not installed; {INSTALL}")
    order = {
        "provider": chosen.provider, "model": chosen.model, "options": chosen.settings,
        "system": ask.system, "prompt": ask.prompt, "timeout": ask.timeout + PATIENCE,
    }  # fmt: skip
    # A home of its own hides what was installed for the user alone.
    env = environment.base(ask, (*provider.keys, *provider.allowed), PYTHONUSERBASE=site.getuserbase())
    return Command(
        argv=(str(program), "-P", str(CHILD)), stdin=msgspec.json.encode(order), env=env, readable=(CHILD,)
    )  # fmt: skip


def parse(raw: Raw) -> Reply:
    """The normal form of the child's one event."""
    events = [event for event in streams.events(raw.stdout) if event.get("type") in ("result", "error")]
    if not events:
        return Reply(error=streams.unended(raw, "the program"))
    last = events[-1]
    if last["type"] == "error":
        return Reply(error=_failure(last))
    calls = tuple(_call(call) for call in last.get("tool_calls") or ())
    return Reply(
        text=last["text"], session_id=last.get("session_id"), model=last.get("model"), tool_calls=calls,
        usage=msgspec.convert(last.get("usage") or {}, Usage),
        refused=bool(last.get("refusal")) or last.get("stop") in ("refusal", "content_filter"),
    )  # fmt: skip


def _call(call: Mapping[str, Any]) -> ToolCall:
    """A call that came without any tool to call: nothing ran."""
    function = call.get("function") or call
    return streams.tool_call(function.get("name"), function.get("arguments"), executed=False)


def _failure(event: Mapping[str, Any]) -> Failure:
    """Several statuses stand for a quota or a context that is full: the words say which."""
    message, status = str(event["message"]), event.get("status")
    words = f"{event.get('code')} {event.get('error_type')} {message}"
    kind: ErrorKind = "network" if "APIConnectionError" in event["names"] else streams.kind_of(status, words)
    return streams.failure(message, status=status, kind=kind, retry_after=event.get("retry_after"))


def _check(model: str | None) -> None:
    target(model)


API = Backend(
    name="api",
    title="Chat completion API",
    install=INSTALL,
    no_tools_by="the request names no tool",
    reports=frozenset({"tokens", "model"}),
    modes=("no-tools",),
    allowed=tuple(name for one in PROVIDERS.values() for name in (*one.keys, *one.allowed)),
    check=_check,
    find=find,
    version_argv=("-P", "-c", VERSIONS),
    login=login,
    command=command,
    parse=parse,
)
