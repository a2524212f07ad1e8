"""Does a record keep its promise? Checks a ``siblings`` or ``diagnostic`` certificate against the record itself.

From the public part: the text is the one that was promised. With the private part: the seeds are those committed to,
each option is the answer of the world it names, the key's draw was among them in their right order, and the text is the
same whichever of them is the key's. With the secret: the whole record is made again and must be the same.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.backtest.cache import Remembered
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.checker.engine import simulate
from backtrader_bench.errors import BenchError, MissingError, RecordError
from backtrader_bench.market import pins
from backtrader_bench.market.synthetic import business_days
from backtrader_bench.market.worlds import worlds
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Context, Skip
from backtrader_bench.mcq_builder.hidden import Setup, Worlds
from backtrader_bench.mcq_builder.mistakes import MISTAKES, mistaken
from backtrader_bench.mcq_builder.options.bundles import bundle
from backtrader_bench.mcq_builder.options.diagnostic import diagnostic_question
from backtrader_bench.mcq_builder.options.siblings import (
    commitment,
    key_letter,
    sibling_question,
    sort_key,
    text_digest,
)
from backtrader_bench.mcq_builder.refs import tape_ref
from backtrader_bench.records import HIDDEN_SCHEMES, question_id, to_question
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import question_text, stem_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.records import Question


def certificate_problem(record: Question, secret: bytes | None = None, base: Tape | None = None) -> str | None:
    """What is wrong with the certificate of a record that claims a scheme with hidden worlds; None when nothing is.

    ``base`` holds the bars that resampled worlds are drawn from, where they aren't pinned; MissingError when they are
    not here. A record without its private part is
    held to its text alone, see :func:`by_text_alone`.
    """
    if record.scheme not in HIDDEN_SCHEMES:
        return f"scheme {record.scheme} with a certificate" if record.certificate else None
    if record.certificate is None:
        return f"scheme {record.scheme} without a certificate"
    if record.certificate.text_sha256 != text_digest(record.stem, record.options):
        return "the text is not the one that was certified"
    if record.id != question_id(record.stem, record.options):
        return "the id is not that of the text"
    if record.question != question_text(record.stem, record.options):
        return "the question is not made of its stem and options"
    if len(set(record.options.values())) < len(record.options):
        return "two options are equal"
    if not 8 <= record.certificate.valid <= record.certificate.worlds:
        return "the certificate counts fewer worlds than a question needs"
    if by_text_alone(record):
        return "the secret can't be held against a record without its private part" if secret else None
    try:
        return _private_problem(record, base) or (_secret_problem(record, secret, base) if secret else None)
    except MissingError:
        raise
    except (BenchError, KeyError, IndexError, ValueError, TypeError) as error:
        # A damaged private part can fail anywhere on the way; whatever it was, the certificate can't be confirmed.
        return f"the certificate can't be checked: {type(error).__name__}: {error}"


def by_text_alone(record: Question) -> bool:
    """Whether a record lacks the private part that tells its worlds."""
    return record.private is None or not record.private.seeds


def fields_problem(
    fields: Mapping[str, Any], secret: bytes | None = None, base: Tape | None = None
) -> str | None:
    """:func:`certificate_problem` of a decoded record."""
    try:
        return certificate_problem(to_question(dict(fields), "the record"), secret, base)
    except RecordError as error:
        return str(error)


def _private_problem(record: Question, base: Tape | None) -> str | None:
    private, certificate = record.private, record.certificate
    assert private is not None and certificate is not None
    if len(private.seeds) != certificate.worlds or commitment(private.seeds) != certificate.commitment:
        return "the seeds are not those that were committed to"
    places = private.option_worlds
    if set(places) != set(record.options):
        return "an option names no world"
    if len(_days(record)) != record.tape.rows:  # before worlds of any length are made
        return "the window is not that of the record's bars"
    tapes = dict(zip(places, _tapes(record, list(places.values()), base), strict=True))
    if tapes[record.answer].sha256 != record.tape.sha256:
        return "the record's bars are not those of the key's world"
    for letter, tape in tapes.items():
        if problem := _option_problem(record, letter, tape):
            return problem
    return _draw_problem(record, {letter: _context(record, tape) for letter, tape in tapes.items()})


def _draw_problem(record: Question, of: Mapping[str, Context]) -> str | None:
    """Whether the key was drawn among the options in the order that the scheme states, of worlds made for this."""
    private, words = record.private, TEMPLATES[record.type]
    assert private is not None
    one = [record.type, record.template_params]
    asked = json.loads(private.asked)
    if asked not in (one, ["diagnostic", *one]) and not (asked[0] == "bundle" and record.bundle and one in asked[1]):
        return "the worlds were made for another question"
    if sorted(private.order) != sorted(record.options):
        return "the order of the draw is not that of the options"
    if record.bundle is not None:
        right = sorted(private.order, key=lambda letter: private.option_worlds[letter])
    elif record.scheme == "siblings":
        answers = {letter: ANSWERS[record.type](of[letter], record.template_params) for letter in of}
        right = sorted(private.order, key=lambda letter: sort_key(words, answers[letter]))
    else:
        right = private.order
    return None if private.order == right else "the order of the draw is not that of the answers"


def _tapes(record: Question, places: list[int], base: Tape | None) -> list[Tape]:
    private = record.private
    assert private is not None
    days = _days(record)
    seeds = [private.seeds[place] for place in places]
    return worlds(private.kind, seeds, record.config["symbol"], days, _base(record, base))


def _days(record: Question) -> list[str]:
    return business_days(record.config["start_date"], record.config["end_date"])


def _base(record: Question, given: Tape | None) -> Tape | None:
    """The bars that resampled worlds are drawn from; MissingError when they are not here."""
    assert record.private is not None
    name, _, argument = record.private.kind.partition(":")
    if name != "resampled":
        return None
    if given is not None and given.sha256 == argument:
        return given
    return pins.load_pin(argument, record.config["symbol"], "a pinned tape")


def _spec(record: Question) -> BacktestSpec:
    config = record.config
    return BacktestSpec(
        strategy=record.strategy_name, params=record.strategy_params, initial_cash=config["initial_cash"],
        commission_rate=config["commission_rate"], stake=config["stake"], sizing=config["sizing"],
    )  # fmt: skip


def _context(record: Question, tape: Tape) -> Context:
    return Context(tape, _spec(record), record.config, Remembered(simulate))


def _option_problem(record: Question, letter: str, tape: Tape) -> str | None:
    """Whether an option is its world's answer, and the stem is the same when that world's bars stand behind it."""
    of = _context(record, tape)
    if stem_text(record.type, record.template_params, record.config, tape_ref(tape)) != record.stem:
        return f"the text would be another one if the key were {letter}"
    origin = record.option_origins[letter].rpartition(", ")[2]
    try:
        if origin in MISTAKES:
            made = mistaken(record.type, of, record.template_params, MISTAKES[origin], of.backtests)
            if made is None:
                return f"option {letter} can't come of the mistake it names"
            answer = made
        else:
            answer = ANSWERS[record.type](of, record.template_params)
    except Skip as reason:
        return f"option {letter} is no answer of its world: {reason}"
    text = TEMPLATES[record.type].option_text(answer)
    return None if text == record.options[letter] else f"option {letter} is not the answer of its world, {text}"


def _secret_problem(record: Question, secret: bytes, base: Tape | None) -> str | None:
    """Whether the secret makes the same record: every seed, every option, the letters and the key."""
    private = record.private
    assert private is not None
    if key_letter(record, secret) != record.answer:
        return "the key is not the one that the secret draws"
    try:
        made = _remade(record, secret, base)
    except Skip as reason:
        return f"the secret makes no such question: {reason}"
    left = {"seed": record.seed, "labels": record.labels, "author": record.author}
    same = msgspec.structs.replace(made, **left)
    changed = [name for name in record.__struct_fields__ if getattr(same, name) != getattr(record, name)]
    return f"the secret makes another question: {', '.join(changed)}" if changed else None


def _remade(record: Question, secret: bytes, base: Tape | None) -> Question:
    private = record.private
    assert private is not None
    days = tuple(business_days(record.config["start_date"], record.config["end_date"]))
    setup = Setup(
        private.kind, days, _spec(record), json.dumps(record.config), secret, record.scheme, _base(record, base),
        bare=not private.fingerprints,
    )  # fmt: skip
    hidden = Worlds(setup)
    if record.bundle is None:
        make = sibling_question if record.scheme == "siblings" else diagnostic_question
        return make(record.type, hidden, record.template_params, record.seed)
    _, asked = json.loads(private.asked)
    made = bundle([(name, params) for name, params in asked], hidden, record.seed)
    return next(one for one in made if one.type == record.type and one.template_params == record.template_params)
