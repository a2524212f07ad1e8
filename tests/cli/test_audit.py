"""``bench audit`` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from backtrader_bench.cli import auditing
from backtrader_bench.cli.main import run
from backtrader_bench.mcq_builder.audit import statistics
from backtrader_bench.records import to_line
from tests.helpers import bank

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("--no-learned", "--permutations", "99")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of some ladder questions."""
    path = tmp_path_factory.mktemp("audit") / "small.jsonl"
    path.write_bytes(b"".join(to_line(one) for one in bank(num_questions=30).questions))
    return path


def test_a_small_bank_is_called_too_small(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(small), *QUICK]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[-1].startswith("too small to certify, which is not clean: 30 questions")
    assert "attacker" in told.out and "rank_1" in told.out
    assert told.err == ""


@pytest.mark.slow
def test_json_and_page(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "audit.html"
    assert run(["audit", str(small), str(small), "--permutations", "99", "--json", "--html", str(page)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "too small"
    assert report["n"] == 30  # a question that comes again is no further evidence
    assert report["letters"]["counts"] and report["rows"][0]["accuracy"] >= report["rows"][-1]["accuracy"]
    assert report["criteria"]["learned_bound"] == 0.27
    assert "small.jsonl and 1 more" in page.read_text()


@pytest.mark.slow
def test_the_generator_with_jitter_is_a_leak(capsys: pytest.CaptureFixture[str]) -> None:
    templates = ("--template", "volume", "--template", "portfolio_value", "--template", "win_rate")
    chosen = ("--scheme", "published", "--strategy", "macd_crossover", *templates)
    assert run(["audit", "--generate", "150", *chosen, *QUICK, "--permutations", "199"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("leak (rules")


@pytest.mark.shared
def test_a_long_generation_tells_a_log_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "FIRST_LINE", 0.0)
    words = ["audit", "--generate", "3", "--scheme", "ladder", "--template", "first_close", *QUICK]
    assert run(words) in (0, 1)
    assert "generated 1 of 3 questions in 0 s" in capsys.readouterr().err


def test_published_records_are_read(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(shared / "data/published/pool_part.jsonl"), *QUICK, "--permutations", "199"]) == 1
    assert "template_to_letter" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "one of the two"),
        (["--generate", "5", "x.jsonl"], "one of the two"),
        (["x.jsonl", "--scheme", "ladder"], "--scheme goes with --generate"),
        (["missing.jsonl"], "missing.jsonl"),
        (["--generate", "5", "--scheme", "none"], "scheme"),
        (["--generate", "5", "--template", "none"], "template"),
        (["--generate", "5", "--strategy", "none"], "strategy"),
        (["--generate", "5", "--data", "nowhere"], "nowhere"),
        (["--generate", "5", "--data", "csv:nowhere.csv"], "nowhere.csv"),
        (["x.jsonl", "--html", "no/such/place.html"], "no folder"),
        (["x.jsonl", "--html", "."], "it is a folder"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert part in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("line", ["", "{", "[]", '{"schema_version": 1}', '{"question": "x", "config": {}}'])
def test_a_line_that_is_no_record_is_told(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line + "\n")
    assert run(["audit", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def test_a_missing_extra_ends_with_3(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(statistics, "find_spec", lambda name: None)
    assert run(["audit", str(small)]) == 3
    assert "pip install 'backtrader-bench[audit]'" in capsys.readouterr().err
