"""Running tries in threads until all are done, a cap is reached, or someone says stop."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backtrader_bench.agents.runs.budget import Caps, Spent, reached

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.agents.runs.schedule import Schedule, Ticket
    from backtrader_bench.attempts import Attempt

    TryOne = Callable[[Ticket, threading.Event], "Tried"]
    Watch = Callable[["Tried | None"], None]

TICK = 0.5
"""Seconds; the longest time between two looks at the clock."""


@dataclass(frozen=True)
class Tried:
    """How a try ended."""

    attempt: Attempt
    kept: bool
    """It is in the run's file. If not it will be tried again, now or by a resumed run."""


@dataclass(frozen=True)
class Ending:
    """How a session ended."""

    outcome: Literal["done", "incomplete", "budget", "interrupted"]
    reason: str | None = None
    """The cap, in words."""


class Conductor:
    """One session's tries. Whoever makes one calls :meth:`run` once, in the thread that gets Ctrl-C."""

    def __init__(
        self, schedule: Schedule, try_one: TryOne, *, jobs: int, caps: Caps | None = None, used: Spent | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """``try_one`` does a whole try, recording included; it is called in threads, with the event that says stop.

        ``used``: what earlier sessions used.
        """
        self.watch: Watch = lambda tried: None
        """Called after each try, and with None at least each TICK."""
        self.schedule, self._try_one, self._jobs = schedule, try_one, jobs
        self._caps, self.used, self._clock = caps or Caps(), used or Spent(), clock
        self._ended: queue.SimpleQueue[tuple[Ticket, Tried | BaseException] | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._began = clock()
        self._reason: str | None = None
        self._interrupted = False

    @property
    def running(self) -> int:
        """Tries that run now."""
        return sum(self.schedule.running.values())

    def closed(self, backend: str) -> float:
        """Seconds for which a backend's provider still wants to be left alone; 0 or less when it doesn't."""
        return self.schedule.paces[backend].closed_until - self._clock()

    def interrupt(self) -> None:
        """Stop asking and cancel what runs. May be called at any moment, from a signal handler too."""
        self._interrupted = True
        self._ended.put(None)

    def run(self) -> Ending:
        """Try everything. What a try raises (a full disk, a defect) stops the others and comes out here."""
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="try") as pool:
            try:
                while not self._interrupted and self._go_on(pool):
                    pass
            finally:
                self._wind_up()
        if self._interrupted:
            return Ending("interrupted")
        if self._reason is not None:
            return Ending("budget", self._reason)
        return Ending("incomplete" if self.schedule.given_up else "done")

    def _go_on(self, pool: ThreadPoolExecutor) -> bool:
        """Start what may start, and wait for something to end; False when there is nothing left to wait for."""
        self._start_what_may(pool)
        if not self.running and (self._reason is not None or not self.schedule.waiting):
            return False
        wakes = self.schedule.wakes(self._clock())
        try:
            ended = self._ended.get(timeout=TICK if wakes is None else max(0.001, min(TICK, wakes)))
        except queue.Empty:
            self.watch(None)
            return True
        if ended is not None:
            self._take(*ended)
        return True

    def _start_what_may(self, pool: ThreadPoolExecutor) -> None:
        while self._reason is None and self.schedule.waiting:
            now = self._clock()
            self._reason = reached(self._caps, self.used, self.running, now - self._began)
            ticket = None if self._reason else self.schedule.next(now)
            if ticket is None:
                return
            pool.submit(self._one, ticket)

    def _one(self, ticket: Ticket) -> None:
        try:
            self._ended.put((ticket, self._try_one(ticket, self._stop)))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that runs the session
            self._ended.put((ticket, error))

    def _take(self, ticket: Ticket, tried: Tried | BaseException) -> None:
        if isinstance(tried, BaseException):
            self.schedule.dropped(ticket)
            raise tried
        self.schedule.ended(ticket, tried.attempt, self._clock())
        self.used = self.used.add(tried.attempt)
        self.watch(tried)

    def _wind_up(self) -> None:
        """Cancel what still runs and wait until it has ended: agents are killed, so that is a matter of seconds."""
        self._stop.set()
        while self.running:
            if (ended := self._ended.get()) is None:
                continue
            ticket, tried = ended
            self.schedule.dropped(ticket)
            if isinstance(tried, Tried) and tried.kept:
                self.used = self.used.add(tried.attempt)
                self.watch(tried)
