"""``bench doctor``: what is there, what is missing and the fix, and that it changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench import store
from backtrader_bench.agents import survey
from backtrader_bench.cli import doctoring
from backtrader_bench.cli.main import run
from backtrader_bench.market import yahoo
from backtrader_bench.sandbox import selftest
from backtrader_bench.sandbox.room import Isolation
from backtrader_bench.upkeep import places

FIXTURE = Path(__file__).resolve().parents[1] / "data" / "store_v1"
HELD = Isolation(level="L3", net="blocked", fs="hidden", pids="hidden", mem="limited")
OPEN = Isolation(level="L1", net="open", fs="open", pids="open", mem="limited")


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine whose sandbox holds, with a copy of a store; agents are looked for in an empty PATH."""
    home = tmp_path / "home"
    shutil.copytree(FIXTURE, home)
    monkeypatch.setenv("BENCH_HOME", str(home))
    monkeypatch.setattr(selftest, "holds", lambda level, profile="program": HELD)
    monkeypatch.setattr(survey, "look_at_all", lambda environ: [
        survey.Found(name="oracle", title="Oracle", found=True, version="1"),
        survey.Found(name="claude", title="Claude", found=False, install="npm"),
    ])  # fmt: skip
    return home


def looked(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["doctor", "--json", *words]) == code
    found = json.loads(capsys.readouterr().out)
    checks: list[dict[str, Any]] = found["checks"]
    assert found["problems"] == sum(check["state"] == "problem" for check in checks)
    assert all(check["fix"] for check in checks if check["state"] == "problem")
    return checks


def problems(checks: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(check["topic"], check["text"]) for check in checks if check["state"] == "problem"]


def test_a_machine_without_fault(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(machine.rglob("*"))
    checks = looked(capsys)
    topics = ["python", "packages", "agents", "sandbox", "data", "config", "store", "disk", "locks"]
    assert list(dict.fromkeys(check["topic"] for check in checks)) == topics
    assert problems(checks) == []
    assert sorted(machine.rglob("*")) == before
    assert run(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "sandbox L3: network blocked" in text and "not found: claude" in text
    assert text.endswith("nothing in the way\n")


def test_a_sandbox_that_keeps_nothing_in_is_a_problem_with_every_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reasons = {"L3": "L3: bubblewrap is not installed", "L2": "L2 does not hold: net open"}
    monkeypatch.setattr(selftest, "holds", lambda level, profile="program": reasons.get(level, OPEN))
    checks = looked(capsys, code=3)
    told = [check["text"] for check in checks if check["topic"] == "sandbox"]
    assert told[:2] == list(reasons.values())
    assert problems(checks)[0][1].endswith("bench mine runs no verifier")


def test_disk_store_and_configuration(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(2**40, 2**40, 2**20))
    config = tmp_path / "bench.toml"
    config.write_text("[run]\nagnet = 'x'\n")
    monkeypatch.setenv("BENCH_CONFIG", str(config))
    attempts = places.files(machine, "attempts")[0]
    attempts.write_bytes(attempts.read_bytes() + b'{"half')
    checks = looked(capsys, code=3)
    assert problems(checks) == [
        ("config", f"{config} [run]: 'agnet' is no option of it; did you mean 'agent'?"),
        ("disk", f"0.0 GiB free at {machine}"),
    ]
    assert any(check["text"].endswith("ends in half a line") for check in checks)


# bench.toml -> what doctor must find in it
REFUSED = {
    "[build]\nseed = 'x'": "seed", "[demo]\noutput = 5": "[demo]: output is 5", "[page]\ndata = 5": "[page]: data is 5",
    "[run]\njobs = 0": "Invalid value for '--jobs'", "[agents.test]\nmode = 'x'": "Invalid value for '--mode'",
    "[build]\nscheme = 'x'": "scheme is 'x'", "[build]\nbundle = 2": "bundle are for hidden worlds",
    "[run]\nagent = 'orakel'": "did you mean oracle?", "[mine]\ncategory = 'x'": "--category 'x'",
    "[mine]\nwith-tools-agent = 'orakel'": "did you mean oracle?",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_a_configuration_that_commands_refuse_is_a_problem(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "bench.toml"
    config.write_text(text)
    monkeypatch.setenv("BENCH_CONFIG", str(config))
    monkeypatch.setattr(doctoring, "TOPICS", {"config": doctoring._config})
    ((topic, said),) = problems(looked(capsys, code=3))
    assert topic == "config" and REFUSED[text] in said


def test_every_value_and_variable_that_is_refused_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "bench.toml"
    config.write_text("[run]\njobs = 0\nrepeats = 0\n")
    monkeypatch.setenv("BENCH_CONFIG", str(config))
    monkeypatch.setenv("BENCH_DB_TAIL_LINES", "many")
    monkeypatch.setattr(doctoring, "TOPICS", {"config": doctoring._config})
    found = [text for _, text in problems(looked(capsys, code=3))]
    assert [text.split("'")[1] for text in found] == ["--repeats", "--jobs", "--lines"]
    assert found[0].endswith(f"(from {config})") and found[2].endswith("(from $BENCH_DB_TAIL_LINES)")


def test_a_lock_is_told_from_one_that_was_left(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = machine / "db" / "mcq" / "mining"
    code = (
        "import os, sys, pathlib\nfrom backtrader_bench import store\n"
        "with store.lock(pathlib.Path(sys.argv[1]), what='a night'):\n"
        "    print('held', flush=True)\n    sys.stdin.readline()\n    os._exit(0)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env=dict(os.environ)) as child:  # fmt: skip
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == "held\n"
        (held,) = [check for check in looked(capsys) if check["topic"] == "locks"]
        assert f"is held by process {child.pid} (a night) since" in held["text"]
        child.stdin.close()
        child.wait(20)
    (left,) = [check for check in looked(capsys) if check["topic"] == "locks"]
    assert f"was held by process {child.pid} (a night) since" in left["text"] and "is gone" in left["text"]
    with store.lock(target):
        pass


def test_the_network_is_asked_only_when_told_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from backtrader_bench.errors import MissingError

    def refused(*words: object) -> None:
        raise MissingError("no network")

    monkeypatch.setattr(yahoo, "download", refused)
    assert problems(looked(capsys)) == []
    assert problems(looked(capsys, "--network", code=3)) == [("network", "no network")]


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    known = doctoring._version
    monkeypatch.setattr(doctoring, "_version", lambda name: None if name in ("msgspec", "duckdb") else known(name))
    checks = looked(capsys, code=3)
    assert problems(checks) == [("packages", "msgspec is not installed")]
    assert any("db" in check["text"] and "extras" in check["text"] for check in checks)
