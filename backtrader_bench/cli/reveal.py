"""``bench reveal``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="Exit codes: 0 all is as it was sealed, 1 something is not, 2 usage or input, 3 the keys are, but files are "
    "as another version writes them, which the manifest names."
)
@click.argument("sealed", metavar="SEALED", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="BANK",
              help="Write the bank again, keys and all, byte for byte as it was.")
@click.option("--force", is_flag=True, help="Replace BANK where it exists.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def reveal(sealed: Path, folder: Path, output: Path | None, force: bool, as_json: bool) -> int:
    """Hold sealed keys against the export that they belong to: was any key, or any question, changed since?

    SEALED is the file that `bench export --no-answers` wrote outside of the folder DIR.

    \b
    bench reveal dataset.sealed.jsonl dataset
    bench reveal dataset.sealed.jsonl dataset -o bank.jsonl
    """
    from backtrader_bench.cli import revealing

    return revealing.reveal(sealed, folder, output, force=force, as_json=as_json)
