"""What the runs of a verifier show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backtrader_bench.checker.programs.judge import REASONS, Printed, judge_run, judge_runs, read_output
from backtrader_bench.checker.programs.program import ProgramRun


def printed(question: str, answer: str) -> str:
    return f"noise\nQUESTION_JSON: {json.dumps(question)}\n\nANSWER_VALUE_JSON: {json.dumps(answer)}\n"


def run(seed: int = 1, stdout: str = printed("Q?", "1"), **changes: Any) -> ProgramRun:
    return ProgramRun(**{"seed": seed, "stdout": stdout, "stderr": "", "code": 0, "seconds": 0.1, **changes})


def names(runs: list[ProgramRun]) -> list[str]:
    return [reason.name for reason in judge_runs(runs).reasons]


OTHERS = [run(2, printed("Q2?", "2")), run(3, printed("Q3?", "3"))]


def test_a_sound_program_gives_its_question_and_the_other_answers() -> None:
    judged = judge_runs([run(), run(), *OTHERS])
    assert judged.reasons == ()
    assert judged.base == Printed("Q?", "1")
    assert judged.others == (Printed("Q2?", "2"), Printed("Q3?", "3"))


@pytest.mark.parametrize(
    ("stdout", "expected"),
    [
        ("", ["question_missing", "answer_missing"]),
        (printed("Q", "1") + 'ANSWER_VALUE_JSON: "1"\n', ["answer_repeated"]),
        ('QUESTION_JSON: "Q"\n' + printed("Q", "1"), ["question_repeated"]),
        ('QUESTION_JSON: "Q"\nANSWER_VALUE_JSON: 1.5\n', ["answer_malformed"]),
        ('QUESTION_JSON: "Q"\nANSWER_VALUE_JSON: NaN\n', ["answer_malformed"]),
        ('QUESTION_JSON: Q\nANSWER_VALUE_JSON: "1"\n', ["question_malformed"]),
        ('QUESTION_JSON: ["Q"]\nANSWER_VALUE_JSON: "1"\n', ["question_malformed"]),
        (printed(" ", "1"), ["question_empty"]),
        (printed("Q", ""), ["answer_empty"]),
        *((printed("Q", value), ["answer_not_finite"]) for value in ("nan", "NaN%", "$inf", "-Infinity", "None")),
    ],
)
def test_what_is_printed_wrongly_has_a_name(stdout: str, expected: list[str]) -> None:
    found = read_output(stdout)
    assert not isinstance(found, Printed)
    assert [reason.name for reason in found] == expected


@pytest.mark.parametrize("value", ["$1,234.50", "-3.2%", "0", "12 trades", "2020-03-02", "fast=5, slow=20", "naïve"])
def test_answers_of_many_kinds_are_read(value: str) -> None:
    assert read_output(printed("Q", value)) == Printed("Q", value)


def test_a_question_keeps_its_line_ends_and_marks_within_it_do_not_count() -> None:
    question = "A\u2028B\x85C\nQUESTION_JSON: not a line of its own"
    stdout = f"QUESTION_JSON: {json.dumps(question, ensure_ascii=False)}\r\nANSWER_VALUE_JSON: \"1\""
    assert read_output(stdout) == Printed(question, "1")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"code": 1, "stderr": "Traceback\nValueError: x"}, ["exit_code"]),
        ({"code": None, "timed_out": True}, ["timed_out"]),
        ({"code": None, "killed": "memory"}, ["killed"]),
        ({"output_cut": True}, ["output_too_long"]),
        ({"left_processes": True}, ["left_processes"]),
    ],
)
def test_how_it_ended_comes_first(changes: dict[str, Any], expected: list[str]) -> None:
    assert names([run(**changes)]) == expected
    found = judge_run(run(**changes))
    assert not isinstance(found, Printed)
    assert all(reason.name in REASONS for reason in found)


def test_two_runs_with_one_seed_that_differ() -> None:
    assert names([run(), run(stdout=printed("Q?", "1.1")), *OTHERS]) == ["nondeterministic"]
    assert names([run(), run(stdout=printed("R?", "1")), *OTHERS]) == ["nondeterministic"]
    assert names([run(), run(code=1)]) == ["nondeterministic"]
    assert names([run()]) == ["nondeterministic"]
    assert names([run(), run(stdout="took 0.3 s\n" + printed("Q?", "1")), *OTHERS]) == []


def test_failures_of_other_seeds_name_them() -> None:
    judged = judge_runs([run(), run(), OTHERS[0], run(3, code=1, stderr="ZeroDivisionError: x")])
    assert [reason.name for reason in judged.reasons] == ["fails_on_some_seeds"]
    assert judged.reasons[0].detail == "seed 3: exit_code 1: ZeroDivisionError: x"


def test_a_seed_that_changes_nothing() -> None:
    assert names([run(), run(), run(2), run(3)]) == ["ignores_seed"]
    assert names([run(), run(), run(2), OTHERS[1]]) == []
