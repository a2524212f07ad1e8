"""``bench db stats``, ``dedupe``, ``query`` and ``tail`` on the committed store."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backtrader_bench.agents.runs.read import effective, read_attempts
from backtrader_bench.cli import dbing
from backtrader_bench.cli.main import run
from backtrader_bench.upkeep import tail
from tests.upkeep.conftest import MINED, RUN


def test_stats_count_what_there_is(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = old / f"db/attempts/{RUN}.jsonl"
    path.write_bytes(path.read_bytes() + b'{"agent": "x"}\n\xff\n{"ag')
    assert run(["db", "stats", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["records"] == {"questions": 4, "attempts": 8, "summary": 2}
    assert found["unreadable"] == {"attempts": 3}
    assert found["schemes"] == {"siblings": 3, "mined": 1} and found["decisions"] == {"tool_solver_correct": 1}
    assert found["agents"]["guesser (no-tools)"] == {"wrong": 3, "correct": 1}
    assert (found["tapes"], found["runs"]) == (3, 2)
    assert run(["db", "stats"]) == 0
    assert "oracle (with-tools): correct 1" in capsys.readouterr().out


def test_dedupe_of_questions_keeps_the_first_of_each(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank, once = old / "db/mcq/v1.jsonl", tmp_path / "once.jsonl"
    twice = tmp_path / "twice.jsonl"
    twice.write_bytes(bank.read_bytes() * 2)
    assert run(["db", "dedupe", str(twice), str(bank), "-o", str(once)]) == 0
    assert once.read_bytes() == bank.read_bytes()
    assert "3 questions (6 repeats left out)" in capsys.readouterr().out
    assert twice.read_bytes() == bank.read_bytes() * 2


def test_dedupe_of_attempts_leaves_what_stands_as_it_was(old: Path, tmp_path: Path) -> None:
    path, once = old / f"db/attempts/{RUN}.jsonl", tmp_path / "once.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    failed = {**records[0], "status": "agent_error", "error": {"kind": "network", "message": "gone"}}
    rescored = {**records[1], "status": "unparsed", "replaces": records[1]["id"]}
    again = {**records[2], "status": "timeout"}
    written = [failed, *records, records[3], again, rescored, failed]
    path.write_text("".join(json.dumps(one) + "\n" for one in written))
    assert run(["db", "dedupe", str(path), "-o", str(once)]) == 0
    assert effective(read_attempts(once)) == effective(read_attempts(path))
    # The copy, the answer to what was answered, and the failure that came again are gone; history stays.
    assert [json.loads(line) for line in once.read_text().splitlines()] == [failed, *records, rescored]


@pytest.mark.parametrize(("text", "said"), [
    ("{}\n", "line 4: schema_version None is unknown"), ('{"id', "line 4: cut off"), ("nonsense\n", "line 4: not JSON"),
])  # fmt: skip
def test_dedupe_refuses_what_is_no_record_and_writes_nothing(
    text: str, said: str, old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank, once = old / "db/mcq/v1.jsonl", tmp_path / "new" / "once.jsonl"
    once.parent.mkdir()
    bank.write_text(bank.read_text() + text)
    assert run(["db", "dedupe", str(bank), "-o", str(once)]) == 2
    assert said in capsys.readouterr().err
    assert list(once.parent.iterdir()) == []


def test_dedupe_never_replaces_a_file(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank = old / "db/mcq/v1.jsonl"
    before = bank.read_bytes()
    assert run(["db", "dedupe", str(bank), "-o", str(bank)]) == 2
    assert "exists; dedupe writes a new file" in capsys.readouterr().err
    assert bank.read_bytes() == before


def test_dedupe_refuses_a_question_with_two_keys(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = old / "db/mcq/v1.jsonl"
    record = json.loads(bank.read_text().splitlines()[0])
    record["answer"] = "ABCD".replace(record["answer"], "")[0]
    bank.write_text(bank.read_text() + json.dumps(record) + "\n")
    assert run(["db", "dedupe", str(bank), "-o", str(tmp_path / "once.jsonl")]) == 2
    assert "line 4: the key is" in capsys.readouterr().err


def rows(capsys: pytest.CaptureFixture[str], sql: str) -> list[list[str]]:
    assert run(["db", "query", sql, "--csv"]) == 0
    return list(csv.reader(io.StringIO(capsys.readouterr().out)))[1:]


def test_query_reads_the_records_themselves(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    path = old / f"db/attempts/{RUN}.jsonl"
    # A torn tail, a line that is no JSON and a record of the future are in no view.
    future = path.read_text().splitlines()[0].replace('"schema_version": 1', '"schema_version": 2')
    path.write_text(path.read_text() + "{{{\n" + future + '\n{"id": "cut')
    counts = "select status, count(*) from attempts where run like 'run%' group by all order by 1"
    assert rows(capsys, counts) == [["correct", "4"], ["wrong", "2"]]
    assert run(["db", "query", counts]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "note: 1 attempts are of another schema_version than 1, which this bench reads, and are left out",
        "note: 2 lines of attempts can't be read and are left out; bench db check names them",
    ]
    assert run(["db", "query", "select count(*) from questions"]) == 0
    assert capsys.readouterr().err == ""  # nothing is missing of what was asked
    joined = "select count(distinct q.id) from attempts a join questions q on q.id = a.question_id"
    assert rows(capsys, joined) == [["4"]]
    mined = "select tape.rows, options['A'] is not null from questions where scheme = 'mined'"
    assert rows(capsys, mined) == [["0", "True"]]
    assert rows(capsys, "select kind, decision from summary order by kind") == [
        ["attempt", "tool_solver_correct"], ["session", ""]]  # fmt: skip
    assert rows(capsys, "select count(*) from reviews") == [["0"]]
    unknown = "select agent, usage.input tokens from attempts where agent = 'oracle' limit 1"
    assert run(["db", "query", unknown, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"agent": "oracle", "tokens": None}


ENDLESS = "with recursive t as (select 1 a union all select a + 1 from t) select count(*) from t"


def test_a_query_is_interrupted_at_once(old: Path) -> None:
    pytest.importorskip("duckdb")
    code = (
        "import sys\nfrom backtrader_bench.upkeep import query\nfrom backtrader_bench.cli.main import main\n"
        "plain = query.apart\n"
        "def told(database, work, until):\n    print('asking', flush=True)\n    return plain(database, work, until)\n"
        "query.apart = told\nmain(sys.argv[1:])\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, "db", "query", ENDLESS], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:  # fmt: skip
        try:
            assert child.stdout is not None and child.stderr is not None
            assert child.stdout.readline() == "asking\n"
            time.sleep(0.5)  # into the query itself
            began = time.monotonic()
            child.send_signal(signal.SIGINT)
            assert child.wait(30) == 130
            assert time.monotonic() - began < 15  # on a machine that does other things
            assert child.stderr.read().strip() == "error: interrupted; what was finished is kept"
        finally:
            child.kill()


def test_a_query_may_take_so_long(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    assert run(["db", "query", ENDLESS, "--timeout", "0.3"]) == 5
    assert capsys.readouterr().err == "error: the query took longer than 0.3 s and was ended\n"
    # Also where the rows, and not the first of them, take the time.
    slow = "select a.range from range(100000000000) a where a.range < 3000 or a.range % 99999999999 = 7"
    assert run(["db", "query", slow, "--csv", "--timeout", "0.3"]) == 5
    assert run(["db", "query", "select 1", "--timeout", "60"]) == 0


def made_newer(home: Path, kind: str) -> None:
    """Records of a kind as a later version might write them."""
    for path in (home / "db" / kind).rglob("*.jsonl"):
        path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 2'))


@pytest.mark.parametrize("words", [
    "show BANK", "show BANK 1", "show BANK 1 --json --no-key", "check BANK", "page BANK --html page.html",
    "audit BANK --no-learned", "run BANK --agent guesser -q", "export csv BANK -o out", "import BANK",
    "build -n 1 --exclude BANK -o new.jsonl", "db dedupe BANK -o new.jsonl",
])  # fmt: skip
def test_a_question_of_a_newer_version_is_refused_in_one_line(
    words: str, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made_newer(old, "mcq")
    assert run(words.replace("BANK", str(old / "db/mcq/v1.jsonl")).split()) == 2
    told = capsys.readouterr().err
    assert "schema_version 2 is unknown; this version reads 1" in told and told.count("\n") == 1
    assert not list(tmp_path.glob("*.*"))


@pytest.mark.parametrize("words", [
    f"report {RUN}", f"compare {RUN} {RUN}", f"rescore {RUN}", f"run --resume {RUN}",
    f"db dedupe db/attempts/{RUN}.jsonl -o new.jsonl",
])  # fmt: skip
def test_an_attempt_of_a_newer_version_is_refused_in_one_line(
    words: str, old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(old)
    made_newer(old, "attempts")
    assert run(words.split()) == 2
    told = capsys.readouterr().err
    assert "schema_version 2 is unknown; this version reads 1" in told and told.count("\n") == 1


def test_what_looks_at_the_whole_store_says_what_it_leaves_out(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("mcq", "attempts", "summary"):
        made_newer(old, kind)
    assert run(["db", "stats", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["other_version"] == {"questions": 4, "attempts": 8, "summary": 2}
    assert (found["records"], found["unreadable"], found["agents"], found["schemes"]) == ({}, {}, {}, {})
    assert run(["db", "stats"]) == 0
    assert "note: 8 attempts are of another schema_version, and in no count" in capsys.readouterr().err
    assert run(["db", "check"]) == 1
    assert "schema_version: 14; " in capsys.readouterr().out
    assert run(["db", "tail", RUN, "-n", "1"]) == 0
    assert capsys.readouterr().out.endswith("(schema_version 2; this bench reads 1)\n")
    pytest.importorskip("duckdb")
    assert run(["db", "query", "select count(*) from attempts a join questions q on q.id = a.question_id"]) == 0
    notes = capsys.readouterr().err.splitlines()
    assert [note.split()[1:3] for note in notes] == [["4", "questions"], ["8", "attempts"]]


def test_columns_are_the_fields_of_the_records() -> None:
    from backtrader_bench.attempts import Attempt
    from backtrader_bench.miner.records import AttemptLine, ReviewLine, SessionLine
    from backtrader_bench.records import Question
    from backtrader_bench.upkeep.query import COLUMNS

    assert set(COLUMNS["questions"]) == set(Question.__struct_fields__) - {"benchmark", "author"}
    assert set(COLUMNS["attempts"]) == set(Attempt.__struct_fields__)
    assert set(COLUMNS["summary"]) == {"kind", *AttemptLine.__struct_fields__, *SessionLine.__struct_fields__}
    assert set(COLUMNS["reviews"]) == set(ReviewLine.__struct_fields__)


@pytest.mark.parametrize("sql", [
    "copy attempts to 'stolen.csv'", "create table t as select 1", "select 1; select 2", "set memory_limit = '9GB'",
    "select * from read_csv('/etc/passwd')", "select * from read_text('SECRET')", "attach 'x.db'", "selct 1",
    "select * from nothing",
])  # fmt: skip
def test_query_only_reads_and_only_the_store(
    sql: str, old: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.chdir(old)
    (old / "db" / "secret.key").write_text("mine")
    before = sorted(old.rglob("*"))
    assert run(["db", "query", sql.replace("SECRET", str(old / "db" / "secret.key"))]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and told.err.startswith("error: ")
    assert sorted(old.rglob("*")) == before


@pytest.mark.parametrize(
    ("seconds", "shown"), [(3.6558e-05, "0.0 s"), (12.345678, "12.3 s"), (7, "7 s"), (None, "None s"), ("x", "x s")]
)
def test_tail_shows_seconds_as_people_read_them(seconds: object, shown: str) -> None:
    assert dbing._parts({"status": "correct", "seconds": seconds})[-1] == shown


def test_tail_shows_the_last_of_a_run_or_file(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "tail", RUN, "-n", "2"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"db/attempts/{RUN}.jsonl:" and len(shown) == 3
    assert run(["db", "tail", str(old / f"db/summary/{MINED}.jsonl"), "--json"]) == 0
    assert [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()] == ["attempt", "session"]
    assert run(["db", "tail", "nobody"]) == 2


@pytest.mark.parametrize("size", [1, 100, 5000, 70_000])
def test_tail_reads_whole_lines_from_the_end(size: int, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    lines = [f"{number}{'x' * size}".encode() for number in range(7)]
    path.write_bytes(b"\n".join(lines) + b"\nhalf")
    for count in (0, 1, 3, 7, 20):
        found, end = tail.last(path, count)
        assert found == (lines[-count:] if count else [])
        assert end == path.stat().st_size - len("half")


def test_tail_follows_what_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"one\n")
    found: list[bytes] = []
    coming = tail.follow(path, 4, pause=0.01)
    reader = threading.Thread(target=lambda: found.extend(next(coming) for _ in range(2)), daemon=True)
    reader.start()
    with path.open("ab") as file:
        file.write(b"two\nthr")
        file.flush()
        wait(lambda: found == [b"two"])
        file.write(b"ee\n")
    reader.join(10)
    assert found == [b"two", b"three"]


def wait(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not ready() and time.monotonic() < until:
        time.sleep(0.01)
    assert ready()
