"""``bench export``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

FORMATS = ("inspect", "lm-eval", "hf", "verifiers", "csv", "md", "inspect-log")


@click.command(
    epilog="Exit codes: 0 written, 2 usage or input, 3 bars that go with the questions were not found. "
    "What is written is written whole or not at all."
)
@click.argument("form", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("sources", metavar="FILE...|RUN", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The folder to write; of inspect-log the file, .eval or .json, or a folder of one file an agent.")
@click.option("--no-answers", is_flag=True,
              help="Seal the keys: write them to a file outside of DIR, and commitments to them into it.")
@click.option("--sealed", type=click.Path(path_type=Path), metavar="FILE",
              help="Where --no-answers puts the keys. [DIR.sealed.jsonl]")
@click.option("--canary", metavar="TEXT", help="Stands in every file and in no question. [made of the questions' ids]")
@click.option("--name", default="backtrader-bench", show_default=True, help="What tasks and data set are called.")
@click.option("--license", "license_id", metavar="ID", help="Of format hf: the licence on the card. [gpl-3.0]")
@click.option("--no-tapes", is_flag=True, help="Of format hf: leave the bars out.")
@click.option("--data", type=click.Path(path_type=Path), metavar="PATH",
              help="Where to look for bars instead of the store.")
@click.option("--questions", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Of inspect-log: where the run's questions are now; repeatable.")
@click.option("--agent", metavar="NAME", help="Of inspect-log: the one agent whose attempts are written.")
@click.option("--force", is_flag=True, help="Replace an export that is there (never sealed keys).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def export(form: str, sources: tuple[str, ...], **options: Any) -> int:
    """Write questions in a form that another tool reads, or a run's attempts as an Inspect log.

    \b
    inspect      JSONL and two tasks for Inspect AI
    lm-eval      JSONL and two tasks for lm-evaluation-harness
    hf           a folder for Hugging Face datasets: card, Croissant metadata, bars
    verifiers    a package with a taskset for verifiers
    csv, md      for people
    inspect-log  a run's attempts, for inspect view and Inspect's analysis functions

    \b
    bench export inspect bank.jsonl -o inspect_tasks
    bench export hf bank.jsonl -o dataset --no-answers
    bench export inspect-log last -o last.eval

    DIR holds the keys unless --no-answers is given: keep it where no agent can read it.
    """
    from backtrader_bench.cli import exporting

    return exporting.export(form, sources, options)
