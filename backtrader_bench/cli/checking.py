"""What ``bench check`` does and prints. Apart from check.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from backtrader_bench.api import checking as api
from backtrader_bench.checker.verdict import VERDICTS
from backtrader_bench.errors import MissingError, RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backtrader_bench.api.checking import Checked

SHOWN = 20
"""Records that don't match, listed on screen; the report has them all."""


def check(options: dict[str, Any]) -> int:
    """Check what the command line asks for; returns the exit code."""
    with progress_bar() as progress:
        found = api.check(
            *options["files"], data=options["data"], jobs=options["jobs"], cluster=options["cluster"],
            network=options["network"], cache=not options["no_cache"], report=options["report"], progress=progress,
        )  # fmt: skip
    if options["as_json"]:
        click.echo(json.dumps(summary(found), indent=2))
    elif found.causes["missing"] < found.total:
        show(found, options["report"])
    return outcome(found)


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr while the block runs, where someone watches; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("checking", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def outcome(found: Checked) -> int:
    """0 or 1; RecordError when a line is no record, MissingError when there was nothing to check against."""
    if found.first_unreadable is not None:
        first, more = found.first_unreadable, found.causes["unreadable"] - 1
        rest = f" ({more} more such line{'s' if more > 1 else ''})" if more else ""
        raise RecordError(f"{first.file}, line {first.line}: {first.reason}{rest}")
    if found.causes["missing"] == found.total:
        raise MissingError(f"no record could be checked: {found.odd[0].reason}")
    return 0 if found.ok else 1


def summary(found: Checked) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "records": found.total,
        "matches": found.matches,
        "verdicts": {name: found.verdicts[name] for name in VERDICTS if found.verdicts[name]},
        "tiers": {name: dict(counts) for name, counts in sorted(found.tiers.items())},
        "templates": {name: dict(counts) for name, counts in sorted(found.templates.items())},
        "notes": dict(found.notes),
        "not_matching": [msgspec.to_builtins(verdict) for verdict in found.odd],
        "not_matching_left_out": found.total - found.matches - len(found.odd),
    }


def show(found: Checked, report: Path | None) -> None:
    """The screen: counts, the first records that don't match, one line that sums up."""
    console = Console()
    console.print(counts_table(found))
    if found.odd:
        console.print(odd_table(found))
    for note, count in found.notes.most_common(3):
        console.print(f"note: {count} {note}", markup=False, highlight=False, soft_wrap=True)
    if report is not None:
        console.print(f"every verdict: {report}", markup=False, highlight=False, soft_wrap=True)
    by = "their verifiers" if set(found.tiers) == {"mined"} else "both engines"
    console.print(f"{found.matches} of {found.total} match, {by}", markup=False, highlight=False)


def counts_table(found: Checked) -> Table:
    """Verdicts by tier; by template as well where something doesn't match."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    present = [name for name in VERDICTS if found.verdicts[name]]
    table.add_column("tier")
    for name in present:
        table.add_column(name.replace("_", " "), justify="right")
    order = {"easy": 0, "medium": 1, "hard": 2}
    for tier in sorted(found.tiers, key=lambda name: (order.get(name, 3), name)):
        table.add_row(_plain(tier) or "?", *(str(found.tiers[tier][name] or "") for name in present))
    if len(found.tiers) > 1:
        table.add_row("all", *(str(found.verdicts[name]) for name in present), style="bold")
    return table


def odd_table(found: Checked) -> Table:
    """The first records that don't match, in the order of the files."""
    rest = found.total - found.matches - SHOWN
    caption = f"and {rest} more; --report FILE writes them all" if rest > 0 else None
    table = Table(box=None, header_style="bold", pad_edge=False, caption=caption, caption_justify="left")
    several = len({verdict.file for verdict in found.odd}) > 1
    for name in (*(["file"] if several else []), "line", "id", "template", "verdict"):
        table.add_column(name, justify="right" if name == "line" else "left", no_wrap=name in ("line", "id"))
    table.add_column("reason", overflow="fold", ratio=1)
    for verdict in found.odd[:SHOWN]:
        where = [_plain(verdict.file)] if several else []
        what = (_plain(verdict.id[:8]), _plain(verdict.type), verdict.verdict.replace("_", " "))
        table.add_row(*where, str(verdict.line), *what, _plain(verdict.reason))
    return table


def _plain(text: str) -> Text:
    """Text from a record: no markup, and nothing that could steer a terminal."""
    return Text("".join(char if char.isprintable() else "?" for char in text)[:300])
