"""``bench demo``: every step goes through, its pages are there; what fails is said and the rest is made."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from backtrader_bench.cli import demoing, main
from backtrader_bench.cli.main import COMMANDS, run
from backtrader_bench.sandbox import selftest
from backtrader_bench.sandbox.room import Isolation
from tests.agents.reports.test_page import Parsed

WANTED = ["build", "check", "audit", "run", "mine", "report", "page", "page"]


def verb(step: demoing.Step) -> str:
    return shlex.split(step.command)[1]


def sandboxed() -> bool:
    return any(isinstance(selftest.holds(level), Isolation) for level in ("L3", "L2"))


@pytest.mark.slow
def test_every_step_goes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not sandboxed():
        pytest.skip("no sandbox on this machine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demoing, "find_spec", lambda name: None)  # trained attackers have tests of their own
    assert run(["demo", "--json"]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert found["folder"] == str(tmp_path / "bench-demo") and found["exit_code"] == 0
    assert [one["command"].split()[1] for one in found["steps"]] == WANTED
    assert {one["exit_code"] for one in found["steps"]} == {0}
    assert all(f"$ {one['command']}\n" in told.err for one in found["steps"])
    assert [Path(path).name for path in found["pages"]] == ["audit.html", "report.html", "bank.html", "mined.html"]
    for path in found["pages"]:
        assert "<!doctype html>" in Path(path).read_text()[:100]
        assert not [one for tag, one in Parsed(Path(path).read_text()).elements if "src" in one]
    assert Path.cwd() == tmp_path and not (tmp_path / "db").exists()
    assert run(["demo", "-o", "bench-demo"]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_the_steps_are_commands_that_there_are() -> None:
    for learned in (True, False):
        steps = demoing.steps(learned=learned)
        assert [verb(step) for step in steps] == WANTED and set(WANTED) <= set(COMMANDS)
        assert ("--no-learned" in steps[2].command) is not learned
        assert all(step.page in step.command for step in steps)


def fake(monkeypatch: pytest.MonkeyPatch, codes: dict[str, int]) -> list[list[str]]:
    """Steps that make their files, and end with ``codes`` by verb."""
    asked: list[list[str]] = []

    def one(words: list[str]) -> int:
        asked.append(words)
        code = codes.get(words[0], 0)
        made = {"build": "bank.jsonl", "run": "db/attempts/run_1.jsonl", "mine": "db/mcq/mining_1.jsonl"}.get(words[0])
        if code == 0 and made:
            Path(made).parent.mkdir(parents=True, exist_ok=True)
            Path(made).write_text("{}\n")
        if code == 0 and "--html" in words:
            Path(words[words.index("--html") + 1]).write_text("page")
        return code

    monkeypatch.setattr(main, "run", one)
    return asked


@pytest.mark.parametrize(("codes", "code", "left_out", "pages"), [
    ({}, 0, 0, 4),
    ({"mine": 3}, 3, 1, 3),  # no sandbox: only the page of mined questions goes
    ({"build": 4}, 4, 5, 1),
    ({"check": 1, "run": 3}, 1, 1, 3),
])  # fmt: skip
def test_what_fails_leaves_out_only_what_needs_it(
    codes: dict[str, int], code: int, left_out: int, pages: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "elsewhere"))
    asked = fake(monkeypatch, codes)
    assert demoing.demo(tmp_path / "demo", as_json=False) == code
    text = capsys.readouterr().out
    assert len(asked) == 8 - left_out == 8 - text.count("left out: a step before it failed")
    assert text.count(f"{tmp_path}/demo/") == pages
    assert ("see above" in text) is bool(codes)
    if "mine" not in codes:
        assert asked[-1][:2] == ["page", "db/mcq/mining_1.jsonl"]
    assert not (tmp_path / "elsewhere").exists()


def test_ctrl_c_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = fake(monkeypatch, {"audit": 130})
    assert demoing.demo(tmp_path / "demo", as_json=False) == 130
    assert [words[0] for words in asked] == ["build", "check", "audit"]


def test_the_next_free_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench-demo").mkdir()
    assert demoing.fresh(None) == tmp_path / "bench-demo-2"
    assert demoing.fresh(tmp_path / "bench-demo") == tmp_path / "bench-demo"
