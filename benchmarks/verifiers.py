"""Faulty verifiers caught, clean ones kept, at every sandbox level of this machine; nothing harmed, nothing left.

    python benchmarks/verifiers.py [--level L3 ...] [--only NAME ...]

Every program of tests/data/verifiers runs, also where its source alone would have kept it from running: what the
sandbox does is what is tried. At L1, which keeps nothing in, harmful ones are left out, as the source check would.
Ends with 1 when one is not caught, a clean one is lost, or anything outside was touched.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))

from backtrader_bench.checker.programs.judge import judge_runs
from backtrader_bench.checker.programs.program import ProgramRun
from backtrader_bench.checker.programs.static import rejections
from backtrader_bench.checker.programs.worker import Worker
from backtrader_bench.sandbox.room import Isolation, Level
from backtrader_bench.sandbox.selftest import LEVELS, holds, said
from tests.checker.verifiers import Case, Outside, cases

BASE, OTHERS = 1001, [1001 + step * 1009 for step in range(1, 9)]
TIMEOUT = 15.0
SLOW = {"loop_endless", "sleep_endless", "stops_itself", "loop_in_threads", "hangs_on_some_seeds"}
"""Programs that only their time ends: they get less of it."""


def main() -> None:
    """A table a level."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--level", nargs="*", choices=LEVELS, default=LEVELS)
    parser.add_argument("--only", nargs="*", default=[])
    chosen = parser.parse_args()
    suite = [*cases("faulty"), *cases("clean")]
    suite = [case for case in suite if not chosen.only or case.name in chosen.only]
    wrong = source_table(suite)
    for level in chosen.level:
        isolation = holds(level)
        if not isinstance(isolation, Isolation):
            print(f"\n{level} is not offered here: {isolation}")
            continue
        print(f"\n{said(isolation)}")
        wrong += table(level, suite)
    sys.exit(bool(wrong))


def source_table(suite: list[Case]) -> int:
    """What the source alone shows."""
    with tempfile.TemporaryDirectory() as folder, Outside(Path(folder)) as outside:
        found = {case.name: {finding.name for finding in rejections(outside.told(case).code)} for case in suite}
    caught = sum(bool(found[case.name]) for case in suite if case.faulty)
    lost = [case.name for case in suite if not case.faulty and found[case.name]]
    missed = [case.name for case in suite if case.source and not case.source & found[case.name]]
    print(f"by their source: {caught} of {sum(c.faulty for c in suite)} faulty caught, clean lost: {lost or 'none'}")
    if missed:
        print("not caught as stated: " + ", ".join(missed))
    return len(lost) + len(missed)


def table(level: Level, suite: list[Case]) -> int:
    """Run all of them at a level; how many went wrong."""
    wrong = 0
    counts = {"caught": 0, "kept": 0, "by source alone": 0, "not run here": 0}
    started = time.monotonic()
    library = digest(Path(np.__file__))
    with tempfile.TemporaryDirectory() as folder, Outside(Path(folder)) as outside, Worker(level=level) as worker:
        for case in suite:
            if not case.runnable or (case.faulty and not case.runs):
                counts["by source alone"] += 1
                continue
            if case.harmful and level == "L1":
                counts["not run here"] += 1
                continue
            runs, outcome = run(worker, outside.told(case))
            harm = outside.harm("".join(run.stdout + run.stderr for run in runs)) + list(sleepers())
            good = (bool(case.runs & set(outcome)) if case.faulty else not outcome) and not harm
            counts["kept" if not outcome else "caught"] += 1
            wrong += not good
            if not good:
                print(f"WRONG {case.name}: {outcome or 'kept'}, stated {sorted(case.runs)} {harm}; {runs[-1]}"[:1500])
    for what in left(worker):
        print(f"WRONG: {what} is left")
        wrong += 1
    if digest(Path(np.__file__)) != library:
        print("WRONG: a library was changed")
        wrong += 1
    print(", ".join(f"{count} {name}" for name, count in counts.items()), f"in {time.monotonic() - started:.0f} s;")
    print("nothing harmed, nothing left running" if not wrong else f"{wrong} wrong")
    return wrong


def run(worker: Worker, case: Case) -> tuple[list[ProgramRun], list[str]]:
    """The runs of an attempt and the names of the reasons against it."""
    runs = worker.verify(case.code, BASE, OTHERS, timeout=3.0 if case.name in SLOW else TIMEOUT)
    return runs, [reason.name for reason in judge_runs(runs).reasons]


def sleepers() -> Iterator[str]:
    """Orphans of the suite that are there for longer than a moment: others may run the suite, too."""
    found = orphans()
    if found:
        time.sleep(3)
    yield from (f"process {pid} is left" for pid in found & orphans())


def orphans() -> set[str]:
    return {pid for pid, command, _ in everything() if command == b"sleep\x00300\x00"}


def left(worker: Worker) -> Iterator[str]:
    """What names the folder of a worker that is closed; and the folder."""
    mark = os.fsencode(worker.base)
    yield from (f"process {pid} {command!r}" for pid, command, environ in everything() if mark in environ)
    if worker.base.exists():
        yield str(worker.base)


def everything() -> Iterator[tuple[str, bytes, bytes]]:
    """Number, command line and environment of each process."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield entry.name, Path(entry.path, "cmdline").read_bytes(), Path(entry.path, "environ").read_bytes()


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
