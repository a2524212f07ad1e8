"""Joining runs with the records of their questions: what is missing or odd is said, nothing is dropped."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from backtrader_bench import store
from backtrader_bench.agents.reports import measure
from backtrader_bench.agents.reports.gather import Table, gather, join
from backtrader_bench.errors import RecordError, UsageError
from tests.agents.reports import hand, simulated


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """The run by hand, in the store; its bank."""
    path = hand.bank(tmp_path)
    simulated.write(simulated.manifest(hand.RUN, ("a", "b"), path, 32, repeats=2), hand.attempts())
    return path


def kinds(table: Table) -> list[str]:
    return [note.kind for note in table.notes]


def test_questions_are_found_through_the_manifest(stored: Path) -> None:
    table = gather(["last"])
    assert set(table.facts) == set(hand.IDS)
    assert len(table.rows) == 32
    assert kinds(table) == []


def test_a_moved_bank_is_found_in_the_store_and_said(stored: Path) -> None:
    stored.rename(store.folder("mcq") / "elsewhere.jsonl")
    table = gather([hand.RUN])
    assert set(table.facts) == set(hand.IDS)
    assert kinds(table) == ["file_missing"]


def test_questions_without_a_record_are_said_and_counted(stored: Path) -> None:
    lines = stored.read_text().splitlines(keepends=True)
    stored.write_text("".join(lines[:6]))
    table = gather([hand.RUN])
    assert kinds(table) == ["file_changed", "question_missing"]
    assert "2 questions (8 attempts)" in table.notes[1].text
    found = measure.report(table)
    whole = measure.report(join([hand.run(stored.parent / "again")]))
    assert [one.accuracy.value for one in found.agents] == [one.accuracy.value for one in whole.agents]
    assert (found.questions, found.found) == (8, 6)
    # Alone, q7 and q8 are configurations of their own.
    assert found.configurations == 5
    assert sum(group.questions for group in found.groups if group.kind == "tier") == 6


def test_given_files_come_first(stored: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(hand.question(1, answer="A")) + "\n")
    table = gather([hand.RUN], [other])
    assert table.facts[hand.IDS[0]].key == "A"
    assert kinds(table) == ["keys_differ", "key_changed"]
    # The grades stand.
    a = next(one for one in measure.report(table).agents if one.agent == "a")
    assert a.statuses["correct"] == 11


def test_an_error_gives_way_to_the_answer_that_a_resumed_run_got(tmp_path: Path) -> None:
    later = hand.one("b", 8, 0, "+")
    table = hand.table(tmp_path, [*hand.attempts(), later])
    assert len(table.rows) == 32
    assert [row.attempt.status for row in table.rows if row.attempt.id == later.id] == ["correct"]


def test_a_run_named_twice_and_a_copied_run_count_once(stored: Path) -> None:
    assert kinds(gather([hand.RUN, "last"])) == ["run_twice"]
    simulated.write(simulated.manifest("run_20260109_000000_copy", ("a", "b"), stored, 32, repeats=2), hand.attempts())
    table = gather([hand.RUN, "last"])
    assert len(table.rows) == 32
    assert kinds(table) == ["attempts_twice"]


def test_two_runs_of_an_agent_are_repeats(tmp_path: Path) -> None:
    made = [msgspec.structs.replace(one, run="run_2", id=f"x{one.id}") for one in hand.attempts()]
    found = measure.report(join([hand.run(tmp_path), hand.run(tmp_path, made, "run_20260102_000000")]))
    a = next(one for one in found.agents if one.agent == "a")
    assert (a.attempts, a.questions, len(a.repeats.accuracies), len(a.passes)) == (32, 8, 4, 4)


def test_what_is_not_asked_yet_is_said(stored: Path) -> None:
    simulated.write(simulated.manifest("run_20260108_000000", ("a", "b"), stored, 40), hand.attempts()[:10])
    assert "30 of 40" in gather(["last"]).notes[0].text


def test_runs_that_differ_in_settings_are_said(stored: Path) -> None:
    made = [msgspec.structs.replace(one, id=f"x{one.id}") for one in hand.attempts()]
    simulated.write(simulated.manifest("run_20260108_000000", ("a", "b"), stored, 32, timeout=5.0), made)
    notes = gather([hand.RUN, "last"]).notes
    assert [note.text for note in notes] == ["no-tools runs differ in timeout: 5.0 and 600.0"]


def test_an_unknown_run_names_those_that_look_like_it(stored: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean run_20260101_000000\?"):
        gather(["run_20260101_00000"])
    with pytest.raises(UsageError, match="no run 'nothing'"):
        gather(["nothing"])


def test_an_empty_run_is_an_error_alone_and_a_note_beside_others(stored: Path) -> None:
    simulated.write(simulated.manifest("run_20260108_000000", ("a",), stored, 8), [])
    with pytest.raises(UsageError, match="run_20260108_000000: no attempt is stored yet"):
        gather(["run_20260108_000000"])
    assert kinds(gather(["run_20260108_000000", hand.RUN])) == ["run_empty"]


def test_a_given_file_that_cant_be_read_is_refused_and_one_of_the_store_passed_over(stored: Path) -> None:
    bad = store.folder("mcq") / "a_bad.jsonl"
    bad.write_text("{\n")
    with pytest.raises(RecordError, match="line 1"):
        gather([hand.RUN], [bad])
    stored.rename(store.folder("mcq") / "b_good.jsonl")
    table = gather([hand.RUN])
    assert kinds(table) == ["file_missing", "file_unreadable"]
    assert set(table.facts) == set(hand.IDS)


def test_a_bank_without_keys_is_refused(stored: Path) -> None:
    public = dict(hand.question(1))
    del public["answer"]
    stored.write_text(json.dumps(public) + "\n")
    with pytest.raises(RecordError, match="no answer; a report needs the bank with its keys"):
        gather([hand.RUN])


def test_categories_come_from_the_record_or_a_label(tmp_path: Path) -> None:
    path = tmp_path / "bank.jsonl"
    changes = [{"category": "exit rules"}, {"labels": ["x", "category:slippage"]}, {}]
    path.write_text("".join(json.dumps({**hand.question(n), **more}) + "\n" for n, more in enumerate(changes, 1)))
    made = [hand.one("a", number, 0, "+") for number in (1, 2, 3)]
    simulated.write(simulated.manifest(hand.RUN, ("a",), path, 3), made)
    groups = measure.report(gather([hand.RUN])).groups
    assert [group.name for group in groups if group.kind == "category"] == ["(none)", "exit rules", "slippage"]


@pytest.mark.shared
def test_published_records_are_found_by_the_id_that_runs_give_them(shared: Path) -> None:
    path = shared / "data/published/pool_part.jsonl"
    records = simulated.records(path)
    simulated.simulate(hand.RUN, path, {"x": 0.5}, transcripts=False)
    table = gather([hand.RUN])
    assert len(table.facts) == len({json.dumps(record) for record in records})
    assert kinds(table) == []
    found = measure.report(table)
    assert {group.name for group in found.groups if group.kind == "scheme"} == {"published"}
