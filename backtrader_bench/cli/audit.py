"""``bench audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backtrader_bench.bounds import CRITERIA, PROCESSES, SMALL_SEED, WISH
from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import within

EXIT_CODES = (
    "Exit codes: 0 no leak found (read the verdict: too small is not clean), 1 a leak, 2 usage or a line that is no "
    "record, 3 the extra or price data missing."
)


@click.command(epilog=EXIT_CODES)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--generate", type=within(WISH["number"]), metavar="N",
              help="Audit the generator instead: N new questions over many configurations.")
@click.option("--scheme", type=kinds.Words(kinds.schemes), help="With --generate: how options are made. [siblings]")
@click.option("--template", multiple=True, type=kinds.Words(kinds.templates),
              help="With --generate: only this template; repeatable. [all]")
@click.option("--strategy", multiple=True, type=kinds.Words(kinds.strategies),
              help="With --generate: only this strategy; repeatable. [all]")
@click.option("--data", type=kinds.Words(kinds.sources),
              help="With --generate: a source of bars as in bench build. [synthetic bars of all regimes]")
@click.option("--seed", type=within(SMALL_SEED), default=42, help="The same seed gives the same report. [42]")
@click.option("--secret-file", type=click.Path(path_type=Path),
              help="Hold every certified question to the secret that made it (db/secret.key): it is made again.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of tables.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write the report as one page there.")
@click.option("--jobs", "-j", type=within(PROCESSES), default=1, help="Processes. [1]")
@click.option("--no-learned", is_flag=True, help="Leave the trained attackers out: quick, but then no bank can pass.")
@click.option("--max-learned", type=within(CRITERIA["learned_bound"]), default=0.27,
              help="Most that a learned attacker's upper bound may be. [0.27]")
@click.option("--max-subset", type=within(CRITERIA["subset_accuracy"]), default=0.30,
              help="Most accuracy on a type, tier, scheme or strategy. [0.30]")
@click.option("--min-p", type=within(CRITERIA["rule_p"]), default=0.01,
              help="Least p of the largest rule attacker, and where an attacker is called a leak. [0.01]")
@click.option("--min-uniform-p", type=within(CRITERIA["uniform_p"]), default=0.01,
              help="Least chi-square p of key letters and of key ranks. [0.01]")
@click.option("--min-n", type=within(CRITERIA["least"]), default=1000,
              help="Questions below which a bank, or a subset, is too small to judge. [1000]")
@click.option("--permutations", type=within(CRITERIA["permutations"]), default=999, help="Redraws of the keys. [999]")
def audit(**options: Any) -> int:
    """Can a script that runs no backtest guess the keys? Trained attackers need pip install 'backtrader-bench[audit]'.

    Attackers see the text and the options alone. Those that beat 1/4 by more than chance are a leak; a bank too small
    to show one is called too small, with the smallest leak that it could show. Published files work too.

    \b
    bench audit bank.jsonl
    bench audit db/mcq/*.jsonl --html audit.html
    bench audit --generate 20000 --jobs 4
    bench audit --generate 3000 --scheme published --template win_rate --template volume
    """
    from backtrader_bench.cli import auditing

    return auditing.audit(options)
