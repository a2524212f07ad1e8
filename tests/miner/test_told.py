"""Numbers that a question tells and its program doesn't compute with."""

from __future__ import annotations

import time

import pytest

from backtrader_bench.miner.wellposed import strange_numerals

STEM = "Each deal pays a commission of 0.37 percent and slips 4 ticks. What is the value?"


def text(fee: str, ticks: str) -> str:
    return f'"Each deal pays a commission of " + {fee} + " percent and slips " + {ticks} + " ticks. What is the value?"'


FILLED = '"Each deal pays a commission of {} percent and slips {} ticks. What is the value?"'


@pytest.mark.parametrize(("code", "strange"), [
    ('s = f"Each deal pays a commission of {0.37} percent and slips {4} ticks. What is the value?"', ["0.37", "4"]),
    (f"shown = 0.37\nused = 0.001\ns = {text('str(shown)', 'str(ticks)')}\nrun(used, ticks)", ["0.37"]),
    (f"shown = 0.0037\ns = {text('str(shown * 100)', 'str(4)')}\nrun(4)", ["0.37"]),
    (f"number = 0.37\nshown = str(number)\ns = {text('shown', 'str(4)')}\nrun(4)", ["0.37"]),
    (f"shown = '0.37'\ns = {text('shown', 'str(4)')}\nrun(4)", ["0.37"]),
    (f"fee = 0.37\ns = {FILLED}.format(fee, 4)", ["0.37", "4"]),
    (f"TEXT = {FILLED.replace('{}', '{fee}', 1).replace('{}', '{n}')}\nfee = 0.37\ns = TEXT.format(fee=fee, n=4)",
     ["0.37", "4"]),
    (f"s = {FILLED.replace('{}', '%s')} % (0.37, 4)", ["0.37", "4"]),
    ('s = " ".join(["Each deal pays a commission of", str(0.37), "percent and slips 4 ticks."])\nrun(4)', ["0.37"]),
    (f"fee = 0.37\ns = {FILLED.replace('{}', '0.37', 1).replace('{}', '4')}\nrun(4)", ["0.37"]),
    # What is computed with is told rightly, as it is, as a percentage, as a default or through a function.
    (f"fee = 0.37\ns = {FILLED}.format(fee, 4)\nrun(fee / 100, 4)", []),
    (f"fee = 0.0037\ns = {text('str(fee * 100)', 'str(4)')}\nrun(fee, 4)", []),
    (f"class S:\n    params = (('fee', 0.37), ('n', 4))\ns = {FILLED}.format(S.params[0][1], S.params[1][1])", []),
    (f"def said(fee, n):\n    return {FILLED}.format(fee, n)\ns = said(0.37, 4)", []),
    (f"fee, n = draw()\ns = {FILLED}.format(fee, n)", []),
    # The words are no part of the question.
    ('log = f"Each day pays a commission of {0.37} percent, at most {4}."', []),
])
def test_told_numbers_are_those_that_are_computed_with(code: str, strange: list[str]) -> None:
    assert strange_numerals(code, STEM) == strange


def test_the_broker_s_cash_needs_no_telling() -> None:
    code = 'cash = 10000\ns = f"An account begins with ${cash:,} in cash."\ncerebro = bt.Cerebro()\ncerebro.run()'
    assert strange_numerals(code, "An account begins with $10,000 in cash.") == []
    assert strange_numerals(code.replace("10000", "25000"), "An account begins with $25,000 in cash.") == ["25,000"]


@pytest.mark.parametrize("code", [
    "x = " + " + ".join(['"a lot of words 1"'] * 2000),
    "x = " + " + ".join(["1"] * 2000),
    "\n".join(f'x{n} = f"Each deal pays a commission of {{{n}}} percent"' for n in range(1000)),
    "\n".join(f"x{n + 1} = x{n}" for n in range(1000)),
], ids=["sentence", "sum", "sentences", "chain"])
def test_a_hostile_program_is_read_at_once(code: str) -> None:
    began = time.process_time()
    strange_numerals(code, STEM)
    assert time.process_time() - began < 2.0
