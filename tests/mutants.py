"""Damage done to good records on purpose, each with the verdict that it must get."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from backtrader_bench.records import question_id
from backtrader_bench.templates.render import question_text

Fields = dict[str, Any]
NUMBER = re.compile(r"(?<![\d-])\d[\d,]*(?:\.\d+)?(?![\d-]|\.\d)")


def reworded(record: Fields, options: dict[str, str] | None = None, stem: str | None = None) -> Fields:
    """The record with other options or another stem, its full text and id made to fit: damage that hides itself."""
    found = copy.deepcopy(record)
    found["options"] = options or found["options"]
    found["stem"] = stem or found["stem"]
    found["question"] = question_text(found["stem"], found["options"])
    found["id"] = question_id(found["stem"], found["options"])
    return found


def letter_moved(record: Fields, rng: Random) -> Fields:
    other = rng.choice([letter for letter in "ABCD" if letter != record["answer"]])
    return {**copy.deepcopy(record), "answer": other}


def key_off_by_one_unit(record: Fields, rng: Random) -> Fields | None:
    """The key's option with one number of it moved by one unit of its last place; None where it has no number."""
    text = record["options"][record["answer"]]
    numbers = list(NUMBER.finditer(text))
    for found in rng.sample(numbers, len(numbers)):
        for step in rng.sample((-1, 1), 2):
            moved = text[: found.start()] + one_unit(found.group(), step) + text[found.end() :]
            if moved not in record["options"].values():
                return reworded(record, {**record["options"], record["answer"]: moved})
    return None


def one_unit(number: str, step: int) -> str:
    """``number`` moved by one unit of its last place, written alike."""
    digits = number.replace(",", "")
    decimals = len(digits.partition(".")[2])
    units = int(digits.replace(".", "")) + step
    moved = max(units, 1) / 10**decimals
    return f"{moved:,.{decimals}f}" if "," in number else f"{moved:.{decimals}f}"


def configuration_changed(record: Fields, rng: Random) -> Fields:
    found = copy.deepcopy(record)
    what = rng.choice(("commission_rate", "initial_cash", "stake", "parameter", "sizing"))
    if what == "parameter":
        name = rng.choice([name for name in found["strategy_params"] if name != "target_percent"])
        value = found["strategy_params"][name]
        found["strategy_params"][name] = value + 1 if isinstance(value, int) else value * 0.9
        found["config"]["strategy_params"] = dict(found["strategy_params"])
    elif what == "sizing":
        found["config"]["sizing"] = "fixed" if found["config"]["sizing"] == "capped" else "capped"
    else:
        found["config"][what] *= 2
    return found


def parameter_of_the_template_changed(record: Fields, rng: Random) -> Fields | None:
    """Another date, number or alternative than the text asks about; None where the template has none."""
    if not record["template_params"]:
        return None
    found = copy.deepcopy(record)
    params = found["template_params"]
    name = rng.choice(list(params))
    value = params[name]
    if name in ("date", "from", "to"):
        day = int(value[-2:])
        params[name] = f"{value[:8]}{day - 1 if day > 1 else day + 1:02}"
    elif isinstance(value, int):
        params[name] = value + 1
    elif name == "which":
        params[name] = "fast" if value == "slow" else "slow"
    elif name == "metric":
        params[name] = "net_pnl" if value != "net_pnl" else "sharpe_ratio"
    elif name == "alternative":
        first = next(iter(value))
        value[first] += 1
    elif name == "rates":
        value[0] = round(value[0] * 0.5, 6)
    else:
        first = next(iter(value[0]))
        value[0][first] += 1
    return found


def stem_edited(record: Fields, rng: Random) -> Fields:
    """One digit of the stem changed, everywhere it is repeated, so that only a fresh rendering shows it."""
    digits = [place for place, char in enumerate(record["stem"]) if char.isdigit()]
    place = rng.choice(digits)
    digit = str((int(record["stem"][place]) + rng.randrange(1, 10)) % 10)
    return reworded(record, stem=record["stem"][:place] + digit + record["stem"][place + 1 :])


def key_twice(record: Fields, rng: Random) -> Fields:
    other = rng.choice([letter for letter in "ABCD" if letter != record["answer"]])
    return reworded(record, {**record["options"], other: record["options"][record["answer"]]})


def distractor_twice(record: Fields, rng: Random) -> Fields:
    one, other = rng.sample([letter for letter in "ABCD" if letter != record["answer"]], 2)
    return reworded(record, {**record["options"], other: record["options"][one]})


def bar_named_wrongly(record: Fields, rng: Random) -> Fields:
    found = copy.deepcopy(record)
    found["tape"]["rows"] += 1
    return found


MUTATIONS: dict[str, tuple[Callable[[Fields, Random], Fields | None], str]] = {
    "letter moved": (letter_moved, "wrong_key"),
    "key one unit off": (key_off_by_one_unit, "no_option_right"),
    "configuration changed": (configuration_changed, "text_drift"),
    "template parameter changed": (parameter_of_the_template_changed, "text_drift"),
    "stem edited": (stem_edited, "text_drift"),
    "key's option twice": (key_twice, "ambiguous"),
    "a distractor twice": (distractor_twice, "ambiguous"),
    "bars counted wrongly": (bar_named_wrongly, "data_drift"),
}
"""Mutations of records, with the right verdict. A bar of the tape edited (``data_drift``) is done to files instead."""


def mutants(record: Fields, seed: int) -> Iterator[tuple[str, str, Fields]]:
    """Every mutation that applies to a record: its name, the right verdict, the damaged record."""
    for name, (mutate, expected) in MUTATIONS.items():
        damaged = mutate(record, Random(f"{seed} {name} {record['id']}"))
        if damaged is not None:
            yield name, expected, damaged
