"""The same results from one process, from several, and from a dask cluster on this machine."""

from __future__ import annotations

from math import isqrt  # a function that workers can import, wherever the tests lie
from pathlib import Path
from signal import SIGKILL, raise_signal

import pytest

from backtrader_bench.cli.main import run
from backtrader_bench.errors import MissingError, UsageError
from backtrader_bench.parallel import spread


def test_results_keep_their_order_whatever_runs_them() -> None:
    arguments = [(n,) for n in range(40)]
    expected = [isqrt(n) for n in range(40)]
    assert list(spread(isqrt)(arguments)) == expected
    assert list(spread(isqrt, 2)(arguments)) == expected


def test_arguments_are_taken_as_they_are_needed() -> None:
    taken = []

    def arguments():  # type: ignore[no-untyped-def]
        for n in range(1000):
            taken.append(n)
            yield (n,)

    first = spread(isqrt)(arguments())
    assert next(iter(first)) == 0 and len(taken) == 1


def test_a_worker_that_is_killed_is_one_clear_error() -> None:
    with pytest.raises(MissingError, match="memory"):
        list(spread(raise_signal, 2)([(SIGKILL,)] * 4))


@pytest.mark.parametrize("address", ["dask://127.0.0.1", "ray://127.0.0.1:1", "127.0.0.1:8786"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises((UsageError, MissingError)):
        list(spread(isqrt, 1, address)([(1,)]))


@pytest.mark.slow
def test_a_dask_cluster_builds_and_checks_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    assert run(["build", "-n", "12", "-o", str(here)]) == 0
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        assert run(["build", "-n", "12", "-o", str(there), "--cluster", address]) == 0
        assert run(["check", str(there), "--cluster", address]) == 0
    assert "12 of 12 match" in capsys.readouterr().out
    assert here.read_bytes() == there.read_bytes()
