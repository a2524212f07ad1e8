"""Typed answers: what an oracle computes and what a reader finds in an option are made of the same parts."""

from __future__ import annotations

from dataclasses import dataclass

SLACK = 1e-7
"""Beyond half a unit of the last place: float order may move a value that sits on a rounding boundary."""


@dataclass(frozen=True)
class Money:
    """Dollars."""

    value: float
    decimals: int = 2


@dataclass(frozen=True)
class Percent:
    """Hundredths."""

    value: float
    decimals: int = 2
    exact: bool = False
    """Chosen from a list and not rounded, so that nothing near it is right."""


@dataclass(frozen=True)
class Number:
    """A ratio or an average: no unit."""

    value: float
    decimals: int = 2


@dataclass(frozen=True)
class Count:
    """Shares, orders, rows: whole and exact. None is a count that nobody asked for."""

    value: int | None


@dataclass(frozen=True)
class Day:
    """An ISO date."""

    value: str


@dataclass(frozen=True)
class Params:
    """A parameter set: names in order, with their values."""

    value: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Label:
    """One of a template's fixed outcomes."""

    value: str


Part = Money | Percent | Number | Count | Day | Params | Label


@dataclass(frozen=True)
class Answer:
    """A template's answer at full precision."""

    parts: tuple[Part, ...]
    names: tuple[str, ...] = ("",)
    """The parts' keys in a record's ``value``; a bare value has the one name ``""``."""


@dataclass(frozen=True)
class Undefined:
    """Why a backtest has no answer to a template."""

    reason: str
    filler: Answer | None = None
    """What published files say in that case."""


def single(part: Part) -> Answer:
    """The answer of one part."""
    return Answer((part,))


def composite(**parts: Part) -> Answer:
    """The answer whose ``value`` is an object with these keys."""
    return Answer(tuple(parts.values()), tuple(parts))


def params(values: dict[str, float]) -> Params:
    """``values`` as a part; the order of names carries no meaning."""
    return Params(tuple(sorted(values.items())))


def agrees(truth: Part, written: Part, units: float = 0.5) -> bool:
    """Whether ``written`` is ``truth`` within ``units`` of the last place that its kind shows.

    Written with other decimals, or as another kind, it is not. Counts, days, sets and labels must be equal.
    """
    if isinstance(truth, Money | Percent | Number):
        if type(truth) is not type(written) or written.decimals != truth.decimals:
            return False
        return abs(truth.value - written.value) <= tolerance(truth, units)
    if isinstance(truth, Count) and isinstance(written, Count) and written.value is None:
        return True
    return truth == written


def tolerance(truth: Money | Percent | Number, units: float = 0.5) -> float:
    """How far a number may be from ``truth`` within ``units`` of its last place."""
    slack = SLACK + 1e-12 * abs(truth.value)
    return slack if isinstance(truth, Percent) and truth.exact else units * 10.0**-truth.decimals + slack


def right(truth: Answer, written: tuple[Part, ...]) -> bool:
    """Whether every part of an option is the true one, rounded as shown."""
    return _all_agree(truth, written, 0.5)


def near(truth: Answer, written: tuple[Part, ...]) -> bool:
    """Whether every part is within one unit of the last place, as another rounding might give."""
    return _all_agree(truth, written, 1.0)


def _all_agree(truth: Answer, written: tuple[Part, ...], units: float) -> bool:
    if len(truth.parts) != len(written):
        return False
    return all(agrees(one, other, units) for one, other in zip(truth.parts, written, strict=True))


def show(answer: Answer | Undefined) -> str:
    """The answer in few words, for a report: values at more places than an option shows."""
    if isinstance(answer, Undefined):
        return f"undefined: {answer.reason}"
    return ", ".join(_shown(part) for part in answer.parts)


def _shown(part: Part) -> str:
    if isinstance(part, Params):
        return "(" + ", ".join(f"{name}={value:g}" for name, value in part.value) + ")"
    if isinstance(part, Money | Percent | Number):
        return f"{part.value:.{part.decimals + 3}f}"
    return str(part.value)
