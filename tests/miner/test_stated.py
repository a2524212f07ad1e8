"""The answer in a stem, in the ways that people and models write it; and what only looks like it."""

from __future__ import annotations

import time

import pytest

from backtrader_bench.miner.stated import states
from backtrader_bench.miner.values import Form

MONEY, PERCENT, NUMBER = Form("money", 2, grouped=True), Form("percent", 2), Form("number", 4)
COUNT, DATE = Form("count"), Form("date")
STEM = "A strategy starts with an account of $10,000 and trades every day by a rule. {} What is the result?"


@pytest.mark.parametrize(("form", "value", "said"), [
    *((MONEY, 12345.6, said) for said in (
        "It is 12.345,60 euros.", "It is 12345,60.", "It is 12 345.60.", "It is 12\u2009345.60.",
        "It is 12\u202f345,60.",
        "It is 12\u00a0345.6.", "It is 12'345.60.", "It is 12\u2019345.60.", "It is $12_345.60.",
        "It is 12.3456 thousand.",
        "It is 12.3456k.", "It is $12.35k.", "It is 0.0123456 million.", "It is 1,234,560 cents.",
        "It is 1234560 cents.",
        "It is 12,345 dollars and 60 cents.", "It is $12,345 and 60 cents.", "It is 12345 and 60/100 dollars.",
        "It is 12,346.", "It is 12,345.", "It is 12345 dollars.", "It is about $12,350.", "It is ~12,300.",
        "It is roughly 12.3 thousand dollars.", "It is USD12,345.60.", "It ended at 12345.60USD.")),
    (MONEY, -12345.6, "It lost 12.345,60 in all."),
    (MONEY, 1234567.89, "It is 1.234.567,89."), (MONEY, 1234567.89, "It is 1.23 million."),
    *((PERCENT, 3.25, said) for said in (
        "It is 0.0325.", "It is 325 basis points.", "It is 325 bps.", "It is 3,25 %.",
        "It grew by a factor of 1.0325.",
        "It is 1.0325 times the cash.", "It is 3.25 percent.", "It is 3.25 pct.")),
    (PERCENT, -3.25, "It shrank by a factor of 0.9675."), (PERCENT, 0.5, "It is 50 bps."),
    (NUMBER, 0.0325, "It is 3.25%."), (NUMBER, 0.0325, "It is 325 bps."), (NUMBER, 1.2345, "It is 1,2345."),
    *((COUNT, 37, said) for said in ("It is thirty-seven.", "There were thirty seven trades.", "It is 37.",
    "It is 37.0.")),
    (COUNT, 12, "It bought twelve times."), (COUNT, 12345, "It is 12 345."), (COUNT, 12345, "It is 12.345."),
    *((DATE, "2021-03-04", said) for said in (
        "On 2021\u201103\u201104.", "On 2021\u201303\u201304.", "On the fourth of March 2021.",
        "On March the 4th, 2021.",
        "On March fourth, 2021.", "On 4-Mar-21.", "On 4/3/21.", "On 3/4/21.", "On 04MAR2021.", "On Mar. 4, '21.",
        "On Thursday, March 4th.", "On 4 March.", "On 2021 March 4.", "On 2021, 4 March.", "On 04.03.2021.",
        "On 20210304.",
        "On 4th of Mar, 2021.")),
    (DATE, "2021-09-21", "On the twenty-first of Sept. 2021."), (DATE, "2020-10-30", "On 10/30/20."),
])  # fmt: skip
def test_the_answer_is_found_however_it_is_written(form: Form, value: float | str, said: str) -> None:
    assert states(STEM.format(said), form, value)
    assert not states(STEM.format(""), form, value)


@pytest.mark.parametrize(("form", "value", "said"), [
    *((MONEY, 12345.6, said) for said in (
        "It is 12,500.", "It has 12,345.61.", "It has 12.344,60.", "It is 12.3.", "It pays 12,340 cents.",
        "It is about 12,000.",
        "It has 12 bars and 345.60 dollars.", "It is $12k.", "It is 112 345.60.", "It is 12 345.60.1 of them.")),
    (MONEY, 10034.5, "It begins with $10,034,500 or 10k."), (MONEY, 12300.4, "It begins with $12,300."),
    (MONEY, 10.2, "It crosses (10,20)."), (MONEY, 5.0, "It pays 500 cents."),
    (PERCENT, 5.0, "It pays 0.05."), (PERCENT, 3.25, "It costs 1.0325 dollars."),
    (PERCENT, 3.25, "It is 3.2% or 32.5."),
    (PERCENT, 3.25, "\n```\n0.0325\n```\n"), (PERCENT, 3.25, "\n2020-01-02,0.0325,0.0330,0.0310,0.0320\n"),
    (COUNT, 2, "It has two averages."), (COUNT, 7, "It is thirty-seven or twenty seven."),
    (COUNT, 30, "It is thirty-seven."),
    (COUNT, 37, "It pays thirty-seven percent or 37.5."), (COUNT, 12345, "\n```\n12 345\n```\n"),
    *((DATE, "2021-03-04", said) for said in (
        "From March 14, 2021 on.", "On March 4, 2022.", "On 2021-03-14.", "On 4/13/21.",
        "In March 2021, at 4 o'clock.",
        "It pays 3/4 in 2021.", "On 4 March 1999.")),
])  # fmt: skip
def test_what_only_looks_like_the_answer_is_none(form: Form, value: float | str, said: str) -> None:
    assert not states(STEM.format(said), form, value)


@pytest.mark.parametrize("piece", ["1 ", "1,", "1.", "1'", "1_", "123 456 ", "12.345.", "about ", "1 and ",
"5 March ", "(", "1e5"])
@pytest.mark.parametrize(("form", "value"), [(MONEY, 12345.6), (DATE, "2021-03-05"), (COUNT, 37)])
def test_a_hostile_stem_is_searched_at_once(piece: str, form: Form, value: float | str) -> None:
    began = time.process_time()
    states(piece * (60_000 // len(piece)), form, value)
    assert time.process_time() - began < 2.0
