"""One question: answer, guards, options, text, record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.draws import draws
from backtrader_bench.mcq_builder.mistakes import fingerprints, tolerance
from backtrader_bench.mcq_builder.options.guards import guard_key, guard_options
from backtrader_bench.mcq_builder.options.ladder import ladder
from backtrader_bench.mcq_builder.options.published import published
from backtrader_bench.mcq_builder.refs import tape_ref
from backtrader_bench.mcq_builder.seeds import stream
from backtrader_bench.records import LETTERS, Private, Question, question_id
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import question_text, stem_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from backtrader_bench.mcq_builder.context import Context

SCHEMES = {"ladder": ladder, "published": published}
# Skips in a row after which a template is taken to have nothing more to ask of a backtest.
_PATIENCE = 300


def questions(
    template: str, of: Context, scheme: str, seed: int, *, bare: bool = False
) -> Iterator[Question | Skip]:
    """All questions of one template on one backtest, in seeded order, with the reasons for those not asked."""
    rng = stream(seed, "draw", template, of.config, of.tape.sha256)

    def drawn() -> Iterator[dict[str, Any]]:
        check_fit(template, of.spec.strategy)
        return draws(template, of, rng)

    return in_turn(drawn, lambda params: question(template, of, params, scheme, seed, bare=bare))


def check_fit(template: str, strategy: str) -> None:
    """Skip a template that asks about what a strategy hasn't got."""
    if not TEMPLATES[template].fits(strategy):
        raise Skip(TEMPLATES[template].only_for)


def in_turn(
    drawn: Callable[[], Iterator[dict[str, Any]]], asked: Callable[[dict[str, Any]], Question]
) -> Iterator[Question | Skip]:
    """What ``asked`` makes of each of the drawn parameters, until nothing came of many in a row."""
    skipped = 0
    try:
        for params in drawn():
            try:
                yield asked(params)
                skipped = 0
            except Skip as reason:
                skipped += 1
                yield reason
            if skipped >= _PATIENCE:
                return
    except Skip as reason:
        yield reason


def question(
    template: str, of: Context, params: Mapping[str, Any], scheme: str, seed: int, *, bare: bool = False
) -> Question:
    """The record of one question; Skip says why it can't be asked."""
    words = TEMPLATES[template]
    rng = stream(seed, "options", scheme, template, of.config, of.tape.sha256, params)
    key = ANSWERS[template](of, params)
    guard_key(words, key, of)
    made = [(key, "key"), *SCHEMES[scheme](template, of, params, key, rng)]
    guard_options(words, [answer for answer, _ in made])
    order = list(range(4))
    rng.shuffle(order)
    texts = [words.option_text(made[place][0]) for place in order]
    options = dict(zip(LETTERS, texts, strict=True))
    ref = tape_ref(of.tape)
    stem = stem_text(template, params, of.config, ref)
    return Question(
        question=question_text(stem, options),
        answer=LETTERS[texts.index(words.option_text(key))],
        type=template,
        difficulty=words.tier,
        strategy_name=of.spec.strategy,
        strategy_params=of.spec.params,
        config=of.config,
        id=question_id(stem, options),
        stem=stem,
        options=options,
        template_params=dict(params),
        value=words.value(key),
        tape=ref,
        scheme=scheme,
        option_origins={letter: made[place][1] for letter, place in zip(LETTERS, order, strict=True)},
        seed=seed,
        tolerance=tolerance(words, key),
        private=Private(fingerprints={} if bare else fingerprints(template, of, params, key)),
    )


def scope_key(record: Question) -> str:
    """Questions with the same scope key ask the same thing: they differ only in what their answer can't depend on."""
    scope = TEMPLATES[record.type].scope
    config = record.config
    parts: list[Any] = [record.type, record.tape.sha256, record.template_params]
    if scope == "account":
        parts += [config["initial_cash"], config["commission_rate"]]
    elif scope == "backtest":
        parts.append({name: value for name, value in config.items() if name not in ("start_date", "end_date")})
    return repr(parts)
