"""Shared fixtures. Every test runs with its own home and data folder, and no network but loopback."""

from __future__ import annotations

import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.real_clis import real_clis, stubs
from tests.real_tools import real_tool

__all__ = ["real_clis", "real_tool", "stubs"]
# What a shell runs in the background ignores Ctrl-C, and so would all that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference files beside the checkout; the test is skipped where it is not there."""
    if not SHARED.is_dir():
        pytest.skip("the reference files (../shared) are not on this machine")
    return SHARED


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME and BENCH_HOME, so that no test reads or leaves anything in the user's."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("BENCH_HOME", str(home / "bench"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    # No bench.toml above the folder that the tests run in counts.
    monkeypatch.setenv("BENCH_CONFIG", "")
    return home


@pytest.fixture(autouse=True)
def no_questions_kept() -> None:
    """Hidden questions are kept for the rest of a process, where a test may have drawn their keys by hand."""
    askers = sys.modules.get("backtrader_bench.mcq_builder.askers")
    if askers is not None:
        askers._asked.clear()


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but this machine fails the test that tried it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> object:
        internet = self.family in (socket.AF_INET, socket.AF_INET6)
        if internet and str(address[0]) not in ("127.0.0.1", "::1", "localhost"):  # type: ignore[index]
            raise AssertionError(f"a test tried to reach {address!r}")
        return connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)
