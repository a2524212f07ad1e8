"""The schedule against made-up providers, with a clock that only jumps."""

from __future__ import annotations

import heapq
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from backtrader_bench.agents.runs.plan import Asked, plan
from backtrader_bench.agents.runs.schedule import GIVE_UP_AFTER, Schedule, Ticket
from tests.agents.runs.made import attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.attempts import Attempt

    Provider = Callable[[Ticket, int], Attempt]
    """A try and how many of its backend run -> what comes out."""


PUSHED_BACK = 0.05
"""Seconds that an error takes."""


class World:
    """Runs a schedule to its end: each answer takes a second, and time jumps to what comes next."""

    def __init__(self, schedule: Schedule, provider: Provider) -> None:
        self.schedule, self.provider, self.now = schedule, provider, 0.0
        self.kept: list[tuple[float, Ticket, Attempt]] = []
        self.starts: list[tuple[float, Ticket]] = []
        self.most = Counter[str]()

    def run(self) -> None:
        running: list[tuple[float, int, Ticket, Attempt]] = []
        while True:
            while (ticket := self.schedule.next(self.now)) is not None:
                self.starts.append((self.now, ticket))
                busy = sum(self.schedule.running.values())
                self.most["all"] = max(self.most["all"], busy)
                outcome = self.provider(ticket, busy)
                ends = self.now + (1.0 if outcome.error is None else PUSHED_BACK)
                heapq.heappush(running, (ends, len(self.starts), ticket, outcome))
            wakes = self.schedule.wakes(self.now)
            if not running and wakes is None:
                return
            if running and (wakes is None or running[0][0] <= self.now + wakes):
                self.now, _, ticket, outcome = heapq.heappop(running)
                if self.schedule.keeps(ticket, outcome):
                    self.kept.append((self.now, ticket, outcome))
                self.schedule.ended(ticket, outcome, self.now)
            else:
                assert wakes is not None
                self.now += wakes


def good(ticket: Ticket, busy: int) -> Attempt:
    return attempt(ticket.asked.question, ticket.asked.agent)


def schedule(questions: int, agents: list[str], jobs: int, retries: int = 5) -> Schedule:
    todo = plan([f"q{number}" for number in range(questions)], agents, 1, (0,), 1)
    return Schedule(todo, {agent: agent.partition(":")[0] for agent in agents}, jobs, retries, Random(1))


def test_all_are_asked_once_within_the_jobs() -> None:
    world = World(schedule(40, ["a", "b"], jobs=8), good)
    world.run()
    assert Counter(ticket.asked for _, ticket, _ in world.kept).most_common(1)[0][1] == 1
    assert len(world.kept) == 80 and world.most["all"] == 8 and world.now == 10.0


def test_a_narrow_provider_is_found_and_kept_near_its_width() -> None:
    def narrow(ticket: Ticket, busy: int) -> Attempt:
        return good(ticket, busy) if busy <= 6 else attempt(ticket.asked.question, "a", kind="overloaded")

    world = World(schedule(600, ["a"], jobs=32, retries=50), narrow)
    world.run()
    assert {outcome.status for _, _, outcome in world.kept} == {"correct"} and len(world.kept) == 600
    refused = len(world.starts) - 600
    assert refused < 120
    # No scheme can be faster than six at a time; this one must come within a factor of two.
    assert 100 <= world.now < 200


def test_retry_after_closes_the_backend_with_all_its_models_and_no_other() -> None:
    def limited(ticket: Ticket, busy: int) -> Attempt:
        if ticket.asked.agent == "a:1" and ticket.tries == 1:
            return attempt(ticket.asked.question, "a:1", kind="rate_limit", retry_after=60.0)
        return good(ticket, busy)

    world = World(schedule(10, ["a:1", "a:2", "b"], jobs=2), limited)
    world.run()
    assert len(world.kept) == 30
    closed = next(now for now, ticket in world.starts if ticket.asked.agent == "a:1") + PUSHED_BACK
    for now, ticket in world.starts:
        if ticket.asked.agent.startswith("a"):
            assert not closed < now < closed + 60
    assert any(closed < now < closed + 60 for now, ticket in world.starts if ticket.asked.agent == "b")


def test_exhausted_retries_are_kept_as_errors() -> None:
    world = World(schedule(3, ["a"], jobs=1, retries=2), lambda t, _: attempt(t.asked.question, "a", kind="network"))
    world.run()
    assert [ticket.tries for _, ticket, _ in world.kept] == [3, 3, 3]
    assert Counter(ticket.asked.question for _, ticket in world.starts) == {"q0": 3, "q1": 3, "q2": 3}


@pytest.mark.parametrize("kind", ["auth", "missing", "quota"])
def test_a_hopeless_agent_is_given_up_and_others_go_on(kind: str) -> None:
    def broken(ticket: Ticket, busy: int) -> Attempt:
        return attempt(ticket.asked.question, "a", kind=kind) if ticket.asked.agent == "a" else good(ticket, busy)

    world = World(schedule(20, ["a", "b"], jobs=1), broken)
    world.run()
    counts = Counter(ticket.asked.agent for _, ticket, _ in world.kept)
    assert counts == {"a": GIVE_UP_AFTER, "b": 20}
    assert world.schedule.given_up["a"].kind == kind and world.schedule.waiting == 0


def test_hopeless_errors_apart_give_nothing_up() -> None:
    def now_and_then(ticket: Ticket, busy: int) -> Attempt:
        odd = int(ticket.asked.question[1:]) % 2
        return attempt(ticket.asked.question, "a", kind="auth") if odd else good(ticket, busy)

    todo = [Asked(f"q{number}", "a", 0, 0) for number in range(20)]
    world = World(Schedule(todo, {"a": "a"}, 1, 5, Random(1)), now_and_then)
    world.run()
    assert len(world.kept) == 20 and not world.schedule.given_up
