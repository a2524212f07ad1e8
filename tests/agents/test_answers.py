"""Reading answers: recorded replies, more of their kinds, and no letter by chance."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrader_bench.agents.answers import read_answer, read_value, rotated, unrotate
from backtrader_bench.grading import value_matches
from backtrader_bench.templates.render import question_text

DATA = Path(__file__).parents[1] / "data"
CITIES = {"A": "Sydney", "B": "Melbourne", "C": "Canberra", "D": "Perth"}
PRICES = {"A": "$1,234.56", "B": "$1,250.10", "C": "$1,198.00", "D": "$1,275.44"}
COUNTS = {"A": "12", "B": "15", "C": "18", "D": "21"}


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", cases("answers.jsonl"), ids=lambda case: f"{case['id']}-{case['kind']}")
def test_recorded_replies(case: dict[str, Any]) -> None:
    # All 120, the arguable ones included: none differs.
    reply = case["reply"] if "reply" in case else "".join(text * times for text, times in case["reply_parts"])
    assert read_answer(reply, case["options"]) == (case["letter"], case["method"]), case["reason"]


KINDS: dict[str, list[dict[str, Any]]] = {}
for one in cases("answers_more.jsonl"):
    KINDS.setdefault(one["kind"], []).append(one)


@pytest.mark.parametrize("kind", KINDS)
def test_more_of_the_same_kinds(kind: str) -> None:
    wrong = [
        (case["reply"], tuple(found), case["letter"], case["method"])
        for case in KINDS[kind]
        if (found := read_answer(case["reply"], case["options"])) != (case["letter"], case["method"])
    ]
    assert not wrong


@pytest.mark.parametrize("letter", "ABCD")
@pytest.mark.parametrize(
    "form",
    ["<<< {} >>>", "Answer: {}", "**{}**", "({})", "\\boxed{{{}}}", "The answer is {}.", '{{"answer": "{}"}}', "Option {} is correct.",  # noqa: E501
     "答案是{}。", "I choose {}", "- [x] {}", "Let me see.\n\n{}"],
)  # fmt: skip
def test_every_letter_in_every_form(form: str, letter: str) -> None:
    assert read_answer(form.format(letter), CITIES).letter == letter
    assert read_answer(form.format("E"), CITIES).letter is None


def test_the_prompt_repeated_is_no_answer() -> None:
    for options in (CITIES, PRICES, COUNTS):
        for ask_value in (False, True):
            prompt = question_text("What is the final value?", options, ask_value=ask_value)
            assert read_answer(prompt, options) == (None, "unparsed")
            assert read_value(prompt) is None
            assert read_answer(f"{prompt}\n\nAnswer: B", options) == ("B", "lenient")


@given(st.permutations("ABCD"), st.sampled_from([". ", ") ", ": ", " - "]), st.sampled_from(["\n", "\n\n"]))
@settings(max_examples=40, deadline=None)
def test_lists_of_the_options_are_no_answer(order: list[str], sign: str, gap: str) -> None:
    listed = gap.join(f"{letter}{sign}{CITIES[letter]}" for letter in order)
    assert read_answer(listed, CITIES).letter is None


PROSE = [
    "a", "an", "the", "strategy", "A", "buys", "sells", "when", "close", "crosses", "above", "below", "bar", "12",
    "and", "or", "of", "in", "to", "with", "for", "from", "at", "but", "fast", "slow", "position", "shares", "price",
    "cash", "commission", "trade", "first", "last", "15", "$1,234.56", "portfolio", "value", "return", "run",
    "backtest", "script", "file", "date", "column", "open", "high", "low", "volume", "error", "could", "find",
    "need", "more", "time",
]  # fmt: skip


def test_prose_without_a_statement_gives_no_letter() -> None:
    draw = random.Random(20)
    for _ in range(400):
        text = " ".join(draw.choice(PROSE) for _ in range(draw.randint(1, 40)))
        if text != "A" and not text.startswith(("12", "15", "$")):
            assert read_answer(f"{text} so far", draw.choice((CITIES, PRICES, COUNTS))).letter is None, text


@given(st.text(max_size=200).filter(lambda text: not set(text.upper()) & set("ABCD")))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_and_what_has_no_letter_gives_none(text: str) -> None:
    from backtrader_bench.agents.answer_text import plain, visible

    if not set(plain(visible(text)).upper()) & set("ABCD"):
        assert read_answer(text, COUNTS | {"A": "-"}).method in ("unparsed", "refused", "lenient")
        assert read_answer(text, CITIES).letter is None


HARD = ["<", "Answer: A ", " ", '{"answer":', "**A", "<<\u2039 ", "<<< A >>> <<< B >>> <<< C >>> <<< D >>> "]


@pytest.mark.slow
@pytest.mark.parametrize("unit", HARD, ids=repr)
def test_ten_megabytes_take_seconds(unit: str) -> None:
    # A quadratic step would take hours here; the bound is wide because the machine may be busy.
    text = unit * (10_000_000 // len(unit)) + "\n<<< C >>>"
    start = time.process_time()
    assert read_answer(text, CITIES) == ("C", "strict")
    read_answer(text[:-10], CITIES)
    read_value(text)
    assert time.process_time() - start < 30


WIDE = [
    "**A", "__A", "**B** is it? ", "A\n", "Answer: A ", "|answer|\n|-|\n|A|\n", "(", "is 12 ", "first option ",
    "A is correct. ",
]  # fmt: skip


@pytest.mark.parametrize("unit", WIDE, ids=repr)
def test_what_repeats_itself_is_read_in_a_second(unit: str) -> None:
    # The most that the lenient reading looks at; the bound is wide because the machine may be busy.
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    read_answer(text, COUNTS)
    assert time.process_time() - start < 8


def test_a_long_list_in_json_is_read_in_a_second() -> None:
    start = time.process_time()
    read_answer(json.dumps({"answer": ["Answer: A"] * 16_000}), COUNTS)
    assert time.process_time() - start < 8


def test_rotation() -> None:
    for shift in range(4):
        shown = rotated(CITIES, shift)
        assert sorted(shown.values()) == sorted(CITIES.values())
        for letter in "ABCD":
            back = unrotate(letter, shift)
            assert back is not None and CITIES[back] == shown[letter]
        assert unrotate(None, shift) is None
    assert rotated(CITIES, 1)["A"] == "Melbourne" and rotated(CITIES, 0) == CITIES


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("VALUE: $1,234.56\n<<< B >>>", "$1,234.56"), ("**VALUE:** 12.5\n\n<<< A >>>", "12.5"), ("Value: 16.", "16"),
        ("VALUE: `2020-04-16`", "2020-04-16"), ("VALUE:\n-$3,017.22\n<<< A >>>", "-$3,017.22"), ("VALUE：１６", "16"),
        ("VALUE: 3\nno, again:\nVALUE: 4", "4"), ("VALUE: −12.5", "-12.5"),
        ("VALUE: 668 shares at $71.67 on 2020-04-16", "668 shares at $71.67 on 2020-04-16"), ("VALUE: above_long", "above_long"),  # noqa: E501
        ("VALUE: 12.5 <<< B >>>", "12.5"), ("> VALUE: 7", "7"), ("VALUE: $12.50$", "12.50"), ("VALUE: \\boxed{42}", "42"),  # noqa: E501
        ('{"value": "1.5", "answer": "B"}', "1.5"), ("<think>VALUE: 3</think>VALUE: 5", "5"), ("VALUE: N/A", None), ("VALUE:", None),  # noqa: E501
        ("VALUE: 4\nVALUE: unknown", None), ("<<< B >>>", None), ("", None), ("The value is 3.", None),
        ("On a line of its own, write VALUE: and the answer that you computed yourself, to the precision of the options", None),  # noqa: E501
        ("\x1b[1mVALUE:\x1b[0m 8", "8"), ("VALUE: 53.33% (8 of 15)", "53.33% (8 of 15)"),
        ("VALUE: 16 vs 18 (difference 2)", "16 vs 18 (difference 2)"),
        ("VALUE: a buy order was filled", "a buy order was filled"), ("VALUE: not above, flat", "not above, flat"),
        ("VALUE: no order was filled and no position was held.", "no order was filled and no position was held"),
        ("VALUE: **fast SMA not above slow SMA, no position**", "fast SMA not above slow SMA, no position"),
        ("VALUE: The answer is 35", "The answer is 35"), ("VALUE: final answer: 35", "final answer: 35"),
        ("VALUE: (option B) $1,667.03", "(option B) $1,667.03"), ("VALUE: [choice B] 35", "[choice B] 35"),
        ("VALUE: 35, answer: B", "35"), ("VALUE: a buy order was filled; option C.", "a buy order was filled"),
        ("VALUE: The answer is 35 - option B.", "The answer is 35 -"),
        ("VALUE: .94", ".94"), ("VALUE: '.94'.", ".94"), ("VALUE: ... 94", "94"), ("VALUE: ... .", None),
        ("VALUE: 35\nFinal portfolio value: $57,000.00", "35"), ("Value: 35\nFinal value: 36", "36"),
        ("**VALUE:** 35\nValue: 36\n<<< B >>>", "35"), ("Final value: 36\nVALUE: unknown", None),
        ("VALUE: \\(1667.03\\)", "1667.03"), ("VALUE: \\($1,667.03\\)", "$1,667.03"),
        ("VALUE: \\(4.71\\%\\)", "4.71\\%"),
        ("VALUE: I could not compute it", None), ("VALUE: not computed", None), ("VALUE: " + "so " * 17, None),
    ],
)  # fmt: skip
def test_values(reply: str, value: str | None) -> None:
    assert read_value(reply) == value


@pytest.mark.parametrize("unit", [",", ", ", ";", "the ", "option ", "option,", "\\n"], ids=repr)
def test_a_long_value_is_read_in_a_second(unit: str) -> None:
    start = time.process_time()
    read_value("VALUE: 5" + unit * (100_000 // len(unit)))
    assert time.process_time() - start < 8


def test_a_value_read_can_be_graded() -> None:
    assert value_matches(read_value("**VALUE: $1,003.90**\n<<< B >>>") or "", 1000.0, 4.5)
    truth = {"shares": 668, "close": 71.67, "date": "2020-04-16"}
    assert value_matches(read_value("VALUE: 668 shares at $71.67 on 2020-04-16.") or "", truth, None)
