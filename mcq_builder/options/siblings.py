"""Scheme ``siblings``: four worlds' true answers are the options, and which world is the key's is drawn last.

Everything visible is fixed before that draw and independent of it, so no attacker who sees only text and options is
right more often than one time in four, whatever the type of answer. Filters here look at the set of worlds, never
at the key.
"""

from __future__ import annotations

import hashlib
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from backtrader_bench.errors import BacktestError
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.hidden import FEWEST, FIRST, MOST, canonical
from backtrader_bench.mcq_builder.mistakes import fingerprints, tolerance
from backtrader_bench.mcq_builder.options.guards import apart, guard_key
from backtrader_bench.mcq_builder.refs import tape_ref
from backtrader_bench.mcq_builder.secret import hidden_stream, prf
from backtrader_bench.records import LETTERS, Certificate, Private, Question, question_id
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import question_text, stem_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.mcq_builder.context import Answer, Context
    from backtrader_bench.mcq_builder.hidden import Worlds
    from backtrader_bench.templates.template import Template


class Option(NamedTuple):
    """One of the four: the world it comes from, what it says, how it came to be."""

    place: int
    answer: Answer
    origin: str = "another world"


class Chosen(NamedTuple):
    """Four options in the order among which the key is drawn, and the worlds that were looked at."""

    options: list[Option]
    computed: int
    valid: int


def sibling_question(template: str, hidden: Worlds, params: Mapping[str, Any], seed: int) -> Question:
    """The record of one question, on worlds of its own; Skip when no four are far enough apart."""
    hidden = hidden.about(template, params)
    rng = set_stream(hidden)
    chosen = _four(TEMPLATES[template], hidden, params, rng)
    draft = Draft(template, hidden, params, seed, chosen, rng)
    return draft.record(draw_key(hidden.setup.secret, draft.id))


def set_stream(hidden: Worlds) -> Random:
    """The hidden stream that draws the set of options and their letters.

    The build's seed has no part in it: a question asked again in another bank has the same options and key, or the two
    would be two subsets of the same worlds.
    """
    return hidden_stream(hidden.setup.secret, "set", hidden.setup.kind, canonical(hidden.config), hidden.asked)


class Draft:
    """A question with everything visible fixed and its key not drawn yet."""

    def __init__(
        self, template: str, hidden: Worlds, params: Mapping[str, Any], seed: int, chosen: Chosen, rng: Random
    ) -> None:
        self.words, self.hidden, self.params, self.seed, self.chosen = (
            TEMPLATES[template], hidden, dict(params), seed, chosen,
        )  # fmt: skip
        self.worlds = hidden.first(chosen.computed)
        refs = [tape_ref(self.worlds[option.place].tape) for option in chosen.options]
        stems = {stem_text(template, params, hidden.config, ref) for ref in refs}
        if len(stems) != 1:
            raise BacktestError(f"the text of {template} depends on the world: this is a defect, please report it")
        self.stem = stems.pop()
        letters = list(LETTERS)
        rng.shuffle(letters)
        self.letters = letters
        """Letter of each option, in the order of ``chosen.options``."""
        written = [self.words.option_text(option.answer) for option in chosen.options]
        if len(set(written)) < len(written):
            raise Skip("two options are equal")
        texts = dict(zip(letters, written, strict=True))
        self.options = {letter: texts[letter] for letter in LETTERS}
        self.id = question_id(self.stem, self.options)

    def record(self, key: int, bundle: str | None = None) -> Question:
        """The finished record when the key is the option at ``key``."""
        place, answer, _ = self.chosen.options[key]
        of, words, hidden = self.worlds[place], self.words, self.hidden
        seeds = [hidden.seed(world) for world in range(self.chosen.computed)]
        by_letter = dict(sorted(zip(self.letters, self.chosen.options, strict=True)))
        return Question(
            question=question_text(self.stem, self.options),
            answer=self.letters[key],
            type=words.name,
            difficulty=words.tier,
            strategy_name=of.spec.strategy,
            strategy_params=of.spec.params,
            config=hidden.config,
            id=self.id,
            stem=self.stem,
            options=self.options,
            template_params=self.params,
            value=words.value(answer),
            tape=tape_ref(of.tape),
            scheme=hidden.setup.scheme,
            option_origins={
                letter: "key" if letter == self.letters[key] else option.origin for letter, option in by_letter.items()
            },
            seed=self.seed,
            tolerance=tolerance(words, answer),
            bundle=bundle,
            certificate=Certificate(
                worlds=self.chosen.computed,
                valid=self.chosen.valid,
                text_sha256=text_digest(self.stem, self.options),
                commitment=commitment(seeds),
            ),
            private=Private(
                kind=hidden.setup.kind,
                asked=hidden.asked,
                seeds=seeds,
                order=self.letters,
                option_worlds={letter: option.place for letter, option in by_letter.items()},
                fingerprints={}
                if hidden.setup.bare
                else fingerprints(words.name, of, self.params, answer, hidden.backtests),
            ),
        )


def draw_key(secret: bytes, identity: str) -> int:
    """Which of the four, in ascending order, is the key: the last draw of all, uniform to whoever lacks the secret."""
    return int.from_bytes(prf(secret, identity, "key"), "big") % 4


def key_letter(record: Question, secret: bytes) -> str:
    """The letter that the secret draws for a record (for a bundle's, from what the bundle shows)."""
    assert record.private is not None
    drawn = draw_key(secret, record.bundle or record.id)
    return record.private.order[drawn % 2 if record.scheme == "diagnostic" else drawn]


def text_digest(stem: str, options: Mapping[str, str]) -> str:
    """SHA-256 of the stem and the options in sorted order: what a solver sees, whatever the letters."""
    return hashlib.sha256("\n".join([stem, *sorted(options.values())]).encode()).hexdigest()


def commitment(seeds: list[str]) -> str:
    """SHA-256 of the seeds joined by commas."""
    return hashlib.sha256(",".join(seeds).encode()).hexdigest()


def _four(words: Template, hidden: Worlds, params: Mapping[str, Any], rng: Random) -> Chosen:
    reasons: dict[str, int] = {}
    for count in (FIRST, MOST):
        answers = world_answers(words, hidden.first(count), params, reasons)
        if len(answers) < FEWEST:
            continue
        chain = chain_of_four(words, answers, rng)
        if chain:
            return Chosen([Option(place, answers[place]) for place in chain], count, len(answers))
    if sum(reasons.values()) > MOST:
        raise Skip(max(reasons, key=lambda reason: reasons[reason]))
    raise Skip("no four worlds with answers far enough apart")


def check_hope(template: str, scouts: Worlds, params: Mapping[str, Any]) -> None:
    """Skip what can't be asked of the scouts: it is as good as hopeless on other worlds, and those would cost more."""
    _four(TEMPLATES[template], scouts, params, Random(0))


def world_answers(
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
