"""Every reason that an attempt can end for, by decision, put together from what the code itself declares.

A reason that is added there is in this list at once, and then some session has to reach it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from backtrader_bench import miner
from backtrader_bench.attempts import ANSWERS, Status
from backtrader_bench.checker.programs import judge, static
from backtrader_bench.miner import asking, convert, protocol, wellposed
from backtrader_bench.miner.decisions import ACCEPTED, REVIEW
from backtrader_bench.miner.verifying import ELSEWHERE

Ending = tuple[str, str]
"""A decision and a reason; the reason is empty where the decision says everything."""


def words(kind: Any) -> tuple[str, ...]:
    """The words of a Literal, or of a union of them."""
    return tuple(word for part in get_args(kind) for word in ((part,) if isinstance(part, str) else words(part)))


def outright() -> Iterator[Ending]:
    """The endings that are written out where an attempt is decided: ``Outcome("duplicate", ("same_id",), ...)``."""
    for path in sorted(Path(miner.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Outcome":
                decision, *rest = node.args
                if isinstance(decision, ast.Constant) and rest and isinstance(rest[0], ast.Tuple):
                    for reason in rest[0].elts:
                        if isinstance(reason, ast.Constant):
                            yield str(decision.value), str(reason.value)


PROBLEMS = words(asking.Problem)
FAULTS = words(protocol.Fault)
MISSING = tuple(status for status in words(Status) if status not in ANSWERS)
REASONS: dict[str, frozenset[str]] = {
    ACCEPTED: frozenset({""}),
    REVIEW: frozenset({""}),
    "easy_discarded": frozenset(),
    "duplicate": frozenset(),
    "malformed": frozenset(FAULTS),
    "verifier_failed": (frozenset(static.RULES) - ELSEWHERE - static.DOUBTS) | frozenset(judge.REASONS),
    "not_well_posed": ELSEWHERE | {*words(wellposed.Name), *words(convert.Name)},
    "unscreened": frozenset({
        *(f"screen_{status}" for status in MISSING),
        # With tools there is none that isn't allowed.
        *(f"validation_{status}" for status in MISSING if status != "tool_attempted"),
        # A reply that is to hold nothing but a program can't lack a question.
        *(f"second_verifier_{fault}" for fault in FAULTS if fault.endswith("_code_block")),
        *(f"second_verifier_{problem}" for problem in (*PROBLEMS, "failed")),
    }),
    "generator_failed": frozenset(f"generator_{problem}" for problem in PROBLEMS),
}  # fmt: skip
ENDINGS: frozenset[Ending] = frozenset(
    [(decision, reason) for decision, all_of_it in REASONS.items() for reason in all_of_it] + list(outright())
)
