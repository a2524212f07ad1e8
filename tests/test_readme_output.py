"""What README.md shows of its first build is what a reader gets, to the last line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backtrader_bench.cli.main import run

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_first_build_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "120")
    (shown,) = re.findall(r"^\$ bench build -o aapl.jsonl\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert run(["build", "-o", "aapl.jsonl"]) == 0
    told = capsys.readouterr().out
    assert [line.split() for line in told.splitlines()] == [line.split() for line in shown.splitlines()]
