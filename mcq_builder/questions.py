"""One question: answer, guards, options, text, record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.draws import draws
from backtrader_bench.mcq_builder.options.ladder import ladder
from backtrader_bench.mcq_builder.options.published import published
from backtrader_bench.mcq_builder.seeds import stream
from backtrader_bench.records import LETTERS, Question, TapeRef, question_id
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import question_text, stem_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.mcq_builder.context import Answer, Context
    from backtrader_bench.templates.kinds import Kind
    from backtrader_bench.templates.template import Template

SCHEMES = {"ladder": ladder, "published": published}
# How close to a half of the last place shown a value may be, in units of that place: closer, and two legitimate
# float orders may round it apart.
_TIE = 1e-4
# Skips in a row after which a template is taken to have nothing more to ask of a backtest.
_PATIENCE = 300


def questions(template: str, of: Context, scheme: str, seed: int) -> Iterator[Question | Skip]:
    """All questions of one template on one backtest, in seeded order, with the reasons for those not asked."""
    if not TEMPLATES[template].fits(of.spec.strategy):
        yield Skip(TEMPLATES[template].only_for)
        return
    skipped = 0
    try:
        purpose = [seed, "draw", template, of.config, of.tape.sha256]
        for params in draws(template, of, stream(*purpose)):
            try:
                yield question(template, of, params, scheme, seed)
                skipped = 0
            except Skip as reason:
                skipped += 1
                yield reason
            if skipped >= _PATIENCE:
                return
    except Skip as reason:
        yield reason


def question(template: str, of: Context, params: Mapping[str, Any], scheme: str, seed: int) -> Question:
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
    )


def tape_ref(tape: Tape) -> TapeRef:
    """How a record names its bars."""
    return TapeRef(sha256=tape.sha256, source=tape.source, rows=len(tape), first=tape.dates[0], last=tape.dates[-1])


def guard_key(words: Template, key: Answer, of: Context) -> None:
    """Skip a key that rounds on an edge or that the configuration states."""
    for part in words.parts:
        value = key[part.field]
        if part.kind.decimals is not None and rounds_on_an_edge(value, part.kind):
            raise Skip("the answer lies on a rounding edge")
    if len(words.parts) == 1 and words.scope == "backtest":
        stated = {"money": of.spec.initial_cash, "integer": of.spec.stake}.get(words.parts[0].kind.name)
        if stated is not None and abs(key["value"] - stated) < 0.005:
            raise Skip("the answer stands in the configuration")


def rounds_on_an_edge(value: float, kind: Kind) -> bool:
    """Whether ``value`` is so near a half of its last place that float order could decide the rounding."""
    scaled = abs(value) / kind.unit
    return abs(scaled - int(scaled) - 0.5) < max(_TIE, scaled * 1e-13)


def guard_options(words: Template, answers: list[Answer]) -> None:
    """Skip options that are equal, or closer to the key than a legitimate computation may stray."""
    if len({words.option_text(answer) for answer in answers}) < 4:
        raise Skip("two options are equal")
    for other in answers[1:]:
        if not any(_apart(part.kind, answers[0][part.field], other[part.field]) for part in words.parts):
            raise Skip("two options are too close")


def _apart(kind: Kind, one: Any, other: Any) -> bool:
    """The separation of docs/options.md: two units of the last place and 1% for numbers, any difference otherwise."""
    if kind.name == "volume":
        return bool(abs(one - other) >= 0.01 * max(one, other))
    if kind.decimals is None:
        return bool(one != other)
    return bool(abs(one - other) >= max(2 * kind.unit, 0.01 * max(abs(one), abs(other))) - 1e-9)


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
