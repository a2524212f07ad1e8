"""What hidden worlds cost: the time of building sibling questions against ladder questions, in one run.

    python benchmarks/schemes.py [--size 1000]

Prints seconds, their ratio and the cost of a question. Both build on synthetic bars, all strategies, without caches.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter

from backtrader_bench.market import sources
from backtrader_bench.mcq_builder import hidden
from backtrader_bench.mcq_builder.build import build_bank, fetch
from backtrader_bench.mcq_builder.settings import Settings
from backtrader_bench.parallel import spread


def main() -> None:
    """Build both and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="questions a scheme")
    size = parser.parse_args().size
    os.environ["BENCH_HOME"] = tempfile.mkdtemp()
    checks = Counter[str]()
    original = hidden.run

    def counted(*given: object) -> object:
        checks["backtrader"] += 1
        return original(*given)  # type: ignore[arg-type]

    hidden.run = counted  # type: ignore[assignment]
    taken = {scheme: build(scheme, size) for scheme in ("ladder", "siblings")}
    for scheme, (seconds, built) in taken.items():
        print(f"{scheme:9} {built} questions in {seconds:.1f} s of CPU, {1000 * seconds / built:.1f} ms a question")
    print(f"siblings take {taken['siblings'][0] / taken['ladder'][0]:.1f} times as long as a ladder")
    print(f"{checks['backtrader']} worlds were run in backtrader as well, none differed")


def build(scheme: str, size: int) -> tuple[float, int]:
    """Seconds of CPU and questions built."""
    settings = Settings.of({"data": "synthetic:hard", "symbol": "SYNB", "strategy": "all", "num_questions": size,
                            "scheme": scheme})  # fmt: skip
    tape = sources.load(settings.data, settings.symbol)
    before = time.process_time()
    bank = build_bank(settings, tape, spread(fetch), secret=b"a secret for the benchmark alone")
    return time.process_time() - before, len(bank.questions)


if __name__ == "__main__":
    main()
