"""A small run of benchmarks/mine_kills.py: sessions that are killed and resumed end like one that was not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from backtrader_bench.errors import SandboxError
from backtrader_bench.sandbox import selftest
from tests.miner.sessions import agents, mine, verifier

FILE = Path(__file__).parents[2] / "benchmarks" / "mine_kills.py"


@pytest.fixture(scope="module")
def kills() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_mine_kills", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_killed_sessions_leave_a_sound_store(kills: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        selftest.best()
    except SandboxError as error:
        pytest.skip(str(error))
    assert kills.main(2, 1) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.count("same, store sound") == 2


def test_a_damaged_store_is_a_fault(kills: ModuleType, tmp_path: Path, own_home: Path) -> None:
    run = mine(agents(tmp_path, verifier())).run
    home = own_home / "bench"
    assert kills.checked(home) == []
    [path] = home.glob(f"db/mcq/{run}.jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    places = [f"{part}/{run}.jsonl, line {line}" for part, line in (("summary", 1), ("attempts", 1), ("attempts", 2))]
    missing = [f"db/{place}: question_missing" for place in places]
    assert kills.checked(home) == [f"db/mcq/{run}.jsonl, line 1: torn_tail", *missing]
