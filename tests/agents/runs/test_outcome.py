"""From replies to records: what is an answer and what is not, and letters back through a rotation."""

from __future__ import annotations

from typing import Any

import pytest

from backtrader_bench.agents.backend import Reply
from backtrader_bench.agents.runs.manifest import Settings
from backtrader_bench.agents.runs.outcome import LONGEST_REPLY, Frame, attempt_of, harness_error, read
from backtrader_bench.agents.runs.plan import Asked
from backtrader_bench.agents.runs.questions import asking
from backtrader_bench.attempts import Failure, ToolCall, attempt_id
from backtrader_bench.templates.prompts import published_options, user_text
from tests.agents.runs.made import RUN, published

QUESTION = asking(published(7, "B"), "here")
VALUED = asking({**published(7, "B"), "value": 7.2, "tolerance": 0.01}, "here")
CALL = ToolCall(name="Bash")
LIMIT = Failure(kind="rate_limit", message="429", http_status=429, retry_after=3.0)


def frame(mode: str = "no-tools", shift: int = 0, **more: Any) -> Frame:
    settings = Settings(agents=("a:m",), mode=mode, **more)  # type: ignore[arg-type]
    return Frame(run=RUN, asked=Asked("q", "a:m", 1, shift), backend="a", settings=settings, started="now", tries=2)


@pytest.mark.parametrize(
    ("reply", "status", "letter"),
    [
        (Reply(text="<<< B >>>"), "correct", "B"),
        (Reply(text="<<< C >>>"), "wrong", "C"),
        (Reply(text="A or B?"), "unparsed", None),
        (Reply(text=""), "unparsed", None),
        (Reply(text="I'm sorry, but I can't help with that."), "refused", None),
        (Reply(text="<<< B >>>", refused=True), "refused", None),
        (Reply(text="<<< B >>>", timed_out=True), "timeout", None),
        (Reply(text="<<< B >>>", error=LIMIT), "agent_error", None),
        (Reply(text="<<< B >>>", tool_calls=(CALL,)), "tool_attempted", None),
        (Reply(tool_calls=(CALL,), timed_out=True), "tool_attempted", None),
        (Reply(tool_calls=(CALL,), error=LIMIT), "tool_attempted", None),
    ],
)
def test_only_a_letter_is_an_answer(reply: Reply, status: str, letter: str | None) -> None:
    found = attempt_of(frame(), reply, QUESTION)
    assert (found.status, found.letter, found.shown) == (status, letter, letter)
    assert found.error == reply.error and found.reply == reply.text and found.tool_calls == reply.tool_calls
    assert found.id == attempt_id(RUN, "q", "a:m", "no-tools", 1, 0) and found.tries == 2


def test_tools_are_no_attempt_where_they_are_allowed() -> None:
    found = attempt_of(frame("with-tools"), Reply(text="<<< B >>>", tool_calls=(CALL,)), QUESTION)
    assert found.status == "correct" and found.tool_calls == (CALL,)


@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("letter", "ABCD")
def test_a_shown_letter_means_the_option_that_stood_there(shift: int, letter: str) -> None:
    from backtrader_bench.agents.answers import rotated

    shown = published_options(user_text(QUESTION.record, rotated(QUESTION.options, shift)))
    assert shown is not None
    found = attempt_of(frame(shift=shift, rotate=True), Reply(text=f"<<< {letter} >>>"), QUESTION)
    assert found.shown == letter and found.letter is not None
    assert QUESTION.options[found.letter] == shown[letter]
    assert (found.status == "correct") == (shown[letter] == "$7.20")


@pytest.mark.parametrize(
    ("text", "value", "right", "verified"),
    [
        ("VALUE: 7.20\n<<< B >>>", "7.20", True, True),
        ("VALUE: 7.90\n<<< B >>>", "7.90", False, False),
        ("VALUE: 7.20\n<<< C >>>", "7.20", True, False),
        ("<<< B >>>", None, None, False),
        ("VALUE: 7.20\nA or C?", "7.20", True, False),
    ],
)
def test_values_are_graded_where_they_were_asked_for(
    text: str, value: str | None, right: bool | None, verified: bool
) -> None:
    found = read(text, VALUED, 0, ask_value=True)
    assert (found.given_value, found.value_right, found.verified) == (value, right, verified)
    unasked = read(text, VALUED, 0, ask_value=False)
    assert (unasked.given_value, unasked.value_right, unasked.verified) == (None, None, None)


def test_long_replies_are_cut_and_read_whole() -> None:
    found = attempt_of(frame(), Reply(text="x" * 50_000 + "\n<<< B >>>"), QUESTION)
    assert found.status == "correct" and len(found.reply) == LONGEST_REPLY


def test_a_fault_of_ours_is_one_line() -> None:
    found = harness_error(frame(), ValueError("two\nlines " + "x" * 900), 1.5)
    assert found.status == "harness_error" and found.error is not None
    assert found.error.message.startswith("ValueError: two lines x") and len(found.error.message) == 500
