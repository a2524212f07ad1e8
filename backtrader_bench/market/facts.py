"""What someone who looks at a tape wants to know of it: gaps in its calendar, jumps that look like splits."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from backtrader_bench.market.tape import Tape

LONGEST_BREAK = 4
"""Calendar days from one bar to the next over a long weekend; more is a gap."""
_FACTORS = (1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 50, 100, 1000)
_NEAR = 0.04
"""Relative distance from a factor within which a jump is like it: the market moves on the day of a split too."""


class Gap(NamedTuple):
    """Days without bars."""

    after: str
    before: str
    days: int
    """Calendar days from one bar to the next."""


class Jump(NamedTuple):
    """An overnight move near a round factor."""

    day: str
    ratio: float
    """Open over the close before."""
    like: str
    """``2:1`` for a price that halves, ``1:10`` for one that rises tenfold."""


def gaps(tape: Tape) -> list[Gap]:
    """Every break of more than LONGEST_BREAK calendar days, in order."""
    ordinals = [date.fromisoformat(day).toordinal() for day in tape.dates]
    return [
        Gap(tape.dates[i], tape.dates[i + 1], after - before)
        for i, (before, after) in enumerate(pairwise(ordinals))
        if after - before > LONGEST_BREAK
    ]


def jumps(tape: Tape) -> list[Jump]:
    """Every overnight move that looks like a split, a reverse split or a change of unit."""
    found = []
    for i in range(1, len(tape)):
        ratio = tape.open[i] / tape.close[i - 1]
        size = max(ratio, 1 / ratio)
        factor = next((f for f in _FACTORS if abs(size / f - 1) <= _NEAR), None)
        if factor is not None:
            whole = "3:2" if factor == 1.5 else f"{factor:g}:1"
            like = whole if ratio < 1 else ":".join(reversed(whole.split(":")))
            found.append(Jump(tape.dates[i], ratio, like))
    return found
