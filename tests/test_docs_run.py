"""Every command that docs/*.md shows runs, in order, a page a test; README's have a test of their own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from backtrader_bench import store
from backtrader_bench.agents import trial
from backtrader_bench.cli.main import run
from backtrader_bench.market import pins, sources
from backtrader_bench.records import LETTERS, Question, to_line
from tests import helpers
from tests.agents.reports import simulated
from tests.miner.sessions import blocks, verifier
from tests.shown import commands, play
from tests.test_docs import CHECKOUT, EVERY

DOCS = {path.name: path.read_text() for path in sorted((CHECKOUT / "docs").glob("*.md"))}
PAGES = [name for name, text in DOCS.items() if commands(text)]

SHORTER = {
    # A session of ten attempts takes a minute; the seeds are ones whose question is kept.
    "bench mine\n": "bench mine --attempts 1 --seed 1\n",
    "--attempts 50 --max-hours 5 --print-cron": "--attempts 1 --max-hours 5 --print-cron",  # takes no seed
    "--attempts 50": "--attempts 1 --seed 3",
    "--attempts 2\n": "--attempts 1 --seed 3\n",
    # 20,000 questions take half an hour on four cores.
    "--generate 20000 --jobs 4": "--generate 4 --strategy sma_crossover --template first_close --no-learned",
    "--generate 2000 --jobs 4": "--generate 4 --template first_close --no-learned",
    "--schemes 10000": "--size 0 --schemes 4 --scheme ladder",
    "--strategy all -n 30": "--strategy all -n 3",
    # What only a reader knows.
    "RUN_THEN RUN_NOW": "run_20260101_000000 run_20260102_000000",
    "/srv/bench/": "",
}
"""Part of a command -> what runs instead."""

REAL_TOOLS = "tests/agents/exports/test_real_tools.py::test_the_commands_of_the_page_run"
ELSEWHERE = {
    "inspect eval ": ("needs Inspect", REAL_TOOLS),
    "lm_eval ": ("needs lm_eval", REAL_TOOLS),
    "python -c 'from datasets ": ("needs datasets", REAL_TOOLS),
    "vf-eval ": ("needs verifiers", REAL_TOOLS),
    "bench demo": ("takes a minute, and has a test of its own", "tests/cli/test_demo.py::test_every_step_goes_through"),
    "systemctl --user ": ("changes the user's services", None),
    "loginctl ": ("changes the user's services", None),
    "journalctl --user ": ("needs those services", None),
}
"""How commands begin that don't run here -> why not, and the test that runs them, where there is one."""
CODES = {"bench doctor": (0, 3)}
"""Commands whose exit code is a word about the machine."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, which is the store; ``claude`` and ``codex`` are on the PATH, with keys to nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BENCH_HOME")
    programs = tmp_path / "programs"
    programs.mkdir()
    stand_in(programs / "claude", said_by_claude)
    stand_in(programs / "codex", said_by_codex)
    monkeypatch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    for variable in ("BENCH_CLAUDE", "BENCH_CODEX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-dummy")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-dummy")
    return tmp_path


def stand_in(path: Path, said: Callable[[str], str]) -> None:
    """A program that answers as a vendor's agent does, in its form: a verifier, the trivial question, or A."""
    generated, known = said(blocks(verifier())), said(f"<<< {trial.KEY} >>>")
    path.write_text(f"""#!/bin/sh
case "$*" in
  *--version*) echo 9.9.9; exit ;;
  *"debug models"*) echo '{{"models": [{{"slug": "gpt-5.5"}}]}}'; exit ;;
esac
prompt=$(cat)
case "$prompt" in
  *"Write one question and its verifier"*) printf '%s\\n' {shlex.quote(generated)} ;;
  *"17 + 25"*) printf '%s\\n' {shlex.quote(known)} ;;
  *) printf '%s\\n' {shlex.quote(said("<<< A >>>"))} ;;
esac
""")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def said_by_claude(text: str) -> str:
    """Claude Code's stream of events with this answer; tests/data/captures has real ones."""
    usage = {"input_tokens": 11, "output_tokens": 17}
    events = [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": [], "model": "claude-sonnet-4-5"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": text}], "usage": usage}},
        {"type": "result", "subtype": "success", "is_error": False, "result": text, "stop_reason": "end_turn",
         "session_id": "s", "total_cost_usd": 0.001, "usage": usage},
    ]  # fmt: skip
    return "\n".join(map(json.dumps, events))


def said_by_codex(text: str) -> str:
    """The same of Codex."""
    events = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}},
        {"type": "turn.completed", "usage": {"input_tokens": 23, "cached_input_tokens": 5, "output_tokens": 17}},
    ]
    return "\n".join(map(json.dumps, events))


# -- what the pages take to be there -----------------------------------------------------------------------------------


def some_bank(path: Path) -> Path:
    """Three questions on made-up bars, which are in the store."""
    made = helpers.bank(num_questions=3)
    for tape in made.tapes.values():
        pins.save(tape)
    path.write_bytes(b"".join(map(to_line, made.questions)))
    return path


def published_file(here: Path) -> None:
    """Records in the published form, words of our own, and the prices that they are about."""
    window = {"symbol": "AAPL", "data": "bundled", "start_date": "2010-01-01", "end_date": "2011-01-01"}
    made = helpers.bank(**window, num_questions=1, difficulty="easy", template="first_close")
    (here / "published.jsonl").write_text("".join(json.dumps(as_published(one)) + "\n" for one in made.questions))
    tape = sources.load(window["data"], "AAPL", window["start_date"], window["end_date"])
    (here / "AAPL.csv").write_bytes(tape.canonical())
    (here / "prices").mkdir()
    shutil.copy(here / "AAPL.csv", here / "prices")


def as_published(question: Question) -> dict[str, object]:
    """A question about the first close as published files have it."""
    config = {name: value for name, value in question.config.items() if name not in ("sizing", "periods_per_year")}
    block = "\n".join(f"- {name}: {value}" for name, value in config.items())
    listed = "\n".join(f"{letter}. {question.options[letter]}" for letter in LETTERS)
    return {
        "question": f"A backtest was run.\n\n{block}\n\nWhich is the first close?\n\n{listed}\n\nReply as <<< X >>>.",
        "answer": question.answer, "benchmark": "backtrader", "author": "x", "type": question.type,
        "difficulty": question.difficulty, "strategy_name": question.strategy_name,
        "strategy_params": question.strategy_params, "config": config,
    }  # fmt: skip


def one_bank(here: Path) -> None:
    some_bank(here / "bank.jsonl")


def two_runs(here: Path) -> None:
    bank = some_bank(store.folder("mcq") / "bank.jsonl")
    for name in ("run_20260101_000000", "run_20260102_000000"):
        simulated.simulate(name, bank, {"a": 0.8, "b": 0.4}, repeats=2)


def for_agents(here: Path) -> None:
    (here / "my_agent.py").write_text(f"import sys\nsys.stdin.read()\nprint('<<< {trial.KEY} >>>')\n")


def for_configuration(here: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```", DOCS["configuration.md"], re.MULTILINE | re.DOTALL)
    (here / "bench.toml").write_text(example)


def for_exports(here: Path) -> None:
    one_bank(here)
    assert run(["run", "bank.jsonl", "--agent", "oracle", "-q"]) == 0
    assert run(["export", "inspect-log", "last", "-o", "logs/oracle.json"]) == 0


def for_nightly(here: Path) -> None:
    old = here / "logs" / "mining_20250101_020000_rounds_10"
    old.mkdir(parents=True)
    os.utime(old, (0, 0))


def for_pages(here: Path) -> None:
    one_bank(here)
    published_file(here)
    shutil.copy(here / "bank.jsonl", store.folder("mcq"))


def for_reproducing(here: Path) -> None:
    published_file(here)
    two_runs(here)
    for name in ("benchmarks", "tests"):
        (here / name).symlink_to(CHECKOUT / name)


SETUPS: dict[str, Callable[[Path], None]] = {
    "agents.md": for_agents,
    "audit.md": one_bank,
    "configuration.md": for_configuration,
    "exports.md": for_exports,
    "nightly.md": for_nightly,
    "pages.md": for_pages,
    "reports.md": two_runs,
    "reproducing.md": for_reproducing,
    "runs.md": one_bank,
    "store.md": two_runs,
}
"""By page, what makes the files that its reader has."""


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(
    page: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if page in SETUPS:
        SETUPS[page](here)
    if page == "configuration.md":
        monkeypatch.delenv("BENCH_CONFIG")
    for command in commands(DOCS[page]):
        if not command.line.startswith(tuple(ELSEWHERE)):
            play(command.replaced(SHORTER), capsys, CODES.get(command.line, ()))


@pytest.mark.parametrize("begin", ELSEWHERE)
def test_what_runs_elsewhere_still_stands_on_a_page_and_has_its_test(begin: str) -> None:
    assert [one for page in PAGES for one in commands(DOCS[page]) if one.line.startswith(begin)]
    _, test = ELSEWHERE[begin]
    if test:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (CHECKOUT / file).read_text()


@pytest.mark.parametrize("part", SHORTER)
def test_what_is_shortened_still_stands_on_a_page(part: str) -> None:
    assert [one for page in PAGES for one in commands(DOCS[page]) if part in f"{one.line}\n"]


def test_every_command_of_bench_is_run_from_a_page() -> None:
    run_here = [one.line for page in PAGES for one in commands(DOCS[page])]
    run_there = [one.line for one in commands((CHECKOUT / "README.md").read_text())]
    leaves = [words for words, command in EVERY.items()
              if not isinstance(command, click.Group) or command.invoke_without_command]  # fmt: skip
    shown = {words for words in leaves for line in (*run_here, *run_there) if f"{line} ".startswith(f"{words} ")}
    assert set(leaves) == shown
