"""Two runs, worked out by hand."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from backtrader_bench.agents.reports import compare as comparisons
from backtrader_bench.agents.reports.compare import Comparison, Difference
from backtrader_bench.agents.reports.gather import Table, join
from backtrader_bench.agents.runs.read import Run
from backtrader_bench.attempts import Attempt
from backtrader_bench.errors import UsageError
from backtrader_bench.stats import pairs
from tests.agents.reports import hand, simulated

FIRST, SECOND = "run_20260101_000000", "run_20260102_000000"


def side(folder: Path, run: str, outcomes: dict[str, str], **settings: object) -> Table:
    """A run of some agents, one letter a question: +, - or a failure."""
    made: list[Attempt] = []
    for agent, text in outcomes.items():
        for number, outcome in enumerate(text, 1):
            one = hand.one(agent, number, 0, outcome)
            made.append(msgspec.structs.replace(one, run=run, id=f"{run}{agent}{number}"))
    manifest = simulated.manifest(run, tuple(outcomes), hand.bank(folder), len(made), **settings)
    return join([Run(manifest, tuple(made))])


def compared(folder: Path, first: dict[str, str], second: dict[str, str], **settings: object) -> Comparison:
    return comparisons.compare(side(folder, FIRST, first), side(folder, SECOND, second, **settings))


def test_flips_are_named_and_the_difference_is_over_common_questions(tmp_path: Path) -> None:
    found = compared(tmp_path, {"a": "+++--++u"}, {"a": "+--+-++t"})
    [one] = found.agents
    assert [flip.question for flip in one.lost] == sorted([hand.IDS[1], hand.IDS[2]])
    assert [(flip.question, flip.first_letters, flip.second_letters, flip.key) for flip in one.won] == [
        (hand.IDS[3], "C", "B", "B")
    ]  # fmt: skip
    assert (one.same, one.pair.questions, one.only_in_first, one.only_in_second) == (4, 7, 0, 0)
    assert (one.first_accuracy, one.second_accuracy) == (pytest.approx(5 / 7), pytest.approx(4 / 7))
    assert one.pair.difference == pytest.approx(1 / 7)
    # Four configurations share the seven: their sums are 1, 0 (2 lost and 4 won), 0, 0.
    expected = pairs.difference([1, 1, 1, 0, 0, 1, 1], [1, 0, 0, 1, 0, 1, 1], [1, 1, 2, 2, 3, 3, 4])
    assert (one.pair.p, one.pair.word) == (pytest.approx(expected.p), "tied")


def test_a_question_that_one_side_failed_to_answer_is_no_flip(tmp_path: Path) -> None:
    [one] = compared(tmp_path, {"a": "++++++++"}, {"a": "turetur+"}).agents
    assert (one.pair.questions, one.only_in_first, one.lost, one.won) == (1, 7, (), ())
    # One configuration tells nothing of others.
    assert (one.pair.p, one.pair.word) == (None, None)


def test_agents_are_matched_by_name_or_else_all_with_all(tmp_path: Path) -> None:
    eight = "++++----"
    found = compared(tmp_path, {"a": eight, "b": eight}, {"b": eight, "c": eight})
    assert [(one.first_agent, one.second_agent) for one in found.agents] == [("b", "b")]
    found = compared(tmp_path, {"a": eight, "b": eight}, {"c": eight, "d": eight})
    assert [(one.first_agent, one.second_agent) for one in found.agents] == [
        ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")
    ]  # fmt: skip
    assert [one.pair.word for one in found.agents] == ["tied"] * 4


def test_swapping_the_runs_turns_everything_round(tmp_path: Path) -> None:
    ours, theirs = {"a": "+++--++u"}, {"a": "+--+-++t"}
    there = compared(tmp_path, ours, theirs).agents[0]
    back = comparisons.compare(side(tmp_path, SECOND, theirs), side(tmp_path, FIRST, ours)).agents[0]
    assert back.pair.difference == pytest.approx(-(there.pair.difference or 0))
    assert back.pair.p == there.pair.p
    assert [one.question for one in back.lost] == [one.question for one in there.won]
    assert [one.question for one in back.won] == [one.question for one in there.lost]


def test_settings_that_differ_are_named(tmp_path: Path) -> None:
    found = compared(tmp_path, {"a": "+"}, {"a": "+"}, timeout=5.0, rotate=True)
    assert found.settings == (
        Difference(name="timeout", first="600", second="5"), Difference(name="rotate", first="no", second="yes"),
    )  # fmt: skip
    assert compared(tmp_path, {"a": "+"}, {"a": "+"}).settings == ()


def test_no_common_question(tmp_path: Path) -> None:
    [one] = compared(tmp_path, {"a": "+u"}, {"a": "u+"}).agents
    assert (one.pair.difference, one.pair.p, one.first_accuracy, one.pair.smallest) == (None, None, None, None)


def test_a_table_of_two_modes_is_refused(tmp_path: Path) -> None:
    tools = [msgspec.structs.replace(one, mode="with-tools", id=f"t{one.id}") for one in hand.attempts()]
    table = hand.table(tmp_path, [*hand.attempts(), *tools])
    with pytest.raises(UsageError, match="mixes no-tools and with-tools"):
        comparisons.one_run(table)
