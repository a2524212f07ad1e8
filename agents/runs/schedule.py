"""Who is asked next, and when. No threads, no clock: the conductor tells it what happened and when."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrader_bench.agents.runs.pacing import Pace, wait_before
from backtrader_bench.attempts import PASSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    from backtrader_bench.agents.runs.plan import Asked
    from backtrader_bench.attempts import Attempt, Failure

HOPELESS = frozenset({"auth", "missing", "quota"})
"""Kinds of error that the next question would meet as well."""
GIVE_UP_AFTER = 3
"""So many of them in a row, and an agent is asked no more."""


@dataclass(frozen=True)
class Ticket:
    """One try."""

    asked: Asked
    tries: int
    """This one included."""
    started: float


class Schedule:
    """The keys of a plan that are still to be asked, the pace of each backend, and agents given up."""

    def __init__(
        self, todo: Iterable[Asked], backends: Mapping[str, str], jobs: int, retries: int, draw: Random
    ) -> None:
        """``backends``: agent -> backend, whose limits all its models share. ``retries``: after passing errors."""
        self._queues: dict[str, deque[tuple[int, Asked, int]]] = {agent: deque() for agent in backends}
        for place, asked in enumerate(todo):
            self._queues[asked.agent].append((place, asked, 1))
        self._later: list[tuple[float, int, Asked, int]] = []
        self._places = {entry[1]: entry[0] for queue in self._queues.values() for entry in queue}
        self._backends, self._jobs, self._retries, self._draw = dict(backends), jobs, retries, draw
        self.paces = {backend: Pace.open(jobs) for backend in backends.values()}
        self.running = dict.fromkeys(self.paces, 0)
        self._in_a_row = dict.fromkeys(backends, 0)
        self.given_up: dict[str, Failure] = {}
        """Agents that are asked no more, with the error that did it."""

    @property
    def waiting(self) -> int:
        """Keys not started, those between two tries included."""
        return len(self._later) + sum(map(len, self._queues.values()))

    def next(self, now: float) -> Ticket | None:
        """The next try, which counts as running from now on; None when none may start now."""
        self._fetch_due(now)
        if sum(self.running.values()) >= self._jobs:
            return None
        free = [
            queue for agent, queue in self._queues.items()
            if queue and self.paces[self._backends[agent]].may_start(now, self.running[self._backends[agent]])
        ]  # fmt: skip
        if not free:
            return None
        _, asked, tries = min(free, key=lambda queue: queue[0][0]).popleft()
        self.running[self._backends[asked.agent]] += 1
        return Ticket(asked, tries, now)

    def _fetch_due(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            _, place, asked, tries = heapq.heappop(self._later)
            # In front: what was begun is finished first.
            self._queues[asked.agent].appendleft((place, asked, tries))

    def wakes(self, now: float) -> float | None:
        """Seconds until something may start without anything ending before; None when nothing will."""
        times = [self._later[0][0]] if self._later else []
        times += [self.paces[self._backends[agent]].closed_until for agent, queue in self._queues.items() if queue]
        ahead = [time - now for time in times if time > now]
        return min(ahead) if ahead else None

    def keeps(self, ticket: Ticket, attempt: Attempt) -> bool:
        """Whether the outcome of a try is to be recorded; if not, it will be tried again."""
        return not (_passes(attempt) and ticket.tries <= self._retries)

    def dropped(self, ticket: Ticket) -> None:
        """A try ended, and nothing follows from it."""
        self.running[self._backends[ticket.asked.agent]] -= 1

    def ended(self, ticket: Ticket, attempt: Attempt, now: float) -> None:
        """Take note of how a try ended."""
        agent = ticket.asked.agent
        backend = self._backends[agent]
        self.dropped(ticket)
        retry_after = attempt.error.retry_after if attempt.error else None
        if _passes(attempt):
            self.paces[backend] = self.paces[backend].pushed_back(now, ticket.started, retry_after)
        else:
            self.paces[backend] = self.paces[backend].answered()
        if not self.keeps(ticket, attempt) and agent not in self.given_up:
            due = now + wait_before(ticket.tries, self._draw, retry_after)
            heapq.heappush(self._later, (due, self._places[ticket.asked], ticket.asked, ticket.tries + 1))
        self._count_hopeless(agent, attempt)

    def _count_hopeless(self, agent: str, attempt: Attempt) -> None:
        hopeless = attempt.status == "harness_error" or (attempt.error is not None and attempt.error.kind in HOPELESS)
        self._in_a_row[agent] = self._in_a_row[agent] + 1 if hopeless else 0
        if self._in_a_row[agent] < GIVE_UP_AFTER or agent in self.given_up or attempt.error is None:
            return
        self.given_up[agent] = attempt.error
        self._queues[agent].clear()
        self._later = [entry for entry in self._later if entry[2].agent != agent]
        heapq.heapify(self._later)


def _passes(attempt: Attempt) -> bool:
    return attempt.status == "agent_error" and attempt.error is not None and attempt.error.kind in PASSING
