"""A verifier: a stand-alone program that computes a question and its answer from ``MCQ_SEED``.

    check_source   what can be said without running it         (static)
    verify         the runs that an attempt needs               (here; worker and zygote do the running)
    judge_runs     what the runs show, and what they print      (judge)
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from backtrader_bench.sandbox.room import Level, Limits

LIMITS = Limits(cpu_seconds=120, memory_bytes=2 << 30, processes=64, file_bytes=4 << 20, open_files=256)
"""Of one run of a verifier."""
TIMEOUT = 120.0
OUTPUT_BYTES = 1 << 20
"""How much of each stream is kept."""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a verifier, ended in whatever way."""

    seed: int
    stdout: str
    stderr: str
    """Cut to ``OUTPUT_BYTES`` each."""
    code: int | None
    """Exit code, negative for a signal; None when it was ended from outside."""
    seconds: float
    fresh: bool = False
    """In an interpreter of its own, rather than in a fork of one that has the libraries loaded."""
    timed_out: bool = False
    killed: str | None = None
    """Why it was ended: ``memory`` or ``disk`` (it used more in all than it may), ``hidden`` (its processes could not
    be looked into), ``cpu``, ``worker`` (it ended the process that started it, or made the sandbox fail, which works
    for a program that does nothing)."""
    output_cut: bool = False
    left_processes: bool = False
    """It ended and left others running; they were ended."""

    @property
    def failed(self) -> bool:
        """Whether it did not end by itself, in time, with 0."""
        return self.code != 0 or self.timed_out or self.killed is not None


def run_program(
    code: str,
    seeds: Iterable[int],
    *,
    level: Level,
    limits: Limits = LIMITS,
    timeout: float = TIMEOUT,
    python: str | None = None,
    fresh: bool = False,
    stop_at_failure: bool = False,
) -> list[ProgramRun]:
    """A run a seed, in order; ``timeout`` is seconds of wall time for each.

    ``fresh`` starts an interpreter for each instead of a fork of a warm one. With ``stop_at_failure`` the list ends
    with the first run that failed. SandboxError when the sandbox can't be started.
    """
    from backtrader_bench.checker.programs.worker import Worker

    runs: list[ProgramRun] = []
    with Worker(level=level, limits=limits, python=python) as worker:
        for seed in seeds:
            runs.append(worker.run(code, seed, timeout=timeout, fresh=fresh))
            if stop_at_failure and runs[-1].failed:
                break
    return runs


def verify(
    code: str,
    base_seed: int,
    other_seeds: Sequence[int],
    *,
    level: Level,
    limits: Limits = LIMITS,
    timeout: float = TIMEOUT,
    python: str | None = None,
) -> list[ProgramRun]:
    """The runs of an attempt (:meth:`Worker.verify`) in a sandbox of its own."""
    from backtrader_bench.checker.programs.worker import Worker

    with Worker(level=level, limits=limits, python=python) as worker:
        return worker.verify(code, base_seed, other_seeds, timeout=timeout)


def environment(
    seed: int, folder: Path, *, python: str, fresh: bool, libraries: Sequence[Path] = ()
) -> dict[str, str]:
    """The whole environment of a run: nothing of the user's.

    PYTHONHASHSEED stays unset, so that the order of sets varies from interpreter to interpreter. glibc fills memory
    with a byte when it is had and when it is freed, another byte in fresh interpreters: a program that reads memory
    it never wrote shows itself.
    """
    own = {
        "PATH": os.pathsep.join([str(Path(python).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8",
        "MCQ_SEED": str(seed),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MALLOC_PERTURB_": "90" if fresh else "165",
        **dict.fromkeys(THREADS, "1"),
    }
    if libraries:
        own["PYTHONPATH"] = os.pathsep.join(str(path) for path in libraries)
    return own


def ended(code: int) -> str | None:
    """What ended a process with this exit code, where a limit did."""
    return "cpu" if code == -signal.SIGXCPU else None


def cpu_limit(limits: Limits, timeout: float) -> int:
    """CPU seconds of one run: no more than its wall time, rounded up."""
    return min(limits.cpu_seconds, math.ceil(timeout) + 1)
