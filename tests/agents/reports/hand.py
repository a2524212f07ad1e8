"""A run small enough to work out by hand: eight questions of four configurations, two agents, two repeats.

``a`` (first repeat):  q1 to q8 right but q3 and q7; second repeat: q8 fails with a timeout, else as the first.
``b`` (first repeat):  q1, q2, q3 right, q4 and q5 wrong, q6 unparsed, q7 refused, q8 agent_error (rate_limit);
``b`` second repeat:   the same, but q1 wrong.
Letters: the key of all questions is B; a wrong answer picks C. ``a`` reads strictly but on q1, ``b`` always.
Values were asked of ``a`` alone: right with q1, q2 (both repeats); wrong otherwise.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backtrader_bench.agents.reports.gather import Table, join
from backtrader_bench.agents.runs.read import Run
from backtrader_bench.attempts import Attempt, Cost, Failure, Usage
from backtrader_bench.records import question_id
from tests.agents.reports import simulated

RUN = "run_20260101_000000"
CONFIGURATIONS = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4}


def question(number: int, **changes: Any) -> dict[str, Any]:
    """A record of ours with made-up options; questions 1-4 are easy, 5-8 hard; odd ones of template ``last_close``."""
    options = {letter: f"${100 + number + place}.00" for place, letter in enumerate("ABCD")}
    stem = f"- symbol: ABC\n- stake: {CONFIGURATIONS[number]}\n\nWhat is figure {number}?"
    params = {"pfast": 10, "pslow": 30, "target_percent": 1.0}
    config = {
        "symbol": "ABC", "start_date": None, "end_date": None, "initial_cash": 50000.0, "commission_rate": 0.001,
        "stake": CONFIGURATIONS[number], "sizing": "capped", "periods_per_year": 252, "strategy_name": "sma_crossover",
        "strategy_params": params,
    }  # fmt: skip
    return {
        "question": stem + "\n\n" + "\n".join(f"{letter}. {text}" for letter, text in options.items()),
        "answer": "B", "type": "last_close" if number % 2 else "first_close",
        "difficulty": "easy" if number < 5 else "hard", "strategy_name": "sma_crossover", "strategy_params": params,
        "config": config, "schema_version": 1, "id": question_id(stem, options), "stem": stem, "options": options,
        "template_params": {}, "value": 101.0 + number,
        "tape": {"sha256": "0" * 64, "source": "csv:none.csv", "rows": 9, "first": "2020-01-01", "last": "2020-01-09"},
        "scheme": "ladder", "option_origins": {"B": "key"}, "seed": 1, **changes,
    }  # fmt: skip


QUESTIONS = [question(number) for number in range(1, 9)]
IDS = [one["id"] for one in QUESTIONS]
OUTCOMES = {
    ("a", 0): "++-+++-+", ("a", 1): "++-+++-t",
    ("b", 0): "+++--ure", ("b", 1): "-++--ure",
}  # fmt: skip
STATUS = {"u": "unparsed", "r": "refused", "e": "agent_error", "t": "timeout"}


def attempts() -> list[Attempt]:
    """All 32 of them."""
    return [
        one(agent, number, repeat, outcome)
        for (agent, repeat), outcomes in OUTCOMES.items()
        for number, outcome in enumerate(outcomes, 1)
    ]


def one(agent: str, number: int, repeat: int, outcome: str, **more: Any) -> Attempt:
    """One attempt; ``outcome`` is + right, - wrong, or a key of STATUS."""
    fields: dict[str, Any] = {"repeat": repeat, "seconds": float(number)}
    if outcome in STATUS:
        fields |= {"status": STATUS[outcome]}
        if outcome == "e":
            fields["error"] = Failure(kind="rate_limit", message="slow down")
    elif agent == "a":
        good = number < 3
        fields |= {
            "given_value": "1", "value_right": good, "verified": good and outcome == "+",
            "mistake": None if good else "no commission", "method": "lenient" if number == 1 else "strict",
            "usage": Usage(input=100, output=10, estimated=number == 2), "cost": Cost(usd=0.01, source="reported"),
        }  # fmt: skip
    letter = {"+": "B", "-": "C"}.get(outcome)
    return simulated.attempt(RUN, IDS[number - 1], agent, letter, "B", **{**fields, **more})


def bank(folder: Path) -> Path:
    """The questions as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bank.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    return path


def run(folder: Path, made: list[Attempt] | None = None, name: str = RUN) -> Run:
    """The run, read."""
    chosen = attempts() if made is None else made
    manifest = simulated.manifest(name, ("a", "b"), bank(folder), len(chosen), repeats=2)
    return Run(manifest, tuple(chosen))


def table(folder: Path, made: list[Attempt] | None = None) -> Table:
    """The table of the run."""
    return join([run(folder, made)])
