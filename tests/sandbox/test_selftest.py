"""Which level holds, and what is refused."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backtrader_bench.errors import SandboxError
from backtrader_bench.sandbox import selftest
from backtrader_bench.sandbox.room import Isolation, Level

OPEN = Isolation(level="L1", net="open", fs="open", pids="open", mem="limited")
CLOSED = Isolation(level="L2", net="blocked", fs="hidden", pids="hidden", mem="limited")


def offering(monkeypatch: pytest.MonkeyPatch, **levels: Isolation) -> None:
    monkeypatch.setattr(
        selftest, "holds", lambda level, profile="program": levels.get(level, f"{level}: not on this machine")
    )


def test_a_level_that_is_said_to_hold_was_found_to(level: Level) -> None:
    found = selftest.holds(level)
    assert isinstance(found, Isolation)
    assert (found.level, found.net, found.fs, found.mem) == (level, "blocked", "hidden", "limited")
    assert level != "L3" or found.pids == "hidden"


def test_the_lowest_level_is_seen_to_keep_nothing_in() -> None:
    found = selftest.holds("L1")
    assert isinstance(found, Isolation)
    assert (found.net, found.fs, found.pids, found.mem) == ("open", "open", "open", "limited")


def test_without_bubblewrap_the_next_level_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_BWRAP", "")
    assert "bubblewrap is not here" in str(selftest.holds("L3"))
    if isinstance(selftest.holds("L2"), Isolation):
        assert selftest.best().level == "L2"


def test_a_bubblewrap_that_does_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("BENCH_BWRAP", "/bin/false")
    assert selftest.holds("L3") == "L3: the self-test ended with 1"


def test_code_of_a_model_is_not_run_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, L1=OPEN)
    with pytest.raises(SandboxError, match=r"apt-get install bubblewrap.*--allow-unsafe") as refused:
        selftest.best()
    assert refused.value.exit_code == 3
    assert selftest.best(allow_unsafe=True) == OPEN
    assert selftest.best(profile="agent") == OPEN


def test_agents_run_where_nothing_is_kept_in_and_it_is_said() -> None:
    found = selftest.holds("L1", "agent")
    assert isinstance(found, Isolation)
    assert {found.net, found.fs, found.pids, found.mem} == {"open"}


def test_a_required_level_is_had_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, L2=CLOSED, L1=OPEN)
    assert selftest.best(required="L2") == CLOSED
    for unsafe in (False, True):
        with pytest.raises(SandboxError, match="level L3 is required, and L3: not on this machine"):
            selftest.best(required="L3", allow_unsafe=unsafe)


def test_one_line_says_what_holds() -> None:
    assert selftest.said(CLOSED) == (
        "sandbox L2: network blocked, other files hidden, other processes hidden, memory limited"
    )


def test_a_store_that_rooms_show_is_said(monkeypatch: pytest.MonkeyPatch, level: Level) -> None:
    monkeypatch.setenv("BENCH_HOME", "/usr/local")
    for profile in ("program", "agent"):
        assert "it shows /usr, and the store is in it; set BENCH_HOME" in str(selftest.holds(level, profile))


def test_bait_in_the_store_is_found_and_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, level: Level
) -> None:
    """As where a mount shows the store under a name that nobody could know to be its own."""
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    monkeypatch.setattr(selftest, "keys_shown", lambda shown: None)
    assert isinstance(selftest.holds(level), Isolation)
    assert list(tmp_path.iterdir()) == []
    tmp_path.chmod(0o755)  # as root, a room has a user of its own
    rooms = selftest.Room
    monkeypatch.setattr(selftest, "Room", lambda **given: rooms(**given, readable=(tmp_path,)))
    selftest._holds.cache_clear()
    assert selftest.holds(level) == f"{level} does not hold: fs open"
    selftest._holds.cache_clear()


def test_bait_that_a_full_disk_cuts_off_is_not_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def cut(path: Path, text: str) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", cut)
    with selftest._kept(tmp_path, "0123456789") as kept:
        assert kept is None
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    with selftest._kept(tmp_path / "nowhere", "0123456789") as kept:
        assert kept is None
    with selftest._kept(tmp_path, "0123456789") as kept:
        assert [one.read_text() for one in tmp_path.iterdir()] == ["0123456789"]
    assert list(tmp_path.iterdir()) == []


def test_what_the_canary_could_do_is_called_open() -> None:
    names = ("tcp", "udp", "abstract", "read", "store", "written", "changed", "queue", "cmdline", "environ")
    nothing = dict.fromkeys([*names, "signalled", "limited", "slowed", "memory"], False)
    for name, part in (("store", "fs"), ("changed", "fs"), ("queue", "fs"), ("limited", "pids"), ("slowed", "pids")):
        found = selftest._isolation("L2", "program", {**nothing, name: True})
        assert [one for one in ("net", "fs", "pids", "mem") if getattr(found, one) == "open"] == [part]
    assert selftest._isolation("L2", "agent", {**nothing, "changed": True, "queue": True}).fs == "hidden"


def test_the_lowest_level_lets_a_program_change_what_it_may_as_its_user(tmp_path: Path) -> None:
    """The canary does try: in no room, its bait is changed."""
    with selftest._bait(tmp_path, None) as bait:
        (tmp_path / "bait").write_text("\n".join(bait.arguments))
        command = [sys.executable, "-I", "-S", "-c", selftest.CANARY.read_text()]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        said, harm = json.loads(done.stdout), bait.harm()
    assert said["read"] and said["slowed"] and not said["store"]
    assert harm == {"written": True, "changed": True, "limited": True, "signalled": True}


def test_a_signal_that_its_process_has_not_met_yet_is_seen() -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            sleeper.send_signal(signal.SIGSTOP)
            os.waitpid(sleeper.pid, os.WUNTRACED)
            assert not selftest._pending(sleeper.pid)
            sleeper.send_signal(signal.SIGUSR1)
            assert selftest._pending(sleeper.pid)
        finally:
            sleeper.kill()
