"""kill -9 of `bench run` at random moments, resumed each time: nothing lost, nothing asked twice.

Usage: python benchmarks/kills.py [KILLS]   (default 20)

A bank is asked of the scripted agent, a real process for each question, once without a break. Then again, while the
program is killed over and over from its very start on, and resumed until it ends. What must hold: the same set of
outcomes; every attempt that was stored before a kill is there afterwards, unchanged, and its question was never put
again; no process and no folder of a killed session is left.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from backtrader_bench.agents import process
from backtrader_bench.agents.runs import read
from backtrader_bench.attempts import FINAL, Attempt

QUESTIONS, JOBS = 60, 3
SCRIPT = {"accuracy": 0.6, "delay": 0.15}
AFTER = 2.0
"""Seconds after the first answer within which a kill comes; the earliest come half-way to it."""
BENCH = (sys.executable, "-m", "backtrader_bench")


def question(number: int) -> dict[str, Any]:
    """A question in the published form."""
    options = "\n".join(f"{letter}. ${number}.{place}0" for place, letter in enumerate("ABCD", 1))
    return {
        "question": f"What was close number {number}?\n\n{options}\n\nReply as <<< X >>>.", "answer": "B",
        "type": "first_close", "difficulty": "easy", "strategy_name": "sma_crossover", "strategy_params": {},
        "config": {"symbol": "ABC"},
    }  # fmt: skip


def standing(run: str) -> dict[str, Attempt]:
    """The attempts of a run that stand."""
    return read.effective(read.read_run(run).attempts)


def outcomes(run: str) -> set[tuple[object, ...]]:
    """What they come to, apart from time and run."""
    return {(one.question_id, one.agent, one.status, one.letter) for one in standing(run).values()}


def tries(run: str) -> dict[str, int]:
    """By attempt id, how often the agent was asked: each try leaves a folder."""
    logs = Path(os.environ["BENCH_HOME"]) / "logs" / run
    return {folder.name: sum(1 for _ in folder.iterdir()) for folder in logs.iterdir()} if logs.exists() else {}


def main(kills: int, questions: int = QUESTIONS, seed: int = 1) -> list[str]:
    """Do it; what did not hold, in words."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ.update(BENCH_HOME=str(home / "bench"), TMPDIR=str(home / "tmp"))
        (home / "tmp").mkdir()
        bank, script = home / "bank.jsonl", home / "script.jsonl"
        bank.write_text("".join(json.dumps(question(number)) + "\n" for number in range(questions)))
        script.write_text(json.dumps(SCRIPT) + "\n")
        begin = (*BENCH, "run", str(bank), "--agent", f"scripted:{script}", "-j", str(JOBS), "-q")
        start_up = uninterrupted((*begin, "--run-name", "whole"))
        whole = read.runs()[0]
        problems: list[str] = []
        done = count = 0
        while done < kills:
            count += 1
            name = f"killed{count}"
            moments = [draw.uniform(start_up / 2, start_up + AFTER) for _ in range(kills - done)]
            killed, found = torture((*begin, "--run-name", name), name, moments)
            done += killed
            run = next((one for one in read.runs() if one.endswith(name)), "")
            problems += found
            if not run or outcomes(run) != outcomes(whole):
                problems.append(f"{run or 'a run'}: the outcomes differ from the uninterrupted run's")
            print(f"{run}: killed {killed} times, {sum(tries(run).values())} tries for {questions} attempts")
        # The sandbox's self-test, which runs before a session begins, is not the run's to clear away.
        if left := [path.name for path in (home / "tmp").iterdir() if not path.name.startswith("bench-canary-")]:
            problems.append(f"left behind: {left}")
        return problems


def uninterrupted(command: tuple[str, ...]) -> float:
    """Make the run to compare with; seconds from its start to its first answer."""
    began = time.monotonic()
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while started.poll() is None and not any(read.read_run(run).attempts for run in read.runs()):
        time.sleep(0.02)
    start_up = time.monotonic() - began
    assert started.wait() == 0
    return start_up


def torture(begin: tuple[str, ...], name: str, moments: list[float]) -> tuple[int, list[str]]:
    """One run, killed so many seconds after each of its starts, and then finished; kills, and what did not hold."""
    kills, problems = 0, []
    known: dict[str, tuple[Attempt, int]] = {}
    while True:
        run = next((one for one in read.runs() if one.endswith(name)), None)
        command = (*BENCH, "run", "--resume", run, "-q") if run else begin
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            code = started.wait(moments[kills] if kills < len(moments) else None)
        except subprocess.TimeoutExpired:
            started.send_signal(signal.SIGKILL)
            code = started.wait()
            kills += 1
        run = next((one for one in read.runs() if one.endswith(name)), None)
        if run is None:
            continue
        now, asked = standing(run), tries(run)
        for one, (attempt, times) in known.items():
            if now.get(one) != attempt:
                problems.append(f"{run}: attempt {one} was lost or changed")
            if asked[one] != times:
                problems.append(f"{run}: {one} was asked again after its answer")
        known = {one: (attempt, asked[one]) for one, attempt in now.items() if attempt.status in FINAL}
        if code == 0:
            return kills, problems + leftovers(run)
        if code != -signal.SIGKILL:
            problems.append(f"{run}: exit code {code}")
            return kills, problems


def leftovers(run: str) -> list[str]:
    """Processes of any session of a run."""
    found = read.read_run(run)
    count = len(found.attempts) - len(standing(run))
    problems = [f"{run}: {count} attempts were recorded twice"] if count else []
    for session in found.manifest.sessions:
        if process.marked(session.mark):
            problems.append(f"{run}: processes of a killed session are alive")
    return problems


if __name__ == "__main__":
    began = time.monotonic()
    faults = main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(faults)} faults, {time.monotonic() - began:.0f} s")
    sys.exit(1 if faults else 0)
