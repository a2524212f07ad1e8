"""The floor under a score: what the audit's best shortcut gets on the same questions, from text and options alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.agents.reports.schema import Floor
from backtrader_bench.mcq_builder.audit.attackers import HABITS, RULES
from backtrader_bench.mcq_builder.audit.bank import Bank
from backtrader_bench.mcq_builder.audit.score import Habit, Layout, Redraw, reference, rule_credits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.mcq_builder.audit.items import Item
    from backtrader_bench.mcq_builder.audit.registry import HabitAttacker, RuleAttacker

REDRAWS = 199


def best_shortcut(items: Sequence[Item], seed: int) -> Floor | None:
    """The rule or habit with the highest credit on ``items``; None without items.

    Trained attackers are left out: they cost minutes. The best of many is chosen after the fact, so that on few
    questions it lies above chance by luck alone; ``chance_p`` says how often redrawn keys would bring so much.
    """
    if not items:
        return None
    items = sorted(items, key=lambda item: item.id)
    bank, layout, keys = Bank(items), Layout.of(items), np.array([item.key for item in items])
    tables = np.stack([rule_credits(attacker, bank) for attacker in RULES.values()])
    habits = [Habit(attacker, items, layout) for attacker in HABITS.values()]
    earned = [float(table[np.arange(len(items)), keys].sum()) for table in tables]
    totals = np.array([*earned, *(float(habit.credits(keys).sum()) for habit in habits)])
    known: list[RuleAttacker | HabitAttacker] = [*RULES.values(), *HABITS.values()]
    best = int(np.argmax(np.round(totals, 6)))
    redrawn = reference(tables, habits, Redraw(items), REDRAWS, seed)
    return Floor(
        value=round(float(totals[best]) / len(items), 6), source=known[best].name, about=known[best].about,
        questions=len(items), chance_p=redrawn.largest_p(totals),
    )  # fmt: skip
