"""``bench db check``: every kind of damage is found with its file and line, and nothing is touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backtrader_bench import store
from backtrader_bench.cli.main import run
from backtrader_bench.upkeep.check import FIXES
from tests.upkeep.conftest import MINED, RUN

BANK, KEPT, ATTEMPTS = "db/mcq/v1.jsonl", f"db/mcq/{MINED}.jsonl", f"db/attempts/{RUN}.jsonl"
SUMMARY, REVIEWS, MANIFEST = f"db/summary/{MINED}.jsonl", f"db/reviews/{MINED}.jsonl", f"db/summary/{RUN}.manifest.json"
Damage = Callable[[Path], None]


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def edit(name: str, line: int, change: Callable[[bytes], bytes]) -> Damage:
    """Damage that changes one line."""

    def damage(home: Path) -> None:
        found = lines(home / name)
        found[line - 1] = change(found[line - 1])
        (home / name).write_bytes(b"".join(found))

    return damage


def change(name: str, line: int, **fields: object) -> Damage:
    """Damage that writes other fields into a record."""

    def changed(old: bytes) -> bytes:
        record = {**json.loads(old), **fields}
        return json.dumps({key: value for key, value in record.items() if value is not ...}).encode() + b"\n"

    return edit(name, line, changed)


def repeat(name: str, line: int) -> Damage:
    """Damage that appends a line again."""

    def damage(home: Path) -> None:
        found = lines(home / name)
        (home / name).write_bytes(b"".join([*found, found[line - 1]]))

    return damage


def cut(name: str) -> Damage:
    return lambda home: truncate(home / name)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def tape(home: Path, number: int = 0) -> Path:
    record = json.loads(lines(home / BANK)[number])
    return home / "db" / "tapes" / f"{record['tape']['sha256']}.csv.gz"


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


def review(home: Path) -> None:
    """A verdict on a question that is not there."""
    path = home / REVIEWS
    path.parent.mkdir()
    path.write_text(json.dumps({"schema_version": 1, "kind": "review", "run": MINED, "question_id": "0" * 64,
                                "verdict": "accept", "at": "2026-01-01T00:00:00+00:00"}) + "\n")  # fmt: skip


def lose_the_bank(home: Path) -> None:
    (home / BANK).unlink()


def lose_both(home: Path) -> None:
    (home / MANIFEST).unlink()
    (home / BANK).unlink()
    (home / "db/mcq/v1.manifest.json").unlink()


# name -> damage, and every problem that must be named: fault, file, line
CASES: dict[str, tuple[Damage, list[tuple[str, str, int | None]]]] = {
    "torn question": (cut(BANK), [
        ("torn_tail", BANK, 3), ("bank_changed", BANK, None), ("question_missing", ATTEMPTS, 1),
        ("question_missing", ATTEMPTS, 5)]),
    "torn attempt": (cut(ATTEMPTS), [("torn_tail", ATTEMPTS, 6)]),
    "torn summary": (cut(SUMMARY), [("torn_tail", SUMMARY, 2)]),
    "a flipped byte of an id": (change(ATTEMPTS, 2, id="0" * 32), [("wrong_id", ATTEMPTS, 2)]),
    "a flipped byte of JSON": (edit(ATTEMPTS, 3, lambda line: b"\x7a" + line[1:]), [("unreadable", ATTEMPTS, 3)]),
    "not UTF-8": (edit(ATTEMPTS, 1, lambda line: line.replace(b'"tries"', b'"tr\xffes"')), [
        ("not_utf8", ATTEMPTS, 1)]),
    "a key twice": (edit(ATTEMPTS, 1, lambda line: b'{"id": "x", ' + line[1:]), [("unreadable", ATTEMPTS, 1)]),
    "NaN": (edit(ATTEMPTS, 1, lambda line: line.replace(b'"tries": 1', b'"tries": NaN')), [
        ("unreadable", ATTEMPTS, 1)]),
    "no object": (edit(SUMMARY, 1, lambda line: b"[1]\n"), [("not_a_record", SUMMARY, 1)]),
    "a wrong type": (change(ATTEMPTS, 1, seconds="long"), [("not_a_record", ATTEMPTS, 1)]),
    "a question of the future": (change(KEPT, 1, schema_version=2), [
        ("schema_version", KEPT, 1), ("question_missing", f"db/attempts/{MINED}.jsonl", 1),
        ("question_missing", f"db/attempts/{MINED}.jsonl", 2), ("question_missing", SUMMARY, 1)]),
    "an attempt of the future": (change(ATTEMPTS, 1, schema_version=2), [("schema_version", ATTEMPTS, 1)]),
    "a version that is none": (change(ATTEMPTS, 1, schema_version=True), [("schema_version", ATTEMPTS, 1)]),
    "a summary of the future": (change(SUMMARY, 2, schema_version=9), [("schema_version", SUMMARY, 2)]),
    "a run of the future": (edit(MANIFEST, 2, lambda line: b'  "schema_version": 3,\n'), [
        ("schema_version", MANIFEST, None)]),
    "a changed stem": (change(KEPT, 1, stem="What else?"), [("wrong_id", KEPT, 1)]),
    "a changed verifier": (change(KEPT, 1, verifier="print(1)"), [("verifier", KEPT, 1)]),
    "no verifier": (change(KEPT, 1, verifier=...), [("verifier", KEPT, 1)]),
    "a wrong answer made right": (change(ATTEMPTS, 1, status="correct"), [("wrong_grade", ATTEMPTS, 1)]),
    "a right answer made wrong": (change(ATTEMPTS, 3, status="wrong"), [("wrong_grade", ATTEMPTS, 3)]),
    "another letter": (change(ATTEMPTS, 3, letter="A"), [("wrong_grade", ATTEMPTS, 3)]),
    "another order of the options": (change(ATTEMPTS, 3, shift=1), [
        ("wrong_id", ATTEMPTS, 3), ("wrong_grade", ATTEMPTS, 3)]),
    "half a character": (change(KEPT, 1, labels=["\ud800"]), [
        ("unreadable", KEPT, 1), ("question_missing", SUMMARY, 1),
        ("question_missing", f"db/attempts/{MINED}.jsonl", 1), ("question_missing", f"db/attempts/{MINED}.jsonl", 2)]),
    "a wrong answer made none": (change(ATTEMPTS, 1, status="unparsed"), [("wrong_grade", ATTEMPTS, 1)]),
    "a wrong answer made late": (change(ATTEMPTS, 1, status="timeout"), [("wrong_grade", ATTEMPTS, 1)]),
    "an answer that is none, and was read": (change(ATTEMPTS, 1, status="refused", shown=None, letter=None), [
        ("wrong_grade", ATTEMPTS, 1)]),
    "time before it began": (change(ATTEMPTS, 1, seconds=-3.5), [("not_a_record", ATTEMPTS, 1)]),
    "less than no tokens": (change(ATTEMPTS, 1, usage={"output": -1}), [("not_a_record", ATTEMPTS, 1)]),
    "less than no dollars": (change(ATTEMPTS, 1, cost={"usd": -0.1, "source": "reported"}), [
        ("not_a_record", ATTEMPTS, 1)]),
    "never tried": (change(ATTEMPTS, 1, tries=0), [("not_a_record", ATTEMPTS, 1)]),
    "no manifest": (lambda home: (home / MANIFEST).unlink(), [("manifest_missing", ATTEMPTS, None)]),
    "neither manifest nor bank": (lose_both, [("manifest_missing", ATTEMPTS, None)]),
    "a bank's manifest of the future": (edit("db/mcq/v1.manifest.json", 1, lambda line: b'{"schema_version": 2,\n'), [
        ("schema_version", "db/mcq/v1.manifest.json", None)]),
    "no letter": (change(ATTEMPTS, 3, shown=None, letter=None), [("wrong_grade", ATTEMPTS, 3)]),
    "a letter that is none": (change(ATTEMPTS, 3, shown="E", letter="E"), [("wrong_grade", ATTEMPTS, 3)]),
    "a changed key": (change(KEPT, 1, answer="C"), [
        ("wrong_key", KEPT, 1), ("wrong_grade", f"db/attempts/{MINED}.jsonl", 1),
        ("wrong_grade", f"db/attempts/{MINED}.jsonl", 2)]),
    "a key that nothing calls so": (change(BANK, 2, option_origins=dict.fromkeys("ABCD", "step")), [
        ("wrong_key", BANK, 2), ("bank_changed", BANK, None)]),
    "a moved attempt": (change(ATTEMPTS, 6, run="run_20200101_000000"), [
        ("wrong_id", ATTEMPTS, 6), ("wrong_run", ATTEMPTS, 6)]),
    "an attempt twice": (repeat(ATTEMPTS, 2), [("duplicate", ATTEMPTS, 7)]),
    "a question twice": (repeat(KEPT, 1), [("duplicate", KEPT, 2)]),
    "a mining attempt twice": (repeat(SUMMARY, 1), [("duplicate", SUMMARY, 3)]),
    "a session line twice": (repeat(SUMMARY, 2), [("duplicate", SUMMARY, 3)]),
    "a lost bank": (lose_the_bank, [
        ("bank_missing", "db/mcq/v1.manifest.json", None), *(("question_missing", ATTEMPTS, n) for n in range(1, 7))]),
    "a deleted tape": (lambda home: tape(home, 1).unlink(), [("tape_missing", BANK, 2)]),
    "a damaged tape": (lambda home: flip(tape(home), 200), [("tape_changed", "TAPE", None)]),
    "a review of nothing": (review, [("question_missing", REVIEWS, 1)]),
    "a broken manifest": (edit("db/mcq/v1.manifest.json", 1, lambda line: b"\n"), [
        ("manifest", "db/mcq/v1.manifest.json", None)]),
}  # fmt: skip


def content(home: Path) -> dict[str, str]:
    files = (path for path in home.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def checked(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    code = run(["db", "check", "--json"])
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    assert code == (1 if found["problems"] else 0)
    return found


def found_in(report: dict[str, object]) -> set[tuple[str, str, int | None]]:
    problems = report["problems"]
    assert isinstance(problems, list)
    assert all(problem["fix"] and "\n" not in problem["text"] for problem in problems)
    return {(problem["fault"], problem["path"], problem["line"]) for problem in problems}


@pytest.mark.parametrize("name", CASES)
def test_damage_is_named_and_nothing_touched(name: str, old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage, expected = CASES[name]
    sha = tape(old).relative_to(old)
    damage(old)
    before = content(old)
    assert found_in(checked(capsys)) == {
        (fault, str(sha) if path == "TAPE" else path, line) for fault, path, line in expected
    }
    assert content(old) == before


@pytest.mark.parametrize(("field", "value"), [
    ("private", ...), ("certificate", ...),
    ("certificate", {"worlds": 16, "valid": 16, "text_sha256": "0" * 64, "commitment": "0" * 64}),
])  # fmt: skip
def test_promises_that_are_not_whole_are_named(
    field: str, value: object, old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(BANK, 1, **{field: value})(old)
    assert ("certificate", BANK, 1) in found_in(checked(capsys))


def test_a_question_with_two_keys_is_a_conflict(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(lines(old / BANK)[0])
    other = {**record, "answer": "ABCD".replace(record["answer"], "")[0]}
    (old / "db/mcq/other.jsonl").write_text(json.dumps(other) + "\n")
    assert ("conflict", BANK, 1) in found_in(checked(capsys))  # other.jsonl comes before v1.jsonl


def test_the_same_question_in_two_banks_is_no_fault(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (old / "db/mcq/other.jsonl").write_bytes(b"".join(lines(old / BANK)[:2]))
    report = checked(capsys)
    assert (report["problems"], report["repeated"]) == ([], 2)


def test_an_attempt_that_was_graded_again_by_another_key_counts_as_it_is_now(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The key was put right: until bench rescore has been here, the old grade is named; then no more."""
    path = old / ATTEMPTS
    found = [json.loads(line) for line in lines(path)]
    stale = {**found[0], "letter": found[0]["shown"], "status": "correct"}
    path.write_text("".join(json.dumps(one) + "\n" for one in (stale, *found[1:])))
    assert found_in(checked(capsys)) == {("wrong_grade", ATTEMPTS, 1)}
    again = {**found[0], "replaces": found[0]["id"]}
    path.write_text("".join(json.dumps(one) + "\n" for one in (stale, *found[1:], again)))
    assert checked(capsys)["problems"] == []


def test_an_error_asked_again_and_a_rescore_are_no_repeats(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = old / ATTEMPTS
    found = [json.loads(line) for line in lines(path)]
    failed = {**found[0], "status": "agent_error", "error": {"kind": "network", "message": "gone"}}
    rescored = {**found[1], "status": "unparsed", "shown": None, "letter": None, "method": "unparsed",
                "replaces": found[1]["id"]}  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in (failed, *found, rescored)))
    assert checked(capsys)["problems"] == []


def test_questions_of_a_bank_elsewhere_are_found_by_the_manifest(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = tmp_path / "elsewhere.jsonl"
    (old / BANK).rename(bank)
    (old / "db/mcq/v1.manifest.json").unlink()
    text = (old / MANIFEST).read_text().replace("/srv/bench/db/mcq/v1.jsonl", str(bank))
    (old / MANIFEST).write_text(text)
    assert checked(capsys)["problems"] == []


def test_questions_that_a_mining_session_turned_down_or_never_decided_are_not_missed(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (old / KEPT).unlink()
    path = f"db/attempts/{MINED}.jsonl"
    missing = {("question_missing", SUMMARY, 1), ("question_missing", path, 1), ("question_missing", path, 2)}
    assert found_in(checked(capsys)) == missing
    change(SUMMARY, 1, decision="not_well_posed", reasons=["verifiers_disagree"])(old)
    assert found_in(checked(capsys)) == set()
    (old / SUMMARY).unlink()
    report = checked(capsys)
    assert found_in(report) == set()
    (note,) = report["notes"]  # type: ignore[misc]
    assert note.startswith(f"{path}, line 1: question ") and "bench mine --resume" in note


def test_leftovers_are_notes(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut(ATTEMPTS)(old)
    store.append_line(old / ATTEMPTS, lines(old / ATTEMPTS)[0].replace(b'"repeat": 0', b'"repeat": 0'))
    report = checked(capsys)
    assert found_in(report) == {("duplicate", ATTEMPTS, 6)}
    assert report["notes"] == [f"{ATTEMPTS}.torn: half lines that were set aside after a crash"]


def test_the_text_names_place_fault_and_way_out(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(ATTEMPTS, 2, schema_version=7)(old)
    assert run(["db", "check"]) == 1
    text = capsys.readouterr().out
    expected = f"{ATTEMPTS}, line 2: schema_version: schema_version 7 was written by a newer version; this one reads 1"
    assert text.splitlines()[0] == expected
    assert f"schema_version: 1; {FIXES['schema_version']}" in text
    assert "1 problem: 4 questions, 8 attempts, 2 summary, 0 reviews, 3 tapes" in text


def test_many_of_a_kind_are_counted_and_all_shows_them(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = old / ATTEMPTS
    path.write_bytes(path.read_bytes() + b"{}\n" * 30)
    assert run(["db", "check"]) == 1
    text = capsys.readouterr().out
    assert text.count("line ") == 20 and "schema_version: 30 (10 more not shown; --all shows them)" in text
    assert run(["db", "check", "--all"]) == 1
    assert capsys.readouterr().out.count("line ") == 30


def test_no_store_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    assert run(["db", "check"]) == 2
    assert capsys.readouterr().err == (
        f"error: there is no store in {tmp_path} (no folder db); BENCH_HOME names another place\n"
    )
    assert list(tmp_path.iterdir()) == []
