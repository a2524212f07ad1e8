"""What `bench run` adds to the agents that it starts, and how well it overlaps them.

Usage: python benchmarks/harness.py [QUESTIONS]   (default 1000)

1. QUESTIONS asked of the scripted agent, one at a time, a real process each, against the same program started bare as
   often: wall time a question beyond the process itself. What the sandbox costs is told apart, by starting the program
   in it without the rest.
2. Agents that take a second, eight at a time: wall time over the ideal, and over that of their processes alone, which
   is what a busy machine allows.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kills import BENCH, question

from backtrader_bench.agents import isolation, process
from backtrader_bench.agents.backend import Ask, Command
from backtrader_bench.agents.scripted import CHILD

LIMIT, LIMIT_OVERLAP = 2.0, 1.25
"""Most time of a question over that of its process in its room; most wall time of agents at the same time over that of
their processes alone."""
SAMPLE = 100


@dataclass(frozen=True)
class Took:
    """Seconds of wall time, and of CPU of this process and all that it waited for.

    CPU inside a sandbox is not counted, so only figures of the same kind compare.
    """

    wall: float
    cpu: float

    def __sub__(self, other: Took) -> Took:
        return Took(self.wall - other.wall, self.cpu - other.cpu)

    def a(self, count: int) -> Took:
        """For one of ``count``."""
        return Took(self.wall / count, self.cpu / count)

    def __str__(self) -> str:
        return f"{1e3 * self.wall:.1f} ms"


def timed(do: Callable[[], object]) -> Took:
    """What ``do`` takes."""
    began, before = time.perf_counter(), os.times()
    do()
    wall, after = time.perf_counter() - began, os.times()
    return Took(wall, sum(after[:4]) - sum(before[:4]))


def bare(step: Path) -> None:
    """The scripted agent's program by itself."""
    argv = (sys.executable, "-I", "-S", str(CHILD), str(step))
    subprocess.run(argv, input=b"x" * 3000, capture_output=True, check=True)


def in_room(step: Path, folder: Path) -> None:
    """The same where agents run."""
    ask = Ask(
        prompt="", system="", mode="no-tools", model=None, workspace=folder, private=folder, timeout=60, environ={}
    )  # fmt: skip
    argv = (sys.executable, "-I", "-S", str(CHILD), str(step))
    needs = (CHILD, Path(sys.prefix), Path(sys.base_prefix))
    command = Command(argv=argv, stdin=b"x" * 3000, env={"PATH": os.defpath}, readable=needs)
    mark = f"harness-{secrets.token_hex(8)}"
    entered = isolation.enter(command, ask, mark)
    ended = process.run(entered.start, folder, 60, mark)
    entered.close()
    assert ended.raw.code == 0, ended.raw.stderr


def pooled(step: Path, folder: Path, count: int, jobs: int) -> Took:
    """``count`` processes in their rooms, ``jobs`` at a time, and nothing else."""
    folders = [folder / str(number) for number in range(count)]
    for one in folders:
        one.mkdir()
        (one / step.name).write_bytes(step.read_bytes())
    with ThreadPoolExecutor(jobs) as pool:
        return timed(lambda: list(pool.map(lambda one: in_room(one / step.name, one), folders)))


def session(home: Path, name: str, questions: int, jobs: int, **step: object) -> Took:
    """A whole `bench run`."""
    bank, script = home / f"{name}.jsonl", home / f"{name}.script.jsonl"
    bank.write_text("".join(json.dumps(question(number)) + "\n" for number in range(questions)))
    script.write_text(json.dumps(step) + "\n")
    command = (*BENCH, "run", str(bank), "--agent", f"scripted:{script}", "-j", str(jobs), "-q")
    return timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def main(questions: int) -> bool:
    """Measure and print; whether the limits hold."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.environ["BENCH_HOME"] = str(home / "bench")
        work = home / "work"
        step = work / "step.json"
        work.mkdir()
        step.write_text(json.dumps({"text": "<<< A >>>"}))
        one = session(home, "one", 1, 1, text="<<< {key} >>>")
        by_itself = timed(lambda: [bare(step) for _ in range(SAMPLE)]).a(SAMPLE)
        with_room = timed(lambda: [in_room(step, work) for _ in range(SAMPLE)]).a(SAMPLE)
        # Start-up is paid once, not a question.
        each = (session(home, "all", questions, 1, text="<<< {key} >>>") - one).a(questions - 1)
        print(f"isolation {isolation.held().level}; start-up of bench run with one question {one}")
        print(f"process alone {by_itself}, in its room {with_room}, asked by bench run {each} a question")
        print(f"beyond the process {each - by_itself}, {each.wall / by_itself.wall:.2f} times; "
              f"beyond process and room {each - with_room}, {each.wall / with_room.wall:.2f} times, "
              f"{1e3 * (each - with_room).cpu:.1f} ms of CPU")  # fmt: skip
        rounds, jobs = 4, 8
        wall = (session(home, "slow", rounds * jobs, jobs, text="<<< {key} >>>", delay=1.0) - one).wall
        step.write_text(json.dumps({"text": "<<< A >>>", "delay": 1.0}))
        ratio = wall / pooled(step, work, rounds * jobs, jobs).wall
        print(f"{rounds * jobs} agents of one second, {jobs} at a time: {wall:.2f} s, {wall / rounds:.2f} times "
              f"the ideal, {ratio:.2f} times the same processes without bench run")  # fmt: skip
    return each.wall <= LIMIT * with_room.wall and ratio <= LIMIT_OVERLAP


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000) else 1)
