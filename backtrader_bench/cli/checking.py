"""What ``bench check`` does and prints. Apart from check.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from backtrader_bench import store
from backtrader_bench.checker.run import check_files
from backtrader_bench.checker.verdict import VERDICTS
from backtrader_bench.errors import MissingError, RecordError, UsageError
from backtrader_bench.market import sources
from backtrader_bench.templates.drift import text_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from backtrader_bench.checker.verdict import Verdict

SHOWN = 20
"""Records that don't match, listed on screen; the report has them all."""
HELD = 1000
"""Records that don't match, kept for ``--json``: a file of wrong ones must not fill the memory."""


@dataclass
class Tally:
    """Counts of what went by, and the first verdicts that are not ``match``."""

    tiers: dict[str, Counter[str]] = field(default_factory=dict)
    templates: dict[str, Counter[str]] = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    odd: list[Verdict] = field(default_factory=list)
    first_unreadable: Verdict | None = None
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        self.verdicts[verdict.verdict] += 1
        self.causes[verdict.cause] += 1
        self.tiers.setdefault(verdict.difficulty, Counter())[verdict.verdict] += 1
        self.templates.setdefault(verdict.type, Counter())[verdict.verdict] += 1
        if verdict.verdict != "match" and len(self.odd) < HELD:
            self.odd.append(verdict)
        if verdict.cause == "unreadable" and self.first_unreadable is None:
            self.first_unreadable = verdict
        if verdict.verdict == "match":
            self.notes.update(verdict.notes)

    @property
    def total(self) -> int:
        """Records seen."""
        return self.verdicts.total()

    @property
    def matches(self) -> int:
        """Records in order."""
        return self.verdicts["match"]


def check(options: dict[str, Any]) -> int:
    """Check what the command line asks for; returns the exit code."""
    report: Path | None = options["report"]
    if report is not None:
        _check_target(report, [*options["files"], *([options["data"]] if options["data"] else [])])
    _check_data(options["data"])
    tally = Tally()
    with progress_bar() as progress:
        verdicts = check_files(
            options["files"], data=options["data"], jobs=options["jobs"], cluster=options["cluster"],
            network=options["network"], cache=not options["no_cache"], text_check=text_problems,
            progress=progress,
        )  # fmt: skip
        seen = _counted(verdicts, tally)
        if report is not None:
            store.replace_file(report, (msgspec.json.encode(verdict) + b"\n" for verdict in seen))
        else:
            for _ in seen:
                pass
    if options["as_json"]:
        click.echo(json.dumps(summary(tally), indent=2))
    elif tally.causes["missing"] < tally.total:
        show(tally, report)
    return outcome(tally)


def _check_target(report: Path, inputs: Iterable[Path]) -> None:
    """Refuse a report that can't be written, or would replace what is checked, before the work."""
    with suppress(OSError):
        if any(report.resolve() == path.resolve() for path in inputs):
            raise UsageError(f"--report {report} is one of the files to check; give it another name")
    store.check_target(report)


def _check_data(data: Path | None) -> None:
    """Refuse a price file that can't be read once, rather than once a record."""
    if data is not None and data.is_file():
        sources.load(f"csv:{data}", "")


def _counted(verdicts: Iterable[Verdict], tally: Tally) -> Iterator[Verdict]:
    for verdict in verdicts:
        tally.add(verdict)
        yield verdict


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


def outcome(tally: Tally) -> int:
    """0 or 1; RecordError when a line is no record, MissingError when there was nothing to check against."""
    if tally.first_unreadable is not None:
        first, more = tally.first_unreadable, tally.causes["unreadable"] - 1
        rest = f" ({more} more such line{'s' if more > 1 else ''})" if more else ""
        raise RecordError(f"{first.file}, line {first.line}: {first.reason}{rest}")
    if tally.causes["missing"] == tally.total:
        raise MissingError(f"no record could be checked: {tally.odd[0].reason}")
    return 0 if tally.matches == tally.total else 1


def summary(tally: Tally) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "records": tally.total,
        "matches": tally.matches,
        "verdicts": {name: tally.verdicts[name] for name in VERDICTS if tally.verdicts[name]},
        "tiers": {name: dict(counts) for name, counts in sorted(tally.tiers.items())},
        "templates": {name: dict(counts) for name, counts in sorted(tally.templates.items())},
        "notes": dict(tally.notes),
        "not_matching": [msgspec.to_builtins(verdict) for verdict in tally.odd],
        "not_matching_left_out": tally.total - tally.matches - len(tally.odd),
    }


def show(tally: Tally, report: Path | None) -> None:
    """The screen: counts, the first records that don't match, one line that sums up."""
    console = Console()
    console.print(counts_table(tally))
    if tally.odd:
        console.print(odd_table(tally))
    for note, count in tally.notes.most_common(3):
        console.print(f"note: {count} {note}", markup=False, highlight=False, soft_wrap=True)
    if report is not None:
        console.print(f"every verdict: {report}", markup=False, highlight=False, soft_wrap=True)
    by = "their verifiers" if set(tally.tiers) == {"mined"} else "both engines"
    console.print(f"{tally.matches} of {tally.total} match, {by}", markup=False, highlight=False)


def counts_table(tally: Tally) -> Table:
    """Verdicts by tier; by template as well where something doesn't match."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    present = [name for name in VERDICTS if tally.verdicts[name]]
    table.add_column("tier")
    for name in present:
        table.add_column(name.replace("_", " "), justify="right")
    order = {"easy": 0, "medium": 1, "hard": 2}
    for tier in sorted(tally.tiers, key=lambda name: (order.get(name, 3), name)):
        table.add_row(_plain(tier) or "?", *(str(tally.tiers[tier][name] or "") for name in present))
    if len(tally.tiers) > 1:
        table.add_row("all", *(str(tally.verdicts[name]) for name in present), style="bold")
    return table


def odd_table(tally: Tally) -> Table:
    """The first records that don't match, in the order of the files."""
    rest = tally.total - tally.matches - SHOWN
    caption = f"and {rest} more; --report FILE writes them all" if rest > 0 else None
    table = Table(box=None, header_style="bold", pad_edge=False, caption=caption, caption_justify="left")
    several = len({verdict.file for verdict in tally.odd}) > 1
    for name in (*(["file"] if several else []), "line", "id", "template", "verdict"):
        table.add_column(name, justify="right" if name == "line" else "left", no_wrap=name in ("line", "id"))
    table.add_column("reason", overflow="fold", ratio=1)
    for verdict in tally.odd[:SHOWN]:
        where = [_plain(verdict.file)] if several else []
        what = (_plain(verdict.id[:8]), _plain(verdict.type), verdict.verdict.replace("_", " "))
        table.add_row(*where, str(verdict.line), *what, _plain(verdict.reason))
    return table


def _plain(text: str) -> Text:
    """Text from a record: no markup, and nothing that could steer a terminal."""
    return Text("".join(char if char.isprintable() else "?" for char in text)[:300])
