"""``bench check`` as a user meets it: screen, JSON, report, exit codes."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from backtrader_bench.api import checking as api
from backtrader_bench.cli import checking
from backtrader_bench.cli.main import run
from backtrader_bench.market import pins
from tests.checker.hand import record
from tests.checker.worlds import tape as random_tape

if TYPE_CHECKING:
    from pathlib import Path

TAPE = random_tape(Random(5), 120)
Captured = pytest.CaptureFixture[str]


def first_close(**changes: Any) -> bytes:
    """A line in order."""
    options = tuple(f"${TAPE.close[0] * factor:,.2f}" for factor in (1, 1.1, 1.2, 1.3))
    return json.dumps(record("first_close", options, round(TAPE.close[0], 2), TAPE, **changes)).encode()  # type: ignore[arg-type]


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three records in order; their words are not the templates', so that check is left out."""
    monkeypatch.setattr(api, "text_problems", lambda question: [])
    pins.save(TAPE)
    path = tmp_path / "bank.jsonl"
    path.write_bytes(b"\n".join([first_close()] * 3) + b"\n")
    return path


def spoil(bank: Path, *lines: bytes) -> None:
    """Add lines to the bank."""
    bank.write_bytes(bank.read_bytes() + b"\n".join(lines) + b"\n")


def test_a_bank_in_order(bank: Path, capsys: Captured) -> None:
    assert run(["check", str(bank)]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "3 of 3 match, both engines" and err == ""


def test_a_wrong_key_is_shown_with_its_line(bank: Path, capsys: Captured) -> None:
    spoil(bank, first_close(answer="C"))
    assert run(["check", str(bank)]) == 1
    out = capsys.readouterr().out
    assert "wrong key" in out and "A is right" in " ".join(out.split())
    assert out.splitlines()[-1] == "3 of 4 match, both engines"


def test_words_that_drifted_are_told(bank: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(api, "text_problems", lambda question: ["stem differs"])
    assert run(["check", str(bank)]) == 1
    assert "text drift" in capsys.readouterr().out


def test_json_has_counts_and_what_does_not_match(bank: Path, capsys: Captured) -> None:
    spoil(bank, first_close(answer="C"))
    assert run(["check", str(bank), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["matches"]) == (4, 3)
    assert found["verdicts"] == {"match": 3, "wrong_key": 1}
    assert found["templates"] == {"first_close": {"match": 3, "wrong_key": 1}}
    (odd,) = found["not_matching"]
    assert (odd["line"], odd["key"], odd["right"], odd["verdict"]) == (4, "C", ["A"], "wrong_key")


def test_the_report_has_every_verdict(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    spoil(bank, first_close(answer="C"))
    report = tmp_path / "verdicts.jsonl"
    assert run(["check", str(bank), "--report", str(report)]) == 1
    found = [json.loads(line) for line in report.read_text().splitlines()]
    assert [(one["line"], one["verdict"]) for one in found] == [
        (1, "match"),
        (2, "match"),
        (3, "match"),
        (4, "wrong_key"),
    ]
    assert str(report) in capsys.readouterr().out.replace("\n", "")


def test_a_line_that_is_no_record_ends_with_2_after_the_rest(bank: Path, capsys: Captured) -> None:
    spoil(bank, b'{"a": NaN}', b"[]", first_close())
    assert run(["check", str(bank)]) == 2
    out, err = capsys.readouterr()
    assert "4 of 6 match, both engines" in out
    assert err == f"error: {bank}, line 4: not JSON: NaN is no JSON number (1 more such line)\n"


def test_nothing_to_check_against_ends_with_3(bank: Path, capsys: Captured) -> None:
    for pinned in pins._pin_path(TAPE.sha256).parent.iterdir():
        pinned.unlink()
    assert run(["check", str(bank)]) == 3
    assert "point --data at it" in capsys.readouterr().err


def test_a_missing_cluster_extra_ends_with_3(bank: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    assert run(["check", str(bank), "--cluster", "dask://127.0.0.1:1"]) == 3
    assert "backtrader-bench[cluster]" in capsys.readouterr().err


def test_what_a_record_says_cannot_steer_the_screen(bank: Path, capsys: Captured) -> None:
    spoil(bank, first_close(type="\x1b[31m[red]evil[/red]\n" + "x" * 500))
    assert run(["check", str(bank)]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out and "[red]evil" in "".join(out.split())


def test_a_long_list_is_cut_on_screen_and_whole_in_the_report(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    spoil(bank, *[first_close(answer="C")] * 30)
    report = tmp_path / "all.jsonl"
    assert run(["check", str(bank), "--report", str(report)]) == 1
    out = capsys.readouterr().out
    assert out.count("first_close") == checking.SHOWN and "and 10 more" in out
    assert len(report.read_text().splitlines()) == 33


def test_a_report_that_cannot_be_written_is_refused_at_once(bank: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run(["check", str(bank), "--report", str(tmp_path)]) == 2
    assert run(["check", str(bank), "--report", str(tmp_path / "none" / "x")]) == 2
    assert capsys.readouterr().err.count("error: ") == 2


@pytest.mark.shared
def test_published_files_match(shared: Path, capsys: Captured) -> None:
    pool, prices = shared / "data" / "published" / "pool_part.jsonl", shared / "data" / "AAPL.csv"
    assert run(["check", str(pool), "--data", str(prices)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "102 of 102 match, both engines"
    assert "365" in out
