"""The committed store of the first schema, copied to where it may be damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

FIXTURE = Path(__file__).resolve().parents[1] / "data" / "store_v1"
RUN = "run_20261130_094256_v1"
MINED = "mining_20261130_094259_rounds_1_v1"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a copy of it."""
    home = tmp_path / "old"
    shutil.copytree(FIXTURE, home)
    monkeypatch.setenv("BENCH_HOME", str(home))
    return home
