"""``bench report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backtrader_bench.bounds import ANY_SEED, FLOOR
from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import within


@click.command(
    epilog="Exit codes: 0 reported, 2 usage or input (no such run, no attempt in it, an unreadable question file)."
)
@click.argument("runs", nargs=-1, metavar="RUN...", required=True, type=kinds.Words(kinds.runs, files=True))
@click.option("--questions", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Where the questions are, before the files that the runs name and db/mcq; repeatable.")
@click.option("--floor", type=within(FLOOR), metavar="SHARE",
              help="What a score is held against. [the audit's best shortcut on these questions]")
@click.option("--by", multiple=True, type=click.Choice(["tier", "template", "strategy", "category", "scheme"]),
              help="Tables on screen; repeatable. --json and --html have all. [tier, scheme, category]")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE",
              help="One self-contained page. It holds the keys.")
@click.option("--csv", type=click.Path(path_type=Path), metavar="FILE", help="One row an attempt. It holds the keys.")
@click.option("--data", type=click.Path(path_type=Path),
              help="With --html: where to look for bars instead of the store (published records name none).")
@click.option("--seed", default=42, show_default=True, type=within(ANY_SEED), help="Of bootstraps and sign flips.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object on stdout instead of tables.")
def report(**options: Any) -> int:
    """What runs show: accuracy with intervals, failures apart, agents compared, by kind of question.

    RUN is a run's name, the path of its attempts, or last. Several runs are taken together: the same agent in the
    same mode is pooled as further repeats, with and without tools never.

    \b
    bench report last
    bench report run_20260102_101500 run_20260103_090000 --html report.html
    bench report last --questions bank.jsonl --csv attempts.csv
    bench report last --json | jq '.agents[] | [.name, .accuracy.value, .accuracy.low, .accuracy.high]'

    Every figure is explained in docs/reports.md.
    """
    from backtrader_bench.cli import reporting

    return reporting.report(options)
