"""Both engines over random worlds: ``python benchmarks/engines.py [WORLDS]`` (default 2,000).

Prints the largest difference of any column, the fills and refusals that were compared, the worlds whose
events differ (there should be none), and how long each engine took.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from backtrader_bench.backtest.run import run
from backtrader_bench.checker.engine import simulate
from tests.checker.worlds import gap, world


def main(worlds: int) -> int:
    """Compare ``worlds`` worlds; the number whose events differ."""
    fills = refusals = bars = 0
    largest = slow = fast = 0.0
    apart: list[int] = []
    for seed in range(worlds):
        tape, spec = world(seed)
        started = time.perf_counter()
        theirs = run(tape, spec)
        between = time.perf_counter()
        ours = simulate(tape, spec)
        fast += time.perf_counter() - between
        slow += between - started
        found = gap(theirs, ours)
        apart += [] if found.events else [seed]
        largest = max(largest, found.largest)
        fills, refusals, bars = fills + len(ours.fills), refusals + len(ours.rejections), bars + len(tape)
    print(f"{worlds} worlds, {bars} bars, {fills} fills, {refusals} refusals")
    print(f"largest difference {largest:.1e}; events differ in {len(apart)} worlds {apart[:20]}")
    print(f"backtrader {slow:.1f} s, second engine {fast:.1f} s: {slow / fast:.0f} times faster")
    return len(apart)


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if sys.argv[1:] else 2000) else 0)
