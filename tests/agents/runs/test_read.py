"""Reading runs back: torn tails, unknown runs, and which record stands."""

from __future__ import annotations

import logging

import msgspec
import pytest

from backtrader_bench import store
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs.manifest import Manifest, Settings
from backtrader_bench.agents.runs.read import attempts_path, effective, read_run, run_named
from backtrader_bench.attempts import Attempt, attempt_line
from backtrader_bench.errors import RecordError, UsageError
from tests.agents.runs.made import RUN, attempt

MANIFEST = Manifest(
    run=RUN, given={}, settings=Settings(agents=("a",)), files=(), questions_sha256="", questions=1, planned=1,
    prompts_sha256="", tapes={}, sessions=(),
)  # fmt: skip


def stands(*records: Attempt) -> list[str]:
    return [one.status for one in effective(records).values()]


def test_a_final_outcome_stands_and_an_error_gives_way() -> None:
    error, answer, other = attempt(kind="auth"), attempt(status="wrong"), attempt(status="correct")
    assert stands(error, answer) == ["wrong"]
    assert stands(answer, error) == ["wrong"]
    assert stands(answer, other) == ["wrong"]
    assert stands(error, attempt(status="harness_error")) == ["harness_error"]
    assert stands(attempt("p"), attempt("q", status="timeout")) == ["correct", "timeout"]


def test_a_rescored_record_replaces_what_it_names() -> None:
    first = attempt(status="unparsed")
    again = msgspec.structs.replace(first, status="correct", replaces=first.id)
    third = msgspec.structs.replace(first, status="wrong", replaces=first.id)
    assert stands(first, again) == ["correct"]
    assert stands(first, again, third) == ["wrong"]


def test_a_run_is_found_by_name_by_path_and_as_the_last(caplog: pytest.LogCaptureFixture) -> None:
    manifests.write(MANIFEST)
    assert read_run("last").attempts == ()
    for number in range(3):
        store.append_line(attempts_path(RUN), attempt_line(attempt(str(number))))
    with attempts_path(RUN).open("ab") as file:
        file.write(attempt_line(attempt("3"))[:-1])
    with caplog.at_level(logging.WARNING):
        for name in (RUN, f"db/attempts/{RUN}.jsonl", f"/x/{RUN}.manifest.json", "last"):
            found = read_run(name)
            assert found.manifest == MANIFEST and [one.question_id for one in found.attempts] == ["0", "1", "2"]
    assert "line 4 is cut off and was passed over" in caplog.text


def test_a_run_is_found_by_what_it_was_called_where_no_other_is() -> None:
    for name in (RUN, f"{RUN}_night-1", f"{RUN}_g", f"{RUN}_last", "run_20260301_000000"):
        manifests.write(msgspec.structs.replace(MANIFEST, run=name))
    assert run_named("g") == f"{RUN}_g"
    assert run_named("night 1") == f"{RUN}_night-1"
    assert run_named("last") == "run_20260301_000000"
    for other in ("", "night", "x/g", "g.jsonl", RUN[4:]):
        with pytest.raises(UsageError, match="there is no run"):
            run_named(other)
    manifests.write(msgspec.structs.replace(MANIFEST, run="run_20260302_000000_g"))
    with pytest.raises(UsageError, match="2 runs are called 'g', the last is run_20260302_000000_g; name one"):
        run_named("g")


def test_what_is_no_run_is_said() -> None:
    with pytest.raises(UsageError, match="there is no run 'last'"):
        read_run("last")
    manifests.write(MANIFEST)
    with pytest.raises(UsageError, match=f"there is no run '../x' .*; the newest is {RUN}"):
        read_run("../x")
    store.append_line(attempts_path(RUN), b'{"schema_version": 1}')
    with pytest.raises(RecordError, match=r"line 1: Object missing required field"):
        read_run(RUN)
    store.replace_file(manifests.manifest_path(RUN), b'{"schema_version": 7}')
    with pytest.raises(RecordError, match="schema_version 7 is unknown"):
        read_run(RUN)
