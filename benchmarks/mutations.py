"""Does the checker catch damage? Builds banks on five tapes, damages every record in every way, prints the matrix.

    python benchmarks/mutations.py [--apple CSV] [--size 130] [--jobs 2]

``--apple`` adds a bank on a real CSV file. Ends with 1 when a good record is not a match or a mutant gets another
verdict than the one it must get.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from backtrader_bench import store
from backtrader_bench.checker.run import check_files
from backtrader_bench.cli.main import run as bench
from backtrader_bench.templates.drift import text_problems
from tests.mutants import mutants


def main() -> int:
    """Build, check, damage, check again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apple", type=Path, help="a CSV file of daily bars")
    parser.add_argument("--size", type=int, default=130, help="questions a bank")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    apple = given.apple.resolve() if given.apple else None
    os.environ["BENCH_HOME"] = tempfile.mkdtemp()
    os.chdir(os.environ["BENCH_HOME"])
    sources = {"bundled": ["--data", "bundled"]}
    if apple:
        sources["csv"] = ["--data", f"csv:{apple}", "--symbol", "AAPL", "--start-date", "2020-01-01"]
    for regime in ("calm", "hard", "extreme"):
        sources[regime] = ["--data", f"synthetic:{regime}:3", "--symbol", "SYNM"]
    paths = [build(name, flags, given) for name, flags in sources.items()]
    good = Counter(verdict.verdict for verdict in check_files(paths, jobs=given.jobs, text_check=text_problems))
    print(f"{sum(good.values())} records as built: {dict(good)}")
    matrix = damaged_records(paths, given.jobs) + edited_bars(paths, given.jobs)
    return show(matrix) or int(set(good) != {"match"})


def build(name: str, flags: list[str], given: argparse.Namespace) -> Path:
    """One bank of all templates and strategies."""
    path = Path(f"{name}.jsonl").resolve()
    sizes = ["-n", str(given.size), "--jobs", str(given.jobs)]
    code = bench(["build", "--strategy", "all", *sizes, "-o", str(path), *flags, "--json"])
    assert code == 0, name
    return path


def damaged_records(paths: list[Path], jobs: int) -> Counter[tuple[str, str, str]]:
    """(mutation, right verdict, verdict) of every mutant of every record."""
    lines: list[str] = []
    about: list[tuple[str, str]] = []
    for path in paths:
        for number, line in store.read_lines(path):
            for name, expected, damaged in mutants(json.loads(line), number):
                about.append((name, expected))
                lines.append(json.dumps(damaged))
    bad = Path("mutants.jsonl").resolve()
    bad.write_text("\n".join(lines) + "\n")
    found = check_files([bad], jobs=jobs, text_check=text_problems)
    return Counter((*expected, verdict.verdict) for expected, verdict in zip(about, found, strict=True))


def edited_bars(paths: list[Path], jobs: int) -> Counter[tuple[str, str, str]]:
    """The same for one bar of each pinned tape moved by a cent."""
    for pin in store.folder("tapes").glob("*.csv.gz"):
        rows = gzip.decompress(pin.read_bytes()).decode().splitlines()
        cells = rows[len(rows) // 2].split(",")
        cells[2] = repr(round(float(cells[2]) + 0.01, 6))
        rows[len(rows) // 2] = ",".join(cells)
        pin.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
    found = check_files(paths, jobs=jobs, text_check=text_problems, cache=False)
    return Counter(("a bar edited", "data_drift", verdict.verdict) for verdict in found)


def show(matrix: Counter[tuple[str, str, str]]) -> int:
    """Print the matrix; 1 when anything lies off its diagonal."""
    caught = sum(times for (_, expected, verdict), times in matrix.items() if expected == verdict)
    print(f"{'mutation':28} {'right verdict':16} {'given verdict':16} {'mutants':>8}")
    for (name, expected, verdict), times in sorted(matrix.items()):
        print(f"{name:28} {expected:16} {verdict:16} {times:8}")
    print(f"{caught} of {sum(matrix.values())} mutants caught with the right verdict")
    return int(caught < sum(matrix.values()))


if __name__ == "__main__":
    sys.exit(main())
