"""Peak memory of `bench check` on 10,000 and on 100,000 records: flat, and below 400 MB.

    python benchmarks/memory.py [RECORDS]

The records are a thousand built ones (five strategies on four symbols), over and over.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from build_and_check import COMPARING, thousand

from backtrader_bench.templates.registry import TEMPLATES

LIMIT_MB = 400
GROWTH_LIMIT = 1.25


def peak_mb(bank: Path) -> tuple[float, float]:
    """Peak resident megabytes and seconds of one check of ``bank``, in a process of its own."""
    command = [sys.executable, "-m", "backtrader_bench", "check", str(bank)]
    begun = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"bench check ended with {child.returncode}")
    return used.ru_maxrss / 1024, time.perf_counter() - begun


def main() -> None:
    """Print both peaks; exit 1 when one is too high or they differ by more than the growth allowed."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    peaks = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["BENCH_HOME"] = name
        source = thousand(folder, [template for template in TEMPLATES if template not in COMPARING])
        for count in (most // 10, most):
            bank = folder / f"{count}.jsonl"
            with source.open("rb") as lines, bank.open("wb") as file:
                file.writelines(islice(cycle(lines), count))
            peak, seconds = peak_mb(bank)
            size = bank.stat().st_size / 2**20
            print(f"{count:7,} records, {size:6.1f} MB: peak {peak:5.1f} MB, {seconds:6.1f} s", flush=True)
            peaks.append(peak)
    print(f"growth {peaks[1] / peaks[0]:.2f} (limit {GROWTH_LIMIT}), limit {LIMIT_MB} MB")
    sys.exit(max(peaks) > LIMIT_MB or peaks[1] / peaks[0] > GROWTH_LIMIT)


if __name__ == "__main__":
    main()
