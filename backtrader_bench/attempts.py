"""Attempt records: one agent's one answer to one question, a JSON object a line under ``db/attempts/RUN.jsonl``.

Only ``correct`` and ``wrong`` are answers of a model. Everything else says what kept it from answering, so that a
failure is never counted as a wrong answer. Unknown is ``None``, never 0, and sums keep it so.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

import msgspec

from backtrader_bench.errors import RecordError

ATTEMPT_VERSION = 1
Status = Literal[
    "correct", "wrong", "unparsed", "refused", "tool_attempted", "timeout", "agent_error", "harness_error"
]
"""``refused``: the model declined. ``tool_attempted``: a tool was called where none was allowed. ``agent_error``: the
agent's program, its login, its network or its provider failed. ``harness_error``: this program did."""
ErrorKind = Literal["auth", "rate_limit", "overloaded", "quota", "context", "network", "missing", "other"]
Mode = Literal["with-tools", "no-tools"]
ANSWERS: frozenset[str] = frozenset({"correct", "wrong"})
FINAL: frozenset[str] = ANSWERS | {"unparsed", "refused", "tool_attempted", "timeout"}
"""Statuses that stand: a resumed run asks the others again."""
PASSING: frozenset[str] = frozenset({"rate_limit", "overloaded", "network"})
"""Kinds of error that are worth another try soon."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens, by one convention: ``input`` is what no cache served; None where nothing was reported."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    """Part of ``output`` where the provider counts it so."""
    estimated: bool = False
    """Counted from the text, because the agent reported nothing."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars, and who says so: the agent (``reported``) or a price table of the user's (``computed``)."""

    usd: float
    source: Literal["reported", "computed"]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model called."""

    name: str
    arguments: str = ""
    """As JSON text, cut to 2,000 characters."""
    executed: bool | None = None
    """Whether the agent ran it; None where the stream doesn't say."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no answer."""

    kind: ErrorKind
    message: str
    """One line, at most 500 characters."""
    http_status: int | None = None
    retry_after: float | None = None
    """Seconds that the provider asked to wait."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One finished attempt."""

    schema_version: int = ATTEMPT_VERSION
    id: str
    """:func:`attempt_id` of what was asked; a rescored record names the one it replaces in ``replaces``."""
    run: str
    question_id: str
    agent: str
    """As given: ``codex:gpt-5.5``."""
    backend: str
    mode: Mode
    repeat: int = 0
    shift: int = 0
    """The options were shown rotated by so many places: letter ``shown`` means option ``letter``."""
    tries: int = 1
    """How often the agent was asked until this outcome, retries after passing errors included."""
    status: Status
    error: Failure | None = None
    shown: str | None = None
    """The letter that the reply gives, as the options were shown."""
    letter: str | None = None
    """The same option's letter in the record."""
    method: Literal["strict", "lenient", "unparsed", "refused"] = "unparsed"
    """How the letter was read."""
    given_value: str | None = None
    value_right: bool | None = None
    verified: bool | None = None
    """Letter and value both right; None where no value was asked for."""
    mistake: str | None = None
    model: str | None = None
    """As the agent reports it."""
    session_id: str | None = None
    usage: Usage = Usage()
    cost: Cost | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    isolation: dict[str, Any] = {}
    started: str
    """UTC, ISO 8601, to the second."""
    seconds: float
    """Wall time of the last try."""
    transcript: str | None = None
    """Folder of the raw prompt and output, relative to the home folder."""
    reply: str = ""
    """The answer text, cut to 20,000 characters; the transcript has all of it."""
    replaces: str | None = None


def attempt_id(run: str, question_id: str, agent: str, mode: str, repeat: int, shift: int) -> str:
    """Names what was asked, so that asking it again gives the same id: SHA-256, 32 hex digits."""
    text = json.dumps([run, question_id, agent, mode, repeat, shift])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def to_attempt(fields: Any, where: str) -> Attempt:
    """The typed record of one decoded line; RecordError names ``where`` and the field."""
    if not isinstance(fields, dict):
        raise RecordError(f"{where}: expected an object, got {type(fields).__name__}")
    version = fields.get("schema_version")
    if version != ATTEMPT_VERSION or isinstance(version, bool):
        raise RecordError(f"{where}: schema_version {version!r} is unknown; this version reads {ATTEMPT_VERSION}")
    try:
        return msgspec.convert(fields, Attempt)
    except msgspec.ValidationError as error:
        raise RecordError(f"{where}: {error}") from None


def attempt_line(record: Attempt) -> bytes:
    """The record as one line, newline included."""
    text = json.dumps(msgspec.to_builtins(record), ensure_ascii=False, allow_nan=False)
    # A model's text may hold half a surrogate pair, which UTF-8 can't.
    return text.encode(errors="replace") + b"\n"
