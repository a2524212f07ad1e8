"""Grading of letters and values: tolerance, composites, named mistakes."""

from __future__ import annotations

import time
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
        # The sign that stands for a date inside is not one of the text's own.
        ("16 \ue000", 16, 0.0, True), ("\ue000", 16, 0.0, False), ("\ue000 2020-04-16", "2020-04-16", None, True),
    ],
)  # fmt: skip
def test_values(text: str, truth: Any, tolerance: float | None, right: bool) -> None:
    assert value_matches(text, truth, tolerance) is right


PAIR, BOUGHT = {"won": 16, "lost": 14}, {"shares": 668, "close": 71.67, "date": "2020-04-16"}
WINDOW = {"peak": "2020-09-01", "trough": "2020-11-23", "dollars": 28843.29, "percent": 31.49}
BETTER = {"params": {"pfast": 13, "pslow": 40}, "pnl": 50746.75}
HELD = {"inside": 602, "outside": 374, "total": 976}


@pytest.mark.parametrize(
    ("text", "truth", "right"),
    [
        ("\u22125.20%", -5.2, True), ("\u2013$1,234.56", -1234.56, True), ("5.20%", -5.2, False),
        ("minus 5.2%", -5.2, True),
        ("($1,234.56)", -1234.56, True), ("(1,234.56)", -1234.56, True), ("($1,234.56)", 1234.56, False),
        ("(16)", 16, True),
        ("-USD 800.16", -800.16, True), ("-USD 800.16", 800.16, False), ("-US$800.16", -800.16, True),
        ("-\u20ac800.16", -800.16, True), ("-($800.16)", -800.16, True), ("-(800.16)", -800.16, True),
        ("-(800.16)", 800.16, False), ("-{800.16}", -800.16, True), ("minus USD 800.16", -800.16, True),
        ("minus USD 800.16", 800.16, False), ("_-800.16_", -800.16, True), ("_-800.16_", 800.16, False),
        ("- $800.16", -800.16, True), ("minus ($800.16)", -800.16, True), ("-$(800.16)", -800.16, True),
        ("_-$800.16_", -800.16, True), ("A - -$800.16", -800.16, True), ("B -800.16", -800.16, True),
        ("B - $800.16", -800.16, False), ("B - $800.16", 800.16, True), ("A \u2014 $800.16", 800.16, True),
        ("Option B - 800.16", -800.16, False), ("Option B - 800.16", 800.16, True), ("(C) - 800.16", 800.16, True),
        ("D. - $800.16", 800.16, True), ("\\(800.16\\)", -800.16, False), ("\\(800.16\\)", 800.16, True),
        ("\\($800.16\\)", 800.16, True), ("A - USD 800.16", 800.16, True),
        ("not 16", 16, False), ("isn't 16", 16, False), ("isn\u2019t 16", 16, False),
        ("\u2260 16", 16, False), ("anything but 16", 16, False),
        ("16 is wrong", 16, False), ("less than 16", 16, False), ("more than 16", 16, False), ("< 16", 16, False),
        (">16", 16, False), ("\u226516", 16, False), ("\u2264 16", 16, False), ("<= 16", 16, False),
        ("at least 16", 16, False), ("at most 16", 16, False), ("16 or more", 16, False), ("16 or sixteen", 16, False),
        ("half of 16", 16, False), ("16k", 16, False), ("16 million", 16, False), ("16 thousand", 16, False),
        ("16 (or 17)", 16, False), ("16 or 17", 16, False), ("not exactly 16", 16, False),
        ("It is not 16.", 16, False), ("fewer than the 16", 16, False), ("16 (not 17)", 16, True),
        ("16 or so", 16, True), ("16 trades after costs", 16, True), ("16, before commission", 16, True),
        ("=> 16", 16, True), ("-> 16", 16, True), ("16 (more than 15)", 16, True),
        ("16 days not in a position", 16, True), ("day after 2020-04-16", "2020-04-16", False),
        ("before April 16, 2020", "2020-04-16", False), ("2020-04-16 (or 2020-04-17)", "2020-04-16", False),
        ("374 days not in a position, 602 in, 976 in total", HELD, True), ("not 16, 14", PAIR, False),
        ("$1,234.56 profit or loss", 1234.56, True), ("$1.23k", 1.23, False),
        ("loss of $1,234.56", -1234.56, True), ("a net loss: 1,234.56", -1234.56, True),
        ("loss of $1,234.56", 1234.56, False),
        ("net profit or loss: $1,234.56", 1234.56, True), ("$1,234.56 loss", -1234.56, True),
        ("loss of -$5.00", -5.0, True),
        ("stop loss at $65.20", 65.2, True),
        ("1 234.56", 1234.56, True), ("1\u2009234.56", 1234.56, True), ("1\u202f234\u202f567", 1234567, True),
        ("1'234.56", 1234.56, True), ("1{,}234.56", 1234.56, True), ("\\$1,234.56", 1234.56, True), (".5", 0.5, True),
        ("12,34.56", 1234.56, False), ("1,2,3,4.56", 1234.56, False), ("1,234,56", 123456.0, False),
        ("1.234,56", 1234.56, False),
        ("1,2345", 12345, False), ("1234,567", 1234567, False), ("53.33% (8 of 15)", 53.33, True),
        ("8 of 15 (53.33%)", 53.33, False),
        ("16-14", PAIR, True), ("16\u201314", PAIR, True), ("16 - 14", PAIR, True), ("16,14", PAIR, True),
        ("16/14", PAIR, True),
        ("14-16", PAIR, False), ("16 won and 14 lost", PAIR, True), ("14 lost and 16 won", PAIR, True),
        ("14 won and 16 lost", PAIR, False),
        ("16 lost and 14 won", PAIR, False), ("lost 14, won 16", PAIR, True), ("lost: 16, won: 14", PAIR, False),
        ("14 lost, won 16", PAIR, False), ("16 winners, 14 losers", PAIR, True), ("won 16, won 14", PAIR, False),
        ("1614", PAIR, False), ("losses: 14, wins: 16", PAIR, True), ("losses 14, wins 16", PAIR, True),
        ("losses = 14, wins = 16", PAIR, True), ("loss: 14, win: 16", PAIR, True),
        ("wins: 16, losses: 14.", PAIR, True),
        ("number of losses: 14, number of wins: 16", PAIR, True), ("losses: 16, wins: 14", PAIR, False),
        ("loss: 14.5", -14.5, True), ("loss: 1,234", -1234.0, True), ("loss: 14%", -14.0, True),
        ("no loss: $800.16", -800.16, False), ("not a loss of $800.16", -800.16, False),
        ("without loss of 800.16", -800.16, False),
        ("2020-04-16: 668 shares at $71.67", BOUGHT, True),
        ("668 shares, closing price 71.67, April 16, 2020", BOUGHT, True),
        ("668 at 71.67 on 16 Apr 2020", BOUGHT, True), ("668 at 71.67 on 2020-04-16 00:00:00", BOUGHT, True),
        ("668 at 71.67 on 2020/04/17", BOUGHT, False), ("close 668, shares 71.67, date 2020-04-16", BOUGHT, False),
        ("2020-09-01 - 2020-11-23: $28,843.29 (31.49%)", WINDOW, True),
        ("$28,843.29 (31.49%), 2020-09-01 to 2020-11-23", WINDOW, True),
        ("2020-11-23 to 2020-09-01: $28,843.29 (31.49%)", WINDOW, False),
        ("(pfast=13, pslow=40) with $50,746.75", BETTER, True), ("(pslow=40, pfast=13) with $50,746.75", BETTER, True),
        ("(pfast=40, pslow=13) with $50,746.75", BETTER, False), ("{'pfast': 13, 'pslow': 40}, 50746.75", BETTER, True),
        ("602 days in a position, 374 without, 976 in total", HELD, True),
        ("374 out, 602 in, 976 in total", HELD, True),
        ("374 days in a position, 602 without, 976 in total", HELD, False), ("0.35%", 0.35, True),
        ("0.36%", 0.35, False),
    ],
)  # fmt: skip
def test_typography(text: str, truth: Any, right: bool) -> None:
    tolerance = 0.0049 * abs(truth) if isinstance(truth, float) and truth != 0.35 else None
    assert value_matches(text, truth, tolerance) is right


@pytest.mark.parametrize("unit", ["(", "( ", "1 ", "1-", "1,234", "won ", "with (", "loss ", "not ", " ", "'1"])
def test_long_values_are_graded_in_a_second(unit: str) -> None:
    text = "(" + unit * (50_000 // len(unit))
    start = time.process_time()
    for truth in (1.5, PAIR, "above_long", {"kind": "stop", "date": "2020-01-01"}):
        assert value_matches(text, truth, None) is False
    assert time.process_time() - start < 8


STATES = ("above_long", "above_flat", "below_long", "below_flat")
ACTIONS = ("buy", "sell", "hold", "flat")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("fast SMA above slow SMA, position held", "above_long"),
        ("SMA(10) fast > SMA(30) slow, in a position", "above_long"),
        ("fast SMA(10) > slow SMA(30), long", "above_long"), ("above, in a position", "above_long"),
        ("Above / Long", "above_long"),
        ("fast SMA not above slow SMA, position held", "below_long"),
        ("slow above fast, holding a position", "below_long"),
        ("fast below slow; no position", "below_flat"),
        ("the fast average is at or below the slow one, flat", "below_flat"),
        ("fast <= slow, no open position", "below_flat"), ("no position, fast SMA above slow SMA", "above_flat"),
        ("the strategy is not in a position and the fast SMA is above the slow SMA", "above_flat"), ("above", None),
        ("long", None),
        ("fast SMA above slow SMA, no position held", "above_flat"), ("above or below, long", None),
        ("not above_long", None), ("C. fast SMA not above slow SMA, position held", "below_long"),
        ("Option C: fast SMA above slow SMA, no position", "above_flat"), ("[B] above, flat", "above_flat"),
        ("fast SMA above slow SMA, no position (option C)", "above_flat"), ("Option C: not above_long", None),
        ("C above, flat", None),
    ],
)  # fmt: skip
def test_states_in_words(text: str, word: str | None) -> None:
    assert [one for one in STATES if value_matches(text, one, None)] == ([word] if word else [])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a buy order was filled", "buy"), ("BUY", "buy"), ("bought", "buy"), ("Sell order filled", "sell"),
        ("sold", "sell"),
        ("no buy order was filled", None), ("not a sell order", None),
        ("no order was filled and a position was held", "hold"),
        ("no order, position held", "hold"), ("holding a position", "hold"), ("hold", "hold"),
        ("no order filled; no position held", "flat"),
        ("nothing filled, no position", "flat"), ("flat", "flat"), ("buy and sell", None),
        ("no order was filled", None), ("D. a buy order was filled", "buy"), ("(D) hold", "hold"),
        ("D) no order, position held", "hold"), ("D. no buy order was filled", None),
        ("The answer is a buy order was filled", "buy"), ("final answer: sold", "sell"), ("Answer: a buy order", "buy"),
        ("The answer is not a buy order", None), ("the answer isn't bought", None),
    ],
)  # fmt: skip
def test_actions_in_words(text: str, word: str | None) -> None:
    assert [one for one in ACTIONS if value_matches(text, one, None)] == ([word] if word else [])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("its stop order on 2019-08-27", "stop"), ("stop, 2019-08-27", "stop"),
        ("2019-08-27: the stop-loss was hit", "stop"),
        ("(stop loss, 27 August 2019)", "stop"), ("{'kind': 'limit', 'date': '2019-08-27'}", "limit"),
        ("take-profit on 2019-08-27", "limit"),
        ("its limit order on 2019-08-27", "limit"), ("2019-08-27", None), ("not its stop order on 2019-08-27", None),
        ("its stop order on 2019-08-28", None), ("stop or limit on 2019-08-27", None), ("stop", None),
        ("(D) its limit order on 2019-08-27", "limit"), ("Option B: its stop order on 2019-08-27", "stop"),
    ],
)  # fmt: skip
def test_exits_in_words(text: str, kind: str | None) -> None:
    found = [one for one in ("stop", "limit") if value_matches(text, {"kind": one, "date": "2019-08-27"}, None)]
    assert found == ([kind] if kind else [])


def test_an_options_own_text_is_right_if_that_is_the_key() -> None:
    record = {"answer": "C", "value": "odd", "options": {"A": "1 a", "B": "2 b", "C": "Even Odder.", "D": "odd"}}
    assert grade(record, "C", "even  odder").verified is True
    assert grade(record, "C", "odd").value_right is False
    assert grade(record, "C", "Odd one").value_right is False


def test_a_wrong_word_names_its_mistake() -> None:
    record = {"answer": "A", "value": "above_long", "private": {"fingerprints": {"the row before": "above_flat"}}}
    assert grade(record, "A", "fast SMA above slow SMA, no position") == (True, False, False, "the row before")


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
