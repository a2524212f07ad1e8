"""How an attempt can end, and what each ending means for the record, the session's counts and the steering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Decision = Literal[
    "tool_solver_correct", "tool_solver_wrong", "easy_discarded", "malformed", "verifier_failed", "not_well_posed",
    "duplicate", "unscreened", "generator_failed",
]  # fmt: skip
DECISIONS: tuple[Decision, ...] = (
    "tool_solver_correct", "tool_solver_wrong", "easy_discarded", "not_well_posed", "duplicate", "verifier_failed",
    "malformed", "unscreened", "generator_failed",
)  # fmt: skip
"""From good to bad."""
ACCEPTED: Decision = "tool_solver_correct"
REVIEW: Decision = "tool_solver_wrong"
UNSCREENED: Decision = "unscreened"
KEPT: frozenset[str] = frozenset({ACCEPTED, REVIEW})
"""Their questions go into ``db/mcq/RUN.jsonl``."""
BLAMELESS: frozenset[str] = frozenset({"unscreened", "generator_failed"})
"""Say nothing of the question or its category."""


@dataclass(frozen=True)
class Outcome:
    """Why an attempt ended as it did."""

    decision: Decision
    reasons: tuple[str, ...] = ()
    """Words for counting."""
    detail: str = ""
    """One line for a reader."""
