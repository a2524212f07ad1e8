"""What ``bench page`` does and prints. Apart from page.py so that its help needs none of these imports."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from backtrader_bench.api.paging import page as write_page
from backtrader_bench.cli.reporting import bar

if TYPE_CHECKING:
    from backtrader_bench.api.paging import Paged


def page(options: dict[str, Any]) -> int:
    """Write the page that the command line asks for; returns the exit code."""
    with bar("questions") as progress:
        made = write_page(
            *options["files"], html=options["html"], answers=not options["no_answers"], data=options["data"],
            title=options["title"], progress=progress,
        )  # fmt: skip
    if options["as_json"]:
        click.echo(json.dumps({
            "path": str(made.path), "bytes": made.size, "questions": made.questions, "backtests": made.charts,
            "answers": not options["no_answers"], "repeated": made.repeated, "without_chart": made.missing,
        }, indent=2))  # fmt: skip
    else:
        for line in told(made, answers=not options["no_answers"]):
            click.echo(line)
    return 0


def told(made: Paged, *, answers: bool) -> list[str]:
    """What was written, in words."""
    held = f"{made.charts:,} backtests drawn; it holds the keys" if answers else "no key in it"
    found = [f"page: {made.path} ({made.questions:,} questions, {made.size / 1e6:.1f} MB, {held})"]
    if made.repeated:
        found.append(f"left out: {made.repeated:,} lines whose question came before")
    for reason, count in Counter(made.missing.values()).most_common(3):
        found.append(f"no chart of {count:,}: {reason}")
    return found
