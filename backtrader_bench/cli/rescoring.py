"""What ``bench rescore`` does and prints. Apart from rescore.py so that its help needs none of these imports."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from backtrader_bench.agents.runs import perform, read
from backtrader_bench.agents.runs.rescore import rescore as rescore_run
from backtrader_bench.cli.live import plain

if TYPE_CHECKING:
    from backtrader_bench.agents.runs.rescore import Change, Rescored
    from backtrader_bench.attempts import Attempt

SHOWN = 30
"""Changes listed on screen; ``--json`` has them all."""


def rescore(options: dict[str, Any]) -> int:
    """Rescore what the command line asks for; 0."""
    name = read.run_named(options["run"])
    with perform.holding(name):
        found = rescore_run(name, options["questions"], write=not options["dry_run"])
    if options["as_json"]:
        click.echo(json.dumps(summary(found, written=not options["dry_run"]), indent=2))
    else:
        show(found, written=not options["dry_run"])
    return 0


def summary(found: Rescored, *, written: bool) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "run": found.run, "read": found.read, "lost": found.lost, "changed": len(found.changes), "written": written,
        "changes": [
            {"id": one.before.id, "question": one.before.question_id, "agent": one.before.agent,
             "repeat": one.before.repeat, "shift": one.before.shift, "before": _reading(one.before),
             "after": _reading(one.after)}
            for one in found.changes
        ],
    }  # fmt: skip


def _reading(attempt: Attempt) -> dict[str, Any]:
    names = ("status", "shown", "letter", "method", "given_value", "value_right", "verified", "mistake")
    return {name: getattr(attempt, name) for name in names}


def show(found: Rescored, *, written: bool) -> None:
    """The screen: what changed, by agent and one by one, and one line that sums up."""
    console = Console()
    if found.changes:
        console.print(_table(found.changes[:SHOWN]))
        if len(found.changes) > SHOWN:
            click.echo(f"and {len(found.changes) - SHOWN} more; --json has them all")
        kinds = Counter((one.before.agent, one.before.status, one.after.status) for one in found.changes)
        for (agent, before, after), count in sorted(kinds.items()):
            click.echo(f"{plain(agent)}: {count} from {before} to {after}")
    if found.lost:
        click.echo(f"{found.lost} replies were cut and their transcripts are gone; their attempts stand as they are")
    done = "recorded" if written else "nothing written (--dry-run)"
    click.echo(f"{found.run}: {found.read} replies read again, {len(found.changes)} read differently, {done}")


def _table(changes: tuple[Change, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("question", "agent", "before", "after"):
        table.add_column(name, overflow="fold")
    for one in changes:
        table.add_row(one.before.question_id[:12], plain(one.before.agent), _words(one.before), _words(one.after))
    return table


def _words(attempt: Attempt) -> str:
    value = f", value {attempt.given_value}" if attempt.given_value is not None else ""
    letter = f" {attempt.letter} ({attempt.method})" if attempt.letter else ""
    return plain(f"{attempt.status}{letter}{value}")
