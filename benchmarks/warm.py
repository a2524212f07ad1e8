"""Nine runs of one verifier through a warm interpreter against nine fresh interpreters: at least 4 times faster.

    python benchmarks/warm.py [ROUNDS]

Both in the best sandbox of this machine, its start included, and with the same output. Rounds take turns, so that a
busy moment hits both; the medians count.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from backtrader_bench.checker.programs.program import ProgramRun, run_program
from backtrader_bench.sandbox.selftest import best, said
from tests.checker.verifiers import cases

LIMIT = 4.0
SEEDS = [1001 + step * 1009 for step in range(9)]
PROGRAM = "moving_average"


def timed(code: str, fresh: bool) -> tuple[float, list[ProgramRun]]:
    """Wall seconds of the nine runs, sandbox included, and the runs."""
    begun = time.perf_counter()
    runs = run_program(code, SEEDS, level=best().level, fresh=fresh)
    return time.perf_counter() - begun, runs


def main() -> None:
    """Print both times and the ratio; exit 1 below the limit or when outputs differ."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    code = next(case.code for case in cases("clean") if case.name == PROGRAM)
    print(said(best()))
    seconds: dict[bool, list[float]] = {False: [], True: []}
    outputs: set[tuple[str, ...]] = set()
    for _ in range(rounds):
        for fresh in (False, True):
            took, runs = timed(code, fresh)
            if any(run.failed for run in runs):
                raise SystemExit(f"a run failed: {next(run for run in runs if run.failed)}")
            seconds[fresh].append(took)
            outputs.add(tuple(run.stdout for run in runs))
    warm, fresh_seconds = statistics.median(seconds[False]), statistics.median(seconds[True])
    ratio = fresh_seconds / warm
    print(f"9 warm runs   {warm:6.2f} s (median of {rounds})")
    print(f"9 fresh runs  {fresh_seconds:6.2f} s")
    print(f"{ratio:.1f} times faster (limit {LIMIT:.0f}), outputs {'the same' if len(outputs) == 1 else 'DIFFER'}")
    sys.exit(ratio < LIMIT or len(outputs) != 1)


if __name__ == "__main__":
    main()
