"""Banks for tests of exports."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from backtrader_bench.agents.exports import make
from backtrader_bench.agents.exports.make import Made, Wish
from backtrader_bench.records import LETTERS, question_id
from backtrader_bench.templates.render import question_text
from tests.agents.reports import hand
from tests.agents.runs.made import published, write_bank


def records(count: int = 8, seed: int = 1) -> list[dict[str, Any]]:
    """Made-up questions of ours with keys drawn by the seed."""
    draw, found = Random(seed), []
    for number in range(1, count + 1):
        one = hand.question(number % 8 or 8, answer=draw.choice(LETTERS), labels=[f"kept because {draw.random()}"])
        one["stem"] += f" Number {number}?"
        one["options"] = {letter: f"${number + place}.50" for place, letter in enumerate(LETTERS)}
        one["question"] = question_text(one["stem"], one["options"])
        one["id"] = question_id(one["stem"], one["options"])
        one["value"], one["tolerance"] = number + LETTERS.index(one["answer"]) + 0.5, 0.2
        one["option_origins"] = {letter: "key" if letter == one["answer"] else "step" for letter in LETTERS}
        one["private"] = {"seeds": [f"{draw.getrandbits(64):x}"], "option_worlds": {one["answer"]: 3}}
        found.append(one)
    return found


def bank(path: Path, count: int = 8, seed: int = 1) -> Path:
    """A file of :func:`records`, and two published ones."""
    return write_bank(path, [*records(count, seed), published(1), published(2, "D")])


def export(form: Any, file: Path, folder: Path, **more: Any) -> Made:
    """One export."""
    return make.export(Wish(format=form, files=(file,), folder=folder, tapes=more.pop("tapes", False), **more))


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its name."""
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}
