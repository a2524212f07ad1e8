"""Attempts as an Inspect log, and back: worked out by hand from the run of tests/agents/reports/hand.py."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.agents.runs import read
from backtrader_bench.cli.main import run
from tests.agents.reports import hand, simulated

RUN = hand.RUN


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """The run in the store; its bank."""
    path = hand.bank(tmp_path)
    simulated.write(simulated.manifest(RUN, ("a", "b"), path, 32, repeats=2), hand.attempts())
    return path


def exported(tmp_path: Path, *more: str) -> dict[str, Any]:
    assert run(["export", "inspect-log", RUN, "-o", str(tmp_path / "log.json"), *more]) == 0
    found: dict[str, Any] = json.loads((tmp_path / "log.json").read_bytes())
    return found


def test_only_answers_are_scored(stored: Path, tmp_path: Path) -> None:
    log = exported(tmp_path, "--agent", "b")
    # b, twice: q1-q3 right (q1 wrong the second time), q4 and q5 wrong, then unparsed, refused, an error.
    values = Counter(next(iter(one["scores"].values()))["value"] for one in log["samples"] if one["scores"])
    assert values == {"C": 5, "I": 5}
    (score,) = log["results"]["scores"]
    assert score["metrics"]["accuracy"]["value"] == 0.5
    assert (score["scored_samples"], score["unscored_samples"]) == (10, 6)
    assert (log["results"]["total_samples"], log["results"]["completed_samples"]) == (16, 14)
    assert [one["error"]["message"] for one in log["samples"] if "error" in one] == [
        "agent_error (rate_limit): slow down"
    ] * 2  # fmt: skip
    assert sorted(one["epoch"] for one in log["samples"]) == [1] * 8 + [2] * 8


def test_a_timeout_is_a_limit_and_unknown_tokens_are_left_out(stored: Path, tmp_path: Path) -> None:
    log = exported(tmp_path, "--agent", "a")
    assert [one["limit"]["type"] for one in log["samples"] if "limit" in one] == ["time"]
    # a reports 100 tokens in and 10 out but where it ran into the limit.
    assert log["stats"]["model_usage"]["bench/a"]["input_tokens"] == 1500
    assert exported(tmp_path, "--agent", "b", "--force")["stats"]["model_usage"] == {}


def test_a_folder_takes_a_log_an_agent_and_eval_holds_what_json_does(stored: Path, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    assert run(["export", "inspect-log", RUN, "-o", str(tmp_path / "logs")]) == 0
    assert sorted(one.name for one in (tmp_path / "logs").iterdir()) == [f"{RUN}_a.eval", f"{RUN}_b.eval"]
    log = exported(tmp_path, "--agent", "a")
    with zipfile.ZipFile(tmp_path / "logs" / f"{RUN}_a.eval") as file:
        header = json.loads(file.read("header.json"))
        samples = [json.loads(file.read(name)) for name in file.namelist() if name.startswith("samples/")]
        assert len(json.loads(file.read("summaries.json"))) == 16
    assert {**header, "samples": samples} == log


def test_options_are_shown_as_they_were_rotated(tmp_path: Path) -> None:
    bank = hand.bank(tmp_path)
    attempts = [hand.one("a", 1, 0, "+", shift=shift, shown="BADC"[shift], reply="") for shift in range(4)]
    simulated.write(simulated.manifest(RUN, ("a",), bank, 4, rotate=True), attempts)
    samples = exported(tmp_path)["samples"]
    assert [one["target"] for one in samples] == ["B", "A", "D", "C"]
    for one in samples:
        assert one["choices"]["ABCD".index(one["target"])] == hand.QUESTIONS[0]["options"]["B"]
        assert f"{one['target']}. {hand.QUESTIONS[0]['options']['B']}" in one["input"][1]["content"]
    assert len({one["id"] for one in samples}) == 4


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_a_log_taken_in_again_is_the_run_it_came_from(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = hand.bank(tmp_path)
    simulated.simulate(RUN, bank, {"a": 0.7}, repeats=2, transcripts=False)
    before = read.read_run(RUN).attempts
    file = tmp_path / f"log{suffix}"
    assert run(["export", "inspect-log", RUN, "-o", str(file)]) == 0
    capsys.readouterr()
    assert run(["import", str(file), "--questions", str(bank), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    after = read.read_run(said["run"]).attempts

    # Made-up failures still hold a reply here, which is read; real ones have none.
    known = {(one.question_id, one.repeat): one for one in before if one.status in ("correct", "wrong", "timeout")}
    assert len(after) == len(before) and len(known) > 10
    for one in after:
        if was := known.get((one.question_id, one.repeat)):
            assert (one.status, one.letter, one.usage.input) == (was.status, was.letter, was.usage.input)
    assert said["graded_apart"] == 0
    assert run(["report", said["run"]]) == 0


def test_what_can_not_be_written_is_one_line(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        [RUN, "-o", str(tmp_path / "log.json")], [RUN, "-o", str(tmp_path / "log.txt"), "--agent", "a"],
        ["run_20990101_000000", "-o", str(tmp_path / "log.json")],
        [RUN, "-o", str(tmp_path / "log.json"), "--agent", "c"], [RUN, RUN, "-o", str(tmp_path / "log.json")],
        [RUN, "-o", str(tmp_path / "no" / "log.json"), "--agent", "a"],
        [RUN, "-o", str(tmp_path / "log.json"), "--no-answers"],
    ):  # fmt: skip
        assert run(["export", "inspect-log", *words]) == 2, words
        said = capsys.readouterr().err
        assert said.startswith("error: ") and said.count("\n") == 1
    assert [one.name for one in tmp_path.iterdir()] == ["bank.jsonl"]
