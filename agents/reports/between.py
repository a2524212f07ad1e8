"""Agents held against each other on the questions that both answered."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from backtrader_bench.agents.reports.schema import Pair
from backtrader_bench.agents.reports.shares import LEVEL, mean_of
from backtrader_bench.stats import pairs as stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backtrader_bench.agents.reports.gather import Row, Series, Table

ALPHA = 0.05
POWER = 0.8


class Scored(NamedTuple):
    """What one side made of one question."""

    score: float
    """Share of right answers."""
    answers: int
    cluster: str


def pairs(table: Table, order: Sequence[str], seed: int) -> list[Pair]:
    """All pairs of agents under one condition, and of conditions of one agent; Holm over either kind by itself."""
    series = sorted(table.series, key=lambda one: order.index(one.name))
    scored = {one: scores([row for row in table.rows if row.series == one]) for one in series}
    found = []
    for first, second in combinations(series, 2):
        kind = _kind(first, second)
        if kind is not None:
            found.append(pair((first.name, second.name), kind, (scored[first], scored[second]), seed))
    return adjusted(found)


def _kind(first: Series, second: Series) -> str | None:
    if first.agent == second.agent:
        return "conditions"
    return "agents" if first.condition == second.condition else None


def scores(rows: Sequence[Row]) -> dict[str, Scored]:
    """By question, of those answered at least once."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.answered:
            found.setdefault(row.attempt.question_id, []).append(row)
    return {
        question: Scored(sum(row.right for row in mine) / len(mine), len(mine), mine[0].cluster)
        for question, mine in found.items()
    }


def pair(
    names: tuple[str, str], kind: str, sides: tuple[Mapping[str, Scored], Mapping[str, Scored]], seed: int
) -> Pair:
    """One comparison, ``holm`` and ``tied`` as of a single one.

    McNemar's test, mid-p, where every question was answered once and stands for a configuration of its own; else a flip
    of signs, configuration by configuration: questions that share one are right and wrong together.
    """
    first, second = sides
    common = sorted(first.keys() & second.keys())
    clusters = [first[question].cluster for question in common]
    base = Pair(
        first=names[0], second=names[1], kind=kind, questions=len(common), clusters=len(set(clusters)),
        only_first=None, only_second=None, difference=None, low=None, high=None, p=None, holm=None, test="",
        tied=True, smallest=None,
    )  # fmt: skip
    if not common:
        return base
    ours, theirs = ([side[question].score for question in common] for side in (first, second))
    found = stats.difference(ours, theirs, clusters, LEVEL, seed)
    once = all(side[question].answers == 1 for side in sides for question in common)
    b, c = _discordant(ours, theirs)
    exact = once and base.clusters == len(common)
    p = stats.mcnemar(b, c).mid_p if exact else found.p
    spread = mean_of([(a - z) ** 2 for a, z in zip(ours, theirs, strict=True)])
    return msgspec.structs.replace(
        base, only_first=b if once else None, only_second=c if once else None, difference=found.difference,
        low=found.low, high=found.high, p=p, holm=p, test="McNemar, mid-p" if exact else "sign flip",
        tied=p >= ALPHA, smallest=smallest(len(common), spread or 0.0),
    )  # fmt: skip


def _discordant(ours: Sequence[float], theirs: Sequence[float]) -> tuple[int, int]:
    both = list(zip(ours, theirs, strict=True))
    return sum(a > z for a, z in both), sum(a < z for a, z in both)


def smallest(n: int, disagreement: float) -> float:
    """The smallest true difference found with POWER at level ALPHA, for the share of questions that tell them apart."""
    return float(stats.smallest_difference(n, disagreement, ALPHA, POWER))


def adjusted(found: Sequence[Pair]) -> list[Pair]:
    """The pairs with Holm's p over those of their kind that could be compared, and whether they are tied by it."""
    result = list(found)
    for kind in {one.kind for one in found}:
        places = [place for place, one in enumerate(found) if one.kind == kind and one.p is not None]
        values = stats.holm([found[place].p or 0.0 for place in places])
        for place, value in zip(places, values, strict=True):
            result[place] = msgspec.structs.replace(found[place], holm=value, tied=value >= ALPHA)
    return result
