"""kill -9 of `bench mine` at random moments, resumed each time: the same decisions and questions as without.

Usage: python benchmarks/mine_kills.py [KILLS] [ATTEMPTS]   (default 20, 3)

An offline session runs once without a break, which also says how long it takes. Then sessions with the same seed, each
in a store of its own, are killed at a random moment, resumed, and held against it. What must hold: the same decisions,
reasons, questions, keys and answers; nothing asked or written twice; `bench db check` finds no fault in the store;
nothing left running.
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
from collections import Counter
from pathlib import Path
from typing import Any

BENCH = (sys.executable, "-m", "backtrader_bench", "mine")


def begin(home: Path, *options: str) -> subprocess.Popen[str]:
    """A session in ``home``."""
    home.mkdir(exist_ok=True)
    environ = {**os.environ, "BENCH_HOME": str(home), "TMPDIR": str(home)}
    return subprocess.Popen([*BENCH, *options, "-q"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, start_new_session=True)  # fmt: skip


def records(home: Path, pattern: str) -> list[dict[str, Any]]:
    """Every line of some files; a line that can't be read raises."""
    return [json.loads(line) for path in sorted(home.glob(pattern)) for line in path.read_text().splitlines()]


def outcome(home: Path) -> dict[str, Any]:
    """What must not depend on kills."""
    lines = [line for line in records(home, "db/summary/mining_*.jsonl") if line["kind"] == "attempt"]
    questions = records(home, "db/mcq/*.jsonl") + records(home, "db/mcq/discarded/*.jsonl")
    solved = records(home, "db/attempts/*.jsonl")
    return {
        "decisions": [(one["attempt"], one["decision"], one["reasons"], one["question_id"]) for one in lines],
        "questions": sorted((one["id"], one["answer"], *one["labels"]) for one in questions),
        "answers": sorted((one["question_id"], one["mode"], one["repeat"], one["letter"] or "") for one in solved),
        "doubled": [name for name, count in Counter(one["id"] for one in solved).items() if count > 1],
    }


def checked(home: Path) -> list[str]:
    """What ``bench db check`` finds wrong with the store."""
    words = [sys.executable, "-m", "backtrader_bench", "db", "check", "--json"]
    environ = {**os.environ, "BENCH_HOME": str(home)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return [done.stderr.strip()]
    found = json.loads(done.stdout)
    return [f"{one['path']}, line {one['line']}: {one['fault']}" for one in found["problems"]]


def running(home: Path) -> list[str]:
    """Processes that name the folder in their environment or on their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                told = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if str(home).encode() in told:
                found.append(folder.name)
    return found


def killed(home: Path, moment: float, options: tuple[str, ...]) -> bool:
    """Begin, kill after so many seconds, resume to the end; whether it was still running when it was killed."""
    first = begin(home, *options)
    time.sleep(moment)
    alive = first.poll() is None
    first.send_signal(signal.SIGKILL)
    first.communicate()
    begun = list(home.glob("logs/mining_*/session.json"))
    again = begin(home, *(("--resume", "last") if begun else options))
    told, _ = again.communicate()
    if again.returncode:
        raise SystemExit(f"{home.name}: exit code {again.returncode}: {told}")
    return alive


def main(kills: int, attempts: int, seed: int = 12) -> int:
    """Do it; 1 where something did not hold."""
    options = ("--attempts", str(attempts), "--seed", str(seed), "--holdout-draws", "1")
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        began = time.monotonic()
        whole = begin(root / "whole", *options)
        whole.communicate()
        seconds = time.monotonic() - began
        wanted = outcome(root / "whole")
        print(f"uninterrupted: {seconds:.0f} s, {wanted['decisions']}", flush=True)
        faults = midway = 0
        for number in range(1, kills + 1):
            home = root / f"killed{number}"
            moment = draw.uniform(0.0, seconds)
            midway += killed(home, moment, options)
            left = running(home)
            same, problems = outcome(home) == wanted, checked(home)
            faults += not same or bool(left or problems)
            rest = (f", left {left}" if left else "") + (f", store: {problems}" if problems else ", store sound")
            print(f"kill {number} after {moment:.1f} s: {'same' if same else 'DIFFERENT'}{rest}", flush=True)
        print(f"{kills} kills, {midway} before the end: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:3]]
    sys.exit(main(*given, *[20, 3][len(given) :]))
