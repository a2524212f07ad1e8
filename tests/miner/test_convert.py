"""Answers to options: kinds, separation, a real shuffle, and ladders whose key has no favourite rank."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pytest
from scipy.stats import chisquare

from backtrader_bench.miner.convert import Converted, Unusable, convert
from backtrader_bench.miner.values import Form, Read, read
from backtrader_bench.records import LETTERS

STEM = "With 30 bars from 2020-01-06 to 2020-03-31, what is it?"


def made(key: Any, others: list[Any], seed: int = 1, stem: str = STEM) -> Converted:
    found = convert(stem, str(key), [(1000 + place, str(one)) for place, one in enumerate(others)], Random(seed))
    assert isinstance(found, Converted), found
    return found


@pytest.mark.parametrize(("key", "others", "shown"), [
    ("$12,345.60", ["$11,000.25", "-$50.00", "$13,000.00"], {"$12,345.60", "$11,000.25", "-$50.00", "$13,000.00"}),
    ("$12345.6", ["$11000.25", "$9000", "$-13000.5"], {"$12,345.60", "$11,000.25", "$9,000.00", "-$13,000.50"}),
    ("3.2%", ["4.25%", "-1%", "0.5 %"], {"3.20%", "4.25%", "-1.00%", "0.50%"}),
    (10234.567890123, [10500.1, 9000.25, 11000.0], {"10234.57", "10500.10", "9000.25", "11000.00"}),
    (0.123456789, [0.2, 0.3, 0.4], {"0.1235", "0.2000", "0.3000", "0.4000"}),
    (1.23456, [2.5, -1.25, 0.125], {"1.235", "2.500", "-1.250", "0.125"}),
    (7, [8, 9, 12], {"7", "8", "9", "12"}),
    (7, [8.5, 9, 12], {"7.0", "8.5", "9.0", "12.0"}),
    ("7 trades", ["8 trades", "9 trades", "12 trades"], {"7 trades", "8 trades", "9 trades", "12 trades"}),
    ("2020-02-03", ["2020-02-04", "2020-01-15T00:00:00", "2020-03-02 00:00:00"],
     {"2020-02-03", "2020-02-04", "2020-01-15", "2020-03-02"}),
    ("buy", ["sell", "hold", "stop"], {"buy", "sell", "hold", "stop"}),
    ("\u2212$5.50", ["$7.00", "$9.00", "$11.00"], {"-$5.50", "$7.00", "$9.00", "$11.00"}),
])  # fmt: skip
def test_kinds_are_told_from_what_is_printed(key: Any, others: list[Any], shown: set[str]) -> None:
    found = made(key, others)
    assert set(found.options.values()) == shown
    assert found.origins[found.answer] == "key"
    assert sorted(found.origins.values()) == ["key", "seed 1000", "seed 1001", "seed 1002"]


@pytest.mark.parametrize(("raw", "reason"), [
    ("", "answer_missing"), ("  ", "answer_missing"), ("None", "answer_missing"), ("N/A", "answer_missing"),
    ("nan", "answer_not_finite"), ("$NaN", "answer_not_finite"), ("-inf", "answer_not_finite"),
    *((text, "answer_not_finite") for text in (
        "inf USD", "nan %", "$ nan", "NaN", "+Infinity", "$-inf", "-$inf", "(inf)", "\u20ac nan", "nan trades",
        "USD inf")),
    ("x" * 300, "answer_not_usable"), ("a\x00b", "answer_not_usable"),
    ("USD 50,000.58", "answer_not_usable"), ("US$ 50,000.58", "answer_not_usable"),
    ("\u20ac50,000.01", "answer_not_usable"), ("50.000,01 \u20ac", "answer_not_usable"),
    ("5.0001e+04", "answer_not_usable"), ("-1E5", "answer_not_usable"), ("($1,234.50)", "answer_not_usable"),
    ("$(1,234.50)", "answer_not_usable"), ("100.01, 3", "answer_not_usable"), ("[100.01, 3]", "answer_not_usable"),
    ("$1.50 and $2.50", "answer_not_usable"), ("12,34.50", "answer_not_usable"), (".5", "answer_not_usable"),
])
def test_answers_that_are_none(raw: str, reason: str) -> None:
    assert read(raw) == reason
    found = convert(STEM, raw, [(1, "5")], Random(1))
    assert isinstance(found, Unusable)
    assert found.reason == reason


@pytest.mark.parametrize(("one", "other", "apart"), [
    ("about 50,000.58", "about 50,000.59", False), ("about 50,000.58", "about 60,000.59", True),
    ("cash 5.0001e4 left", "cash 5.0002e4 left", False), ("cash 5e4 left", "cash 6e4 left", True),
    ("sold at 100.01 on bar 3", "sold at 100.02 on bar 3", False), ("sold at 100.01 on bar 3",
     "sold at 100.01 on bar 4", True), ("2021-06-10 15:30", "2022-06-10 15:30", True), ("5-3", "5-2", True),
    ("sold 12", "bought 12", True), ("BUY 3", "BUY 4", True), ("3/4", "1/4", True), ("Buy", "buy", False),
])  # fmt: skip
def test_words_with_numbers_are_apart_by_their_numbers(one: str, other: str, apart: bool) -> None:
    found = [read(text) for text in (one, other)]
    assert all(isinstance(each, Read) and each.kind == "text" for each in found), found
    assert Form("text").apart(one, other) is apart


@pytest.mark.parametrize(("one", "other"), [
    ("3/4", "6/8"), ("1:2", "4:8"), ("50/100 dollars", "2/4 dollars"), ("Yes", "yes."), ("Yes!", "YES?"), ("True",
    "true!"),
    ("up 5", "up +5"), ("up 5", "up 5."), ("up 5", "up five"), ("thirty-seven bars", "37 bars"), ("win rate 50%",
    "win rate 1/2"),
    ("win rate 50%", "win rate 0.5"), ("\u00bd", "1/2"), ("\u201clong\u201d", "Long"), ("buy-and-hold",
    "buy and hold"),
])  # fmt: skip
def test_options_that_say_the_same_are_one(one: str, other: str) -> None:
    assert Form("text").apart(one, other) is False


@pytest.mark.parametrize(("one", "other"), [
    ("3/4", "5/8"), ("up 5", "up -5"), ("10:30", "10:45"), ("five bars", "six bars"), ("2021-03-04 and 5",
    "2021-03-05 and 5"),
    ("03/04/2021", "04/04/2021"), ("x > y", "x < y"), ("long", "short"), ("50% up", "51% up"), ("twenty-one",
    "twenty-two"),
])  # fmt: skip
def test_options_that_say_other_things_are_two(one: str, other: str) -> None:
    assert Form("text").apart(one, other) is True


@pytest.mark.parametrize("raw", [
    "A", "b", "Option A", "(C)", "A and B", "A, B or C", "option (d)", "none of the above", "All of the above.",
    "both of these", "neither of the options", "<<< A >>>", "the key is <<<B>>>",
])
def test_answers_about_options_are_none(raw: str) -> None:
    assert read(raw) == "answer_not_usable"


@pytest.mark.parametrize("raw", ["Strategy A", "ABC", "BA", "all of the trades", "a buy", "none"])
def test_answers_that_are_not_about_options(raw: str) -> None:
    assert read(raw) != "answer_not_usable"


@pytest.mark.parametrize(("key", "others"), [
    ("0.0000123", ["0.0000456", "0.0100000", "0.0000789"]), ("0.00001234", ["0.5", "0.6", "0.7"]),
    ("0.00056789", ["0.0016", "0.0026", "0.0036"]), ("-0.00004%", ["1.5%", "2.5%", "3.5%"]),
    ("$999,999,999,999,999.99", ["$899,999,999,999,999.99", "$799,999,999,999,999.99", "$699,999,999,999,999.99"]),
    ("999999999999999999", ["899999999999999999", "799999999999999999", "699999999999999999"]),
])  # fmt: skip
def test_a_number_that_its_option_would_not_show_is_refused(key: str, others: list[str]) -> None:
    found = convert(STEM, key, list(enumerate(others)), Random(1))
    assert isinstance(found, Unusable)
    assert found.reason == "answer_not_usable"


@pytest.mark.parametrize(("key", "shown"), [
    ("0.00123456", "0.0012"), ("0.0005", "0.0005"), ("$9,999,999,999,999.99", "$9,999,999,999,999.99"),
    ("0", "0"), ("0.00000", "0.0000"),
])
def test_a_number_that_its_option_shows_is_kept(key: str, shown: str) -> None:
    found = made(key, [5, 7, 9] if key == "0" else [], 1) if key == "0" else made(key, [])
    assert found.options[found.answer] == shown


@pytest.mark.parametrize("piece", ["1,", "1 ", "$", "(", "USD", "US", "1e", "-", "1.", "#", "nan", " "])
def test_a_hostile_answer_is_read_at_once(piece: str) -> None:
    began = time.process_time()
    for end in ("", "!", "x", "1"):
        read(((piece * 200)[:198] + end).strip())
    assert time.process_time() - began < 1.0


def test_words_with_numbers_alike_make_no_options() -> None:
    found = convert(STEM, "about 50,000.00", [(n, f"about 50,000.{n}") for n in (58, 59, 38)], Random(1))
    assert isinstance(found, Unusable)
    assert found.reason == "too_few_options"


def test_numbers_keep_their_sign_and_decimals() -> None:
    found = read("-$1,234.50")
    assert isinstance(found, Read)
    assert (found.kind, str(found.number), found.decimals) == ("money", "-1234.50", 2)


def test_wrong_options_are_apart_from_the_key_and_each_other() -> None:
    # 1% of the larger: 1009 is too near to 1000, 1015 is not; 1016 is too near to 1015.
    found = made("$1000.00", ["$1009.00", "$1015.00", "$1016.00", "$1030.00", "$1100.00"])
    values = sorted(float(text.strip("$").replace(",", "")) for text in found.options.values())
    assert 1009.0 not in values
    assert not {1015.0, 1016.0} <= set(values)
    assert 0 < (found.tolerance or 0) < 5.0


def test_other_kinds_and_units_are_no_options() -> None:
    found = made("$100.00", ["5%", "2020-01-07", "$110.00", "7 days", "$120.00", "$130.00"])
    assert set(found.options.values()) == {"$100.00", "$110.00", "$120.00", "$130.00"}


@pytest.mark.parametrize(("stem", "key", "reason"), [
    ("It ends at $1,234.50, doesn't it?", "$1,234.50", "answer_in_stem"),
    ("It ends at $1234.50, doesn't it?", "$1,234.50", "answer_in_stem"),
    ("Is it 12 or not?", 12, "answer_in_stem"),
    ("Was it 2020-02-03?", "2020-02-03", "answer_in_stem"),
    ("Did it SELL?", "sell", "answer_in_stem"),
    ("What is it? (Hint: 74279.0 dollars or so.)", "$74,279.00", "answer_in_stem"),
    ("What is it? (The answer is 74,279.15 dollars.)", "$74,279.15", "answer_in_stem"),
    ("It is $12,345.6, isn't it?", "$12,345.60", "answer_in_stem"),
    ("It is 12345.6012USD, isn't it?", "$12,345.60", "answer_in_stem"),
    ("It lost 1.23456e4 dollars.", "-$12,345.60", "answer_in_stem"),
    ("It rose by 3.25 percent.", "3.25%", "answer_in_stem"),
    ("It rose by 0.50 percent.", "0.50%", "answer_in_stem"),
    ("There were 12,345 of them.", 12345, "answer_in_stem"),
    ("Was it March 4, 2021?", "2021-03-04", "answer_in_stem"),
    ("Was it on the 4th of March 2021?", "2021-03-04", "answer_in_stem"),
    ("Was it 4 Mar 2021?", "2021-03-04", "answer_in_stem"),
    ("Was it 3/4/2021?", "2021-03-04", "answer_in_stem"),
])
def test_a_stem_must_not_state_the_answer(stem: str, key: Any, reason: str) -> None:
    found = convert(stem, str(key), [(1, "1"), (2, "2"), (3, "3")], Random(1))
    assert isinstance(found, Unusable)
    assert found.reason == reason


@pytest.mark.parametrize(("stem", "key"), [
    ("Is it 112 or 12.5 or $12 or x12?", 12), ("It is $11,234.50.", "$1,234.50"), ("It is 3.25%.", "3.2%"),
    ("Bars:\n```csv\n2020-01-06,12,13\n```\nHow many?", 12),
    ("A stop of 2% and a target of 3.0%.", "2.00%"),
    ("A target of 0.5% and 0.5.", "0.50%"), ("It is $12,345.61 or $112,345.60.", "$12,345.60"),
    ("It is 12,345.60,3 or 12,345.60.1", "$12,345.60"), ("The 4 of March, 2022 or March 14, 2021.", "2021-03-04"),
])  # fmt: skip
def test_a_part_of_another_number_is_no_statement(stem: str, key: Any) -> None:
    others: list[Any] = [30, 50, 70] if key == 12 else [f"${n}.00" for n in (2000, 3000, 4000)]
    if str(key).endswith("%"):
        others = ["5%", "7%", "9%"]
    if key == "2021-03-04":
        others = ["2021-03-08", "2021-04-08", "2021-05-10"]
    assert isinstance(made(key, others, stem=stem), Converted)


def test_the_same_answer_at_every_seed_is_refused() -> None:
    found = convert(STEM, "7", [(k, "7") for k in range(8)], Random(1))
    assert isinstance(found, Unusable)
    assert found.reason == "seed_has_no_effect"


def test_words_without_enough_others_are_refused() -> None:
    found = convert(STEM, "buy", [(1, "sell"), (2, "sell")], Random(1))
    assert isinstance(found, Unusable)
    assert found.reason == "too_few_options"


def uniform(counts: list[int]) -> bool:
    return float(chisquare(counts).pvalue) >= 0.001


def test_the_letter_of_the_key_is_uniform() -> None:
    counts = dict.fromkeys(LETTERS, 0)
    for seed in range(1600):
        counts[made("$100.00", ["$110.00", "$120.00", "$130.00", "$90.00"], seed).answer] += 1
    assert uniform(list(counts.values()))


@pytest.mark.parametrize("key", ["$100.00", "-$2,000.00", "4.25%", 1.234, 250, "2020-02-12", "0.05%"])
def test_the_rank_of_the_key_on_a_ladder_is_uniform(key: Any) -> None:
    ranks = [0, 0, 0, 0]
    for seed in range(800):
        found = made(key, [key, key, "unreadable"], seed)
        assert sorted(found.origins.values()) == ["key", "ladder", "ladder", "ladder"]
        texts = list(found.options.values())
        values = [_number(text) for text in texts]
        assert len(set(values)) == 4
        ranks[sorted(values).index(_number(found.options[found.answer]))] += 1
    assert uniform(ranks)


def _number(text: str) -> Any:
    return text if "-" in text[1:] else float(text.replace("$", "").replace(",", "").replace("%", ""))


def test_a_count_without_room_below_is_refused_rather_than_bent() -> None:
    found = convert(STEM, "1", [(1, "1"), (2, "1"), (3, "2")], Random(1))
    assert isinstance(found, Unusable)
    assert found.reason == "too_few_options"


def test_ladder_dates_are_weekdays_in_the_window() -> None:
    for seed in range(200):
        for text in made("2020-01-14", [1, 2], seed).options.values():
            assert "2020-01-06" <= text <= "2020-03-31"


def test_the_same_seed_gives_the_same_options() -> None:
    values = ["$110.00", "$120.00", "$130.00", "$90.00"]
    assert made("$100.00", values, 5) == made("$100.00", values, 5)
    assert len({tuple(made("$100.00", values, seed).options.values()) for seed in range(50)}) > 20
