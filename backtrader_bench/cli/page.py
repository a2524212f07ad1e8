"""``bench page``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command(epilog="Exit codes: 0 written, 2 usage or input (no such file, a line that is no question record).")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), metavar="OUT", required=True,
              help="The page: one file that needs nothing else.")
@click.option("--no-answers", is_flag=True,
              help="Leave out every key and all that leads to one: values, origins, seeds, verifiers, charts.")
@click.option("--data", type=click.Path(path_type=Path), metavar="PATH",
              help="Where to look for bars instead of the store (published records name none).")
@click.option("--title", metavar="TEXT", help="Its headline. [the file's name]")
@click.option("--json", "as_json", is_flag=True, help="What was written as one JSON object on stdout.")
def page(**options: Any) -> int:
    """A browsable page of question files: filters, search, and a page for each question.

    Each question has its options, the key behind a click, a chart of the backtest (closes, indicators, fills, portfolio
    value), and where it comes from. Published files and mined questions work too.

    \b
    bench page bank.jsonl --html bank.html
    bench page db/mcq/*.jsonl --html all.html --title "All banks"
    bench page bank.jsonl --no-answers --html public.html
    bench page published.jsonl --data AAPL.csv --html published.html

    A page holds the keys unless --no-answers is given: keep it where no agent can read it.
    """
    from backtrader_bench.cli import paging

    return paging.page(options)
