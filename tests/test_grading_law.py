"""A law over all templates: what says the key's value is right however it is usually written, a rival's text is not."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import msgspec
import pytest

from backtrader_bench.agents.answers import read_value
from backtrader_bench.agents.oracle import stated
from backtrader_bench.grading import grade
from backtrader_bench.mcq_builder import mistakes
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Context
from backtrader_bench.mcq_builder.mistakes import Changed
from backtrader_bench.mcq_builder.questions import questions
from backtrader_bench.records import LETTERS, Question, parse_json, to_line
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.worded import WORDS, says
from tests.helpers import context

STRATEGIES = (
    "sma_crossover", "macd_crossover", "rsi_strategy", "rolling_window_mean", "exponential_weighted_moving_average",
    "bracket_breakout", "trailing_stop", "atr_stop", "slippage_cross",
)  # fmt: skip
SEVEN_YEARS = {"data": "synthetic:hard:3", "start_date": "2014-01-02", "end_date": "2021-01-01"}
REFUSED = {"sizing": "fixed", "stake": 700, "initial_cash": 60_000.0}
"""Buys that the cash doesn't cover."""


@functools.cache
def context_of(strategy: str) -> Context:
    """A backtest on the longer window, on which every template finds something to ask."""
    return context(strategy=strategy, **SEVEN_YEARS, **(REFUSED if strategy == "slippage_cross" else {}))


@pytest.fixture(scope="module")
def asked() -> dict[str, list[dict[str, Any]]]:
    """Up to two questions of every template."""
    found = {}
    for name, words in TEMPLATES.items():
        fitting = [one for one in STRATEGIES if words.fits(one)]
        made = (one for strategy in fitting for one in questions(name, context_of(strategy), "ladder", 7, bare=True))
        some = islice((one for one in made if isinstance(one, Question)), 2)
        found[name] = [parse_json(to_line(one), "t") for one in some]
    return found


def judged(record: dict[str, Any], text: str) -> bool | None:
    """How a reply with that value is graded."""
    return grade(record, record["answer"], read_value(f"So:\n**VALUE: {text}**\n<<< {record['answer']} >>>")).verified


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for field, part in value.items():
            yield from leaves(part, field)
    else:
        yield name, value


def written(text: str) -> list[str]:
    """An option's text, otherwise written."""
    same = [text, f"{text}.", text.upper(), f"`{text}`", f"  {text}  ", text.replace(",", "")]
    same.append(text.replace("-", "\u2212"))
    if "," in text and "$" in text and "=" not in text:
        same += [text.replace(",", sign) for sign in (" ", "\u2009", "\u202f", "\u00a0")]
    return [*same, text.replace("$", ""), text.replace("%", "")]


def restated(record: dict[str, Any]) -> list[str]:
    """The key's value in other words than the option's."""
    value = record["value"]
    text = [stated(value), json.dumps(value) if isinstance(value, dict) else str(value)]
    if isinstance(value, dict):
        named = list(leaves(value))
        text += [f"{mark}{', '.join(f'{name}{sign}{part}' for name, part in pairs)}"
                 for mark, sign in (("", ": "), ("", "="), ("So ", " "))
                 for pairs in (named, named[::-1])
                 if not (sign == " " and any(isinstance(part, str) for _, part in named))]  # fmt: skip
    if isinstance(value, float) and record["options"][record["answer"]].startswith("-$"):
        text += [f"(${-value:,.2f})", f"$({-value:.2f})", f"loss of ${-value:,.2f}", f"a ${-value:.2f} loss",
                 f"minus ${-value:.2f}", f"$-{-value}"]  # fmt: skip
    return text


def test_every_template_is_asked(asked: dict[str, list[dict[str, Any]]]) -> None:
    assert {name for name, records in asked.items() if not records} == set()


def test_the_keys_value_is_right_as_it_is_usually_written(asked: dict[str, list[dict[str, Any]]]) -> None:
    failed = [
        (name, text, record["value"])
        for name, records in asked.items()
        for record in records
        for text in [*written(record["options"][record["answer"]]), *restated(record)]
        if judged(record, text) is not True
    ]
    assert failed == []


def test_a_rivals_text_is_wrong(asked: dict[str, list[dict[str, Any]]]) -> None:
    passed = [
        (name, text, record["value"])
        for name, records in asked.items()
        for record in records
        for letter in LETTERS
        if letter != record["answer"]
        for text in written(record["options"][letter])
        if judged(record, text) is not False
    ]
    assert passed == []


def test_words_of_labels_are_known_and_mean_one_thing() -> None:
    for words in TEMPLATES.values():
        assert set(words.phrases) <= WORDS
        for word, phrase in words.phrases.items():
            assert [one for one in words.phrases if says(phrase, one)] == [word]


def test_a_mistake_whose_composite_would_be_graded_right_is_no_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    of = context_of("sma_crossover")
    rate = of.spec.commission_rate

    def dearer(factor: float) -> Callable[[Context, dict[str, Any]], Changed]:
        changed = replace(of, spec=msgspec.structs.replace(of.spec, commission_rate=rate * factor))
        return lambda _, params: (changed, params)

    monkeypatch.setattr(mistakes, "MISTAKES", {"a hair": dearer(1.002), "a third": dearer(1.3)})
    key = ANSWERS["commission"](of, {})
    found = mistakes.fingerprints("commission", of, {}, key)
    assert list(found) == ["a third"]
    assert found["a third"]["total"] == pytest.approx(1.3 * key["total"], rel=0.01)
