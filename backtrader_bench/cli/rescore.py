"""``bench rescore``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backtrader_bench.cli import kinds


@click.command(epilog="Exit codes: 0 done, 2 usage or input, 4 another process works on the run.")
@click.argument("run", type=kinds.Words(kinds.runs, files=True))
@click.option("--questions", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Where the run's question file is now, if it was moved; repeatable.")
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of a table.")
def rescore(**options: Any) -> int:
    """Read the stored replies of RUN again, offline, with this version's reading of answers.

    Attempts that read differently get a new record that names the old one; nothing is rewritten. RUN is a run's name,
    the path of its attempts, or last.

    \b
    bench rescore last --dry-run
    bench rescore run_20260101_120000
    """
    from backtrader_bench.cli import rescoring

    return rescoring.rescore(options)
