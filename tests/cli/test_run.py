"""``bench run`` and ``bench rescore`` as a user meets them."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backtrader_bench import store
from backtrader_bench.agents import oracle, process, scripted
from backtrader_bench.agents.backend import Ask, Reply
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import outcome, pacing, perform, read, trying
from backtrader_bench.agents.runs.questions import read_questions
from backtrader_bench.attempts import Attempt
from backtrader_bench.cli.main import run
from backtrader_bench.errors import StoreError
from backtrader_bench.market import pins
from backtrader_bench.records import to_line
from tests.agents.runs.made import published, write_bank
from tests.helpers import bank as built

if TYPE_CHECKING:
    from collections.abc import Iterable

Captured = pytest.CaptureFixture[str]
USAGE = {"input": 90, "output": 10}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "FIRST_WAIT", 0.01)


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Twelve published questions, all with key B."""
    return write_bank(tmp_path / "bank.jsonl", [published(number) for number in range(12)])


def script(folder: Path, lines: Iterable[dict[str, Any]]) -> str:
    """A scripted agent that plays ``lines``."""
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{path}"


def ids(bank: Path) -> list[str]:
    return [one.id for one in read_questions([bank]).items]


def said(capsys: Captured) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def standing(name: str = "last") -> list[Attempt]:
    return list(read.effective(read.read_run(name).attempts).values())


def outcomes(name: str = "last") -> set[tuple[object, ...]]:
    """What the attempts of a run come to, apart from time and run."""
    return {(one.question_id, one.agent, one.repeat, one.shift, one.status, one.letter) for one in standing(name)}


@pytest.mark.parametrize("failing", ["replace_file", "lock"])
def test_a_run_that_can_not_begin_leaves_nothing(
    failing: str, bank: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object, **more: object) -> None:
        raise StoreError("no space")

    monkeypatch.setattr(store, failing, full)
    assert run(["run", str(bank), "--agent", "guesser"]) == 2
    assert capsys.readouterr().err.endswith("no space\n")
    assert list((store.home() / "logs").iterdir()) == [] and read.runs() == []


def test_offline_agents_on_a_bank_of_ours(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "ours.jsonl"
    path.write_bytes(b"".join(to_line(one) for one in built(num_questions=6).questions))
    agents = ["--agent", "oracle", "--agent", "guesser"]
    assert run(["run", str(path), *agents, "--repeats", "2", "--rotate", "--ask-value", "--json"]) == 0
    found = said(capsys)
    assert found["outcome"] == "done" and found["planned"] == found["final"] == 6 * 2 * 2 * 4
    oracle, guesser = found["agents"]["oracle"], found["agents"]["guesser"]
    assert oracle["accuracy"] == 1.0 and oracle["verified"] == oracle["answered"] == 48
    assert guesser["answered"] == 48 and guesser["verified"] == 0 and guesser["tokens"] is None
    # The key's letter moves with the options, so the right reply is another one each time.
    shown = {one.shift: one.shown for one in standing() if one.agent == "oracle" and one.question_id == ids(path)[0]}
    assert sorted(shown.values()) == ["A", "B", "C", "D"]
    assert len({one.id for one in standing()}) == 96


def test_each_status_is_what_it_is(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    limited = {"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 0.05}, "exit": 1}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("correct", {"text": "<<< {key} >>>", "usage": USAGE, "cost": 0.5}),
        ("wrong", {"text": "<<< {wrong} >>>"}),
        ("unparsed", {"text": "No idea."}),
        ("refused", {"text": "", "refused": True}),
        ("tool_attempted", {"tool_calls": [{"name": "Bash", "arguments": "ls"}], "hang": True}),
        ("timeout", {"hang": True, "ignore_term": True}),
        ("agent_error", {"error": {"kind": "auth", "message": "who are you"}, "exit": 1}),
        ("agent_error", {"exit": 7, "truncated": True, "stderr": "it broke\n"}),
        ("agent_error", {"steps": [limited]}),
        ("correct", {"steps": [limited, limited, {"text": "<<< {key} >>>"}]}),
        ("wrong", {"text": "<<< {wrong} >>>", "model": "m-1", "session_id": "s"}),
        ("correct", {"text": "The answer is **{key}**."}),
    ]
    wanted = dict(zip(ids(bank), steps, strict=True))
    agent = script(tmp_path, ({"id": name, **step} for name, (_, step) in wanted.items()))
    assert run(["run", str(bank), "--agent", agent, "--timeout", "6", "--retries", "2", "-j", "6", "--json"]) == 0
    found = said(capsys)["agents"][agent]
    assert found["errors"] == {"auth": 1, "other": 1, "rate_limit": 1}
    assert found["answered"] == 5 and found["accuracy"] == 3 / 5 and found["lenient"] == 1
    assert found["cost_usd"] == 0.5 and found["attempts_with_cost"] == 1
    by_id = {one.question_id: one for one in standing()}
    assert {name: one.status for name, one in by_id.items()} == {name: status for name, (status, _) in wanted.items()}
    tries = [by_id[name].tries for name in wanted]
    assert tries == [1] * 8 + [3, 3] + [1] * 2
    tool, broken = (by_id[list(wanted)[place]] for place in (4, 7))
    assert [call.name for call in tool.tool_calls] == ["Bash"] and tool.seconds < 6
    assert broken.error is not None and "it broke" in broken.error.message
    session = read.read_run("last").manifest.sessions[0]
    assert not process.marked(session.mark) and session.outcome == "done" and session.ended


def test_transcripts_hold_prompt_reply_and_raw_output(bank: Path, tmp_path: Path) -> None:
    agent = script(tmp_path, [{"text": "x" * 30_000 + " <<< {key} >>>", "stderr": "a word"}])
    assert run(["run", str(bank), "--agent", agent, "--limit", "1", "-q"]) == 0
    (one,) = standing()
    assert one.transcript is not None
    folder = store.home() / one.transcript
    assert (folder / "reply.txt").read_text().endswith("<<< B >>>") and len(one.reply) == 20_000
    assert (folder / "stderr").read_text() == "a word" and b'"type": "result"' in (folder / "stdout").read_bytes()
    assert "Which" in (folder / "prompt.txt").read_text() or "What" in (folder / "prompt.txt").read_text()
    assert "Tools are not allowed" in (folder / "system.txt").read_text()


def test_a_cap_ends_the_run_early_and_a_resumed_one_ends_as_an_uninterrupted_one(
    bank: Path, tmp_path: Path, capsys: Captured
) -> None:
    agent = script(tmp_path, [{"accuracy": 0.5, "usage": USAGE, "cost": 0.01}])
    whole = ["run", str(bank), "--agent", agent, "--repeats", "2", "--json"]
    assert run([*whole, "--run-name", "whole"]) == 0
    assert run([*whole, "--run-name", "cut", "--max-tokens", "1000", "--jobs", "3"]) == 5
    err = capsys.readouterr().err
    assert "--max-tokens 1,000 is reached" in err and "bench run --resume run_" in err
    cut = next(name for name in read.runs() if name.endswith("_cut"))
    assert 8 <= len(standing(cut)) <= 10
    assert run(["run", "--resume", cut, "--max-cost", "0.155", "--json"]) == 5
    assert 14 <= len(standing(cut)) <= 15
    before = {one.id: one for one in standing(cut)}
    assert run(["run", str(bank), "--agent", agent, "--resume", cut, "--json"]) == 0
    assert len(read.read_run(cut).attempts) == len(standing(cut)) == 24
    assert {one.id: one for one in standing(cut)}.items() >= before.items()
    assert outcomes(cut) == outcomes(next(name for name in read.runs() if name.endswith("_whole")))
    assert [one.outcome for one in read.read_run(cut).manifest.sessions] == ["budget", "budget", "done"]


def test_time_runs_out(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    agent = script(tmp_path, [{"text": "<<< {key} >>>", "delay": 0.3}])
    assert run(["run", str(bank), "--agent", agent, "-j", "1", "--max-hours", "0.0001", "-q"]) == 5
    assert "--max-hours 0.0001 are over" in capsys.readouterr().err and 1 <= len(standing()) <= 2


def test_half_a_surrogate_pair_is_no_obstacle(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(ask: Ask) -> Reply:
        return Reply(text="\ud83d <<< B >>>", model="\udc00")

    monkeypatch.setattr(oracle, "ORACLE", dataclasses.replace(oracle.ORACLE, answer=odd))
    assert run(["run", str(bank), "--agent", "oracle", "-q"]) == 0
    assert {one.status for one in standing()} == {"correct"}


def test_errors_are_asked_again_and_answers_are_not(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    names = ids(bank)
    error = {"id": names[0], "error": {"kind": "context", "message": "too long"}}
    agent = script(tmp_path, [error, {"text": "<<< A >>>"}])
    assert run(["run", str(bank), "--agent", agent, "--limit", "12", "-q"]) == 0
    assert "1 of 12 have no final outcome yet" in capsys.readouterr().err
    script(tmp_path, [{"text": "<<< {key} >>>"}])
    assert run(["run", "--resume", "last", "-q"]) == 0
    statuses = {one.question_id: one.status for one in standing()}
    assert statuses.pop(names[0]) == "correct" and set(statuses.values()) == {"wrong"}
    again = next(one for one in standing() if one.question_id == names[0])
    assert again.transcript is not None and again.transcript.endswith("try2")
    assert run(["run", "--resume", "last", "-q"]) == 0
    assert len(read.read_run("last").attempts) == 13


def test_half_a_line_is_set_aside_and_its_question_asked_again(bank: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert run(["run", str(bank), "--agent", "oracle", "-q"]) == 0
    path = read.attempts_path(read.run_named("last"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert run(["run", "--resume", "last", "-q"]) == 0
    lines = whole.splitlines(keepends=True)
    assert path.read_bytes().startswith(b"".join(lines[:-1])) and len(standing()) == 12
    assert path.with_name(path.name + ".torn").read_bytes() == lines[-1][:-40] + b"\n"
    assert "line 12 is cut off" in caplog.text and "now in" in caplog.text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["--mode", "with-tools"], "--mode no-tools, not with-tools"),
        (["--repeats", "2"], "--repeats 1, not 2"),
        (["--agent", "guesser"], "--agent oracle, not guesser"),
        (["--agent", "oracle", "--agent", "guesser"], "--agent oracle, not oracle, guesser"),
        (["--timeout", "5"], "--timeout 600.0, not 5.0"),
        (["--seed", "1"], "--seed 42, not 1"),
        (["--limit", "3"], "--limit None, not 3"),
        (["--rotate"], "--rotate False, not True"),
        (["--ask-value"], "--ask-value False, not True"),
        (["--own-config"], "--own-config False, not True"),
        (["--run-name", "x"], "--run-name is for a new run"),
    ],
)
def test_a_resumed_run_keeps_its_settings(bank: Path, changes: list[str], says: str, capsys: Captured) -> None:
    assert run(["run", str(bank), "--agent", "oracle", "-q"]) == 0
    before = read.attempts_path(read.run_named("last")).read_bytes()
    assert run(["run", "--resume", "last", *changes]) == 2
    err = capsys.readouterr().err
    assert says in err and len(err.splitlines()) == 1
    assert read.attempts_path(read.run_named("last")).read_bytes() == before


def test_a_resumed_run_keeps_its_questions(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run(["run", str(bank), "--agent", "oracle", "-q"]) == 0
    content = bank.read_bytes()
    bank.write_bytes(content.replace(b'"answer": "B"', b'"answer": "C"', 1))
    assert run(["run", "--resume", "last"]) == 2
    assert "bank.jsonl is not what run_" in capsys.readouterr().err
    bank.unlink()
    assert run(["run", "--resume", "last"]) == 2
    assert "bank.jsonl, a question file of run_" in capsys.readouterr().err
    (tmp_path / "moved.jsonl").write_bytes(content)
    assert run(["run", "--resume", "last", str(tmp_path / "moved.jsonl"), "-q"]) == 0


def test_a_run_that_another_process_works_on_is_left_alone(bank: Path, capsys: Captured) -> None:
    assert run(["run", str(bank), "--agent", "oracle", "-q"]) == 0
    with perform.holding(read.run_named("last")):
        for command in (["run", "--resume", "last"], ["rescore", "last"]):
            assert run(command) == 4
            assert "is being written by process" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "name at least one agent"),
        (["--agent", "oracel"], 2, "did you mean oracle?"),
        (["--agent", "oracle", "--agent", "oracle"], 2, "given twice"),
        (["--agent", "oracle", "--data-access", "none"], 2, "--data-access goes with --mode with-tools"),
        (["--agent", "oracle", "--ask-value"], 2, "line 1 holds no value"),
        (["--agent", "oracle", "--mode", "with-tools"], 3, "a published record names no tape"),
        (["--agent", "oracle", "--prices", "none.toml"], 2, "none.toml"),
        (["--agent", "oracle", "--resume", "run_x"], 2, "there is no run 'run_x'"),
        (["--agent", "oracle", "--run-name", "/../"], 2, "holds no letter or digit"),
    ],
)
def test_what_can_not_be_is_said_before_anything_is_asked(
    bank: Path, arguments: list[str], code: int, says: str, capsys: Captured
) -> None:
    assert run(["run", str(bank), *arguments]) == code
    err = capsys.readouterr().err
    assert says in err and len(err.splitlines()) == 1
    assert not read.runs() and not list((store.home() / "logs").glob("*"))


def test_a_program_that_is_missing_is_said_before_anything_is_asked(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(scripted, "SCRIPTED", dataclasses.replace(scripted.SCRIPTED, find=lambda environ: None))
    agent = script(tmp_path, [{"text": "<<< A >>>"}])
    assert run(["run", str(bank), "--agent", agent, "--agent", "oracle"]) == 3
    assert "Scripted agent is not installed" in capsys.readouterr().err and not read.runs()


def test_a_cost_cap_needs_costs(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    silent = dataclasses.replace(scripted.SCRIPTED, offline=False, reports=frozenset({"tokens"}))
    monkeypatch.setattr(scripted, "SCRIPTED", silent)
    agent = script(tmp_path, [{"text": "<<< A >>>"}])
    assert run(["run", str(bank), "--agent", agent, "--max-cost", "1"]) == 2
    assert "reports no cost; give a table" in capsys.readouterr().err and not read.runs()


def test_a_fault_of_ours_is_kept_with_its_traceback_and_stops_the_agent_alone(
    bank: Path, tmp_path: Path, capsys: Captured
) -> None:
    agent = script(tmp_path, [{"id": "no such question"}])
    assert run(["run", str(bank), "--agent", agent, "--agent", "oracle", "--jobs", "1", "--json"]) == 3
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["outcome"] == "incomplete" and found["agents"]["oracle"]["answered"] == 12
    assert found["agents"][agent]["statuses"] == {"harness_error": 3}
    assert "is asked no more after 3 such errors in a row" in err
    one = next(one for one in standing() if one.status == "harness_error")
    assert one.error is not None and "no line of" in one.error.message and one.transcript is not None
    assert "Traceback" in (store.home() / one.transcript / trying.FAULT).read_text()


def test_a_full_disk_is_one_line_and_ends_the_run(
    bank: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    real, count = store.append_line, 0

    def full(path: Path, line: bytes, fsync: bool = True) -> None:
        nonlocal count
        count += 1
        if count > 3:
            raise StoreError(f"cannot write {path}: No space left on device")
        real(path, line, fsync)

    monkeypatch.setattr(store, "append_line", full)
    assert run(["run", str(bank), "--agent", "oracle", "--jobs", "2", "-q"]) == 2
    err = capsys.readouterr().err
    assert "No space left on device" in err and len(err.splitlines()) == 1
    assert len(standing()) == 3 and read.read_run("last").manifest.sessions[0].outcome == "failed"
    monkeypatch.setattr(store, "append_line", real)
    assert run(["run", "--resume", "last", "-q"]) == 0
    assert len(read.read_run("last").attempts) == 12


def test_prices_go_where_they_are_allowed_and_no_key_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    path = tmp_path / "ours.jsonl"
    made = built(num_questions=3)
    path.write_bytes(b"".join(to_line(one) for one in made.questions))
    for tape in made.tapes.values():
        pins.save(tape)
    arguments = ["run", str(path), "--agent", "command:cat prices.csv", "--mode", "with-tools"]
    assert run([*arguments, "--keep-workspaces"]) == 0
    texts = {trying.text_of(one) for one in standing()}
    assert texts == {tape.canonical().decode().strip() for tape in made.tapes.values()}
    folder = Path(capsys.readouterr().out.rpartition("workspaces: ")[2].strip())
    kept = {file.name: file.read_text() for file in folder.rglob("*") if file.is_file()}
    assert {"prices.csv", "question.txt"} <= set(kept)
    assert not any(word in text for text in kept.values() for word in ('"answer"', "option_origins", "fingerprints"))
    assert run([*arguments, "--data-access", "none"]) == 0
    assert all(one.error is not None and "prices.csv: No such file" in one.error.message for one in standing())
    assert [one.name for one in (tmp_path / "tmp").iterdir()] == [folder.name]


def test_bars_that_are_missing_are_said_before_anything_is_asked(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "ours.jsonl"
    (one,) = built(num_questions=1).questions
    record = json.loads(to_line(one))
    record["tape"] |= {"source": "csv:gone.csv", "sha256": "0" * 64}
    path.write_text(json.dumps(record) + "\n")
    assert run(["run", str(path), "--agent", "oracle", "--mode", "with-tools"]) == 3
    assert "not pinned" in capsys.readouterr().err and not read.runs()
    assert run(["run", str(path), "--agent", "oracle", "--mode", "with-tools", "--data-access", "none", "-q"]) == 0


def test_a_dry_run_shows_everything_and_writes_nothing(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('[m]\ninput = 1000.0\noutput = 0.0\n')
    arguments = ["run", str(bank), "--agent", "oracle", "--limit", "2", "--rotate", "--dry-run", "--prices", str(table)]
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert "Tools are not allowed" in out and out.count("What was close number") == 8 and "options rotated by 3" in out
    assert run([*arguments, "--json"]) == 0
    found = said(capsys)
    assert found["attempts"] == 8 and len({one["prompt"] for one in found["prompts"]}) == 8
    assert found["agents"][0]["cost_usd"] == 0.0
    assert not read.runs() and not (store.home() / "logs").exists()


def test_names_are_safe_and_never_taken_twice(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrader_bench.agents.runs import names

    stem = "run_20260101_000000_same"
    monkeypatch.setattr(names, "run_name", lambda when, name: stem)
    for _ in range(3):
        assert run(["run", str(bank), "--agent", "oracle", "-q"]) == 0
    assert read.runs() == [stem + end for end in ("", "_2", "_3")]


def test_a_manifest_says_what_was_given_and_what_held(bank: Path, capsys: Captured) -> None:
    assert run(["run", str(bank), str(bank), "--agent", "oracle", "--run-name", "a/b c", "--json"]) == 0
    found = said(capsys)
    assert found["duplicates"] == 12 and found["run"].endswith("_a-b-c")
    manifest = manifests.read(manifests.manifest_path(found["run"]))
    assert manifest.given == {"agents": ["oracle"]} and manifest.settings.repeats == 1
    assert [one.questions for one in manifest.files] == [12, 0]
    (session,) = manifest.sessions
    assert session.agents[0].no_tools_by and session.running["jobs"] == 4 and session.host["cpus"] >= 1


def test_rescoring_records_what_reads_differently(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    long = "x" * 30_000 + "\nchoice {key}"
    agent = script(tmp_path, [{"id": ids(bank)[0], "text": long}, {"text": "<<< {wrong} >>>"}])
    real = outcome.read_answer

    def reading(letter: str | None, method: str) -> None:
        """Have the one long reply read so."""
        one = (letter, method)
        monkeypatch.setattr(outcome, "read_answer", lambda text, shown: one if "choice" in text else real(text, shown))

    reading(None, "unparsed")
    assert run(["run", str(bank), "--agent", agent, "-q"]) == 0
    reading("B", "lenient")
    capsys.readouterr()
    assert run(["rescore", "last", "--dry-run"]) == 0
    assert "12 replies read again, 1 read differently, nothing written" in capsys.readouterr().out
    assert len(read.read_run("last").attempts) == 12
    assert run(["rescore", "last", "--json"]) == 0
    found = said(capsys)
    assert (found["read"], found["changed"]) == (12, 1)
    assert found["changes"][0]["before"]["status"] == "unparsed" and found["changes"][0]["after"]["status"] == "correct"
    records = read.read_run("last").attempts
    assert len(records) == 13 and records[-1].replaces == records[-1].id and len(standing()) == 12
    assert run(["rescore", "last"]) == 0
    assert "0 read differently" in capsys.readouterr().out


def test_an_agent_that_lays_pipes_for_its_reader_stops_nobody(bank: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.sh"
    odd.write_text('#!/bin/sh\ncd "$HOME/.."\nrm -f stdout stderr\nmkfifo stdout stderr\necho "<<< B >>>"\n')
    odd.chmod(0o755)
    agents = ["--agent", f"command:{odd}", "--agent", "oracle"]
    assert run(["run", str(bank), *agents, "--limit", "2", "--timeout", "30", "--mode", "with-tools", "-q",
                "--data-access", "none"]) == 0  # fmt: skip
    assert [one.status for one in standing()] == ["correct"] * 4
    kept = [one.transcript for one in standing() if one.backend == "command"]
    assert [(store.home() / str(folder) / "stdout").read_text() for folder in kept] == ["<<< B >>>\n"] * 2
