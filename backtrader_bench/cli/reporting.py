"""What ``bench report`` does. Apart from report.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from backtrader_bench.api import reporting as api
from backtrader_bench.cli import report_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BY = ("tier", "scheme", "category")


def report(options: dict[str, Any]) -> int:
    """Report what the command line asks for; returns the exit code."""
    with bar("charts") as progress:
        found = api.report(
            *options["runs"], questions=options["questions"], floor=options["floor"], seed=options["seed"],
            html=options["html"], csv=options["csv"], data=options["data"], progress=progress,
        )  # fmt: skip
    if options["as_json"]:
        click.echo(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        report_tables.show(found, options["by"] or BY)
        for what, path in (("rows", options["csv"]), ("page", options["html"])):
            if path is not None:
                click.echo(f"{what}: {path} (with the keys)")
    return 0


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr while the block runs, where someone watches."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
