"""One question as a page or a report needs it, ours or published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrader_bench.mcq_builder.audit.items import Item

CATEGORY = "category:"


@dataclass(frozen=True, slots=True)
class Facts:
    """A question's record, read."""

    item: Item
    record: Mapping[str, Any]
    """The decoded line."""
    file: str
    line: int

    @property
    def id(self) -> str:
        """As attempts name it."""
        return self.item.id

    @property
    def key(self) -> str:
        """The right option's letter."""
        return self.item.letter

    @property
    def options(self) -> dict[str, str]:
        """By letter."""
        return dict(zip(LETTERS, self.item.options, strict=True))

    @property
    def category(self) -> str:
        """The ``category`` of a mined question, or its label ``category:NAME``; empty without one."""
        named = self.record.get("category")
        if isinstance(named, str):
            return named
        labels = [one for one in self.record.get("labels") or () if isinstance(one, str) and one.startswith(CATEGORY)]
        return labels[0].removeprefix(CATEGORY) if labels else ""


KINDS: dict[str, Callable[[Facts], str]] = {
    "tier": lambda facts: facts.item.difficulty,
    "template": lambda facts: facts.item.type,
    "strategy": lambda facts: facts.item.strategy,
    "category": lambda facts: facts.category,
    "scheme": lambda facts: facts.item.scheme,
}
TIERS = {"easy": 0, "medium": 1, "hard": 2}
