"""Figures of a run worked out by hand, and laws."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backtrader_bench.agents.reports import measure
from backtrader_bench.agents.reports.gather import Series, join
from backtrader_bench.agents.reports.schema import AgentReport, Floor, Report
from backtrader_bench.attempts import Attempt
from backtrader_bench.stats import clusters, pairs, repeats
from tests.agents.reports import hand, simulated

FLOOR = Floor(value=0.4, source="--floor", about="given", questions=8, chance_p=None)


@pytest.fixture
def found(tmp_path: Path) -> Report:
    return measure.report(hand.table(tmp_path), FLOOR)


def agent(report: Report, name: str) -> AgentReport:
    return next(one for one in report.agents if one.agent == name)


def test_counts_of_every_outcome(found: Report) -> None:
    assert agent(found, "a").statuses == {"correct": 11, "timeout": 1, "wrong": 4}
    assert agent(found, "b").statuses == {"agent_error": 2, "correct": 5, "refused": 2, "unparsed": 2, "wrong": 5}
    assert agent(found, "b").errors == {"rate_limit": 2}
    assert (found.questions, found.found, found.configurations) == (8, 8, 4)


def test_failures_are_left_out_of_accuracy_and_shown_as_wrong_beside_it(found: Report) -> None:
    a, b = agent(found, "a"), agent(found, "b")
    assert (a.accuracy.right, a.accuracy.n, a.accuracy.value) == (11, 15, pytest.approx(11 / 15))
    assert (b.accuracy.value, b.as_wrong.value) == (0.5, pytest.approx(5 / 16))
    # 5 right of 10 answered, 6 without an answer.
    assert b.lenient == type(b.lenient)(answered=10, excluded=0.5, as_wrong=5 / 16, as_guess=6.5 / 16, as_right=11 / 16)


def test_strict_takes_only_the_form_asked_for(found: Report) -> None:
    # q1 of both repeats was read leniently: 9 of the 13 others are right.
    strict = agent(found, "a").strict
    assert (strict.answered, strict.excluded, strict.as_wrong) == (13, pytest.approx(9 / 13), 9 / 16)
    assert agent(found, "b").strict == agent(found, "b").lenient


def test_intervals_are_clustered_by_configuration(found: Report) -> None:
    scores = [1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1]  # q1, q1, q2, q2 ... q7, q7, q8
    expected = clusters.clustered(scores, [1] * 4 + [2] * 4 + [3] * 4 + [4] * 3, 0.95, 42)
    # The bootstrap draws clusters in their order of appearance, which is that of the ids.
    order = sorted(range(8), key=lambda place: hand.IDS[place])
    flat = [(float(hand.OUTCOMES["a", repeat][at] == "+"), hand.CONFIGURATIONS[at + 1])
            for at in order for repeat in (0, 1) if hand.OUTCOMES["a", repeat][at] in "+-"]  # fmt: skip
    same = clusters.clustered([score for score, _ in flat], [name for _, name in flat], 0.95, 42)
    accuracy = agent(found, "a").accuracy
    assert (accuracy.low, accuracy.high, accuracy.clusters) == (same.low, same.high, 4)
    assert accuracy.value == expected.mean


def test_verified_accuracy_stands_beside_that_of_letters(found: Report) -> None:
    a = agent(found, "a")
    assert a.verified is not None and a.letters_where_verified is not None
    assert (a.verified.right, a.verified.n) == (4, 15)
    assert a.letters_where_verified.right == 11
    assert a.mistakes == {"no commission": 11}
    assert agent(found, "b").verified is None


def test_chance_and_floor(found: Report) -> None:
    assert agent(found, "b").guess_corrected == pytest.approx(1 / 3)
    assert agent(found, "b").above_floor == pytest.approx(1 / 6)
    assert agent(found, "a").above_floor == pytest.approx((11 / 15 - 0.4) / 0.6)


def test_repeats_and_passes(found: Report) -> None:
    b = agent(found, "b")
    assert b.repeats.accuracies == (0.6, 0.4)
    assert b.repeats.sd == pytest.approx(0.2 / 2**0.5)
    assert b.repeats.mean == pytest.approx((0.5 + 1 + 1 + 0 + 0) / 5)
    # Of five questions answered twice: q1 once right, q2 and q3 twice, q4 and q5 never.
    assert [(one.k, one.pass_at, one.pass_hat, one.questions) for one in b.passes] == [
        (1, pytest.approx(0.5), pytest.approx(0.5), 5), (2, pytest.approx(3 / 5), pytest.approx(2 / 5), 5),
    ]  # fmt: skip
    # q8 of agent a was answered once: it is left out of k = 2, and five of the other seven are right twice.
    assert agent(found, "a").passes[1] == type(b.passes[0])(k=2, pass_at=5 / 7, pass_hat=5 / 7, questions=7)
    assert repeats.pass_at_k(2, 1, 2) == 1.0


def test_sums_say_how_many_are_known(found: Report) -> None:
    a, b = agent(found, "a"), agent(found, "b")
    tokens = a.tokens["input"]
    assert (tokens.total, tokens.known, tokens.n, tokens.estimated) == (1500, 15, 16, 2)
    assert (a.cost.total, a.cost.known, a.cost.estimated) == (pytest.approx(0.15), 15, 0)
    assert (b.cost.total, b.cost.known, b.tokens["input"].total, a.tokens["reasoning"].total) == (None, 0, None, None)
    assert (a.seconds.total, a.seconds.median, a.seconds.p90, a.tries) == (72.0, 4.5, 7.5, 16)


def test_pairs_use_the_questions_that_both_answered(found: Report) -> None:
    [pair] = found.pairs
    # q1: 1 - 1/2; q2: 1 - 1; q3: 0 - 1; q4, q5: 1 - 0. Over q1..q5, 3 configurations.
    expected = pairs.difference([1, 1, 0, 1, 1], [0.5, 1, 1, 0, 0], [1, 1, 2, 2, 3], 42)
    assert (pair.questions, pair.clusters, pair.kind, pair.test) == (5, 3, "agents", "sign flip")
    assert pair.difference == pytest.approx(1.5 / 5)
    assert pair.only_first is None
    assert pair.p == pytest.approx(expected.p or 0, abs=0.02)
    assert pair.word == "tied"


def test_one_answer_a_question_and_a_configuration_each_is_mcnemars_test(tmp_path: Path) -> None:
    # b = 15, c = 5 of runs.md: mid-p .026604.
    made = []
    for number in range(30):
        right = {"a": number < 20, "b": number < 5 or 20 <= number < 25}
        for name in ("a", "b"):
            letter = "B" if right[name] else "C"
            made.append(simulated.attempt(hand.RUN, f"{number:064d}", name, letter, "B"))
    [pair] = measure.report(hand.table(tmp_path, made)).pairs
    assert (pair.only_first, pair.only_second, pair.test, pair.word) == (15, 5, "McNemar, mid-p", "ahead")
    assert pair.p == pytest.approx(0.026604, abs=1e-6)


def test_holm_is_over_all_pairs_of_a_kind(tmp_path: Path) -> None:
    made = [
        simulated.attempt(hand.RUN, f"{number:064d}", name, "B" if number < most else "C", "B")
        for number in range(30) for name, most in (("a", 20), ("b", 10), ("c", 9))
    ]  # fmt: skip
    found = measure.report(hand.table(tmp_path, made)).pairs
    ps = [one.p for one in found]
    assert [one.holm for one in found] == pytest.approx(pairs.holm(ps))
    assert [one.word for one in found] == ["ahead", "ahead", "tied"]


def test_modes_are_never_pooled(tmp_path: Path) -> None:
    tools = [msgspec.structs.replace(one, mode="with-tools", id=f"t{one.id}") for one in hand.attempts()]
    runs = [hand.run(tmp_path)]
    manifest = simulated.manifest("run_20260102_000000", ("a", "b"), None, 32, mode="with-tools", repeats=2)
    runs.append(type(runs[0])(manifest, tuple(tools)))
    found = measure.report(join(runs))
    assert [one.name for one in found.agents] == [
        "a (no-tools)", "b (no-tools)", "a (with-tools)", "b (with-tools)"
    ]  # fmt: skip
    assert all(one.attempts == 16 for one in found.agents)
    kinds = sorted((one.kind, one.first, one.second) for one in found.pairs)
    assert kinds == [
        ("agents", "a (no-tools)", "b (no-tools)"), ("agents", "a (with-tools)", "b (with-tools)"),
        ("conditions", "a (no-tools)", "a (with-tools)"), ("conditions", "b (no-tools)", "b (with-tools)"),
    ]  # fmt: skip
    assert Series("a", "with-tools", "none").name == "a (with-tools, data none)"


def test_groups_and_letters(found: Report) -> None:
    cells = {(group.kind, group.name, cell.agent): cell.share for group in found.groups for cell in group.cells}
    easy, hard = (cells["tier", tier, "b (no-tools)"] for tier in ("easy", "hard"))
    assert (easy.right, easy.n, hard.right, hard.n) == (5, 8, 0, 2)
    assert cells["template", "last_close", "a (no-tools)"].n == 8
    assert {group.kind for group in found.groups} == {"tier", "template", "strategy", "scheme"}
    assert agent(found, "a").confusion == ((0, 0, 0, 0), (0, 11, 4, 0), (0, 0, 0, 0), (0, 0, 0, 0))


def test_items_are_over_all_takers(found: Report) -> None:
    items = found.items
    assert (items.takers, items.complete) == (4, 5)
    by_id = {one.question: one for one in items.rows}
    first, third = by_id[hand.IDS[0]], by_id[hand.IDS[2]]
    assert (first.answers, first.p) == (4, 0.75)
    assert (third.answers, third.p) == (4, 0.5)
    # Agent b has q3 right and little else: the question tells good from bad the wrong way round.
    assert third.discrimination is not None and third.discrimination < 0
    # Totals on q1..q5: a 4, 4; b 3, 2. sum pq = 3/16 + 0 + 1/4 + 1/4 + 1/4; var = 11/16.
    assert items.kr20 == pytest.approx(5 / 4 * (1 - (15 / 16) / (11 / 16)))


def test_position_bias_over_questions_answered_in_all_four_orders(tmp_path: Path) -> None:
    # An agent that always picks the first place: with shift s that is option ABCD[s], so B once in four.
    made = [
        simulated.attempt(hand.RUN, id, "first", "ABCD"[shift], "B", shift=shift)
        for id in hand.IDS[:3] for shift in range(4) if (id, shift) != (hand.IDS[2], 3)
    ]  # fmt: skip
    [one] = measure.report(hand.table(tmp_path, made)).agents
    assert one.position is not None
    assert (one.position.questions, one.position.steady) == (2, 0.0)
    assert [share.value for share in one.position.picks] == [1.0, 0.0, 0.0, 0.0]
    assert [share.value for share in one.position.by_key] == [1.0, 0.0, 0.0, 0.0]
    # And one that knows: B wherever it stands.
    made = [simulated.attempt(hand.RUN, id, "knows", "B", "B", shift=s) for id in hand.IDS[:3] for s in range(4)]
    [one] = measure.report(hand.table(tmp_path, made)).agents
    assert one.position is not None and one.position.steady == 1.0
    assert [share.value for share in one.position.picks] == [0.25] * 4


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6))
def test_the_order_of_attempts_and_runs_doesnt_matter(tmp_path: Path, seed: int) -> None:
    made = hand.attempts()
    halves = [[one for one in made if one.repeat == repeat] for repeat in (0, 1)]
    runs = [hand.run(tmp_path, half, f"run_2026010{place}_000000") for place, half in enumerate(halves)]
    expected = measure.report(join(runs))
    draw = Random(seed)
    shuffled = [
        hand.run(tmp_path, draw.sample(list(run.attempts), len(run.attempts)), run.manifest.run) for run in runs
    ]
    draw.shuffle(shuffled)
    assert measure.report(join(shuffled)) == expected


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 8), st.sampled_from("uret")), min_size=1, max_size=10))
def test_more_failures_change_nothing_but_what_counts_them(tmp_path: Path, failures: list[tuple[int, str]]) -> None:
    before = measure.report(hand.table(tmp_path), FLOOR)
    more = [hand.one("a", number, 7 + place, outcome) for place, (number, outcome) in enumerate(failures)]
    after = measure.report(hand.table(tmp_path, [*hand.attempts(), *more]), FLOOR)
    ours, theirs = agent(before, "a"), agent(after, "a")
    for name in ("accuracy", "verified", "guess_corrected", "above_floor", "confusion", "passes"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert theirs.as_wrong.value == pytest.approx(11 / (16 + len(more)))
    assert [one.p for one in after.pairs] == [one.p for one in before.pairs]


def test_the_json_is_plain_and_typed(found: Report) -> None:
    text = json.dumps(msgspec.to_builtins(found), allow_nan=False)
    assert msgspec.json.decode(text, type=Report) == found


def test_nothing_answered_is_unknown_not_zero(tmp_path: Path) -> None:
    made: list[Attempt] = [hand.one("a", number, 0, "t") for number in range(1, 9)]
    [one] = measure.report(hand.table(tmp_path, made), FLOOR).agents
    assert (one.accuracy.value, one.accuracy.low, one.guess_corrected, one.above_floor) == (None, None, None, None)
    assert one.as_wrong.value == 0.0
    assert one.lenient.excluded is None
