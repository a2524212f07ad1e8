"""The lines of ``db/summary/RUN.jsonl`` and ``db/reviews/RUN.jsonl``: attempts, sessions, verdicts of people.

Unknown is None, never 0, and sums keep it so. Lines are only ever appended: of several session lines (a session that
was resumed after a budget ended it) the last one stands, and so does the last verdict on a question.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from backtrader_bench.attempts import Usage
from backtrader_bench.errors import RecordError
from backtrader_bench.miner.decisions import Decision
from backtrader_bench.records import parse_json

SUMMARY_VERSION = 1
Role = Literal["generator", "no_tools", "holdout", "second_verifier", "with_tools"]
ROLES: tuple[Role, ...] = ("generator", "no_tools", "second_verifier", "with_tools", "holdout")
Verdict = Literal["accept", "reject", "fix-needed"]


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What calls of one role used, together."""

    calls: int = 0
    with_tokens: int = 0
    """Calls whose tokens are known."""
    usage: Usage = Usage()
    """Sums over those; a part that none of them reported is None."""
    with_cost: int = 0
    cost: float | None = None
    """US dollars of the calls whose cost is known."""
    seconds: float = 0.0


class AttemptLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="attempt"):
    """One finished attempt."""

    schema_version: int = SUMMARY_VERSION
    run: str
    attempt: int
    """From 1."""
    decision: Decision
    reasons: tuple[str, ...] = ()
    detail: str = ""
    asked_category: str | None = None
    """What the generator was told to try."""
    category: str | None = None
    """What it wrote, from code and stem; None where there is no question."""
    question_id: str | None = None
    ask: str = ""
    """What was asked, cut to one line."""
    marks: tuple[str, ...] = ()
    """``choices_only``: rules that look at the options alone agree on the key."""
    draws: dict[str, int] = {}
    """No-tools draws of the screen by status."""
    holdout: dict[str, int] = {}
    """No-tools draws after the decision by status: these alone say how hard survivors are."""
    spending: dict[str, Spending] = {}
    """By role."""
    models: dict[str, int] = {}
    """Calls by model, as reported, else as asked for."""
    isolation: dict[str, Any] = {}
    """Of the verifier."""
    seconds: float = 0.0
    """Wall time, over all sessions that worked on it."""


class SessionLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="session"):
    """The session as it stands at its end."""

    schema_version: int = SUMMARY_VERSION
    run: str
    ended_by: str
    """``attempts`` (all made), ``until_accepted``, ``max_hours``, ``max_tokens``, ``max_cost``, ``agents_failing``,
    ``goal_missed`` (all made, fewer accepted than wanted)."""
    attempts: int
    decisions: dict[str, int]
    reasons: dict[str, int]
    categories: dict[str, dict[str, int]]
    """Category -> attempts, accepted, review."""
    spending: dict[str, Spending]
    models: dict[str, int]
    holdout_right: int
    holdout_answered: int
    holdout_questions: int | None = None
    """Kept questions with such answers; None in lines of older versions, as the rest of these."""
    holdout_low: float | None = None
    """The 95% interval of their accuracy, over questions: draws of one question are no independent observations.
    None with fewer than two questions."""
    holdout_high: float | None = None
    holdout_alike: bool | None = None
    """Whether no holdout draw came out otherwise than its question's draws of the screen. Of a solver that always
    answers alike they are the same draws, and say nothing but that the screen kept the question."""
    seconds: float
    """Wall time of all its sessions together."""


Line = AttemptLine | SessionLine


class ReviewLine(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of a question that its with-tools solver got wrong."""

    schema_version: int = SUMMARY_VERSION
    kind: Literal["review"] = "review"
    run: str
    question_id: str
    verdict: Verdict
    reason: str = ""
    reviewer: str = ""
    at: str
    """UTC, ISO 8601, to the second."""
    replaces: bool = False
    """Whether there was a verdict before."""


def to_line(record: Line | ReviewLine) -> bytes:
    """The record as one line, newline included."""
    text = json.dumps(msgspec.to_builtins(record), ensure_ascii=False, allow_nan=False)
    # Reasons are what people and models wrote: half a character in one must not cost the line.
    return text.encode(errors="replace") + b"\n"


def read_line(line: bytes, where: str) -> Line:
    """A line of a summary; RecordError names ``where`` and the fault."""
    found: Line = _converted(line, where, Line)
    return found


def read_review(line: bytes, where: str) -> ReviewLine:
    """A line of verdicts."""
    found: ReviewLine = _converted(line, where, ReviewLine)
    return found


def _converted(line: bytes, where: str, kind: Any) -> Any:
    fields = parse_json(line, where)
    version = fields.get("schema_version") if isinstance(fields, dict) else None
    if version != SUMMARY_VERSION or isinstance(version, bool):
        raise RecordError(f"{where}: schema_version {version!r} is unknown; this version reads {SUMMARY_VERSION}")
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise RecordError(f"{where}: {error}") from None
