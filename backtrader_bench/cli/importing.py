"""What ``bench import`` does and prints."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from backtrader_bench.agents.exports import take_in as taking
from backtrader_bench.cli.live import plain
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrader_bench.attempts import Mode


def take_in(
    files: Sequence[Path], questions: Sequence[Path], agent: str | None, mode: Mode | None, name: str | None,
    command: Sequence[str], *, force: bool, as_json: bool,
) -> int:  # fmt: skip
    """Take in what the command line names; 0."""
    if taking.sort(files) == "logs":
        if force:
            raise UsageError("--force is for question files: every import of logs is a new run")
        made = taking.logs(files, questions, agent=agent, name=name, mode=mode, command=command)
        return _logs(made, as_json=as_json)
    for flag, given in (("--questions", questions), ("--agent", agent), ("--mode", mode)):
        if given:
            raise UsageError(f"{flag} is for logs, but {files[0]} holds questions")
    if name and len(files) > 1:
        raise UsageError("--name goes with one question file")
    return _banks([taking.bank(path, name, force=force) for path in files], as_json=as_json)


def _banks(made: Sequence[taking.TakenBank], *, as_json: bool) -> int:
    if as_json:
        banks = [{**asdict(one), "path": str(one.path)} for one in made]
        click.echo(json.dumps({"banks": banks}, indent=2))
        return 0
    for one in made:
        twice = f", {one.duplicates} of them twice" if one.duplicates else ""
        click.echo(f"{one.questions} questions{twice}, {one.state}: {one.path}")
    click.echo(f"next: bench check {made[0].path}")
    return 0


def _logs(made: taking.TakenRun, *, as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps(asdict(made), indent=2))
        return 0
    counts = ", ".join(f"{count} {status}" for status, count in sorted(made.statuses.items()))
    click.echo(f"{made.attempts} attempts of {plain(', '.join(made.agents))} ({counts}): {made.run}")
    if made.graded_apart:
        click.echo(f"note: {made.graded_apart} of {made.graded_alike + made.graded_apart} answers are judged otherwise "
                   "here than by the tool's own scorer; every reply is in the attempts")  # fmt: skip
    click.echo(f"next: bench report {made.run}")
    return 0
