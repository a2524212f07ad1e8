"""Process control, with real programs that behave badly."""

from __future__ import annotations

import secrets
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.agents import process
from backtrader_bench.agents.process import Caps, Ended, Start, run
from tests.agents.asking import ENVIRON, alive

GRACE = 0.3


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", GRACE)


@pytest.fixture
def mark() -> str:
    return f"test-{secrets.token_hex(8)}"


def shell(tmp_path: Path, mark: str, script: str, timeout: float = 20.0, stdin: bytes = b"", **more: Any) -> Ended:
    start = Start(argv=("sh", "-c", script), env=ENVIRON, cwd=tmp_path, stdin=stdin)
    return run(start, tmp_path, timeout, mark, **more)


def test_output_exit_code_and_files(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "echo out; echo err >&2; exit 7")
    assert (ended.why, ended.raw.stdout, ended.raw.stderr, ended.raw.code) == ("exit", b"out\n", b"err\n", 7)
    assert ended.files["stdout"].read_bytes() == b"out\n"
    assert ended.files["stderr"].read_bytes() == b"err\n"


def test_a_signal_is_a_negative_code(tmp_path: Path, mark: str) -> None:
    assert shell(tmp_path, mark, "kill -9 $$").raw.code == -9


def test_a_megabyte_goes_in_and_comes_out(tmp_path: Path, mark: str) -> None:
    prompt = secrets.token_bytes(1 << 20)
    assert shell(tmp_path, mark, "cat", stdin=prompt).raw.stdout == prompt


def test_a_program_that_never_reads_its_prompt(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "echo done", stdin=b"x" * (1 << 20))
    assert (ended.why, ended.raw.stdout) == ("exit", b"done\n")
    ended = shell(tmp_path, mark, "exec 0<&-; sleep 0.2; echo closed", stdin=b"x" * (1 << 20))
    assert (ended.why, ended.raw.stdout) == ("exit", b"closed\n")


def test_without_a_prompt_stdin_is_empty(tmp_path: Path, mark: str) -> None:
    assert shell(tmp_path, mark, "cat; echo end").raw.stdout == b"end\n"


def test_the_deadline_ends_what_ignores_term(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "trap '' TERM; echo up; while :; do sleep 0.1; done", timeout=0.5)
    assert (ended.why, ended.raw.timed_out, ended.raw.code, ended.raw.stdout) == ("timeout", True, -9, b"up\n")
    assert 0.5 + GRACE <= ended.seconds < 4
    assert not alive(mark)


def test_term_leaves_time_for_last_words(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done", timeout=0.5)
    assert (ended.why, ended.raw.stdout, ended.raw.code) == ("timeout", b"bye\n", 0)


def test_an_orphan_that_holds_the_pipe_holds_nothing_up(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "setsid sleep 60 & echo done")
    assert (ended.why, ended.raw.stdout, ended.raw.code) == ("exit", b"done\n", 0)
    assert ended.seconds < 5
    assert not alive(mark)


def test_everything_in_other_sessions_dies_with_it(tmp_path: Path, mark: str) -> None:
    script = "for i in 1 2 3; do setsid sh -c 'trap \"\" TERM; sleep 60 & sleep 60' & done; sleep 60"
    ended = shell(tmp_path, mark, script, timeout=0.7)
    assert ended.why == "timeout"
    assert not alive(mark)


def test_a_child_without_the_marker_dies_too(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "env -i setsid sh -c 'echo $$; exec sleep 60' & wait", timeout=0.7)
    number = int(ended.raw.stdout)
    time.sleep(0.1)
    assert not Path(f"/proc/{number}").exists() or b"sleep" not in Path(f"/proc/{number}/cmdline").read_bytes()


def test_a_flood_is_cut(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "yes", caps=Caps(memory=1 << 16, disk=1 << 22))
    assert ended.why == "output"
    assert ended.files["stdout"].stat().st_size == 1 << 22
    assert len(ended.raw.stdout) <= 1 << 16
    assert set(ended.raw.stdout.splitlines()) == {b"y"}


def test_beginning_and_end_are_kept_in_whole_lines(tmp_path: Path, mark: str) -> None:
    ended = shell(tmp_path, mark, "seq 1 20000", caps=Caps(memory=4096))
    kept = [int(line) for line in ended.raw.stdout.splitlines()]
    assert kept[0] == 1
    assert kept[-1] == 20000
    assert kept == sorted(kept)
    assert 3500 < len(ended.raw.stdout) <= 4096
    gaps = [later - earlier for earlier, later in pairwise(kept) if later - earlier > 1]
    assert len(gaps) == 1
    assert ended.files["stdout"].read_bytes().splitlines() == [b"%d" % number for number in range(1, 20001)]


def test_a_watched_line_ends_it_at_once(tmp_path: Path, mark: str) -> None:
    seen: list[bytes] = []

    def watch(line: bytes) -> bool:
        seen.append(line)
        return line == b"tool"

    ended = shell(tmp_path, mark, "echo one; printf to; sleep 0.1; echo ol; sleep 60; echo never", watch=watch)
    assert (ended.why, ended.raw.cancelled) == ("tool_call", True)
    assert ended.seconds < 5
    assert seen == [b"one", b"tool"]
    assert not alive(mark)


def test_cancel_from_another_thread(tmp_path: Path, mark: str) -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    ended = shell(tmp_path, mark, "setsid sleep 60 & sleep 60", cancel=cancel)
    assert (ended.why, ended.raw.timed_out, ended.raw.cancelled) == ("cancel", False, False)
    assert ended.seconds < 5
    assert not alive(mark)


def test_what_cant_be_started_is_told(tmp_path: Path, mark: str) -> None:
    text = tmp_path / "text"
    text.write_text("no program")
    for argv, kind in ((("no-such-program",), FileNotFoundError), ((str(text),), PermissionError),
                       (("echo", "x" * (1 << 18)), OSError), (("echo", "a\0b"), ValueError)):  # fmt: skip
        ended = run(Start(argv=argv, env=ENVIRON, cwd=tmp_path), tmp_path, 5, mark)
        assert (ended.why, ended.raw.code) == ("not_started", None)
        assert isinstance(ended.problem, kind)


def test_many_at_once(tmp_path: Path, mark: str) -> None:
    ended: dict[int, Ended] = {}

    def one(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        ended[number] = shell(folder, f"{mark}-{number}", f"setsid sleep 60 & cat; exit {number}", stdin=b"%d" % number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: (e.why, e.raw.code, e.raw.stdout) for n, e in ended.items()} == {
        n: ("exit", n, b"%d" % n) for n in range(12)
    }
    assert not alive(mark)


def test_a_watcher_that_fails_leaves_nothing_running(tmp_path: Path, mark: str) -> None:
    def watch(line: bytes) -> bool:
        raise RuntimeError("a defect")

    with pytest.raises(RuntimeError, match="a defect"):
        shell(tmp_path, mark, "echo x; setsid sleep 60 & sleep 60", watch=watch)
    assert not alive(mark)


def test_sweep_finds_what_a_killed_session_left(tmp_path: Path, mark: str) -> None:
    code = (
        "import sys; from pathlib import Path; from backtrader_bench.agents.process import *\n"
        f"run(Start(argv=('sh', '-c', 'setsid sleep 60 & echo; sleep 60'), env={{'PATH': '/usr/bin:/bin'}}, "
        f"cwd=Path({str(tmp_path)!r})), Path({str(tmp_path)!r}), 60, {mark!r} + '-1')"
    )
    session = subprocess.Popen([sys.executable, "-c", code])
    while len(process.marked(mark)) != 3:
        assert session.poll() is None
        time.sleep(0.02)
    session.kill()
    session.wait()
    assert process.marked(mark)
    assert process.sweep(mark) >= 2
    assert not process.marked(mark)
    with pytest.raises(ValueError, match="too short"):
        process.sweep("abc")


def test_sweep_spares_other_runs(mark: str) -> None:
    other = subprocess.Popen(["sleep", "60"], env={process.MARK: f"other-{mark}"})
    try:
        assert process.sweep(mark) == 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
