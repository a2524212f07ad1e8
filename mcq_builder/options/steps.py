"""Four values of one part of an answer: the key at a given rank, the others stepped below and above it.

The rank is drawn before the values, uniformly, so that no rank is a good guess. Where the part's range has no room for
the rank (a count of 1 can't have three counts below it and stay a count), the question is skipped rather than
the rank bent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.context import Skip

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from backtrader_bench.templates.kinds import Kind

RATIO = (1.02, 1.08)
NO_ROOM = "no room below or above the key for three other values"


def decimal_steps(key: float, rank: int, kind: Kind, rng: Random, low: float | None = None) -> list[float]:
    """Four amounts in ascending order, ``key`` (as shown) at ``rank``, neighbours 2% to 8% or a few units apart.

    With ``low`` they stay above it: Skip where three of the widest steps down from the key would not.
    """
    key = kind.rounded(key)
    if low is not None and key / RATIO[1] ** 3 <= low:
        raise Skip(NO_ROOM)
    values = [key]
    small = abs(key) < 150 * kind.unit
    if small and not kind.signed and key < 27 * kind.unit:
        raise Skip(NO_ROOM)
    for place in range(3):
        up = place >= rank
        edge = values[-1] if up else values[0]
        if small:
            step = kind.unit * rng.randrange(3, 9)
            new = edge + step if up else edge - step
        else:
            factor = rng.uniform(*RATIO)
            new = edge * factor if up == (edge > 0) else edge / factor
        new = kind.rounded(new)
        values.append(new) if up else values.insert(0, new)
    return values


def integer_steps(key: int, rank: int, rng: Random, low: int = 0, high: int | None = None, lot: int = 1) -> list[int]:
    """Four integers from ``low`` to ``high`` in ascending order, ``key`` at ``rank``, steps multiples of ``lot``."""
    if key - 3 * lot < low or (high is not None and key + 3 * lot > high):
        raise Skip(NO_ROOM)
    values = [key]
    room = {False: (key - low) // lot, True: ((high - key) // lot if high is not None else None)}
    for up, places in ((False, rank), (True, 3 - rank)):
        for place in range(places, 0, -1):
            edge = values[-1] if up else values[0]
            wish = max(1, math.ceil(edge * (rng.uniform(*RATIO) - 1) / lot), rng.randrange(1, 4) if edge < 100 else 1)
            left = room[up]
            step = wish if left is None else min(wish, left - (place - 1))
            room[up] = None if left is None else left - step
            values.append(edge + step * lot) if up else values.insert(0, edge - step * lot)
    return values


def date_steps(days: Sequence[str], key: int, rank: int, rng: Random, reach: int = 12) -> list[str]:
    """Four of ``days`` in ascending order, the one at index ``key`` at ``rank``, one to ``reach`` sessions apart."""
    return [days[index] for index in index_steps(key, rank, rng, len(days) - 1, reach)]


def index_steps(key: int, rank: int, rng: Random, last: int, reach: int) -> list[int]:
    """Four indices from 0 to ``last`` in ascending order, ``key`` at ``rank``."""
    reach = min(reach, key // 3, (last - key) // 3)
    if reach < 1:
        raise Skip(NO_ROOM)
    indices = [key]
    for place in range(3):
        step = rng.randint(1, reach)
        if place < rank:
            indices.insert(0, indices[0] - step)
        else:
            indices.append(indices[-1] + step)
    return indices


def matched(columns: dict[str, list[Any]], ranks: dict[str, int], rng: Random) -> list[dict[str, Any]]:
    """The three distractors of independent parts: each part's other values dealt out in a random order of its own."""
    others = {}
    for name, values in columns.items():
        rest = [value for place, value in enumerate(values) if place != ranks[name]]
        rng.shuffle(rest)
        others[name] = rest
    return [{name: rest[i] for name, rest in others.items()} for i in range(3)]
