"""A store written by the first schema is read by this version, as it stands; one of the future is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backtrader_bench.cli.main import run
from tests.upkeep.conftest import RUN


def test_everything_in_it_is_sound(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "check", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["records"] == {"questions": 4, "attempts": 8, "summary": 2}
    assert (found["tapes"], found["problems"], found["notes"]) == (3, [], [])


def test_its_keys_are_computed_again(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(old / "db/mcq/v1.jsonl"), "--no-cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"] == {"match": 3}


def test_its_runs_are_reported(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", RUN, "--json"]) == 0
    agents = {one["agent"]: one for one in json.loads(capsys.readouterr().out)["agents"]}
    # What the session itself printed when it ended: 3 of 3 and 1 of 3.
    assert agents["oracle"]["accuracy"]["value"] == 1
    assert agents["guesser"]["accuracy"]["value"] == pytest.approx(1 / 3)


def test_its_questions_are_shown(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(old / "db/mcq/v1.jsonl"), "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema_version"] == 1
    assert run(["show", str(old / "db/mcq/v1.jsonl"), "1"]) == 0
    assert "key" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("check", "db/mcq/v1.jsonl"), ("report", RUN), ("show", "db/mcq/v1.jsonl", "1")],
                         ids=lambda words: words[0])  # fmt: skip
def test_a_future_schema_is_refused_with_a_clear_line(
    words: tuple[str, ...], old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(old)
    for name in ("db/mcq/v1.jsonl", f"db/attempts/{RUN}.jsonl"):
        path = old / name
        path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    assert run([*words]) == 2
    told = capsys.readouterr()
    assert "schema_version 2 is unknown; this version reads 1" in told.err + told.out
