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
    """0 when all is as it was sealed, 1 when something is not, 3 when that can't be told of another version's files."""
    if output is not None:
        folders.check_bank_place(output, sealed, folder, force=force)
    found = make.reveal(sealed, folder)
    if output is not None and not found.problems:
        store.replace_file(output, found.bank)
    code = 1 if found.problems else 3 if found.unsure else 0
    if as_json:
        click.echo(json.dumps({
            "questions": found.questions, "problems": list(found.problems), "unsure": list(found.unsure),
            "notes": list(found.notes),
        }, indent=2))  # fmt: skip
        return code
    for lines, mark in ((found.notes, "note: "), (found.problems, ""), (found.unsure, "")):
        _show(lines, mark)
    if found.problems:
        click.echo(f"not what was sealed: {len(found.problems)} problems, {found.questions} questions"
                   + (f"; {output} was not written" if output else ""))  # fmt: skip
        return code
    click.echo(f"{found.questions} keys are the ones that {folder} commits to" + (f": {output}" if output else ""))
    if found.unsure:
        click.echo("whether the files above are as they were written can't be told here: use the version that the "
                   "manifest names")  # fmt: skip
    return code


def _show(lines: tuple[str, ...], mark: str) -> None:
    for line in lines[:SHOWN]:
        click.echo(f"{mark}{plain(line)}")
    if len(lines) > SHOWN:
        click.echo(f"and {len(lines) - SHOWN} more; --json lists them")
