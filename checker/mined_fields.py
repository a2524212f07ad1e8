"""What the fields of a mined record say of each other, the verifier's run aside. Pure.

A record's key, value and program are checked by running the program; what else stands in it must go with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.records import LETTERS, MINED_CATEGORIES, MINED_LABELS
from backtrader_bench.sandbox.room import Isolation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backtrader_bench.records import Question

MARKS = frozenset({"choices_only"})
MOST_OTHERS = 200
"""Perturbed seeds that a check runs again."""


def contradictions(question: Question, same: Callable[[str, str], bool]) -> Iterator[str]:
    """Everything that doesn't go together. ``same(option, answer)``: whether an option says an answer."""
    yield from _names(question)
    yield from _program(question)
    yield from _origins(question, same)
    if (problem := _tolerance(question)) is not None:
        yield problem


def _names(question: Question) -> Iterator[str]:
    if question.type not in MINED_CATEGORIES:
        yield f"type {question.type[:20]!r} is no category of mined questions"
    if question.category != question.type:
        yield f"category {str(question.category)[:20]!r} is not the type, {question.type[:20]!r}"
    if question.difficulty != "mined":
        yield f"difficulty {question.difficulty[:20]!r}, but the question is mined"
    if odd := [label for label in question.labels if label not in MINED_LABELS]:
        yield f"label {odd[0][:20]!r} is no decision of mining"
    if len(question.labels) > 1:
        yield f"labels: {len(question.labels)} decisions on one question"
    unused = {
        "strategy_name": question.strategy_name, "strategy_params": question.strategy_params,
        "template_params": question.template_params, "bundle": question.bundle, "certificate": question.certificate,
        "private": question.private,
    }  # fmt: skip
    if odd := [name for name, value in unused.items() if value]:
        yield f"{', '.join(odd)}: a mined question has none"


def _program(question: Question) -> Iterator[str]:
    verification, tape = question.verification, question.tape
    assert verification is not None
    if question.config != {"verifier_sha256": tape.sha256}:
        yield "config doesn't hold the verifier's SHA-256 and that alone"
    if (tape.source, tape.rows, tape.first, tape.last) != ("verifier", 0, "", ""):
        yield "tape: a mined question's source is its verifier, without rows or days"
    if question.seed != verification.base_seed:
        yield f"seed is {question.seed}, the verification's base_seed {verification.base_seed}"
    if not _is_isolation(verification.isolation):
        yield "verification.isolation is not what a self-test of the sandbox finds"
    if not set(verification.marks) <= MARKS:
        yield "verification.marks: unknown"


def _is_isolation(facts: dict[str, Any]) -> bool:
    if set(facts) != set(Isolation.__struct_fields__):
        return False
    try:
        msgspec.convert(facts, Isolation)
    except msgspec.ValidationError:
        return False
    return True


def other_seeds(question: Question) -> list[int] | None:
    """The perturbed seeds whose answers the record holds; None where they can't be those of a mining session."""
    assert question.verification is not None
    names = list(question.verification.others)
    if len(names) > MOST_OTHERS or not all(name.isascii() and name.isdigit() and len(name) <= 18 for name in names):
        return None
    seeds = [int(name) for name in names]
    unlike = [str(seed) for seed in seeds] != names or question.verification.base_seed in seeds
    return None if unlike else seeds


def _origins(question: Question, same: Callable[[str, str], bool]) -> Iterator[str]:
    """Each option against where the record says that it comes from."""
    assert question.verification is not None
    if sorted(question.option_origins) != list(LETTERS):
        yield "option_origins don't name the four letters"
        return
    for letter, origin in question.option_origins.items():
        said = question.verification.others.get(origin.removeprefix("seed "))
        if (origin == "key") != (letter == question.answer):
            yield f"option_origins: {letter} is from {origin[:20]!r}, the key is {question.answer}"
        elif origin.startswith("seed "):
            if said is None:
                yield f"option_origins: {letter} is from {origin[:20]!r}, which verification.others doesn't hold"
            elif not same(question.options[letter], said):
                yield f"{letter} is not the answer at {origin}, {said[:80]}"
        elif origin not in ("key", "ladder"):
            yield f"option_origins: {letter} is from {origin[:20]!r}"


def _tolerance(question: Question) -> str | None:
    """None for days and words, 0 for counts; otherwise less than half of one percent or of two last places."""
    value, tolerance = question.value, question.tolerance
    if isinstance(value, str):
        return None if tolerance is None else "tolerance: the value is no number"
    if tolerance is None:
        return "tolerance: missing"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    digits = question.options[question.answer].partition(".")[2]
    decimals = len(digits) - len(digits.lstrip("0123456789"))
    separation = max(2 * 10.0**-decimals, 0.01 * abs(value))
    most = 0.0 if isinstance(value, int) else 0.5 * separation
    if 0.0 <= tolerance <= most:
        return None
    return f"tolerance {tolerance:g} is more than half of what options are apart"
