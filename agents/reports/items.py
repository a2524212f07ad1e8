"""The questions as a test: difficulty, discrimination, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.agents.reports.schema import ItemRow, Items
from backtrader_bench.stats import items as stats

if TYPE_CHECKING:
    from backtrader_bench.agents.reports.gather import Row, Series, Table

    Taker = tuple[Series, str, int, int]
    """Agent and condition, run, repeat, order of options: who sat the test once."""


def statistics(table: Table) -> Items:
    """Statistics over all takers; KR-20 over the questions that every taker answered."""
    scores: dict[str, dict[Taker, float]] = {}
    for row in table.rows:
        answers = scores.setdefault(row.attempt.question_id, {})
        if row.answered:
            answers[_taker(row)] = float(row.right)
    takers, questions = sorted({_taker(row) for row in table.rows}), sorted(scores)
    matrix = [[scores[question].get(taker) for question in questions] for taker in takers]
    whole = [place for place, question in enumerate(questions) if len(scores[question]) == len(takers)]
    return Items(
        takers=len(takers),
        complete=len(whole),
        kr20=stats.kr20([[row[place] for place in whole] for row in matrix]),
        rows=tuple(
            ItemRow(question=question, answers=one.n, p=one.p, discrimination=one.point_biserial)
            for question, one in zip(questions, stats.statistics(matrix), strict=True)
        ),
    )


def _taker(row: Row) -> Taker:
    return row.series, row.attempt.run, row.attempt.repeat, row.attempt.shift
