"""``bench data``: what is printed, where errors go, and the exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backtrader_bench import store
from backtrader_bench.cli.charts import chart
from backtrader_bench.cli.main import run
from backtrader_bench.market import pins, sources

CSV = "Date,Open,High,Low,Close,Volume\n" + "".join(
    f"2020-01-{day:02},{p},{p},{p},{p},50\n" for day, p in ((6, 10), (7, 10.5), (8, 5.2), (16, 5.1), (17, 5.3))
)
Captured = pytest.CaptureFixture[str]


def test_list(capsys: Captured) -> None:
    assert run(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "AAPL  2005-03-01 to 2013-03-01   2,015 bars  bd109b6c96e4" in out
    assert "extreme" in out
    assert "none yet" in out
    pins.save(sources.load("synthetic:calm:1", "SYNA"))
    assert run(["data", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [entry["symbol"] for entry in found["bundled"]] == ["AAPL", "GOOG", "IBM", "MSFT"]
    assert [entry["symbol"] for entry in found["pinned"]] == ["SYNA"]
    assert {entry["regime"] for entry in found["synthetic"]} == {"calm", "hard", "extreme"}


def test_list_shows_damage(capsys: Captured) -> None:
    pins.save(sources.load("synthetic:calm:1", "SYNA")).write_bytes(b"x")
    assert run(["data", "list"]) == 0
    assert "DAMAGED" in capsys.readouterr().out


def test_show_a_symbol(capsys: Captured) -> None:
    assert run(["data", "show", "AAPL", "--start-date", "2012-01-01", "--end-date", "2013-01-01"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("AAPL  bundled  2012-01-03 to 2012-12-31  250 bars\n")
    assert "\x1b" not in out
    assert "5 days from 2012-10-26 to 2012-10-31" in out
    assert "jumps   none like a split" in out


def test_show_a_file(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(CSV)
    assert run(["data", "show", str(path)]) == 0
    out = capsys.readouterr().out
    assert "8 days from 2020-01-08 to 2020-01-16" in out
    assert "2020-01-08 opens at 0.4952 times the close before, like 2:1" in out
    assert run(["data", "show", str(path), "--json", "--start-date", "2020-01-08"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["rows"], found["jumps"]) == ("2020-01-08", 3, [])
    assert found["gaps"] == [{"after": "2020-01-08", "before": "2020-01-16", "days": 8}]


def test_show_a_hash(capsys: Captured) -> None:
    tape = sources.load("synthetic:hard:1", "SYNA")
    pins.save(tape)
    assert run(["data", "show", tape.sha256[:10]]) == 0
    assert capsys.readouterr().out.startswith("SYNA  pinned:")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", "none.csv"], 2),
        (["show", "../../x"], 2),
        (["show", "a b"], 2),
        (["show", "0123456789abcdef"], 3),
        (["show", "AAPL", "--start-date", "2020-01-01", "--data", "bundled"], 2),
        (["show", "AAPL", "--start-date", "1/2/2020"], 2),
        (["show", "AAPL", "--data", "oracle"], 2),
        (["fetch"], 2),
        (["fetch", "TSLA", "--data", "bundled"], 2),
        (["verify", "xyz"], 2),
        (["verify", "0123456789ab"], 3),
        (["verify", "none.csv"], 2),
        (["nonsense"], 2),
    ],
)
def test_errors_are_one_line(arguments: list[str], code: int, capsys: Captured) -> None:
    assert run(["data", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_fetch(capsys: Captured) -> None:
    assert run(["data", "fetch", "AAPL", "SYNA", "--start-date", "2010-01-01", "--end-date", "2011-01-01"]) == 0
    assert "AAPL  2010-01-04 to 2010-12-31  252 bars from bundled" in capsys.readouterr().out
    assert len(list(pins.pinned())) == 2
    assert run(["data", "fetch", "IBM", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["tapes"]
    assert Path(entry["path"]).name == f"{entry['sha256']}.csv.gz"


def test_verify(capsys: Captured, tmp_path: Path) -> None:
    good = pins.save(sources.load("synthetic:calm:1", "SYNA"))
    bad = pins.save(sources.load("synthetic:calm:2", "SYNA"))
    assert run(["data", "verify"]) == 0
    assert "6 checked, 0 not as named" in capsys.readouterr().out
    bad.write_bytes(good.read_bytes())
    assert run(["data", "verify"]) == 1
    assert "6 checked, 1 not as named" in capsys.readouterr().out
    assert run(["data", "verify", good.name[:12], str(good), "AAPL"]) == 0
    assert run(["data", "verify", str(bad)]) == 1
    capsys.readouterr()
    (tmp_path / "ABC.csv").write_text(CSV)
    assert run(["data", "verify", str(tmp_path / "ABC.csv"), "--json"]) == 0
    assert "not pinned" in json.loads(capsys.readouterr().out)["tapes"][0]["note"]


def test_nothing_is_written_by_looking(own_home: Path) -> None:
    assert run(["data", "list"]) == 0
    assert run(["data", "show", "IBM"]) == 0
    assert run(["data", "verify"]) == 0
    assert not store.home().exists()


@pytest.mark.parametrize("columns", [1, 20, 30, 45, 80, 120, 400])
def test_the_chart_fits(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    tape = sources.load("bundled", "IBM")
    lines = chart(tape.dates, tape.close)
    assert bool(lines) == (columns >= 30)
    assert all(len(line) <= min(columns, 110) for line in lines)


def test_the_chart_of_two_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = sources.load("bundled", "IBM", "2010-01-04", "2010-01-06")
    assert chart(tape.dates, tape.close)
    assert chart(tape.dates[:1], tape.close[:1]) == []


def test_a_terminal_without_unicode() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "backtrader_bench", "data", "show", "IBM"],
        capture_output=True, check=False, env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin", "COLUMNS": "80"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"*" in done.stdout


@pytest.mark.parametrize("command", [[], ["list"], ["show"], ["fetch"], ["verify"]])
def test_help_has_examples(command: list[str], capsys: Captured) -> None:
    assert run(["data", *command, "--help"]) == 0
    assert f"bench data {command[0] if command else ''}" in capsys.readouterr().out
