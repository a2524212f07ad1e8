"""What is shown while a run goes on, in a terminal and without one."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from backtrader_bench.agents.runs.conduct import Tried
from backtrader_bench.agents.runs.tally import AgentTally
from backtrader_bench.attempts import Cost, Usage
from backtrader_bench.cli import live, running
from tests.agents.runs.made import attempt


class Clock:
    """Time that goes when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def shown(width: int) -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, width=width), text


def progress(clock: Clock, planned: int = 10) -> live.Progress:
    return live.Progress({"a": AgentTally(planned), "b": AgentTally(planned)}, {"a": "x", "b": "x"}, clock)


def test_lines_come_now_and_then_with_what_is_known_so_far() -> None:
    clock = Clock()
    console, text = shown(200)
    with live.watching(progress(clock, 300), console, quiet=False) as watch:
        for number in range(300):
            clock.now += 1.0
            status = "correct" if number % 3 else "timeout"
            watch(Tried(attempt(str(number), "a", status), kept=True))
            watch(Tried(attempt(str(number), "b", kind="rate_limit"), kept=number % 2 == 0))
    lines = text.getvalue().splitlines()
    # At 10 s, then each 10 s or fifth of the time: 20, 30, 40, 50, 60, 72, 87 (rounded up) and so on.
    assert 12 <= len(lines) <= 18
    assert lines[0].startswith("15 of 600; a 100.0% of 6 answered (4 timeout); b - of 0 answered (5 rate limit);")
    assert "left" in lines[0] and "\x1b" not in text.getvalue()


def test_the_table_holds_counts_and_the_last_failure_without_control_characters() -> None:
    clock = Clock()
    found = progress(clock)
    usage, cost = Usage(input=1500, output=20, estimated=True), Cost(usd=0.0123, source="reported")
    found.add(Tried(attempt("1", "a", usage=usage, cost=cost), kept=True))
    found.add(Tried(attempt("2", "a", "wrong"), kept=True))
    bad = attempt("3", "b", kind="auth")
    found.add(Tried(bad, kept=True))
    found.last_failure = live.plain("b: auth: \x1b[2Jwiped\nout")
    for width in (80, 120):
        console, text = shown(width)
        console.print(live.screen(found, width))
        rows = text.getvalue()
        assert "2/10" in rows and "50.0%" in rows and "~1.5k+" in rows and "$0.0123+" in rows and "1 auth" in rows
        assert "\x1b" not in rows and "wiped out" in rows
        assert max(map(len, rows.splitlines())) <= width


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (12_000, "3 h 20 min")]
)
def test_spans_of_time(seconds: float, words: str) -> None:
    assert live.span(seconds) == words


def test_quiet_is_quiet() -> None:
    console, text = shown(80)
    with live.watching(progress(Clock()), console, quiet=True) as watch:
        watch(Tried(attempt("1", "a"), kept=True))
        watch(None)
    assert text.getvalue() == ""


def test_long_commands_are_called_by_what_tells_them_apart() -> None:
    agents = ("command:llama3=/some/where/far/away/agent.sh {model}", "command:/some/where/far/away/agent.sh", "b")
    found = live.Progress({one: AgentTally(1) for one in agents}, dict.fromkeys(agents, "x"), Clock())
    found.add(Tried(attempt("1", agents[0], kind="auth"), kept=True))
    assert found.last_failure.startswith("llama3: auth")
    for render in (live.screen(found, 80), running.end_table(found.tallies, ask_value=True), live.line(found)):
        console, text = shown(80)
        console.print(render, soft_wrap=isinstance(render, str))
        assert "llama3" in text.getvalue() and "command:agent.sh" in text.getvalue() and "away" not in text.getvalue()
