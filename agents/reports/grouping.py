"""Accuracy by tier, template, strategy, category and scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.agents.reports.schema import Cell, Group
from backtrader_bench.agents.reports.shares import share
from backtrader_bench.mcq_builder.pages.facts import KINDS, TIERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.agents.reports.gather import Row, Table

NONE = "(none)"


def groups(table: Table, agents: Sequence[str], seed: int) -> list[Group]:
    """Every group that the questions' records name; a kind that no record names is left out."""
    found = []
    for kind, name_of in KINDS.items():
        names = {id: name_of(facts) for id, facts in table.facts.items()}
        if not any(names.values()):
            continue
        for name in sorted(set(names.values()), key=lambda name: (TIERS.get(name, 3), name)):
            mine = [row for row in table.rows if names.get(row.attempt.question_id) == name]
            found.append(_group(kind, name, mine, agents, seed))
    return found


def _group(kind: str, name: str, rows: Sequence[Row], agents: Sequence[str], seed: int) -> Group:
    cells = []
    for agent in agents:
        answered = [row for row in rows if row.answered and row.series.name == agent]
        cells.append(Cell(agent=agent, share=share(answered, [row.right for row in answered], seed)))
    asked = len({row.attempt.question_id for row in rows})
    return Group(kind=kind, name=name or NONE, questions=asked, cells=tuple(cells))
