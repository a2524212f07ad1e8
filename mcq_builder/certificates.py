"""Does a record keep its promise? Checks a ``siblings`` or ``diagnostic`` certificate against the record itself.

From the public part: the text is the one that was promised. With the private part: the seeds are those committed to,
each option is the answer of the world it names, and the text is the same whichever of them is the key's. With the
secret: the key is the one that it draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.checker.engine import simulate
from backtrader_bench.errors import BenchError, RecordError
from backtrader_bench.market import pins
from backtrader_bench.market.synthetic import business_days
from backtrader_bench.market.worlds import worlds
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Context, Skip
from backtrader_bench.mcq_builder.mistakes import MISTAKES, mistaken
from backtrader_bench.mcq_builder.options.siblings import commitment, key_letter, text_digest
from backtrader_bench.mcq_builder.refs import tape_ref
from backtrader_bench.records import HIDDEN_SCHEMES, to_question
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import stem_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.records import Question


def certificate_problem(record: Question, secret: bytes | None = None) -> str | None:
    """What is wrong with the certificate of a record that claims a scheme with hidden worlds; None when nothing is."""
    if record.scheme not in HIDDEN_SCHEMES:
        return None
    if record.certificate is None:
        return f"scheme {record.scheme} without a certificate"
    if record.certificate.text_sha256 != text_digest(record.stem, record.options):
        return "the text is not the one that was certified"
    if not 8 <= record.certificate.valid <= record.certificate.worlds:
        return "the certificate counts fewer worlds than a question needs"
    if record.private is None or not record.private.seeds:
        return None
    try:
        return _private_problem(record) or (_secret_problem(record, secret) if secret else None)
    except (BenchError, KeyError, IndexError, ValueError, TypeError) as error:
        # A damaged private part can fail anywhere on the way; whatever it was, the certificate can't be confirmed.
        return f"the certificate can't be checked: {type(error).__name__}: {error}"


def fields_problem(fields: Mapping[str, Any]) -> str | None:
    """:func:`certificate_problem` of a decoded record."""
    try:
        return certificate_problem(to_question(dict(fields), "the record"))
    except RecordError as error:
        return str(error)


def _private_problem(record: Question) -> str | None:
    private, certificate = record.private, record.certificate
    assert private is not None and certificate is not None
    if len(private.seeds) != certificate.worlds or commitment(private.seeds) != certificate.commitment:
        return "the seeds are not those that were committed to"
    places = private.option_worlds
    if set(places) != set(record.options):
        return "an option names no world"
    tapes = dict(zip(places, _tapes(record, list(places.values())), strict=True))
    if tapes[record.answer].sha256 != record.tape.sha256:
        return "the record's bars are not those of the key's world"
    for letter, tape in tapes.items():
        if problem := _option_problem(record, letter, tape):
            return problem
    return None


def _tapes(record: Question, places: list[int]) -> list[Tape]:
    private = record.private
    assert private is not None
    name, _, argument = private.kind.partition(":")
    base = pins.load_pin(argument, record.config["symbol"], "a pinned tape") if name == "resampled" else None
    days = business_days(record.config["start_date"], record.config["end_date"])
    return worlds(private.kind, [private.seeds[place] for place in places], record.config["symbol"], days, base)


def _option_problem(record: Question, letter: str, tape: Tape) -> str | None:
    """Whether an option is its world's answer, and the stem is the same when that world's bars stand behind it."""
    config = record.config
    spec = BacktestSpec(
        strategy=record.strategy_name, params=record.strategy_params, initial_cash=config["initial_cash"],
        commission_rate=config["commission_rate"], stake=config["stake"], sizing=config["sizing"],
    )  # fmt: skip
    of = Context(tape, spec, config, Backtests(simulate, "certificates", None, keep=8))
    if stem_text(record.type, record.template_params, config, tape_ref(tape)) != record.stem:
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


def _secret_problem(record: Question, secret: bytes) -> str | None:
    if key_letter(record, secret) != record.answer:
        return "the key is not the one that the secret draws"
    return None
