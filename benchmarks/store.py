"""`bench db` on a store of 100,000 questions and 300,000 attempts: times, peak memory, and appends as it grows.

    python benchmarks/store.py [QUESTIONS]

The records are a built bank and attempts at it, over and over with new stems, and so with new ids. Ends with 1 when a
tool needs more than the memory allowed, or its memory or the time of an append grows with the store.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from backtrader_bench import store
from backtrader_bench.agents.runs.manifest import Manifest, QuestionFile, Session, Settings, encoded
from backtrader_bench.attempts import Attempt, attempt_id, attempt_line
from backtrader_bench.records import LETTERS, Question, parse_json, question_id, to_line, to_question

BENCH = (sys.executable, "-m", "backtrader_bench")
WINDOW = ("--data", "synthetic:calm:7", "--symbol", "SYNX", "--start-date", "2016-01-04", "--end-date", "2017-01-01")
RUN = "run_20260101_000000"
AGENTS = ("oracle", "guesser", "scripted")
LIMIT_MB, GROWTH_LIMIT, APPEND_LIMIT = 400, 1.25, 1.5
QUERY = "select agent, status, count(*) n from attempts group by all order by all"
JOIN = ("select q.difficulty, count(*) n from attempts a join (select id, difficulty from questions) q "
        "on q.id = a.question_id group by all")  # fmt: skip


def template(home: Path) -> list[Question]:
    """The questions that the store is made of; their tape is left in ``home``."""
    bank = home / "template.jsonl"
    command = (*BENCH, "build", *WINDOW, "--scheme", "ladder", "-n", "30", "-o", str(bank))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "BENCH_HOME": str(home)})
    return [to_question(parse_json(line, "template"), "template") for _, line in store.read_lines(bank)]


def attempt(question: str, key: str, agent: str, number: int) -> Attempt:
    """An attempt as `bench run` writes them: two of three are right."""
    right = bool(number % 3)
    letter = key if right else LETTERS[LETTERS.index(key) - 1]
    return Attempt(
        id=attempt_id(RUN, question, agent, "no-tools", 0, 0), run=RUN, question_id=question, agent=agent,
        backend=agent, mode="no-tools", status="correct" if right else "wrong", shown=letter, letter=letter,
        method="strict", started="2026-01-01T00:00:00+00:00", seconds=1.5, reply=f"I computed it. <<< {letter} >>>",
        transcript=f"logs/{RUN}/{number}",
    )  # fmt: skip


def fill(home: Path, made_of: list[Question], count: int) -> None:
    """Write a store of so many questions and three times as many attempts."""
    bank, run = home / "db" / "mcq" / "all.jsonl", home / "db" / "attempts" / f"{RUN}.jsonl"
    for path in (bank, run):
        path.parent.mkdir(parents=True, exist_ok=True)
    (home / "db" / "tapes").symlink_to(home.parent / "db" / "tapes")
    # Line by line: a child's peak memory begins with what this process holds.
    digest = hashlib.sha256()
    with bank.open("wb") as questions, run.open("wb") as attempts:
        for number in range(count):
            base = made_of[number % len(made_of)]
            stem = f"{base.stem}\n(variant {number})"
            one = msgspec.structs.replace(base, stem=stem, id=question_id(stem, base.options))
            line = to_line(one)
            digest.update(line)
            questions.write(line)
            for agent in AGENTS:
                attempts.write(attempt_line(attempt(one.id, one.answer, agent, number)))
    noted = home / "db" / "summary" / f"{RUN}.manifest.json"
    noted.parent.mkdir()
    noted.write_bytes(encoded(manifest(bank, digest.hexdigest(), count)))


def manifest(bank: Path, sha256: str, count: int) -> Manifest:
    """What `bench run` notes of such a run, as far as the tools look at it."""
    session = Session(
        started="2026-01-01T00:00:00+00:00", process=1, command=("bench", "run"), versions={}, agents=(), host={},
        isolation={}, running={}, ended="2026-01-02T00:00:00+00:00", outcome="done",
    )  # fmt: skip
    return Manifest(
        run=RUN, given={}, settings=Settings(agents=AGENTS), questions_sha256="", questions=count,
        files=(QuestionFile(path=str(bank), sha256=sha256, questions=count),), planned=3 * count, prompts_sha256="",
        tapes={}, sessions=(session,),
    )  # fmt: skip


def measured(home: Path, *words: str) -> tuple[float, float]:
    """Seconds of CPU (on a machine that others use, too, wall time says little) and peak megabytes of one command."""
    child = subprocess.Popen(
        (*BENCH, *words), stdout=subprocess.DEVNULL, env={**os.environ, "BENCH_HOME": str(home)}
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"bench {' '.join(words)} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def append_ms(home: Path, times: int = 300) -> float:
    """Least milliseconds of an append to the attempts, of so many: what it takes where nothing else runs."""
    path = home / "db" / "attempts" / f"{RUN}.jsonl"
    took = []
    for number in range(times):
        line = attempt_line(attempt(f"{number:064x}", "A", "new", number))
        begun = time.perf_counter()
        store.append_line(path, line)
        took.append(time.perf_counter() - begun)
    return 1000 * min(took)


def tools(home: Path) -> dict[str, tuple[float, float]]:
    """Every tool, measured."""
    bank, run = home / "db" / "mcq" / "all.jsonl", home / "db" / "attempts" / f"{RUN}.jsonl"
    commands = {
        "check": ("db", "check"), "stats": ("db", "stats"), "query": ("db", "query", QUERY),
        "query with a join": ("db", "query", JOIN),
        "dedupe questions": ("db", "dedupe", str(bank), "-o", str(home / "questions.jsonl")),
        "dedupe attempts": ("db", "dedupe", str(run), "-o", str(home / "attempts.jsonl")),
        "tail": ("db", "tail"),
    }
    return {name: measured(home, *words) for name, words in commands.items()}


def main(count: int) -> bool:
    """Measure a store of a tenth and the whole one, and print; whether the limits hold."""
    with tempfile.TemporaryDirectory() as name:
        results, appends = [], []
        made_of = template(Path(name))
        for questions in (count // 10, count):
            home = Path(name) / str(questions)
            home.mkdir()
            fill(home, made_of, questions)
            size = sum(path.stat().st_size for path in (home / "db").rglob("*.jsonl")) / 2**20
            print(f"{questions:,} questions, {3 * questions:,} attempts, {size:.0f} MB", flush=True)
            results.append(tools(home))
            appends.append(append_ms(home))
            for tool, (seconds, peak) in results[-1].items():
                print(f"  {tool:<18} {seconds:6.1f} s of CPU  peak {peak:5.0f} MB", flush=True)
            print(f"  {'append':<18} {appends[-1]:6.2f} ms", flush=True)
    growth = {tool: results[1][tool][1] / results[0][tool][1] for tool in results[0] if not tool.startswith("query")}
    print("memory, whole against a tenth: " + ", ".join(f"{tool} {ratio:.2f}" for tool, ratio in growth.items()))
    print(f"append, whole against a tenth: {appends[1] / appends[0]:.2f} times (limit {APPEND_LIMIT})")
    highest = max(peak for tool, (_, peak) in results[1].items() if not tool.startswith("query"))
    print(json.dumps({"peak_mb": round(highest), "growth": round(max(growth.values()), 2)}))
    return highest <= LIMIT_MB and max(growth.values()) <= GROWTH_LIMIT and appends[1] <= APPEND_LIMIT * appends[0]


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000) else 1)
