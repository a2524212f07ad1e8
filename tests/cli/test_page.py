"""``bench page`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backtrader_bench.cli.main import run
from backtrader_bench.records import public_part, to_line
from tests.helpers import bank

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def lines() -> bytes:
    return b"".join(map(to_line, bank(num_questions=3).questions))


@pytest.fixture
def file(lines: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "bank.jsonl"
    path.write_bytes(lines)
    return path


def test_it_says_what_was_written(file: Path, tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "bank.html"
    assert run(["page", str(file), str(file), "--html", str(target)]) == 0
    out, err = capsys.readouterr()
    assert f"page: {target} (3 questions" in out and "it holds the keys" in out and err == ""
    assert "left out: 3 lines" in out and "keep it where no agent" in target.read_text()
    # Synthetic bars can be made again from their name, so nothing has to be in the store.
    assert "no chart" not in out


def test_json_and_no_answers(file: Path, tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "public.html"
    assert run(["page", str(file), "--html", str(target), "--no-answers", "--title", "Mine", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["backtests"], found["answers"]) == (3, 0, False)
    assert found["bytes"] == target.stat().st_size and "<title>Questions: Mine</title>" in target.read_text()


def test_bad_input_is_one_line_and_leaves_nothing(file: Path, tmp_path: Path, capsys: Captured) -> None:
    target, bare = tmp_path / "x.html", tmp_path / "bare.jsonl"
    bare.write_text("".join(json.dumps(public_part(json.loads(line))) + "\n" for line in file.open()))
    for words, said in (
        (["page", str(tmp_path / "none.jsonl"), "--html", str(target)], "none.jsonl"),
        (["page", str(bare), "--html", str(target)], "give --no-answers"),
        (["page", str(file), "--html", str(file)], "the same command reads; give the output another name"),
        (["page", str(file), "--html", str(tmp_path / "no" / "x.html")], "there is no folder"),
        (["page", str(file)], "--html"),
    ):
        assert run(words) == 2
        err = capsys.readouterr().err
        assert said in err and err.count("\n") == 1
    assert not target.exists()
