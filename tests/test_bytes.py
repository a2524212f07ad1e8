"""One configuration and seed, the same bytes: in another process, with more jobs, on every Python."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

BUILDS = {
    "default": [],
    "wide": [
        *("--data", "synthetic:hard:7", "--symbol", "SYN1"),
        *("--start-date", "2015-01-01", "--end-date", "2018-01-01"),
        *("--all-templates", "--strategy", "macd_crossover", "--seed", "9"),
    ],
}
# Set by .ci/run: the bench commands of other environments, each with a Python, numpy and pandas of its own.
OTHERS = [command for command in os.environ.get("TEST_COMMANDS", "").split(":") if command]


def built(command: tuple[str, ...], name: str, folder: Path, *more: str, hash_seed: str = "0") -> bytes:
    """What ``command`` builds in a home of its own."""
    target = folder / "bank.jsonl"
    if "synthetic" in " ".join(BUILDS[name]):  # hidden worlds
        (folder / "secret").write_text("the same secret in every process")
        (folder / "secret").chmod(0o600)
        more = (*more, "--secret-file", str(folder / "secret"))
    environment = os.environ | {"BENCH_HOME": str(folder), "PYTHONHASHSEED": hash_seed}
    arguments = [*command, "build", *BUILDS[name], *more, "-o", str(target)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target.read_bytes()


def own() -> tuple[str, ...]:
    return (sys.executable, "-m", "backtrader_bench")


@cache
def reference(name: str, folder: Path) -> bytes:
    """What this interpreter builds with one job."""
    folder.mkdir()
    return built(own(), name, folder, "--jobs", "1")


@pytest.fixture(scope="module")
def reference_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reference")


@pytest.mark.parametrize("name", BUILDS)
def test_another_process_with_more_jobs_gives_the_same(name: str, tmp_path: Path, reference_folder: Path) -> None:
    other = built(own(), name, tmp_path, "--jobs", "2", hash_seed="12345")
    assert other == reference(name, reference_folder / name)
    assert len(other) > 1000


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.skipif(not OTHERS, reason="TEST_COMMANDS is not set")
@pytest.mark.parametrize("command", OTHERS)
def test_another_python_does(name: str, command: str, tmp_path: Path, reference_folder: Path) -> None:
    assert built((command,), name, tmp_path) == reference(name, reference_folder / name)
