"""What no option may be: equal to another, too close to it, on a rounding edge, or stated by the question itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.context import Skip

if TYPE_CHECKING:
    from backtrader_bench.mcq_builder.context import Answer, Context
    from backtrader_bench.templates.kinds import Kind
    from backtrader_bench.templates.template import Template

# How close to a half of the last place shown a value may be, in units of that place: closer, and two legitimate
# float orders may round it apart.
_TIE = 1e-4


def guard_key(words: Template, key: Answer, of: Context) -> None:
    """Skip a key that rounds on an edge or that the configuration states."""
    for part in words.parts:
        value = key[part.field]
        if part.kind.decimals is not None and rounds_on_an_edge(value, part.kind):
            raise Skip("the answer lies on a rounding edge")
    if len(words.parts) == 1 and words.scope == "backtest":
        said = {"money": of.spec.initial_cash, "integer": of.spec.stake, "shares": of.spec.stake}
        stated = said.get(words.parts[0].kind.name)
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
    if not all(apart(words, answers[0], other) for other in answers[1:]):
        raise Skip("two options are too close")


def apart(words: Template, one: Answer, other: Answer) -> bool:
    """Whether two answers are far enough apart to be options of one question: any part of them is."""
    return any(_apart(part.kind, one[part.field], other[part.field]) for part in words.parts)


def _apart(kind: Kind, one: Any, other: Any) -> bool:
    """The separation of docs/options.md: two units of the last place and 1% for numbers, any difference otherwise."""
    if kind.name in ("volume", "shares"):
        return bool(one != other and abs(one - other) >= 0.01 * max(one, other))
    if kind.decimals is None:
        return bool(one != other)
    return bool(abs(one - other) >= max(2 * kind.unit, 0.01 * max(abs(one), abs(other))) - 1e-9)
