"""From what an agent replied to the attempt record. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backtrader_bench.agents.answers import read_answer, read_value, rotated, unrotate
from backtrader_bench.attempts import Attempt, Failure, Status, attempt_id
from backtrader_bench.grading import grade

if TYPE_CHECKING:
    from backtrader_bench.agents.backend import Reply
    from backtrader_bench.agents.runs.manifest import Settings
    from backtrader_bench.agents.runs.plan import Asked
    from backtrader_bench.agents.runs.questions import Asking

LONGEST_REPLY = 20_000
"""Characters of a reply that go into the record; the transcript has all of it."""
LONGEST_MESSAGE = 500


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a reply's text says, and whether that is right."""

    status: Literal["correct", "wrong", "unparsed", "refused"]
    shown: str | None
    letter: str | None
    method: Literal["strict", "lenient", "unparsed"]
    given_value: str | None = None
    value_right: bool | None = None
    verified: bool | None = None
    mistake: str | None = None


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What is known of a try before its reply: who was asked what, when and where."""

    run: str
    asked: Asked
    backend: str
    settings: Settings
    started: str
    """UTC, ISO 8601, to the second."""
    tries: int = 1
    transcript: str | None = None


def read(text: str, question: Asking, shift: int, *, ask_value: bool) -> Reading:
    """Read and grade a reply to a question that was shown with its options rotated by ``shift``."""
    shown, method = read_answer(text, rotated(question.options, shift))
    value = read_value(text) if ask_value else None
    letter = unrotate(shown, shift)
    found = grade(question.record, letter, value)
    status: Literal["correct", "wrong", "unparsed", "refused"] = "correct" if found.letter_right else "wrong"
    if method == "unparsed" or method == "refused":
        status, method = method, "unparsed"
    # A value was asked for: none given is not verified, which is not the same as unknown.
    verified = bool(found.verified) if ask_value else None
    return Reading(
        status=status, shown=shown, letter=letter, method=method,
        given_value=value, value_right=found.value_right, verified=verified, mistake=found.mistake,
    )  # fmt: skip


def attempt_of(frame: Frame, reply: Reply, question: Asking) -> Attempt:
    """The record of a finished try."""
    plain = _attempt(
        frame,
        status=_status_without_reading(reply, frame.settings.mode) or "unparsed",
        error=reply.error,
        seconds=reply.seconds,
        model=reply.model,
        session_id=reply.session_id,
        usage=reply.usage,
        cost=reply.cost,
        tool_calls=reply.tool_calls,
        isolation=dict(reply.isolation),
        reply=reply.text[:LONGEST_REPLY],
    )
    if _status_without_reading(reply, frame.settings.mode) is not None:
        return plain
    return with_reading(plain, read(reply.text, question, frame.asked.shift, ask_value=frame.settings.ask_value))


def with_reading(attempt: Attempt, found: Reading) -> Attempt:
    """The attempt with its reply read so."""
    return msgspec.structs.replace(
        attempt, status=found.status, shown=found.shown, letter=found.letter, method=found.method,
        given_value=found.given_value, value_right=found.value_right, verified=found.verified, mistake=found.mistake,
    )  # fmt: skip


def _status_without_reading(reply: Reply, mode: str) -> Status | None:
    """What kept the model from answering; None when its text is an answer to be read."""
    # A call ends a no-tools run, so the error or the silence after it is our doing.
    if mode == "no-tools" and reply.tool_calls:
        return "tool_attempted"
    if reply.timed_out:
        return "timeout"
    if reply.error is not None:
        return "agent_error"
    return "refused" if reply.refused else None


def harness_error(frame: Frame, error: Exception, seconds: float) -> Attempt:
    """The record of a try that failed by a fault of ours."""
    message = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_MESSAGE]
    return _attempt(frame, status="harness_error", error=Failure(kind="other", message=message), seconds=seconds)


def _attempt(frame: Frame, **more: Any) -> Attempt:
    asked, mode = frame.asked, frame.settings.mode
    return Attempt(
        id=attempt_id(frame.run, asked.question, asked.agent, mode, asked.repeat, asked.shift),
        run=frame.run,
        question_id=asked.question,
        agent=asked.agent,
        backend=frame.backend,
        mode=mode,
        repeat=asked.repeat,
        shift=asked.shift,
        tries=frame.tries,
        started=frame.started,
        transcript=frame.transcript,
        **more,
    )
