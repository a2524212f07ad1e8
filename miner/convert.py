"""From the verifier's answers to four options. Pure functions.

The answers of perturbed seeds are the wrong options. Where fewer than three of them can be used, all three are made by
a ladder instead, with the key's rank among the four drawn first and uniformly: a fixed set of steps around the key
would tell its rank. The letters are a seeded shuffle of a new list, and the key's letter is found again from the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal

from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.options.steps import date_steps, decimal_steps, integer_steps
from backtrader_bench.miner.stated import states
from backtrader_bench.miner.values import (
    MOST_DIGITS,
    Form,
    Read,
    Unread,
    blurred,
    digits,
    fits,
    form_of,
    read,
    value_of,
)
from backtrader_bench.records import LETTERS
from backtrader_bench.templates.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    Value = float | int | str

REACH = 60
"""Weekdays on each side of a date from which a ladder takes others."""


Name = Unread | Literal["answer_in_stem", "seed_has_no_effect", "too_few_options"]


@dataclass(frozen=True)
class Converted:
    """The four options of a question."""

    options: dict[str, str]
    answer: str
    """The key's letter."""
    origins: dict[str, str]
    """Per letter: ``key``, ``seed N`` or ``ladder``."""
    value: Any
    """The key, typed, rounded as shown."""
    tolerance: float | None
    form: Form


@dataclass(frozen=True)
class Unusable:
    """Why there are no options: a word for counting, and a sentence."""

    reason: Name
    detail: str


def convert(stem: str, key: str, others: Sequence[tuple[int, str]], rng: Random) -> Converted | Unusable:
    """Options from the base seed's answer and those of ``others``, (seed, answer) each."""
    found = read(key)
    if isinstance(found, str):
        return Unusable(found, f"the answer at the base seed is {key[:80]!r}")
    readable = [(seed, one) for seed, one in ((seed, read(raw)) for seed, raw in others) if isinstance(one, Read)]
    form = form_of(found, [one for _, one in readable])
    if fault := blurred(form, found):
        return Unusable("answer_not_usable", f"the answer at the base seed, {key[:80]!r}, {fault}")
    value = value_of(form, found)
    if states(stem, form, value):
        return Unusable("answer_in_stem", f"the question states the answer, {form.text(value)}")
    fitting = [
        (value_of(form, one), f"seed {seed}")
        for seed, one in readable if fits(found, one) and digits(form, one) <= MOST_DIGITS
    ]  # fmt: skip
    if others and len(fitting) == len(others) and all(one == value for one, _ in fitting):
        return Unusable("seed_has_no_effect", f"every seed gives the same answer, {form.text(value)}")
    wrong = _apart(stem, form, value, fitting, rng)
    if len(wrong) < 3:
        ladder = _ladder(stem, form, value, rng)
        if ladder is None:
            return Unusable("too_few_options", f"{len(wrong)} usable wrong options, and no room for a ladder")
        wrong = [(one, "ladder") for one in ladder]
    return _lettered(form, value, wrong, rng)


def _apart(
    stem: str, form: Form, key: Value, fitting: list[tuple[Value, str]], rng: Random
) -> list[tuple[Value, str]]:
    """Up to three of the answers, in a drawn order, each far enough from the key and from those before it."""
    order = list(fitting)
    rng.shuffle(order)
    chosen: list[tuple[Value, str]] = []
    for value, origin in order:
        taken = [key, *(one for one, _ in chosen)]
        if len(chosen) < 3 and all(form.apart(value, one) for one in taken) and not states(stem, form, value):
            chosen.append((value, origin))
    return chosen


def _ladder(stem: str, form: Form, key: Value, rng: Random) -> list[Value] | None:
    """Three other values with the key's rank uniform; None where its kind or range has no room for that."""
    rank = rng.randrange(4)
    if form.kind == "text":
        return None
    try:
        for _ in range(8):
            # Drawn anew where the stem happens to state one of them; the rank stays.
            steps = _steps(stem, form, key, rank, rng)
            others = steps[:rank] + steps[rank + 1 :]
            clear = all(form.apart(one, other) for place, one in enumerate(steps) for other in steps[:place])
            if clear and not any(states(stem, form, one) for one in others):
                return others
    except Skip:
        return None
    return None


def _steps(stem: str, form: Form, key: Value, rank: int, rng: Random) -> list[Value]:
    if form.kind == "date":
        days, place = _days_around(str(key), stem)
        return list(date_steps(days, place, rank, rng))
    if form.kind == "count":
        return list(integer_steps(int(key), rank, rng))
    kind = Kind("number", form.decimals, signed=float(key) < 0 or form.kind in ("percent", "number"))
    return list(decimal_steps(float(key), rank, kind, rng))


def _days_around(key: str, stem: str) -> tuple[list[str], int]:
    """Days like the key around it, within those that the stem names where it lies between two of them."""
    day = date.fromisoformat(key)
    weekend = day.weekday() >= 5
    near = [day + timedelta(days=ahead) for ahead in range(-2 * REACH, 2 * REACH + 1)]
    days = [str(one) for one in near if weekend or one.weekday() < 5]
    named = sorted(re.findall(r"\b\d{4}-\d{2}-\d{2}\b", stem))
    if len(named) > 1 and named[0] <= key <= named[-1]:
        days = [one for one in days if named[0] <= one <= named[-1]]
    return days, days.index(key)


def _lettered(form: Form, key: Value, wrong: list[tuple[Value, str]], rng: Random) -> Converted | Unusable:
    made = [(form.text(key), "key"), *((form.text(value), origin) for value, origin in wrong)]
    order = list(range(4))
    rng.shuffle(order)
    shuffled = [made[place] for place in order]
    texts = [text for text, _ in shuffled]
    if len({text.casefold() for text in texts}) < 4 or not all(texts):
        return Unusable("too_few_options", "two options read the same")
    return Converted(
        options=dict(zip(LETTERS, texts, strict=True)),
        answer=LETTERS[texts.index(form.text(key))],
        origins={letter: origin for letter, (_, origin) in zip(LETTERS, shuffled, strict=True)},
        value=key,
        tolerance=form.tolerance(key),
        form=form,
    )  # fmt: skip
