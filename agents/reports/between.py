"""Agents held against each other on the questions that both answered."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from backtrader_bench.agents.reports.schema import Pair
from backtrader_bench.agents.reports.shares import LEVEL
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
    ours, theirs = ([side[question].score for question in common] for side in (first, second))
    found = stats.difference(ours, theirs, clusters, seed, LEVEL)
    once = all(side[question].answers == 1 for side in sides for question in common)
    alone = once and len(set(clusters)) == len(common)
    p = stats.mcnemar(found.b, found.c).mid if alone and found.p is not None else found.p
    return Pair(
        first=names[0], second=names[1], kind=kind, questions=len(common), clusters=len(set(clusters)),
        only_first=found.b if once else None, only_second=found.c if once else None,
        difference=found.delta, low=found.low, high=found.high, p=p, holm=p,
        test="McNemar, mid-p" if alone else "sign flip", word=stats.word(found.delta, p, ALPHA),
        smallest=smallest(found) if once else _normal_smallest(found.se),
    )  # fmt: skip


def smallest(found: stats.Difference) -> float | None:
    """The smallest true difference found with POWER, from the share of questions that just one has right."""
    if not found.n:
        return None
    return stats.smallest_difference(found.n, (found.b + found.c) / found.n, LEVEL, POWER, found.design or 1.0)


def _normal_smallest(se: float | None) -> float | None:
    """The same from the standard error, where scores are shares of several answers."""
    from scipy.stats import norm

    return float(norm.ppf((1 + LEVEL) / 2) + norm.ppf(POWER)) * se if se else None


def adjusted(found: Sequence[Pair]) -> list[Pair]:
    """The pairs with Holm's p over all of their kind, and the word that it allows."""
    result = list(found)
    for kind in {one.kind for one in found}:
        places = [place for place, one in enumerate(found) if one.kind == kind]
        for place, value in zip(places, stats.holm([found[place].p for place in places]), strict=True):
            word = stats.word(found[place].difference, value, ALPHA)
            result[place] = msgspec.structs.replace(found[place], holm=value, word=word)
    return result
