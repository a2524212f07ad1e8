"""Small sessions for tests: scripted agents, and verifiers that need no backtrader and so run in no time."""

from __future__ import annotations

import contextlib
import io
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backtrader_bench.checker.programs.program import ProgramRun
from backtrader_bench.miner import journal, session
from backtrader_bench.miner.records import AttemptLine, SessionLine
from backtrader_bench.miner.session import Host, Limits, Watch
from backtrader_bench.miner.settings import settings_of
from backtrader_bench.records import Question
from backtrader_bench.sandbox import selftest

WRONG, RIGHT = {"text": "<<< {wrong} >>>"}, {"text": "<<< {key} >>>"}
TOPICS = (
    "What is the final value of the account when the last of the bars has closed?",
    "How many dollars are left after the trailing stop took the last position away, all commissions being paid?",
    "To which amount does the sum of all winning trades come, losers left out, over the whole of the window?",
)
USAGE = {"input": 100, "output": 10}


def verifier(topic: int = 0, *, answer: str = "", before: str = "", question: str = "") -> str:
    """A program in the protocol: a walk of seeded steps from a seeded cash."""
    asked = question or 'f"An account of ${cash:,} trades {bars} bars. ' + TOPICS[topic] + '"'
    shown = answer or 'f"${value:,.2f}"'
    return f"""import json, os, random
{before}
seed = int(os.environ["MCQ_SEED"])
rng = random.Random(seed)
cash, bars = rng.randrange(10000, 20000, 100), rng.randrange(20, 60)
value = float(cash)
for _ in range(bars):
    value *= 1 + rng.uniform(-0.02, 0.025)
print("QUESTION_JSON:", json.dumps({asked}))
print("ANSWER_VALUE_JSON:", json.dumps({shown}))
"""


def blocks(code: str) -> str:
    """A generator's reply."""
    return f"<<<QUESTION>>>\nas printed\n<<</QUESTION>>>\n<<<CODE>>>\n{code}<<</CODE>>>\n"


def script(folder: Path, *lines: dict[str, Any]) -> str:
    """An agent that plays these lines."""
    number = len(list(folder.glob("script*.jsonl")))
    path = folder / f"script{number}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{path}"


def generator(folder: Path, *codes: str) -> str:
    """An agent that writes these programs, one an attempt."""
    return script(folder, *(
        {"id": f"generator_{number:03d}", "text": blocks(code), "usage": USAGE} for number, code in enumerate(codes, 1)
    ))  # fmt: skip


def agents(folder: Path, *codes: str, no_tools: Any = None, with_tools: Any = None) -> dict[str, Any]:
    """Settings for scripted roles; by default the screen is wrong and the validation right."""
    return {
        "attempts": max(1, len(codes)),
        "generator_agent": generator(folder, *codes),
        "no_tools_agents": (script(folder, {**WRONG, "usage": USAGE, **(no_tools or {})}),),
        "with_tools_agent": script(folder, {**RIGHT, "usage": USAGE, **(with_tools or {})}),
        "seed": 7,
        "retries": 1,
    }


_running = threading.Lock()


def run_here(code: str, seed: int) -> ProgramRun:
    """One run of a program in this process."""
    out, err, ended = io.StringIO(), "", 0
    with _running, contextlib.redirect_stdout(out):
        before = os.environ.get("MCQ_SEED")
        os.environ["MCQ_SEED"] = str(seed)
        try:
            exec(compile(code, "verifier", "exec"), {"__name__": "__main__"})
        except SystemExit as error:
            ended = int(error.code or 0)
        except Exception as error:  # noqa: BLE001 - as the interpreter would
            ended, err = 1, f"{type(error).__name__}: {error}"
        os.environ.pop("MCQ_SEED") if before is None else os.environ.update(MCQ_SEED=before)
    return ProgramRun(seed=seed, stdout=out.getvalue(), stderr=err, code=ended, seconds=0.0)


def here(code: str, base: int, others: Sequence[int], **_: object) -> list[ProgramRun]:
    """The runs of an attempt, in this process."""
    runs: list[ProgramRun] = []
    for seed in (base, base, *others):
        runs.append(run_here(code, seed))
        if runs[-1].failed:
            break
    return runs


def mine(
    given: dict[str, Any], limits: Limits | None = None, run: str | None = None, watch: Watch | None = None
) -> SessionLine:
    """A session, new or resumed."""
    limits, watch = limits or Limits(), watch or Watch()
    settings = settings_of(given)
    opened = journal.read_session(run) if run else session.begin(settings, "")
    host = Host(
        agents=session.check_host(settings, limits, os.environ, None), environ=os.environ,
        isolation=selftest.best(allow_unsafe=True), fsync=False,
    )  # fmt: skip
    with session.only_one(opened.run, watch.say):
        return session.perform(opened, limits, host, watch)


def lines_of(run: str) -> list[AttemptLine]:
    """The finished attempts, by number."""
    return [line for _, line in sorted(journal.open_journal(run).finished.items())]


def questions_of(run: str) -> list[Question]:
    """The questions of a session, kept and discarded."""
    return [question for question, _ in journal.mined(run)]
