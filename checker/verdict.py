"""The outcome of checking one record, and how several findings become one verdict."""

from __future__ import annotations

from typing import Literal

import msgspec

Outcome = Literal[
    "match", "wrong_key", "no_option_right", "ambiguous", "engines_disagree", "text_drift", "data_drift",
    "unverifiable",
]  # fmt: skip

# What is found first in this list names the verdict. `loose_text` is drift that changes no answer, so what is
# wrong with the answer comes before it.
PRECEDENCE = (
    "unverifiable", "data_drift", "text_drift", "engines_disagree", "ambiguous", "no_option_right",
    "wrong_key", "loose_text",
)  # fmt: skip
VERDICTS: tuple[Outcome, ...] = (
    "match", "wrong_key", "no_option_right", "ambiguous", "engines_disagree", "text_drift", "data_drift",
    "unverifiable",
)  # fmt: skip
"""Every verdict, from good to bad."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the checker found about one line of a file."""

    file: str
    line: int
    """From 1."""
    id: str = ""
    """The record's id as it should be: empty when the line can't be read."""
    type: str = ""
    difficulty: str = ""
    verdict: Outcome
    reason: str = ""
    """The finding that decided, in one line; empty for ``match``."""
    notes: tuple[str, ...] = ()
    """Everything else that was found or taken for granted."""
    key: str = ""
    """The letter that the record calls right."""
    right: tuple[str, ...] = ()
    """The letters that are right."""
    values: dict[str, str] = {}
    """The answer by engine, at more places than an option shows."""
    cause: Literal["", "unreadable", "missing"] = ""
    """Of ``unverifiable``: the line is no record, or its bars are not here. Otherwise empty."""


class Findings:
    """Collects what is wrong with one record."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.notes: list[str] = []
        self.cause: Literal["", "unreadable", "missing"] = ""

    def add(self, kind: str, reason: str) -> None:
        """Note a finding of one of PRECEDENCE."""
        self.found.append((PRECEDENCE.index(kind), reason))

    def has(self, *kinds: str) -> bool:
        """Whether there is a finding of one of ``kinds``."""
        return any(PRECEDENCE[rank] in kinds for rank, _ in self.found)

    def outcome(self) -> tuple[Outcome, str, tuple[str, ...]]:
        """Verdict, reason, notes."""
        if not self.found:
            return "match", "", tuple(self.notes)
        first, *rest = sorted(self.found, key=lambda finding: finding[0])
        name = PRECEDENCE[first[0]]
        verdict: Outcome = "text_drift" if name == "loose_text" else name  # type: ignore[assignment]
        return verdict, first[1], (*(reason for _, reason in rest), *self.notes)
