"""``bench show``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Exit codes: 0 shown, 2 usage or input, 3 the question's bars are not here.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("which", metavar="[ID|LINE]", required=False)
@click.option("--no-key", is_flag=True, help="Show what a solver sees: neither key nor origins nor chart.")
@click.option("--data", type=click.Path(path_type=Path), help="Where to look for the bars instead of the store.")
@click.option("--network", is_flag=True, help="Bars may be downloaded again.")
@click.option("--json", "as_json", is_flag=True, help="The record as indented JSON; with --no-key its public part.")
def show(file: Path, which: str | None, no_key: bool, data: Path | None, network: bool, as_json: bool) -> int:
    """Show a question with its options, how each came to be, and the backtest behind it.

    The question is named by the beginning of its id or by its line; without either, the file's questions are listed.

    \b
    bench show bank.jsonl
    bench show bank.jsonl 7
    bench show bank.jsonl 3fa9c1 --no-key
    """
    from backtrader_bench.cli import showing

    return showing.show(file, which, no_key=no_key, data=data, network=network, as_json=as_json)
