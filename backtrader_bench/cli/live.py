"""What ``bench run`` shows while it runs: a table that moves in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from backtrader_bench.agents import shown
from backtrader_bench.attempts import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import Console, RenderableType

    from backtrader_bench.agents.runs.conduct import Conductor, Tried
    from backtrader_bench.agents.runs.tally import AgentTally

FIRST_LINE, LAST_INTERVAL = 10.0, 120.0
"""Seconds: lines come after the first, then ever further apart, up to the second."""
WIDE = 100
"""Characters from which there is room for bars."""
ENOUGH = 3
"""Attempts of an agent from which its speed can be told."""


class Progress:
    """The counts of a session, and what follows from them."""

    def __init__(
        self, tallies: Mapping[str, AgentTally], backends: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """``tallies`` hold what earlier sessions did; ``backends``: agent -> backend."""
        self.tallies, self.backends, self._clock = tallies, backends, clock
        self.began = clock()
        self.called = shown.names(tallies)
        self._before = {agent: one.ended for agent, one in tallies.items()}
        self.last_failure = ""
        self.conductor: Conductor | None = None

    @property
    def planned(self) -> int:
        """Attempts in all."""
        return sum(one.planned for one in self.tallies.values())

    @property
    def ended(self) -> int:
        """Those that stand, of all sessions."""
        return sum(one.ended for one in self.tallies.values())

    @property
    def seconds(self) -> float:
        """Of this session."""
        return self._clock() - self.began

    def add(self, tried: Tried) -> None:
        """Count a try."""
        one, attempt = self.tallies[tried.attempt.agent], tried.attempt
        if tried.kept:
            one.add(attempt)
        else:
            one.retried += 1
        if attempt.status not in ANSWERS:
            what = attempt.error.kind if attempt.status == "agent_error" and attempt.error else attempt.status
            why = f": {attempt.error.message}" if attempt.error else ""
            again = "" if tried.kept else " (will be asked again)"
            self.last_failure = plain(f"{self.called[attempt.agent]}: {what.replace('_', ' ')}{again}{why}")

    def left(self) -> str:
        """How long it will take, in words; empty while that can't be told."""
        times = []
        for agent, one in self.tallies.items():
            done, todo = one.ended - self._before[agent], one.planned - one.ended
            if todo > 0 and done < ENOUGH:
                return ""
            if todo > 0:
                times.append(self.seconds / done * todo)
        return f"about {span(max(times))} left" if times else ""


def span(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def plain(text: str) -> str:
    """Text from outside, with nothing that could steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def plain_lines(text: str) -> str:
    """The same for text of several lines."""
    return "\n".join(plain(line) for line in text.split("\n"))


def percent(share: float | None) -> str:
    """``62.5%``; a dash for nothing."""
    return "-" if share is None else f"{100 * share:.1f}%"


def failures(one: AgentTally) -> str:
    """``2 timeout, 1 rate limit``: what is no answer, by what it is."""
    counts = {status: count for status, count in one.statuses.items() if status not in ANSWERS and count}
    counts.pop("agent_error", None)
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in {**counts, **one.kinds}.items())


def tokens(one: AgentTally) -> str:
    """``12.3k``; ``~`` where some were counted from the text, ``+`` where some are unknown; a dash where all are."""
    if not one.spent.with_tokens:
        return "-"
    number = one.spent.tokens
    short = f"{number}" if number < 1000 else f"{number / 1e3:.1f}k" if number < 1e6 else f"{number / 1e6:.2f}M"
    return f"{'~' if one.spent.estimated else ''}{short}{'+' if one.spent.with_tokens < one.spent.tries else ''}"


def cost(one: AgentTally) -> str:
    """``$1.23``; ``+`` where some attempts' cost is unknown; a dash where all are."""
    if not one.spent.with_usd:
        return "-"
    usd, more = one.spent.usd, "+" if one.spent.with_usd < one.spent.tries else ""
    return f"${usd:.2f}{more}" if usd >= 1 else f"${usd:.4f}{more}"


@contextmanager
def watching(progress: Progress, console: Console, *, quiet: bool) -> Iterator[Callable[[Tried | None], None]]:
    """Show ``progress`` on ``console`` while the block runs; gives what to call after each try and each tick."""
    if quiet:
        yield lambda tried: None if tried is None else progress.add(tried)
    elif console.is_terminal:
        def now() -> RenderableType:
            return screen(progress, console.width)

        with Live(console=console, refresh_per_second=4, transient=True, get_renderable=now):
            yield lambda tried: None if tried is None else progress.add(tried)
    else:
        yield _Lines(progress, console)


class _Lines:
    """A line at ever longer intervals."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self._progress, self._console, self._next = progress, console, FIRST_LINE

    def __call__(self, tried: Tried | None) -> None:
        if tried is not None:
            self._progress.add(tried)
        if self._progress.seconds >= self._next:
            self._next = self._progress.seconds + min(LAST_INTERVAL, max(FIRST_LINE, self._progress.seconds / 5))
            self._console.print(line(self._progress), markup=False, highlight=False, soft_wrap=True)


def line(progress: Progress) -> str:
    """Everything in one line."""
    parts = [f"{progress.ended} of {progress.planned}"]
    for agent, one in progress.tallies.items():
        failed = f" ({failures(one)})" if failures(one) else ""
        parts.append(f"{plain(progress.called[agent])} {percent(one.accuracy)} of {one.answered} answered{failed}")
    totals = [text for text in (progress.left(),) if text]
    return "; ".join([*parts, *totals])


def screen(progress: Progress, width: int) -> RenderableType:
    """The moving table, for a terminal so many characters wide."""
    bars = width >= WIDE
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("agent", no_wrap=True, overflow="ellipsis", max_width=28 if bars else 20)
    if bars:
        table.add_column("", width=16)
    for name in ("asked", "right", "tokens", "cost", "now"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("no answer", overflow="fold", min_width=9)
    for agent, one in progress.tallies.items():
        bar = [ProgressBar(total=max(1, one.planned), completed=one.ended, width=16)] if bars else []
        table.add_row(
            Text(plain(progress.called[agent])), *bar, f"{one.ended}/{one.planned}", percent(one.accuracy),
            tokens(one), cost(one), _pace(progress, agent), Text(failures(one), style="yellow"),
        )  # fmt: skip
    foot = Text(_foot(progress), style="dim", no_wrap=True)
    # Leaves room for the ^C that a terminal echoes: a line that wrapped would stay behind.
    foot.truncate(max(1, width - 4), overflow="ellipsis")
    return Group(table, foot)


def _pace(progress: Progress, agent: str) -> str:
    """``3 of 8``: running, and how many the backend may run now; or how long its provider wants to be left alone."""
    if progress.conductor is None:
        return ""
    backend = progress.backends[agent]
    schedule = progress.conductor.schedule
    if agent in schedule.given_up:
        return "given up"
    closed = progress.conductor.closed(backend)
    if closed > 0 and not schedule.running[backend]:
        return f"waits {span(closed)}"
    return f"{schedule.running[backend]} of {int(schedule.paces[backend].limit)}"


def _foot(progress: Progress) -> str:
    parts = [f"{span(progress.seconds)} so far", progress.left(), progress.last_failure]
    return "  ".join(part for part in parts if part)
