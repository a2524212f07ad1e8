"""Grading of letters and values: tolerance, composites, named mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from backtrader_bench.grading import grade, named_mistake, value_matches
from backtrader_bench.mcq_builder.mistakes import MISTAKES
from backtrader_bench.records import parse_json, to_line
from tests.helpers import bank

RECORD: dict[str, Any] = {
    "answer": "B", "value": 1000.0, "tolerance": 4.5,
    "private": {"fingerprints": {"no commission": 1100.0, "filled one bar late": 950.0, "open used for close": 1101.0}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "truth", "tolerance", "right"),
    [
        ("$1,003.90", 1000.0, 4.5, True), ("1004.6", 1000.0, 4.5, False), ("-1000", 1000.0, 4.5, False),
        ("-$3,017.22", -3017.22, 13.0, True), ("$-3017.22", -3017.22, 13.0, True), ("53.33%", 53.33, 0.2, True),
        ("16", 16, 0.0, True), ("16.5", 16, 0.0, False), ("16 of 30", 16, 0.0, False), ("", 16, 0.0, False),
        ("2020-04-16", "2020-04-16", None, True), ("2020-04-17", "2020-04-16", None, False),
        ("668 shares at $71.67 on 2020-04-16", {"shares": 668, "close": 71.67, "date": "2020-04-16"}, None, True),
        ("667 shares at $71.67 on 2020-04-16", {"shares": 668, "close": 71.67, "date": "2020-04-16"}, None, False),
        ("71.67, 668, 2020-04-16", {"shares": 668, "close": 71.67, "date": "2020-04-16"}, None, False),
        ("above_long", "above_long", None, True), ("below", "above_long", None, False), ("nan", 1.0, 0.1, False),
        ("1e3", 1000.0, 4.5, True),
    ],
)  # fmt: skip
def test_values(text: str, truth: Any, tolerance: float | None, right: bool) -> None:
    assert value_matches(text, truth, tolerance) is right


def test_grades() -> None:
    assert grade(RECORD, "B", None) == (True, None, None, None)
    assert grade(RECORD, "B", "1001") == (True, True, True, None)
    assert grade(RECORD, "B", "952") == (True, False, False, "filled one bar late")
    assert grade(RECORD, "A", "1000") == (False, True, False, None)
    assert grade(RECORD, None, "3") == (False, False, False, None)
    # Two mistakes give about the same value: it names neither.
    assert named_mistake(RECORD, "1100.5") is None


def test_fingerprints_of_real_questions_name_their_mistakes() -> None:
    named = total = 0
    for record in bank(num_questions=90, strategy="macd_crossover").questions:
        fields = parse_json(to_line(record), "t")
        truth = record.value
        if isinstance(truth, int | float) and record.type != "commission_breakeven":
            assert value_matches(record.options[record.answer], truth, record.tolerance)
        for name, wrong in fields["private"]["fingerprints"].items():
            assert name in MISTAKES
            if isinstance(wrong, int | float):
                total += 1
                graded = grade(fields, record.answer, str(wrong))
                assert graded.value_right is False
                named += graded.mistake == name
    assert total > 100
    assert named / total > 0.7
