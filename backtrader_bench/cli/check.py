"""``bench check``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backtrader_bench.bounds import PROCESSES
from backtrader_bench.cli.numbers import within

EXIT_CODES = (
    "Exit codes: 0 everything matches, 1 something doesn't, 2 usage or a line that is no record, "
    "3 price data or the cluster missing."
)


@click.command(epilog=EXIT_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="Prices to use: a CSV file or a folder of SYMBOL.csv. Published files need it.",
)
@click.option("--jobs", "-j", type=within(PROCESSES), default=1, help="Processes. [1]")
@click.option("--cluster", help="dask://HOST:PORT runs the work there (extra: cluster).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout: counts, and what doesn't match.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write every verdict there, one JSON object a line.",
)
@click.option("--network", is_flag=True, help="Allow downloading prices that are not here.")
@click.option("--no-cache", is_flag=True, help="Keep no finished backtests on disk.")
def check(**options: Any) -> int:
    """Compute every key of question files again, with two engines that share no code.

    Each record's backtest runs in backtrader and in a second engine; the answer is computed anew from the
    result, and options, key, value, text and price data are held against it. Published files work too, from
    their text.

    \b
    bench check db/mcq/*.jsonl
    bench check bank.jsonl --jobs 4 --report verdicts.jsonl
    bench check published.jsonl --data AAPL.csv
    bench check bank.jsonl --json
    """
    from backtrader_bench.cli import checking

    return checking.check(options)
