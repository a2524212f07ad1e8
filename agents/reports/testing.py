"""The questions as a test: difficulty, discrimination, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.agents.reports.schema import ItemRow, Items
from backtrader_bench.agents.reports.shares import mean_of
from backtrader_bench.stats import items as stats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.agents.reports.gather import Row, Series, Table

    Taker = tuple[Series, str, int, int]
    """Agent and condition, run, repeat, order of options: who sat the test once."""


def items(table: Table) -> Items:
    """Statistics over all takers. Those that compare takers need questions that every taker answered, and two takers."""
    scores: dict[str, dict[Taker, float]] = {}
    takers: set[Taker] = set()
    for row in table.rows:
        takers.add(_taker(row))
        answers = scores.setdefault(row.attempt.question_id, {})
        if row.answered:
            answers[_taker(row)] = float(row.right)
    complete = sorted(question for question, answers in scores.items() if len(answers) == len(takers))
    discrimination, kr20 = _over(scores, complete, sorted(takers))
    return Items(
        takers=len(takers),
        complete=len(complete),
        kr20=kr20,
        rows=tuple(
            ItemRow(
                question=question, answers=len(answers), p=mean_of(list(answers.values())),
                discrimination=discrimination.get(question),
            )
            for question, answers in sorted(scores.items())
        ),
    )  # fmt: skip


def _taker(row: Row) -> Taker:
    return row.series, row.attempt.run, row.attempt.repeat, row.attempt.shift


def _over(
    scores: Mapping[str, Mapping[Taker, float]], questions: list[str], takers: list[Taker]
) -> tuple[dict[str, float | None], float | None]:
    """Point-biserial by question, and KR-20, over the questions that all takers answered."""
    if len(takers) < 2 or len(questions) < 2:
        return {}, None
    matrix = np.array([[scores[question][taker] for question in questions] for taker in takers])
    found = stats.statistics(matrix)
    return {question: one.point_biserial for question, one in zip(questions, found, strict=True)}, stats.kr20(matrix)
