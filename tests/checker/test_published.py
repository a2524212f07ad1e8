"""Published records: every answer at hand, and what happens when one is changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from backtrader_bench.checker.verify import Checker, Settings, decode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backtrader_bench.checker.verdict import Verdict

pytestmark = pytest.mark.shared
Record = dict[str, Any]


@pytest.fixture(scope="module")
def checker(shared: Path) -> Checker:
    """A checker that finds AAPL where the reference files are."""
    return Checker(Settings(data=shared / "data" / "AAPL.csv"))


@pytest.fixture(scope="module")
def records(published_lines: list[bytes]) -> list[Record]:
    """The records, decoded."""
    return [json.loads(line) for line in published_lines]


def check(checker: Checker, record: Record) -> Verdict:
    """The verdict on one record."""
    return checker.check(decode("pool", 1, json.dumps(record).encode()))


def test_all_published_answers_match_on_both_engines(checker: Checker, records: list[Record]) -> None:
    verdicts = [check(checker, record) for record in records]
    assert len(verdicts) == 102
    assert {verdict.verdict for verdict in verdicts} == {"match"}
    assert all(set(verdict.values) == {"backtrader", "second"} for verdict in verdicts)
    assert all("365" in verdict.notes[0] for verdict in verdicts)


def test_another_letter_is_a_wrong_key_for_every_record(checker: Checker, records: list[Record]) -> None:
    for record in records:
        other = "BCDA"["ABCD".index(record["answer"])]
        verdict = check(checker, record | {"answer": other})
        assert (verdict.verdict, verdict.right) == ("wrong_key", (record["answer"],)), record["type"]


def test_another_type_is_noticed_for_every_record(checker: Checker, records: list[Record]) -> None:
    types = sorted({record["type"] for record in records})
    for record in records:
        other = types[types.index(record["type"]) - 1]
        assert check(checker, record | {"type": other}).verdict in ("text_drift", "unverifiable"), record["type"]


def the(records: list[Record], template: str, strategy: str = "sma_crossover") -> Record:
    """A copy of the first record of a type."""
    found = next(r for r in records if r["type"] == template and r["strategy_name"] == strategy)
    copy: Record = json.loads(json.dumps(found))
    return copy


def text(old: str, new: str) -> Callable[[Record], None]:
    """A change of the question's text."""

    def change(record: Record) -> None:
        assert old in record["question"]
        record["question"] = record["question"].replace(old, new)

    return change


def config(**changes: Any) -> Callable[[Record], None]:
    """A change of the configuration."""
    return lambda record: record["config"].update(changes)


# template, change, verdict, a word of the reason
CHANGES: list[tuple[str, Callable[[Record], None], str, str]] = [
    ("win_rate", text("all 15", "all 14"), "text_drift", "14"),
    ("annualized_return", text("976 trading", "977 trading"), "text_drift", "977"),
    ("avg_holding_period", text("(602", "(603"), "text_drift", "603"),
    ("nth_trade_pnl", text("2023-08-09", "2023-08-10"), "text_drift", "2023-08-10"),
    ("nth_trade_pnl", text("13th", "12th"), "text_drift", "stem says"),
    ("cash_after_nth_order", text("29th", "929th"), "text_drift", "no such order"),
    ("max_shares", text("$50000.00?", "$60000.00?"), "text_drift", "60000"),
    ("commission", text("0.10%", "0.20%"), "text_drift", "0.20"),
    ("sma_comparison", text("between (pfast=10", "between (pfast=11"), "text_drift", "first parameter set"),
    ("volume", text("- stake: 1000", "- stake: 900"), "text_drift", "stake"),
    ("volume", config(stake=900), "text_drift", "stake"),
    ("volume", config(strategy_params={"pfast": 9, "pslow": 30}), "text_drift", "strategy_params"),
    ("volume", lambda record: record.update(difficulty="hard"), "text_drift", "difficulty"),
    ("volume", lambda record: record.update(strategy_name="rsi_strategy"), "text_drift", "strategy_name"),
    ("volume", text("2022-07-11", "2022-07-10"), "unverifiable", "no bar"),
    ("volume", text("on 2022-07-11", "once"), "unverifiable", "0 of 1"),
    ("broker_cash", text("2021-01-06", "2020-01-06"), "unverifiable", "warm-up"),
    ("sma", text("SMA(30)", "SMA(31)"), "unverifiable", "SMA(31)"),
    ("volume", text("B. ", "E. "), "unverifiable", "options A to D"),
    ("volume", text("B. 43133181", "B. 63141600"), "ambiguous", "A and B"),
    ("volume", text("B. 43133181", "B. 76156418"), "ambiguous", "say the same"),
    ("volume", text("A. 63141600", "A. 63141601"), "no_option_right", "63141600"),
    ("first_close", text("$58.45", "$75.08"), "ambiguous", "one unit"),
    ("first_close", text("$75.09", "$75.1"), "no_option_right", "75.0"),
    ("volume", lambda record: record.update(type="moon"), "unverifiable", "moon"),
    ("volume", lambda record: record.update(type="sharpe_ratio"), "unverifiable", "published"),
    ("volume", lambda record: record.update(answer="E"), "unverifiable", "A, B, C or D"),
    ("volume", lambda record: record.pop("config"), "unverifiable", "config"),
    ("volume", config(strategy_name="moon"), "unverifiable", "moon"),
    ("volume", config(initial_cash="lots"), "unverifiable", "initial_cash"),
    ("volume", config(initial_cash=-5), "unverifiable", "initial_cash"),
    ("volume", config(symbol="../AAPL"), "unverifiable", "symbol"),
    ("volume", config(start_date="soon"), "unverifiable", "soon"),
    ("volume", config(end_date="2020-01-20"), "unverifiable", "bars"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "change", "verdict", "word"), CHANGES)
def test_changes_are_found(
    template: str, change: Callable[[Record], None], verdict: str, word: str, checker: Checker, records: list[Record]
) -> None:
    record = the(records, template)
    change(record)
    found = check(checker, record)
    assert (found.verdict, word in found.reason) == (verdict, True), found


def test_a_share_count_in_an_action_must_be_true(checker: Checker, records: list[Record]) -> None:
    record = the(records, "strategy_action_on_date", "exponential_weighted_moving_average")
    text("584 shares", "583 shares")(record)
    assert check(checker, record).verdict == "no_option_right"


def test_drift_still_says_whether_the_key_is_right(checker: Checker, records: list[Record]) -> None:
    record = the(records, "win_rate") | {"difficulty": "easy"}
    assert any("the key C is right" in note for note in check(checker, record).notes)


def test_without_prices_it_says_what_to_give(records: list[Record]) -> None:
    verdict = check(Checker(Settings()), records[0])
    assert (verdict.verdict, verdict.cause) == ("unverifiable", "missing")
    assert "--data" in verdict.reason
