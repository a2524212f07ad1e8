"""What other banks ask already, so that a new one asks something else. Pure.

A ladder asks for a fact of bars that everyone has, with distractors drawn under the build's seed: the same fact with
other distractors would show which option is true, as would two facts that state each other. So a question is the same
when it asks the same, whatever its options. Behind hidden worlds the same words ask about other bars, and share
nothing: there a question is the same when its text and options are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.checker.published import OPTION
from backtrader_bench.errors import RecordError
from backtrader_bench.mcq_builder.audit.bank import telling_values
from backtrader_bench.mcq_builder.questions import scope_key
from backtrader_bench.records import (
    HIDDEN_SCHEMES,
    LETTERS,
    MINED,
    Question,
    check_version,
    is_published,
    question_id,
    to_question,
)
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KEYLESS: dict[str, Any] = {"answer": "A", "value": None, "option_origins": {}, "seed": 0}
"""Stands for what a record without its key doesn't say: nothing of it is looked at here."""


@dataclass(frozen=True)
class Excluded:
    """The questions of other banks."""

    ids: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    """Texts before the options, and scope keys, of questions about bars that are not hidden."""
    values: frozenset[tuple[str, str]] = frozenset()
    """What the options of ladders say of their backtests; see telling_values."""

    def holds(self, question: Question) -> bool:
        """Whether the question is asked already."""
        if question.scheme in HIDDEN_SCHEMES:
            return question.id in self.ids
        text, _ = before_options(question.question)
        return question.id in self.ids or not self.asked.isdisjoint((text, scope_key(question)))


NOTHING = Excluded()


def excluded(records: Iterable[tuple[Mapping[str, Any], str]]) -> Excluded:
    """From decoded records, ours, without their keys, or published, each with where it stands; RecordError."""
    ids: set[str] = set()
    asked: set[str] = set()
    values: set[tuple[str, str]] = set()
    for fields, where in records:
        name, text = _named(fields, where)
        ids.add(name)
        if fields.get("scheme") in (*HIDDEN_SCHEMES, MINED):
            continue
        asked.add(text)
        kind = fields.get("type")
        if is_published(fields) or (isinstance(kind, str) and kind not in TEMPLATES):
            continue
        whole = to_question({**_KEYLESS, **fields}, where)
        try:
            asked.add(scope_key(whole))
        except KeyError as error:
            raise RecordError(f"{where}: config has no {error}") from None
        if whole.scheme == "ladder":
            values |= telling_values(whole)
    return Excluded(frozenset(ids), frozenset(asked), frozenset(values))


def _named(fields: Mapping[str, Any], where: str) -> tuple[str, str]:
    """The id, and the text before the options."""
    check_version(fields, where)
    text, name = fields.get("question"), fields.get("id")
    before, options = before_options(text) if isinstance(text, str) else ("", {})
    if tuple(options) != LETTERS:
        raise RecordError(f"{where}: no question record: its text doesn't hold options A to D, one a line")
    return name if isinstance(name, str) else question_id(before, options), before


def before_options(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the options of a question's text, white space collapsed, and the options."""
    found = list(OPTION.finditer(text))
    return " ".join(text[: found[0].start()].split()) if found else "", {one[1]: one[2] for one in found}
