"""Which level holds, and what is refused."""

from __future__ import annotations

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
