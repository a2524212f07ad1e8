"""CPU of `bench --help` against a bare `import click, rich`: at most 1.5 times as much.

    python benchmarks/startup.py [RUNS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

LIMIT = 1.5


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one run of ``command``, its own only."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


def medians(commands: dict[str, list[str]], runs: int) -> dict[str, float]:
    """Median CPU seconds of each command, run in turns so that a busy moment hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(cpu_seconds(command))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    """Print the three times and the ratio; exit 1 above the limit."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 41
    found = medians(
        {
            "bench --help": [str(Path(sys.executable).parent / "bench"), "--help"],
            "import click, rich": [sys.executable, "-c", "import click, rich"],
            "bare python": [sys.executable, "-c", ""],
        },
        runs,
    )
    for name, seconds in found.items():
        print(f"{name:20} {seconds * 1000:6.1f} ms CPU (median of {runs})")
    ratio = found["bench --help"] / found["import click, rich"]
    print(f"ratio: {ratio:.2f} (limit {LIMIT})")
    sys.exit(ratio > LIMIT)


if __name__ == "__main__":
    main()
