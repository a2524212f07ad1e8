"""Every attacker on questions where what it must choose is plain to see."""

from __future__ import annotations

from typing import Any

import pytest

from backtrader_bench.mcq_builder.audit.attackers import HABITS, RULES
from backtrader_bench.mcq_builder.audit.bank import Bank
from backtrader_bench.mcq_builder.audit.items import Account, Item, item, item_of
from backtrader_bench.mcq_builder.audit.options import columns, kept, lowest
from backtrader_bench.mcq_builder.audit.score import Habit, Layout
from backtrader_bench.mcq_builder.audit.shape import in_file_order, least_denominator, odd_one_out
from backtrader_bench.mcq_builder.audit.visible import last_number

ACCOUNT = Account(cash=10_000.0, stake=100.0, target=1.0, start="2020-01-01", end="2021-01-01")
MONEY = ("$100.00", "$140.00", "$90.00", "$112.00")  # ascending: C A D B
DAYS = ("2020-03-02 at $5.00", "2020-06-01 at $9.00", "2020-01-06 at $7.00", "2020-05-04 at $8.00")


def made(options: tuple[str, ...], ask: str = "What is it?", **more: Any) -> Item:
    defaults = {"type": "t", "difficulty": "easy", "strategy": "s", "cluster": "c", "account": ACCOUNT}
    return item(f"Stem.\n\n{ask}", options, 0, **{**defaults, **more})


def chosen(name: str, one: Item, *others: Item) -> str:
    return "".join("ABCD"[place] for place in RULES[name].pick(one, Bank([one, *others])))


SHARED = made(("5 won and 3 lost", "5 won and 4 lost", "5 won and 7 lost", "2 won and 3 lost"))
BUY = made(
    ("95 shares at close $100.00 on 2020-01-06", "120 shares at close $50.00 on 2020-02-03",
     "90 shares at close $120.00 on 2020-03-02", "40 shares at close $20.00 on 2020-04-06"),
)  # fmt: skip
CASES: list[tuple[str, Item, str]] = [
    ("rank_1", made(MONEY), "C"),
    ("rank_2", made(MONEY), "A"),
    ("rank_3", made(MONEY), "D"),
    ("rank_4", made(MONEY), "B"),
    ("middle", made(MONEY), "AD"),
    ("outer", made(MONEY), "BC"),
    ("closest_to_mean", made(MONEY), "D"),  # mean 110.5
    ("farthest_from_mean", made(MONEY), "B"),
    ("closest_to_geometric_mean", made(("1", "10", "30", "1000")), "C"),  # 23.4, nearest by ratio
    ("closest_to_median", made(("1", "2", "3", "90")), "BC"),  # medians of the others: 3, 3, 2, 2
    ("hub_ratio", made(("1", "8", "12", "100")), "C"),
    ("anti_hub_ratio", made(("10", "11", "12", "100")), "D"),
    ("hub_absolute", made(("0.10", "0.40", "0.50", "1.00")), "C"),
    ("anti_hub_absolute", made(("10", "11", "12", "100")), "D"),
    ("closest_pair", made(("10", "20", "21", "50")), "BC"),
    ("ladder_ratio", made(("$110.00", "$90.00", "$120.00", "$100.00")), "D"),
    ("component_vote", SHARED, "A"),
    ("component_vote_least", SHARED, "D"),
    ("most_round", made(("123456", "123400", "120450", "123457")), "B"),
    ("least_round", made(("$1.10", "$1.20", "$1.25", "$2.00")), "C"),
    ("digit_count_odd", made(("$99.00", "$101.00", "$120.00", "$150.00")), "A"),
    ("sign_outlier", made(("-$5.00", "$4.00", "$6.00", "$7.00")), "A"),
    ("sign_of_most", made(("$4.00", "-$5.00", "$6.00", "$7.00")), "ACD"),
    ("longest_text", made(("buy", "sell", "nothing", "hold")), "C"),
    ("shortest_text", made(("buy", "sell", "nothing", "hold")), "A"),
    ("odd_white_space", made(("$1.00", "$2.00 ", "$3.00", "$4.00")), "B"),
    ("odd_white_space", made(("5 won and 3 lost", "5 won  and 4 lost", "5 won\u00a0and 7 lost",
                              "2\u200b won and 3 lost")), "A"),
    ("odd_white_space", made(("$1.00 ", "$2.00  ", "$3.00  ", "$4.00  ")), "A"),
    ("odd_typography", made(("$1,234.00", "$2345.00", "$3456.00", "$4567.00")), "A"),
    ("odd_typography", made(("$1,234.00", "$2345.00", "$456.00", "$4567.00")), ""),  # 456 needs none
    ("odd_typography", made(("-5.00%", "\u22125.20%", "-5.40%", "5.50%")), "B"),
    ("odd_typography", made(("a buy", "a sell.", "nothing", "another")), "B"),
    ("odd_typography", made(("a buy", "a sell", "Nothing", "another")), "C"),
    ("lot_lattice", made(("1234567", "1234500", "1300001", "1400007")), "B"),
    ("off_the_lattice", made(("1234500", "1234567", "1300000", "1400000")), "B"),
    ("rational_percent", made(("42.95%", "37.61%", "53.33%", "41.27%")), "C"),  # 8 of 15
    ("rational_ratio", made(("1.37", "2.50", "1.41", "1.51")), "B"),
    ("common_denominator", made(("53.33%", "42.19%", "42.99%", "37.87%")), "A"),
    ("earliest_date", made(DAYS), "C"),
    ("latest_date", made(DAYS), "B"),
    ("middle_date", made(DAYS), "AD"),
    ("weekday", made(("2020-03-02", "2020-03-01", "2020-03-03", "2020-03-07")), "AC"),  # Sunday, Saturday
    ("window", made(("2019-12-31", "2020-06-01", "2021-01-01", "2022-01-03")), "B"),
    ("date_order", made(("2020-03-02 to 2020-02-03", "2020-02-03 to 2020-03-02", "2020-05-04 to 2020-02-04",
                         "2020-06-01 to 2020-02-05")), "B"),
    ("budget", BUY, "AD"),  # B is above the stake, C above the cash
    ("budget_spent", BUY, "A"),
    ("arithmetic", made(("3 bought, 2 sold, 5 in total", "4 bought, 2 sold, 7 in total", "5 bought, 2 sold, 9 in total",
                         "6 bought, 2 sold, 9 in total")), "A"),
    ("anchor_cash", made(("$9,000.00", "$9,900.00", "$12,000.00", "$15,000.00")), "B"),
    ("anchor_stake", made(("50", "80", "101", "300")), "C"),
    ("operands", made(("43.93", "31.13", "52.00", "40.13"), "The average (602 days across 15 trades)?"), "D"),
    ("stated_denominator", made(("42.95%", "37.61%", "53.33%", "41.27%"), "The rate across all 15 trades?"), "C"),
    ("said_in_the_stem", made(("$1.00", "$2.00", "$3.00", "$4.00"), "More than $3.00?"), "C"),
    ("last_part_largest", made(DAYS), ""),  # a date and one number
    ("last_part_largest", made(("$5.00 over 3 orders", "$6.00 over 9 orders", "$7.00 over 4 orders",
                                "$8.00 over 5 orders")), "B"),
    ("last_part_smallest", made(("$5.00 over 3 orders", "$6.00 over 9 orders", "$7.00 over 4 orders",
                                 "$8.00 over 5 orders")), "A"),
]  # fmt: skip
LINKED = {"linked": "B", "linked_least": "ACD"}


@pytest.mark.parametrize(("name", "one", "letters"), CASES)
def test_it_chooses(name: str, one: Item, letters: str) -> None:
    assert chosen(name, one) == letters


@pytest.mark.parametrize("name", LINKED)
def test_links_are_values_that_other_questions_offer_too(name: str) -> None:
    profit = made(("$1,111.11", "$2,345.67", "$3,333.33", "$4,444.44"))
    total = made(("$12,345.67", "$15,000.00", "$16,000.00", "$17,000.00"), "The final value?")
    elsewhere = made(("$11,111.11", "$1.00", "$2.00", "$3.00"), cluster="another")
    assert chosen(name, profit, total, elsewhere) == LINKED[name]
    assert chosen(name, profit, elsewhere) == ""


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} | set(LINKED) == set(RULES)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    "options",
    [
        ("buy", "sell", "hold", "flat"),
        ("$1.00", "$1.00", "$1.00", "$1.00"),
        ("2020-02-30", "0000-00-00", "9999-99-99", "2020-01-01"),
        ("0", "0.00", "-0", "00"),
        ("(pfast=1, pslow=2)", "(pfast=1, pslow=3)", "5 days", ""),
        ("9" * 300, "1" * 300, "$", "%"),
        ("100.00%", "0.00%", "-5.00%", "250.00%"),
    ],
)
def test_odd_options_are_survived(name: str, options: tuple[str, ...]) -> None:
    picked = RULES[name].pick(made(options, account=Account()), Bank([made(options)]))
    assert len(picked) < 4
    assert set(picked) <= {0, 1, 2, 3}


@pytest.mark.parametrize("name", RULES)
def test_what_is_chosen_follows_the_options_not_their_letters(name: str) -> None:
    for _, one, _ in (case for case in CASES if case[0] == name):
        turned = made(one.seen[1:] + one.seen[:1], one.ask)
        was = {one.seen[place] for place in RULES[name].pick(one, Bank([one]))}
        assert {turned.seen[place] for place in RULES[name].pick(turned, Bank([turned]))} == was


def items_of(letters: str, **more: Any) -> list[Item]:
    """Questions of one configuration each, with keys as given and values in the order C A D B."""
    return [
        item("S", MONEY, "ABCD".index(letter), type="t", difficulty="easy", strategy="s", cluster=f"c{place}",
             **{name: values[place] for name, values in more.items()})
        for place, letter in enumerate(letters)
    ]  # fmt: skip


def credits_of(name: str, items: list[Item]) -> list[float]:
    import numpy as np

    keys = np.array([one.key for one in items])
    found = Habit(HABITS[name], items, Layout.of(items)).credits(keys)
    return [float(one) for one in found]


def test_a_habit_is_what_other_configurations_say() -> None:
    assert credits_of("bank_to_letter", items_of("AAAB")) == [1, 1, 1, 0]
    # The two others disagree: both letters are as likely.
    assert credits_of("bank_to_letter", items_of("AAB")) == [0.5, 0.5, 0]
    # Ranks: A is the second smallest, B the largest.
    assert credits_of("template_to_rank", items_of("AAAB")) == [1, 1, 1, 0]
    assert credits_of("template_to_date", items_of("AAAB")) == [0.25] * 4


def test_what_follows_from_the_key_before() -> None:
    items = in_file_order(items_of("ABCDABCDABCD"))
    assert [one.before and one.before[0] for one in items] == [None, *[place % 4 for place in range(11)]]
    assert credits_of("previous_letter_to_letter", items) == [0.25, *[1.0] * 11]
    assert credits_of("previous_rank_to_rank", items) == [0.25, *[1.0] * 11]
    assert credits_of("previous_letter_to_letter", items_of("ABCDABCDABCD")) == [0.25] * 12


def test_questions_of_a_bundle_are_no_sequence() -> None:
    items = items_of("ABAB", bundle=["one", "one", "two", "two"])
    assert [one.before for one in in_file_order(items)] == [None, None, (1, 3), None]


def test_an_item_keeps_what_is_seen_of_its_options() -> None:
    text = "Stem.\n\nWhat?\n\nA. $1.00\nB. $2.00  \nC. $3.00\u00a0\nD. $4.00\r\n\nReply."
    one = item_of({"question": text, "answer": "B", "config": {"symbol": "X"}}, "t")
    assert one.seen == ("$1.00", "$2.00  ", "$3.00\u00a0", "$4.00\r")
    assert one.options == ("$1.00", "$2.00", "$3.00", "$4.00")


def test_a_habit_learns_nothing_from_its_own_configuration() -> None:
    together = [item("S", MONEY, 0, type="t", difficulty="easy", strategy="s", cluster="one") for _ in range(5)]
    assert credits_of("bank_to_letter", together) == [0.25] * 5


@pytest.mark.parametrize("name", [name for name in HABITS if name.startswith(("id", "dataset"))])
def test_ids_that_encode_the_key_are_read(name: str) -> None:
    letters = "ABCD" * 5
    marks = ["CADB".index(letter) if name.endswith("rank") else "ABCD".index(letter) for letter in letters]
    texts = [f"bank-{place}x-{mark}" for place, mark in enumerate(marks)]
    assert credits_of(name, items_of(letters, **{name.split("_")[0]: texts})) == [1.0] * 20


def test_columns_need_options_of_one_kind() -> None:
    assert [column.sign for column in columns(("1 vs 2", "3 vs 4", "5 vs 6", "7 vs 8"))] == ["#", "#"]
    assert columns(("1 vs 2", "3", "5 vs 6", "7 vs 8")) == ()
    assert [column.sign for column in columns(("1", "2.5", "3.5", "4.5"))] == ["~"]
    assert columns(("$-3.50", "-$3.25", "$1,000.00", "$1.00"))[0].values == (-3.5, -3.25, 1000.0, 1.0)


def test_choices_without_a_difference_are_none() -> None:
    assert lowest([1.0, 1.0 + 1e-12, 1.0, 1.0]) == ()
    assert lowest([2.0, 1.0, 1.0, 3.0]) == (1, 2)
    assert kept([True] * 4) == kept([False] * 4) == ()
    assert odd_one_out([1, 1, 2, 2]) == odd_one_out([1, 2, 3, 3]) == ()
    assert odd_one_out([1, 1, 2, 1]) == (2,)


def test_small_parts() -> None:
    assert least_denominator(8 / 15, 1e-4) == 15
    assert least_denominator(0.5333, 1e-4) == 15
    assert least_denominator(3.0, 0.01) == 1
    assert last_number("a12b7") == 3
    assert last_number("none") is None
