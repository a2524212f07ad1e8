"""Streams, names and processes at their edges: what a shell can do to a command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backtrader_bench import store
from backtrader_bench.cli.main import run

BENCH = f"{sys.executable} -m backtrader_bench"


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"BENCH_HOME": str(folder)}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                          check=False, errors="surrogateescape")  # fmt: skip


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (f"{BENCH} data show AAPL >&-", 0, ""),
        (f"{BENCH} --help >/dev/full", 2, "No space left"),
        (f"{BENCH} build -n 1 >/dev/full", 2, "No space left"),
        (f"{BENCH} build -i <&-", 2, "standard input"),
        (f"{BENCH} build -n 1 -o $'\\xe9.jsonl'", 0, ""),
        (f"{BENCH}", 0, ""),
    ],
)
def test_streams_and_names(tmp_path: Path, command: str, code: int, says: str) -> None:
    done = shell(command, tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert says in done.stderr
    assert done.stderr.count("\n") == (1 if says else 0), done.stderr


def test_a_report_never_replaces_what_it_is_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "b.jsonl"
    assert run(["build", "-n", "3", "-o", str(target)]) == 0
    before = target.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(target)
    for name in ("b.jsonl", "link.jsonl", "x" * 300):
        assert run(["check", str(target), "--report", str(tmp_path / name)]) == 2
    assert target.read_bytes() == before
    assert "Traceback" not in capsys.readouterr().err


def test_prices_that_cannot_be_read_are_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "b.jsonl"
    assert run(["build", "-n", "3", "-o", str(target)]) == 0
    (tmp_path / "bad.csv").write_text("Date,Open\n2020-01-01,x\n")
    assert run(["check", str(target), "--data", str(tmp_path / "bad.csv")]) == 2
    assert capsys.readouterr().err.count("error:") == 1


def test_killed_writers_leave_nothing_for_long(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left, live = tmp_path / f".bench-{dead.pid}-0000.tmp", tmp_path / f".bench-{os.getppid()}-0000.tmp"
    left.touch()
    live.touch()
    store.replace_file(tmp_path / "f", b"x")
    assert not left.exists() and live.exists()


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """kill -9 of the command leaves no process behind that would hold the pipes of whoever started it."""
    target = str(tmp_path / "b.jsonl")
    command = [*BENCH.split(), "build", "-n", "200", "--strategy", "all", "--jobs", "2", "-o", target]
    environment = os.environ | {"BENCH_HOME": str(tmp_path)}
    parent = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    workers: list[int] = []
    until = time.monotonic() + 60
    while len(workers) < 2 and time.monotonic() < until and parent.poll() is None:
        workers = children(parent.pid)
        time.sleep(0.1)
    time.sleep(4)  # each has begun its first task, and watches its parent from then on
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 30
    while any(running(worker) for worker in workers) and time.monotonic() < until:
        time.sleep(0.2)
    assert workers and not [worker for worker in workers if running(worker)]


def children(process: int) -> list[int]:
    """Loky's workers among the children of a process."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(one) for one in found if b"popen_loky" in Path(f"/proc/{one}/cmdline").read_bytes()]


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False
