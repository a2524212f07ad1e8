"""The registry of attackers that follow a rule: what an attacker is, and all of them by name.

Adding one is one decorated function in a module that attackers.py names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from backtrader_bench.mcq_builder.audit.bank import Bank
    from backtrader_bench.mcq_builder.audit.items import Item

    Pick = tuple[int, ...]
    Rule = Callable[[Item, Bank], Pick]
    Group = Callable[[Item], Hashable | None]

Target = Literal["letter", "rank", "date"]
"""The key's letter, the rank of its leading value, or the rank of its date."""
Family = Literal[
    "letters", "templates", "ranks", "distance", "digits", "lots", "rational", "dates", "stem", "links", "ids"
]  # fmt: skip


@dataclass(frozen=True)
class RuleAttacker:
    """Looks at one question (and at other questions' text, never at a key)."""

    name: str
    family: Family
    about: str
    pick: Rule
    """The places that it holds for equally likely, the rest for wrong; empty: it abstains."""


@dataclass(frozen=True)
class HabitAttacker:
    """Learns which letter or rank the key has most often in a group, from all other configurations."""

    name: str
    family: Family
    about: str
    group: Group
    """The group of a question; None: it abstains."""
    target: Target


_TARGETS: dict[Target, str] = {
    "letter": "the key's letter",
    "rank": "the rank of the key's leading value",
    "date": "the rank of the key's date",
}
RULES: dict[str, RuleAttacker] = {}
HABITS: dict[str, HabitAttacker] = {}


def rule(family: Family, about: str) -> Callable[[Rule], Rule]:
    """Register a function under its name."""

    def register(pick: Rule) -> Rule:
        add_rule(pick.__name__, family, about, pick)
        return pick

    return register


def add_rule(name: str, family: Family, about: str, pick: Rule) -> None:
    """Register one rule; a name taken is a defect."""
    assert name not in RULES, name
    RULES[name] = RuleAttacker(name, family, about, pick)


def add_habits(name: str, family: Family, about: str, group: Group, *targets: Target) -> None:
    """Register a habit for each target: ``NAME_to_letter``, ``NAME_to_rank``, ``NAME_to_date``."""
    for target in targets:
        full = f"{name}_to_{target}"
        assert full not in HABITS, full
        kind: Family = "dates" if target == "date" else family
        HABITS[full] = HabitAttacker(full, kind, f"{about} predicts {_TARGETS[target]}", group, target)
