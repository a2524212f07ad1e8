"""Size and time of a report of 1,000 questions and three agents, with backtests of their own.

    python benchmarks/report.py
    python benchmarks/report.py --questions 300 --replies 6000 --keep report.html

The questions come from a small bank whose configurations are varied, so that every ``--share`` questions have another
backtest; tapes are windows of one long synthetic tape. Ends with 1 when the page is 10 MB or larger.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

MOST = 10_000_000
WORDS = ("the", "close", "crosses", "above", "average", "so", "buy", "sell", "position", "value", "drawdown", "cash")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--share", type=int, default=1, help="questions a backtest")
    parser.add_argument("--replies", type=int, default=1500, help="characters of a reply")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="leave the page here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["BENCH_HOME"] = home
        return measured(options, Path(home))


def measured(options: argparse.Namespace, home: Path) -> int:
    """Make runs, report on them, print what it took."""
    from backtrader_bench.agents.reports import floor, gather, measure, page
    from backtrader_bench.mcq_builder.pages import charts
    from backtrader_bench.mcq_builder.pages.pack import ChartPack
    from tests.agents.reports import simulated

    bank = make_bank(home, options.questions, options.share)
    run = "run_20260101_000000"
    simulated.simulate(run, bank, {"claude:opus": 0.8, "codex:gpt": 0.7, "guesser": 0.25}, ask_value=True,
                       reply=lambda draw: prose(draw, options.replies))  # fmt: skip
    clock = [time.process_time()]
    steps = []

    def done(what: str) -> None:
        clock.append(time.process_time())
        steps.append((what, clock[-1] - clock[-2]))

    table = gather.gather([run])
    done("gather")
    lowest = floor.best_shortcut([facts.item for facts in table.facts.values()], 42)
    done("best shortcut")
    found = measure.report(table, lowest)
    done("figures")
    pack = ChartPack()
    drawn = charts.add_charts(table.facts.values(), pack.add)
    done("backtests")
    text = page.html(found, table, drawn, pack).encode()
    done("page")
    size = len(text)
    for what, seconds in steps:
        print(f"{what:14} {seconds:7.2f} s of CPU")
    print(f"{'page':14} {size / 1e6:7.2f} MB for {found.questions:,} questions, {len(table.rows):,} attempts and "
          f"{len(pack.charts):,} backtests ({sum(map(len, pack.charts)) / 1e6:.2f} MB)")  # fmt: skip
    if options.keep:
        options.keep.write_bytes(text)
    return 0 if size < MOST and not drawn.missing else 1


def make_bank(home: Path, number: int, share: int) -> Path:
    """Questions of a real build, spread over tapes and configurations of their own; ids follow the changed stems."""
    from backtrader_bench.market import pins, sources
    from backtrader_bench.mcq_builder.refs import tape_ref
    from backtrader_bench.records import question_id, to_line
    from tests import helpers

    base = [json.loads(to_line(one)) for one in helpers.bank(num_questions=60, strategy=("all",)).questions]
    lines, ref = [], None
    for at in range(number):
        if at % share == 0:
            tape = sources.load(f"synthetic:hard:{at}", "SYNT", "2016-01-04", "2020-01-01")
            pins.save(tape)
            ref = {"sha256": (made := tape_ref(tape)).sha256, "source": made.source, "rows": made.rows,
                   "first": made.first, "last": made.last}  # fmt: skip
        lines.append(json.dumps(vary(base[at % len(base)], at, ref, question_id)) + "\n")
    path = home / "bank.jsonl"
    path.write_text("".join(lines))
    return path


def vary(record: dict[str, Any], at: int, ref: Any, question_id: Any) -> dict[str, Any]:
    """The record on other bars, its stem marked so that it is another question."""
    stem = record["stem"].replace("\n\n", f"\n- variant: {at}\n\n", 1)
    config = {**record["config"], "start_date": "2016-01-04", "end_date": "2020-01-01"}
    changed = {"stem": stem, "id": question_id(stem, record["options"]), "tape": ref, "config": config}
    return {**record, **changed, "question": record["question"].replace(record["stem"], stem)}


def prose(draw: Random, size: int) -> str:
    """About ``size`` characters of a model's kind of text: words that come again, numbers that don't."""
    text = ""
    while len(text) < size:
        text += f"{draw.choice(WORDS)} " + (f"{draw.randint(0, 99999) / 100} " if draw.random() < 0.15 else "")
    return text


if __name__ == "__main__":
    sys.exit(main())
