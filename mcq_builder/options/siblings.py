"""Scheme ``siblings``: four worlds' true answers are the options, and which world is the key's is drawn last.

Everything visible is fixed before that draw and independent of it, so no attacker who sees only text and options is
right more often than one time in four, whatever the type of answer. Filters here look at the set of worlds, never
at the key.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from backtrader_bench.errors import BacktestError
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.hidden import FEWEST, FIRST, MOST
from backtrader_bench.mcq_builder.mistakes import fingerprints, tolerance
from backtrader_bench.mcq_builder.options.guards import apart, guard_key
from backtrader_bench.mcq_builder.secret import hidden_stream, prf
from backtrader_bench.records import LETTERS, Certificate, Private, Question, question_id
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import question_text, stem_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from backtrader_bench.mcq_builder.context import Answer, Context
    from backtrader_bench.mcq_builder.hidden import Worlds
    from backtrader_bench.templates.template import Template


class Four(NamedTuple):
    """Four worlds, by place and in ascending order of answer, with their answers."""

    places: list[int]
    answers: list[Answer]
    computed: int
    valid: int


def sibling_question(template: str, hidden: Worlds, params: Mapping[str, Any], seed: int) -> Question:
    """The record of one question; Skip when no four worlds are far enough apart."""
    secret = hidden.setup.secret
    words = TEMPLATES[template]
    rng = hidden_stream(secret, "set", seed, template, hidden.setup.config, sorted(params.items(), key=str))
    four = _four(words, hidden, params, rng)
    contexts = hidden.first(four.computed)
    stems = {stem_text(template, params, hidden.config, _ref(contexts[place])) for place in four.places}
    if len(stems) != 1:
        raise BacktestError(f"the text of {template} depends on the world: this is a defect, please report it")
    stem = stems.pop()
    order = list(range(4))
    rng.shuffle(order)
    options = {letter: words.option_text(four.answers[at]) for letter, at in zip(LETTERS, order, strict=True)}
    identity = question_id(stem, options)
    key = draw_key(secret, identity)
    of = contexts[four.places[key]]
    text = words.option_text(four.answers[key])
    return Question(
        question=question_text(stem, options),
        answer=next(letter for letter, option in options.items() if option == text),
        type=template,
        difficulty=words.tier,
        strategy_name=of.spec.strategy,
        strategy_params=of.spec.params,
        config=hidden.config,
        id=identity,
        stem=stem,
        options=options,
        template_params=dict(params),
        value=words.value(four.answers[key]),
        tape=_ref(of),
        scheme="siblings",
        option_origins={letter: "key" if at == key else "another world" for letter, at in zip(LETTERS, order, strict=True)},
        seed=seed,
        tolerance=tolerance(words, four.answers[key]),
        certificate=Certificate(
            worlds=four.computed, valid=four.valid, text_sha256=text_digest(stem, options),
            commitment=commitment([hidden.seed(place) for place in range(four.computed)]),
        ),
        private=Private(
            kind=hidden.setup.kind, seeds=[hidden.seed(place) for place in range(four.computed)],
            order=[letter for _, letter in sorted(zip(order, LETTERS, strict=True))],
            option_worlds={letter: four.places[at] for letter, at in zip(LETTERS, order, strict=True)},
            fingerprints=fingerprints(template, of, params, four.answers[key], hidden.backtests),
        ),
    )  # fmt: skip


def draw_key(secret: bytes, identity: str) -> int:
    """Which of the four, in ascending order, is the key: the last draw of all, uniform to whoever lacks the secret."""
    return int.from_bytes(prf(secret, identity, "key"), "big") % 4


def key_place(record: Question, secret: bytes) -> str:
    """The letter that the secret draws for a record, from its options and parameters alone."""
    assert record.private is not None
    return record.private.order[draw_key(secret, record.id)]


def text_digest(stem: str, options: Mapping[str, str]) -> str:
    """SHA-256 of the stem and the options in sorted order: what a solver sees, whatever the letters."""
    return hashlib.sha256("\n".join([stem, *sorted(options.values())]).encode()).hexdigest()


def commitment(seeds: list[str]) -> str:
    """SHA-256 of the seeds joined by commas."""
    return hashlib.sha256(",".join(seeds).encode()).hexdigest()


def _ref(of: Context) -> Any:
    from backtrader_bench.mcq_builder.questions import tape_ref

    return tape_ref(of.tape)


def _four(words: Template, hidden: Worlds, params: Mapping[str, Any], rng: Random) -> Four:
    reasons: dict[str, int] = {}
    for count in (FIRST, MOST):
        answers = _answers(words, hidden.first(count), params, reasons)
        if len(answers) < FEWEST:
            continue
        chain = chain_of_four(words, answers, rng)
        if chain:
            return Four(chain, [answers[place] for place in chain], count, len(answers))
    if sum(reasons.values()) > MOST:
        raise Skip(max(reasons, key=lambda reason: reasons[reason]))
    raise Skip("no four worlds with answers far enough apart")


def _answers(
    words: Template, contexts: list[Context], params: Mapping[str, Any], reasons: dict[str, int]
) -> dict[int, Answer]:
    """The answers of the worlds that have one, by place: one predicate for all of them."""
    found = {}
    for place, of in enumerate(contexts):
        try:
            answer = ANSWERS[words.name](of, params)
            guard_key(words, answer, of)
            found[place] = answer
        except Skip as reason:
            reasons[str(reason)] = reasons.get(str(reason), 0) + 1
    return found


def chain_of_four(words: Template, answers: Mapping[int, Answer], rng: Random) -> list[int] | None:
    """Places of four worlds whose answers are apart: one of the tightest quarter of such chains, at random."""
    by_text: dict[str, list[int]] = {}
    for place, answer in answers.items():
        by_text.setdefault(words.option_text(answer), []).append(place)
    # Of worlds with the same answer any one will do; which is drawn, so that no world is always the one.
    chosen = [rng.choice(places) for _, places in sorted(by_text.items())]
    chosen.sort(key=lambda place: sort_key(words, answers[place]))
    chains = [
        chain for start in range(len(chosen)) if len(chain := _greedy(words, answers, chosen[start:])) == 4
    ]  # fmt: skip
    if not chains:
        return None
    rng.shuffle(chains)  # among chains of one width, which dates and words all are, any comes first
    chains.sort(key=lambda chain: _width(words, [answers[place] for place in chain]))
    return rng.choice(chains[: max(1, len(chains) // 4)])


def _greedy(words: Template, answers: Mapping[int, Answer], ordered: list[int]) -> list[int]:
    chain: list[int] = []
    for place in ordered:
        if all(apart(words, answers[place], answers[other]) for other in chain):
            chain.append(place)
        if len(chain) == 4:
            break
    return chain


def sort_key(words: Template, answer: Answer) -> tuple[Any, ...]:
    """Order of answers: by their parts, numbers as numbers, everything else as it is written."""
    return tuple(_part_key(answer[part.field], part.kind.text(answer[part.field])) for part in words.parts)


def _part_key(value: Any, text: str) -> tuple[float, str]:
    return (float(value), "") if isinstance(value, int | float) else (0.0, text)


def _width(words: Template, answers: list[Answer]) -> float:
    """How far a chain spreads: over its numbers, the relative distance of the first from the last."""
    spread = 0.0
    for part in words.parts:
        values = [answer[part.field] for answer in answers]
        if all(isinstance(value, int | float) for value in values):
            low, high = min(values), max(values)
            spread += (high - low) / max(abs(low), abs(high), 1e-9)
    return spread
