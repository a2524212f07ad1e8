"""The reference files of real formats, each with the outcome that is right for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.errors import BenchError
from backtrader_bench.market.csv_reader import read_csv
from backtrader_bench.market.tape import Tape

INDEX = Path(__file__).resolve().parents[3] / "shared" / "cases" / "tapes" / "index.jsonl"
CASES = [json.loads(line) for line in INDEX.read_text().splitlines()] if INDEX.is_file() else []

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["kind"]))
def test_case(case: dict[str, Any], shared: Path) -> None:
    path = shared / "cases" / "tapes" / case["file"]
    try:
        tape = read_csv(path)
    except BenchError as error:
        refused(case, str(error))
    else:
        accepted(case, tape)


def refused(case: dict[str, Any], message: str) -> None:
    assert case["expect"] == "refuse" or case["arguable"], message
    assert "\n" not in message
    for wanted in case["message_must_mention"]:
        assert any(word in message.lower() for word in wanted.lower().split("|")), message
    if case.get("row_any_of"):
        numbers = {int(n) for n in re.findall(r"(?:line|row) (\d+)", message)}
        assert numbers & set(case["row_any_of"]), message
    if case.get("line"):
        assert f"line {case['line']}" in message
    if case.get("bad_date"):
        assert case["bad_date"] in message


def accepted(case: dict[str, Any], tape: Tape) -> None:
    assert case["expect"] == "accept" or case["arguable"]
    assert len(tape) == case["rows"]
    if case["expect"] == "refuse":
        assert tape.warnings
        return
    bars = list(zip(tape.dates, tape.open, tape.high, tape.low, tape.close, tape.volume, strict=True))
    for bar, wanted in zip((bars[0], bars[-1]), case["normalised"], strict=True):
        assert bar[0] == wanted[0]
        assert bar[1:] == pytest.approx(wanted[1:], abs=1e-8, rel=0)
    if case["adj_close"]:
        assert tape.adj_close
        assert [tape.adj_close[0], tape.adj_close[-1]] == pytest.approx(case["adj_close"], abs=1e-8)
    due = case["warning"]
    if due["due"] == "no":
        assert tape.warnings == ()
    if due["due"] == "yes":
        assert all(any(word in text for text in tape.warnings) for word in due["should_mention"])
