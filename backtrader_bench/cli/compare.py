"""``bench compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backtrader_bench.bounds import ANY_SEED
from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import within


@click.command(epilog="Exit codes: 0 compared (whatever came out), 2 usage or input.")
@click.argument("first", metavar="RUN", type=kinds.Words(kinds.runs, files=True))
@click.argument("second", metavar="RUN", type=kinds.Words(kinds.runs, files=True))
@click.option("--questions", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Where the questions are, before the files that the runs name and db/mcq; repeatable.")
@click.option("--flips", default=20, show_default=True, type=click.IntRange(0),
              help="Changed questions listed on screen.")
@click.option("--seed", default=42, show_default=True, type=within(ANY_SEED), help="Of bootstraps and sign flips.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object on stdout instead of tables.")
def compare(first: str, second: str, **options: Any) -> int:
    """Two runs on their common questions: the difference with its interval and p, which questions changed, and which
    settings differ.

    Agents of the same name are compared; where no name is in both runs, every agent of the first with every one of the
    second. Differences are the first run less the second.

    \b
    bench compare run_20260102_101500 run_20260109_101500
    bench compare run_20260102_101500 last --flips 100
    bench compare run_20260102_101500 last --json | jq '.agents[].lost[].question'
    """
    from backtrader_bench.cli import comparing

    return comparing.compare(first, second, options)
