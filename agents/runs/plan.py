"""What will be asked, in which order. Pure: the same arguments give the same plan."""

from __future__ import annotations

import hashlib
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL_SHIFTS = (0, 1, 2, 3)


class Asked(NamedTuple):
    """One thing asked, in an independent session of its agent."""

    question: str
    """Question id."""
    agent: str
    """As given."""
    repeat: int
    shift: int
    """The options are shown rotated by so many places."""


def plan(
    questions: Sequence[str], agents: Sequence[str], repeats: int, shifts: Sequence[int], seed: int
) -> list[Asked]:
    """Questions x agents x repeats x shifts, each once.

    Whole repeats come one after the other. Within one, questions and orders are shuffled by the seed and go to the
    agents in turn, so that agents are comparable at any moment: in any prefix their counts differ by at most one.
    """
    found = []
    for repeat in range(repeats):
        draw = Random(f"plan {seed} {repeat}")
        pairs = [(question, shift) for question in questions for shift in shifts]
        draw.shuffle(pairs)
        for question, shift in pairs:
            turn = list(agents)
            draw.shuffle(turn)
            found += [Asked(question, agent, repeat, shift) for agent in turn]
    return found


def seed_of(asked: Asked, seed: int) -> int:
    """A seed of its own for everything asked: 63 bits of a SHA-256."""
    text = f"{seed} {asked.question} {asked.agent} {asked.repeat} {asked.shift}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def digest(questions: Sequence[str]) -> str:
    """SHA-256 of question ids, one a line, in their order."""
    return hashlib.sha256("\n".join(questions).encode()).hexdigest()
