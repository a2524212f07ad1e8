"""Scheme ``diagnostic``: two hidden worlds, each with its true answer and the answer of one mistake.

A wrong pick names the mistake. One of the two worlds errs upwards and the other downwards, so that neither larger nor
smaller values are the mistaken ones more often; which of the two true answers is the key is drawn last.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.hidden import FEWEST, FIRST
from backtrader_bench.mcq_builder.mistakes import DIAGNOSTIC, MISTAKES, mistaken
from backtrader_bench.mcq_builder.options.guards import apart, guard_key
from backtrader_bench.mcq_builder.options.siblings import (
    Chosen,
    Draft,
    Option,
    draw_key,
    set_stream,
    world_answers,
)
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from backtrader_bench.mcq_builder.context import Answer
    from backtrader_bench.mcq_builder.hidden import Worlds
    from backtrader_bench.records import Question
    from backtrader_bench.templates.template import Template

_PAIRS = 400
"""Pairs of worlds that are tried for one mistake."""


def diagnostic_question(template: str, hidden: Worlds, params: Mapping[str, Any], seed: int) -> Question:
    """The record of one question; Skip when no mistake separates two worlds both ways."""
    words = TEMPLATES[template]
    counted = ("integer", "shares", "volume")
    if not any(part.kind.decimals is not None or part.kind.name in counted for part in words.parts):
        raise Skip("a mistake has no direction in this answer")
    hidden = hidden.about("diagnostic", template, params)
    rng = set_stream(hidden)
    answers = world_answers(words, hidden.first(FIRST), params, {})
    if len(answers) < FEWEST:
        raise Skip("too few worlds with an answer")
    for name in rng.sample(DIAGNOSTIC, len(DIAGNOSTIC)):
        options = _pair(words, hidden, params, answers, name, rng)
        if options:
            draft = Draft(template, hidden, params, seed, Chosen(options, FIRST, len(answers)), rng)
            return draft.record(draw_key(hidden.setup.secret, draft.id) % 2)
    raise Skip("no mistake separates two worlds both ways")


def _pair(
    words: Template, hidden: Worlds, params: Mapping[str, Any], answers: Mapping[int, Answer], name: str, rng: Random
) -> list[Option] | None:
    """True answers of two worlds and their mistaken ones, which err in opposite directions; or None."""
    wrong = {}
    for place, right in answers.items():
        of = hidden.first(FIRST)[place]
        answer = mistaken(words.name, of, params, MISTAKES[name], hidden.backtests)
        if answer is not None and _valid(words, hidden, place, answer) and apart(words, right, answer):
            wrong[place] = answer
    up = [place for place in wrong if _direction(words, answers[place], wrong[place]) > 0]
    down = [place for place in wrong if _direction(words, answers[place], wrong[place]) < 0]
    pairs = [(one, other) for one in up for other in down]
    rng.shuffle(pairs)
    for one, other in pairs[:_PAIRS]:
        four = [
            Option(one, answers[one]), Option(other, answers[other]),
            Option(one, wrong[one], f"a true option's world, {name}"),
            Option(other, wrong[other], f"a true option's world, {name}"),
        ]  # fmt: skip
        if all(apart(words, a.answer, b.answer) for a, b in combinations(four, 2)):
            return [*(four[:2] if rng.randrange(2) else four[1::-1]), *four[2:]]
    return None


def _valid(words: Template, hidden: Worlds, place: int, answer: Answer) -> bool:
    try:
        guard_key(words, answer, hidden.first(FIRST)[place])
    except Skip:
        return False
    return True


def _direction(words: Template, right: Answer, wrong: Answer) -> float:
    """By how much a mistake moves the first number of the answer that it moves at all."""
    for part in words.parts:
        if isinstance(right[part.field], int | float) and right[part.field] != wrong[part.field]:
            return float(wrong[part.field] - right[part.field])
    return 0.0
