"""What shared backtests save: ``python benchmarks/checking.py FILE...`` (question files, made by ``bench build``).

Prints records, distinct backtests, seconds with each backtest run once, seconds with one backtest a question and
engine (a sample of 100, scaled), the ratio, and the peak memory.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from backtrader_bench import store
from backtrader_bench.checker.run import check_chunk, chunks
from backtrader_bench.checker.verify import Checker, Settings, decode

SAMPLE = 100


def main(paths: list[Path]) -> None:
    """Measure ``paths``."""
    lines = [(str(path), number, line) for path in paths for number, line in store.read_lines(path)]
    with TemporaryDirectory() as folder:
        settings = Settings(cache=Path(folder))
        started = time.perf_counter()
        verdicts = [verdict.verdict for chunk in chunks(lines) for verdict in check_chunk(chunk, settings)]
        shared = time.perf_counter() - started
    sample = Random(1).sample(lines, min(SAMPLE, len(lines)))
    checker = Checker(Settings(), keep=0)
    checker.check(decode(*sample[0]))  # reads the tape, which is not what is measured
    started = time.perf_counter()
    for line in sample:
        checker.check(decode(*line))
    alone = (time.perf_counter() - started) / len(sample) * len(lines)
    configurations = len({claim.spec.key for line in lines if (claim := decode(*line).claim)})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(verdicts)} records over {configurations} configurations, {verdicts.count('match')} match")
    print(f"each backtest once: {shared:.1f} s; one a question and engine: {alone:.1f} s; {alone / shared:.1f} times")
    print(f"peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
