"""What ``bench reveal`` does and prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from backtrader_bench import store
from backtrader_bench.agents.exports import folder as folders
from backtrader_bench.agents.exports import make
from backtrader_bench.cli.live import plain

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = 20


def reveal(sealed: Path, folder: Path, output: Path | None, *, force: bool, as_json: bool) -> int:
    """0 when every key is the one that was sealed, else 1."""
    if output is not None:
        folders.check_bank_place(output, sealed, folder, force=force)
    found = make.reveal(sealed, folder)
    if output is not None and not found.problems:
        store.replace_file(output, found.bank)
    if as_json:
        said = {"questions": found.questions, "problems": list(found.problems), "notes": list(found.notes)}
        click.echo(json.dumps(said, indent=2))
        return int(bool(found.problems))
    for line in found.notes[:SHOWN]:
        click.echo(f"note: {plain(line)}")
    for line in found.problems[:SHOWN]:
        click.echo(line)
    if len(found.problems) > SHOWN:
        click.echo(f"and {len(found.problems) - SHOWN} more; --json lists them")
    if found.problems:
        click.echo(f"not what was sealed: {len(found.problems)} problems, {found.questions} questions"
                   + (f"; {output} was not written" if output else ""))  # fmt: skip
        return 1
    click.echo(f"{found.questions} keys are the ones that {folder} commits to" + (f": {output}" if output else ""))
    return 0
