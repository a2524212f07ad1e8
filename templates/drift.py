"""Does a record still say what its template and parameters say? A step of ``bench check`` outside the checker."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from backtrader_bench.errors import BenchError
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import question_text, stem_text

if TYPE_CHECKING:
    from backtrader_bench.records import Question


def text_problems(record: Question) -> list[str]:
    """What differs between the record's text and a fresh rendering of it; empty when nothing does."""
    template = TEMPLATES.get(record.type)
    if template is None:
        return [f"no template is called {record.type!r}"]
    problems = []
    if record.difficulty != template.tier:
        problems.append(f"difficulty is {record.difficulty!r}; {record.type} is {template.tier}")
    try:
        stem = stem_text(record.type, record.template_params, record.config, record.tape)
    except (BenchError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        # A damaged configuration can fail anywhere in the rendering; whatever it was, the text can't be confirmed.
        return [*problems, f"the stem cannot be rendered from the record: {type(error).__name__}: {error}"]
    if stem != record.stem:
        problems.append(f"the stem differs from its template: {first_difference(record.stem, stem)}")
    if record.question != question_text(record.stem, record.options):
        problems.append("the question's full text is not its introduction, stem, options and reply form")
    return problems


def first_difference(found: str, expected: str) -> str:
    """Where two texts part, in a few words of each."""
    opcodes = difflib.SequenceMatcher(None, found, expected, autojunk=False).get_opcodes() if len(found) < 20_000 else []
    for tag, a, b, c, d in opcodes:
        if tag != "equal":
            return f"found {found[max(0, a - 20):b + 20]!r}, expected {expected[max(0, c - 20):d + 20]!r}"
    return "the texts differ in length"
