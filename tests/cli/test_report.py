"""``bench report`` and ``bench compare`` from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest

from backtrader_bench import store
from backtrader_bench.agents.reports.schema import Report
from backtrader_bench.agents.runs import read
from backtrader_bench.cli.main import run
from tests.agents.reports import hand, simulated

OTHER = "run_20260102_000000"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Two runs in the store, over the questions made by hand."""
    path = hand.bank(tmp_path)
    simulated.write(simulated.manifest(hand.RUN, ("a", "b"), path, 32, repeats=2), hand.attempts())
    simulated.simulate(OTHER, path, {"a": 0.9, "[red]x[/]\x1b": 0.3}, repeats=2, transcripts=False)
    return path


def test_the_tables(bank: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["report", hand.RUN, "--floor", "0.4"]) == 0
    text = capsys.readouterr().out
    rows = [line.split() for line in text.splitlines()]
    assert ["a", "15", "73.3%"] in [row[:3] for row in rows]
    assert "73.3% 68.8%" in " ".join(next(row for row in rows if row[:2] == ["a", "lenient"]))
    assert "2 agent error (2 rate_limit), 2 refused" in " ".join(text.split())
    assert "tied" in text and "clustered by configuration (4 of them)" in text and "floor: 40.0%, as given" in text
    assert max(map(len, text.splitlines())) <= 80


def test_names_from_records_steer_no_terminal(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", OTHER]) == 0
    text = capsys.readouterr().out
    assert "[red]x[/]?" in text and "\x1b" not in text
    assert run(["compare", hand.RUN, OTHER]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_json_is_the_report(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", hand.RUN, OTHER, "--json"]) == 0
    found = msgspec.json.decode(capsys.readouterr().out, type=Report)
    assert [one.run for one in found.runs] == [hand.RUN, OTHER]
    assert sorted(one.agent for one in found.agents) == ["[red]x[/]\x1b", "a", "b"]
    assert found.floor is not None and found.floor.value >= 0.25 and found.floor.chance_p is not None


def test_csv_has_a_row_an_attempt(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "rows.csv"
    made = hand.attempts()
    made[0] = msgspec.structs.replace(made[0], given_value="=cmd|' /C calc'!A0", mistake="-12.5")
    simulated.write(simulated.manifest(hand.RUN, ("a", "b"), bank, 32, repeats=2), made)
    assert run(["report", hand.RUN, "--csv", str(target)]) == 0
    rows = list(csv.DictReader(io.StringIO(target.read_text())))
    assert len(rows) == 32
    answered = [row for row in rows if row["answered"] == "1"]
    assert sum(int(row["right"]) for row in answered if row["agent"] == "a") == 11
    assert {row["right"] for row in rows if row["answered"] == "0"} == {""}
    odd = next(row for row in rows if row["attempt"] == made[0].id)
    assert (odd["given_value"], odd["mistake"]) == ("'=cmd|' /C calc'!A0", "-12.5")
    assert {row["tier"] for row in rows} == {"easy", "hard"}
    assert f"rows: {target} (with the keys)" in capsys.readouterr().out.replace("\n", "")


def test_html_is_written(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.html"
    assert run(["report", "last", hand.RUN, "--html", str(target), "--json"]) == 0
    json.loads(capsys.readouterr().out)
    assert target.read_text().startswith("<!doctype html>")


def test_a_record_with_half_a_character_is_one_line_or_passed_over_with_a_note(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd, target = tmp_path / "odd.jsonl", tmp_path / "report.html"
    odd.write_text(json.dumps(hand.question(1, type="half \ud83d")) + "\n")
    assert run(["report", hand.RUN, "--questions", str(odd), "--html", str(target)]) == 2
    said = capsys.readouterr().err
    assert "odd.jsonl, line 1: holds half a character" in said and said.count("\n") == 1 and not target.exists()
    bank.unlink()
    (store.folder("mcq") / "odd.jsonl").write_bytes(odd.read_bytes())
    assert run(["report", hand.RUN, "--html", str(target)]) == 0
    assert "passed over" in capsys.readouterr().out and "half a character" in target.read_text()


def test_compare(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", hand.RUN, OTHER, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["second"]) == (hand.RUN, OTHER)
    assert [one["first_agent"] for one in found["agents"]] == ["a"]
    assert run(["compare", hand.RUN, OTHER]) == 0
    text = capsys.readouterr().out
    assert "settings that differ" in text and "8 questions answered in both" in text


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["report"], "Missing argument"),
        (["report", "run_20260101_000001"], "did you mean run_20260101_000000"),
        (["report", "nothing"], "there is no run 'nothing'"),
        (["report", "last", "--floor", "1"], "--floor"),
        (["report", "last", "--by", "mood"], "--by"),
        (["report", "last", "--seed", "-1"], "--seed"),
        (["report", "last", "--questions", "missing.jsonl"], "missing.jsonl"),
        (["report", "last", "--html", "no/such/place.html"], "no folder"),
        (["report", "last", "--csv", "."], "it is a folder"),
        (["report", "last", "--questions", "BANK", "--csv", "BANK"], "the same command reads"),
        (["compare", "last"], "Missing argument"),
        (["compare", "last", "last"], "name two runs"),
        (["compare", "last", "nothing"], "there is no run 'nothing'"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(
    bank: Path, words: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = bank.read_bytes()
    assert run([str(bank) if word == "BANK" else word for word in words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert part in told.err
    assert told.err.count("\n") == 1
    assert bank.read_bytes() == before


def test_many_agents_with_long_names_fit_a_small_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only pairs with a common question get a row; a name is broken in no word."""
    monkeypatch.setenv("COLUMNS", "80")
    path = hand.bank(tmp_path)
    agents = [f"command:/home/someone/a/long/way/to/agent{number}.sh" for number in range(5)]
    named = "command:llama=/home/someone/a/long/way/to/agent {model}"
    simulated.simulate(OTHER, path, dict.fromkeys([*agents, named], 0.5), transcripts=False)
    kept = [one for one in read.read_run(OTHER).attempts if one.agent in (agents[0], named) or one.status == "refused"]
    failed = [
        msgspec.structs.replace(one, status="timeout", letter=None, shown=None, method="unparsed")
        for one in read.read_run(OTHER).attempts if one not in kept
    ]  # fmt: skip
    simulated.write(simulated.manifest(OTHER, (*agents, named), path, len(kept + failed)), kept + failed)
    assert run(["report", OTHER]) == 0
    text = capsys.readouterr().out
    assert "14 of 15 pairs have no common question" in text and text.count("no common question") == 1
    rows = {line.split()[0] for line in text.splitlines() if line.strip()}
    assert {"llama", *(f"command:agent{number}.sh" for number in range(5))} <= rows
    assert "/long/" not in text
    assert max(len(line) for line in text.splitlines() if not line.startswith((OTHER, "note:", "floor:"))) <= 80
    header = text[text.index("by tier"):].splitlines()[1]
    assert header.split() == ["tier", "n", "llama", "command:agent0.sh", "command:agent1.sh"]
    assert run(["report", OTHER, "--json"]) == 0
    assert named in [one["agent"] for one in json.loads(capsys.readouterr().out)["agents"]]
