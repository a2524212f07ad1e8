"""``bench import``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click


@click.command(
    "import", epilog="Exit codes: 0 taken in, 2 usage or input, 3 an .eval log and no Inspect to read it. "
    "What is taken in is written whole or not at all."
)  # fmt: skip
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--questions", multiple=True, type=click.Path(path_type=Path), metavar="BANK",
              help="Of logs: the banks whose questions were asked, keys included; repeatable. [all of db/mcq]")
@click.option("--agent", metavar="NAME", help="Of logs: what to call the model. [as the log does]")
@click.option("--mode", type=click.Choice(["no-tools", "with-tools"]),
              help="Of logs: whether tools were allowed. [with-tools where one was called]")
@click.option("--name", metavar="NAME", help="Name of the file in db/mcq, or part of the run's name.")
@click.option("--force", is_flag=True, help="Of questions: replace a file of that name in db/mcq.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def import_(
    files: tuple[Path, ...], questions: tuple[Path, ...], agent: str | None, mode: Any, name: str | None,
    force: bool, as_json: bool,
) -> int:  # fmt: skip
    """Take in question files, or the logs of Inspect (.eval, .json) and lm-evaluation-harness (samples_*.jsonl).

    Questions, ours or published, go to db/mcq as they are, once every line was found to be one. Logs become one new
    run: replies are read and graded again as `bench run` does, and `bench report` works on it.

    \b
    bench import published.jsonl
    bench import logs/2026-01-02.eval --questions bank.jsonl
    bench import out/*/samples_*.jsonl --questions bank.jsonl --agent our-model
    """
    from backtrader_bench.cli import importing

    command = [Path(sys.argv[0]).name, *sys.argv[1:]]
    return importing.take_in(files, questions, agent, mode, name, command, force=force, as_json=as_json)
