"""A sandbox that fails: by the machine, or by what a program did to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.checker.programs import processes, worker
from backtrader_bench.checker.programs.program import ProgramRun
from backtrader_bench.checker.programs.worker import Worker, _Fault, _Outcome, _understood
from backtrader_bench.errors import SandboxError

GOOD = ProgramRun(seed=1, stdout="said", stderr="", code=0, seconds=0.1)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Worker, list[bool], list[str]]]:
    """A worker whose runs fail as the list says, True for a failure, and go well from its end on; and what it ran."""
    fails: list[bool] = []
    ran: list[str] = []

    def run(self: Worker, code: str, *_: Any, **__: Any) -> ProgramRun:
        ran.append(code)
        if fails and fails.pop(0):
            raise _Fault("no process for a run")
        return GOOD

    monkeypatch.setattr(Worker, "_run", run)
    with Worker(level="L1") as made:
        yield made, fails, ran


def test_a_failure_of_the_machine_is_made_good(failing: tuple[Worker, list[bool], list[str]]) -> None:
    made, fails, ran = failing
    fails += [True]
    base = made.base
    assert made.run("program", 1) == GOOD
    assert ran == ["program"] * 2
    assert made.base != base and not base.exists() and made.base.exists()


def test_a_program_that_makes_the_sandbox_fail_again_is_judged_by_one_that_does_nothing(
    failing: tuple[Worker, list[bool], list[str]],
) -> None:
    made, fails, ran = failing
    fails += [True, True, False]
    run = made.run("program", 7)
    assert (run.seed, run.code, run.killed, run.stderr) == (7, None, "worker", "no process for a run\n")
    assert run.failed and ran == ["program", "program", "pass"]
    fails += [True]
    assert made.run("another", 1) == GOOD  # it starts with a clean sheet


def test_where_nothing_runs_it_is_the_sandbox(failing: tuple[Worker, list[bool], list[str]]) -> None:
    made, fails, _ = failing
    fails += [True] * 3
    with pytest.raises(SandboxError, match="the sandbox failed: no process for a run"):
        made.run("program", 1)


def test_a_slow_start_is_tried_again_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = [True, True, True, False]

    def begin(self: Worker) -> str:
        if slow.pop(0):
            raise _Fault("it was not ready within 120 s")
        return "a socket"

    monkeypatch.setattr(Worker, "_start", begin)
    with Worker(level="L1") as made:
        with pytest.raises(SandboxError, match="could not be started, 2 times: it was not ready within 120 s"):
            made._started()
        started: Any = made._started()
        assert started == "a socket" and not slow
        made.inside = None


@pytest.mark.parametrize(
    "message",
    [
        b"not json", b"", b"[1]", b"null", b"{}", b'{"code": 0}', b'{"code": "0", "seconds": 1.0}', b"\xff",
        b'{"code": 0, "seconds": -1.0}', b'{"code": 0, "seconds": 1e999}', b'{"code": 1000, "seconds": 1.0}',
        b'{"code": 0, "seconds": 1.0, "killed": null}', b'{"code": true, "seconds": 1.0}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_no_zygote_says_is_the_runs_doing(message: bytes) -> None:
    assert _understood(message) == _Outcome(killed="worker")


def test_what_a_zygote_says() -> None:
    assert _understood(b'{"code": -9, "seconds": 1.5, "left": true}') == _Outcome(code=-9, seconds=1.5, left=True)
    assert _understood(b'{"code": -24, "seconds": 1, "left": false}').killed == "cpu"
    with pytest.raises(_Fault, match="confined"):
        _understood(b'{"error": "a run could not be confined"}')


HOLDS = """
import mmap, os, sys
kept = []
for number in range(3):
    file = open(str(number), "w+b")
    file.write(b"x" * 5000)
    file.flush()
    os.unlink(str(number))
    kept.append(file if number < 2 else mmap.mmap(file.fileno(), 100, access=mmap.ACCESS_READ))
kept.append(mmap.mmap(-1, 4096))
print("ready", flush=True)
sys.stdin.read()
"""


def test_what_has_no_name_is_seen(tmp_path: Path) -> None:
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": tmp_path}
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", HOLDS], **options) as process:
        assert process.stdout is not None
        process.stdout.readline()
        held = processes.held([process.pid], tmp_path, most_memory=1 << 40, most_file=1 << 30)
        elsewhere = processes.held([process.pid], tmp_path / "other", most_memory=1 << 40, most_file=1 << 30)
        process.communicate()
    # A mapping has a descriptor of its own in Python, and counts as the most that its file may be.
    assert (held.disk, elsewhere.disk) == (3 * 5000 + (1 << 30), 3 * 5000)
    assert 1 << 40 < held.memory < (1 << 40) + (200 << 20)
    assert held.unseen == 0
    gone = processes.held([process.pid], tmp_path, most_memory=1, most_file=1)
    assert (gone.memory, gone.disk, gone.unseen) == (0, 0, 0)


def test_processes_that_hide_are_given_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([10.0, 11.0, 12.5, 13.0, 14.0, 16.5])
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(now))
    blind = worker._Blindness()
    looks = [(1, 1), (1, 1), (1, 1), (2, 0), (2, 1), (2, 1)]
    assert [blind.too_long(*look) for look in looks] == [False, False, False, False, False, True]



def test_folders_of_killed_workers_are_removed_with_a_lock_or_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.tempfile, "tempdir", str(tmp_path))
    for name, old, locked in (("a", True, True), ("b", True, False), ("new", False, True), ("new2", False, False)):
        folder = tmp_path / f"{worker.PREFIX}{name}"
        (folder / "room").mkdir(parents=True)
        for path in (folder / "lock", folder) if locked else (folder,):
            path.touch()
            if old:
                os.utime(path, (1, 1))
    worker.clear_stale()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{worker.PREFIX}new", f"{worker.PREFIX}new2"]
