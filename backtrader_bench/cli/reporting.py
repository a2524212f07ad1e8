"""What ``bench report`` does. Apart from report.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from backtrader_bench import store
from backtrader_bench.agents.reports import floor, gather, measure, rows
from backtrader_bench.agents.reports.schema import Floor
from backtrader_bench.cli import report_tables
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backtrader_bench.agents.reports.gather import Table
    from backtrader_bench.agents.reports.schema import Report

BY = ("tier", "scheme", "category")


def report(options: dict[str, Any]) -> int:
    """Report what the command line asks for; returns the exit code."""
    html: Path | None = options["html"]
    csv: Path | None = options["csv"]
    for path in (html, csv):
        if path is not None:
            _check_target(path, options["questions"])
    table = gather.gather(options["runs"], options["questions"])
    found = measure.report(table, _floor(table, options["floor"], options["seed"]), options["seed"])
    if csv is not None:
        store.replace_file(csv, rows.csv_bytes(table))
    if html is not None:
        _write_page(html, found, table, options["data"])
    if options["as_json"]:
        click.echo(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        report_tables.show(found, options["by"] or BY)
        for what, path in (("rows", csv), ("page", html)):
            if path is not None:
                click.echo(f"{what}: {path}")
    return 0


def _check_target(path: Path, inputs: tuple[Path, ...]) -> None:
    """Refuse an output that can't be written, or would replace what is read, before the work."""
    store.check_target(path)
    if path.exists() and any(one.exists() and path.samefile(one) for one in inputs):
        raise UsageError(f"{path} is one of the question files; give the output another name")


def _floor(table: Table, given: float | None, seed: int) -> Floor | None:
    if given is not None:
        return Floor(value=given, source="--floor", about="given", questions=len(table.facts), chance_p=None)
    return floor.best_shortcut([facts.item for facts in table.facts.values()], seed)


def _write_page(path: Path, found: Report, table: Table, data: Path | None) -> None:
    from backtrader_bench.agents.reports import page
    from backtrader_bench.mcq_builder.pages import charts
    from backtrader_bench.mcq_builder.pages.pack import ChartPack

    pack = ChartPack()
    with _bar() as progress:
        added = charts.add_charts(table.facts.values(), pack.add, data, progress)
    store.replace_file(path, page.html(found, table, added, pack, links_from(path)).encode(errors="replace"))


def links_from(page: Path) -> Callable[[str], str | None]:
    """Turns a transcript's folder, relative to the home folder, into an address relative to ``page``."""
    home, folder = store.home(), page.absolute().parent

    def link(transcript: str) -> str | None:
        target = Path(os.path.normpath(home / transcript))
        if not target.is_relative_to(home / "logs"):
            return None  # records may come from anyone: no link leads outside the logs
        return "./" + quote(Path(os.path.relpath(target, folder)).as_posix())

    return link


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr while the block runs, where someone watches."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    columns = (TextColumn("charts"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("charts", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
