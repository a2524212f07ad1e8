"""Reading what an agent's program wrote: JSON lines of any quality, and the words of its errors.

Whatever the bytes are, nothing here raises: a line that is no JSON object is skipped, a field of the wrong type counts
as absent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backtrader_bench.agents.backend import Raw
from backtrader_bench.attempts import ErrorKind, Failure, ToolCall

Event = Mapping[str, Any]
MESSAGE_LIMIT = 500
ARGUMENTS_LIMIT = 2000
_BY_STATUS: dict[int, ErrorKind] = {
    401: "auth", 402: "quota", 403: "auth", 408: "network", 413: "context", 429: "rate_limit",
}  # fmt: skip
# In the order they are tried: a quota that is used up comes with status 429 as well, and won't pass by waiting.
_BY_WORDS: tuple[tuple[ErrorKind, str], ...] = (
    ("quota", r"insufficient_quota|quota (is )?exceeded|exceeded your (current )?quota|credit balance|usage limit"),
    ("quota", r"billing|payment required"),
    ("context", r"context.?(length|window)|prompt is too long|input exceeds|too many tokens"),
    ("rate_limit", r"rate.?limit|too many requests|resource_exhausted"),
    ("overloaded", r"overloaded|high demand|at capacity|server.?error|internal error|\[internal\]|bad gateway"),
    ("auth", r"unauthenticated|unauthorized|not logged in|authenticat|invalid (x-)?api.?key"),
    ("auth", r"missing environment variable|api key|\blog ?in\b|credential|permission.?denied"),
    ("network", r"econn|enotfound|eai_again|connection|network|dns|socket|fetch failed|stream disconnected"),
    ("network", r"error sending request|timed? ?out"),
    ("overloaded", r"\[unavailable\]|service unavailable"),
)
_STATUS = re.compile(r"(?:\bstatus:? |\bHTTP |\(HTTP |\bAPI Error: |\brejected \(|\berror: )([45]\d\d)\b")
_WAIT = re.compile(r"(?:retry|try again)(?:[- ]after|[ -]in)?:? (\d+(?:\.\d+)?) ?(ms|s|m|seconds?|minutes?)\b", re.I)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def decoded(line: bytes) -> Event | None:
    """The JSON object on a line, or None."""
    text = line.strip()
    if not text.startswith(b"{"):
        return None
    try:
        value = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def events(stream: bytes) -> Iterator[Event]:
    """The JSON objects of a stream, one a line; a torn last line is no event."""
    for line in stream.split(b"\n"):
        event = decoded(line)
        if event is not None:
            yield event


def mapping(value: Any) -> Event:
    """``value`` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Event]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A string that can be written as UTF-8, or an empty one."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def name(value: Any) -> str | None:
    """A string that says something, or None."""
    return text(value) or None


def count(value: Any) -> int | None:
    """A number of tokens, or None where nothing usable is reported."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and value >= 0 else None


def uncached(whole: int | None, *cached: int | None) -> int | None:
    """Input tokens less those that a cache had to do with, for programs that count them in."""
    return None if whole is None else max(0, whole - sum(part or 0 for part in cached))


def one_line(message: str, limit: int = MESSAGE_LIMIT) -> str:
    """Printable, without breaks or control characters, cut to ``limit``."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text(message)[: limit * 8]).split())
    return flat[:limit]


def tool_call(tool: Any, arguments: Any, executed: bool | None) -> ToolCall:
    """A call in normal form; ``arguments`` are kept as they were where they are text already."""
    if isinstance(arguments, str):
        written = text(arguments)
    else:
        written = "" if arguments is None else json.dumps(arguments, ensure_ascii=True, default=str)
    return ToolCall(name=text(tool)[:200] or "unknown", arguments=written[:ARGUMENTS_LIMIT], executed=executed)


def status_in(message: str) -> int | None:
    """The HTTP status that an error text states."""
    found = _STATUS.search(message)
    return int(found[1]) if found else None


def wait_in(message: str) -> float | None:
    """The seconds to wait that an error text states."""
    found = _WAIT.search(message)
    if not found:
        return None
    unit = found[2].lower()
    return float(found[1]) * _UNITS[unit if unit in _UNITS else unit[0]]


def kind_of(status: int | None, message: str) -> ErrorKind:
    """The kind of a failure, from its status where there is one, else from its words."""
    words = next((kind for kind, pattern in _BY_WORDS if re.search(pattern, message, re.I)), None)
    if words in ("quota", "context") and (status is None or status < 500):
        return words
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and status >= 500:
        return "overloaded"
    return words if words and status is None else "other"


def failure(
    message: str, *, status: int | None = None, kind: ErrorKind | None = None, retry_after: float | None = None
) -> Failure:
    """A failure in normal form; what is not given is read from the message."""
    flat = one_line(message) or "no message"
    status = status_in(message) if status is None else status
    return Failure(
        kind=kind or kind_of(status, message[:20_000]),
        message=flat,
        http_status=status,
        retry_after=wait_in(message[:20_000]) if retry_after is None else retry_after,
    )


def last_words(stream: bytes, limit: int = 20) -> str:
    """The last lines of stderr that say anything, for a program that ended without a word on stdout."""
    lines = [line for line in stream[-100_000:].decode("utf-8", "replace").splitlines() if line.strip()]
    return " ".join(lines[-limit:])


def unended(raw: Raw, program: str, hints: Iterable[str] = ()) -> Failure:
    """Why a stream has no terminal event: what the program said last, else how it ended."""
    said = next((hint for hint in hints if hint), "") or last_words(raw.stderr)
    if raw.code is None:
        return failure(said or f"{program} could not be started", kind="missing")
    if raw.timed_out:
        return failure(f"{program} was ended at the time limit" + (f"; last error: {said}" if said else ""))
    if raw.cancelled:
        return failure(f"{program} was ended after a tool call", kind="other")
    if raw.code < 0:
        return failure(f"{program} was ended by signal {-raw.code}", kind="other")
    return failure(said or f"{program} ended with exit code {raw.code} and no final event")
