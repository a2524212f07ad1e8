"""A real `bench run` that is interrupted, or killed outright."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from backtrader_bench.agents import process
from backtrader_bench.agents.runs import read
from tests.agents.runs.made import published, write_bank

if TYPE_CHECKING:
    from pathlib import Path

KILLS, QUESTIONS = 3, 15


def ended(name: str) -> int:
    """How many attempts a run has."""
    return len(read.read_run(name).attempts)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_is_finished_and_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    bank = write_bank(tmp_path / "bank.jsonl", [published(n) for n in range(6)])
    script = tmp_path / "script.jsonl"
    first = {"text": "<<< {key} >>>"}
    script.write_text("\n".join(json.dumps(line) for line in ({**first, "repeat": 0}, {"hang": True, "orphan": 600})))
    started = subprocess.Popen(
        [sys.executable, "-m", "backtrader_bench", "run", str(bank), "--agent", f"scripted:{script}",
         "--repeats", "2", "--jobs", "3"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        # Where tests run in the background the signal comes ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (read.runs() and ended("last") == 6 and _hanging() >= 3):
        time.sleep(0.05)
    started.send_signal(number)
    out, err = started.communicate(timeout=30)
    assert started.returncode == 130, err
    assert "interrupted; what was finished is kept" in err and "6 of 12 have no final outcome yet" in err
    assert "Traceback" not in err and "100.0%" in out
    assert ended("last") == 6 and read.read_run("last").manifest.sessions[0].outcome == "interrupted"
    assert _hanging() == 0 and not list((tmp_path / "tmp").iterdir())


def _hanging() -> int:
    return len(process.marked(read.read_run("last").manifest.sessions[0].mark))


@pytest.mark.slow
def test_killed_runs_end_as_an_uninterrupted_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few of the twenty kills of benchmarks/kills.py."""
    import runpy
    from pathlib import Path

    script = Path(__file__).resolve().parents[3] / "benchmarks" / "kills.py"
    before = dict(os.environ)
    try:
        assert runpy.run_path(str(script))["main"](KILLS, QUESTIONS, seed=7) == []
    finally:
        os.environ.clear()
        os.environ.update(before)
