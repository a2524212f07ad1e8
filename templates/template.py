"""What a template is: a name, a tier, a question with holes, and how an option is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.templates.kinds import Kind

Tier = Literal["easy", "medium", "hard"]
TIERS: tuple[Tier, ...] = ("easy", "medium", "hard")


@dataclass(frozen=True)
class Part:
    """One part of an answer: its field in the record's ``value`` and its kind. A one-part answer is the bare value."""

    field: str
    kind: Kind


@dataclass(frozen=True)
class Template:
    """One row of docs/templates.md, in words."""

    name: str
    tier: Tier
    summary: str
    """One line for lists."""
    ask: str
    """The question; the holes are the facts of ``render.facts``."""
    parts: tuple[Part, ...]
    option: str = "{value}"
    """How an option is written; the holes are the parts' fields."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """For a label: what each word is written as."""
    scope: Literal["tape", "account", "backtest"] = "backtest"
    """What the answer depends on: the bars alone, bars with cash and commission, or the whole backtest. Two questions
    that differ only outside their scope are the same question."""
    needs: tuple[str, ...] = ()
    """The strategies that have what it asks about, by name; empty: every one has."""

    def fits(self, strategy: str) -> bool:
        """Whether it can be asked of a strategy."""
        return not self.needs or strategy in self.needs

    @property
    def only_for(self) -> str:
        """Why it isn't asked of other strategies."""
        *most, last = self.needs
        listed = f"{', '.join(most)} or {last}" if most else last
        return f"it asks about orders that only {listed} {'have' if most else 'has'}"

    def option_text(self, answer: Mapping[str, Any]) -> str:
        """The option for an answer given by fields."""
        texts = {part.field: part.kind.text(answer[part.field]) for part in self.parts}
        for part in self.parts:
            if part.kind.name == "label":
                texts[part.field] = self.phrases[texts[part.field]]
        return self.option.format(**texts)

    def value(self, answer: Mapping[str, Any]) -> Any:
        """The answer as a record keeps it: rounded, one-part answers bare."""
        rounded = {part.field: part.kind.rounded(answer[part.field]) for part in self.parts}
        return rounded["value"] if list(rounded) == ["value"] else rounded


def one(kind: Kind) -> tuple[Part, ...]:
    """The parts of a one-part answer."""
    return (Part("value", kind),)


def parts(**kinds: Kind) -> tuple[Part, ...]:
    """The parts of a composite answer, in the order of the option."""
    return tuple(Part(name, kind) for name, kind in kinds.items())
