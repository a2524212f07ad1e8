"""What ``bench audit`` does and prints. Apart from audit.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from backtrader_bench.api import auditing as api
from backtrader_bench.errors import UsageError
from backtrader_bench.mcq_builder.audit.result import Criteria
from backtrader_bench.written import p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backtrader_bench.mcq_builder.audit.generate import Wish
    from backtrader_bench.mcq_builder.audit.result import Audit, Row

ONLY_GENERATE = ("scheme", "template", "strategy", "data")
MARKS = {True: "ok", False: "LEAK", None: "?"}
FIRST_LINE = 30.0
"""Seconds until a log hears of a generation; then after twice the time, and so on."""
WORST = 12
"""Types on screen; the page and ``--json`` have all."""


def audit(options: dict[str, Any]) -> int:
    """Audit what the command line asks for; returns the exit code."""
    _check(options)
    number = options["generate"]
    with _bar(number or 0) as generated:
        found = api.audit(
            *options["files"], generate=_wish(options) if number else None, criteria=_criteria(options),
            learned=not options["no_learned"], seed=options["seed"], jobs=options["jobs"],
            secret_file=options["secret_file"], html=options["html"], progress=_say, generated=generated,
        )  # fmt: skip
    if found.certificates.repeated:
        click.echo(f"left out: {found.certificates.repeated:,} lines whose question came before", err=True)
    if options["as_json"]:
        click.echo(json.dumps(found.as_dict(), indent=2))
    else:
        show(found, options["html"])
    return 1 if found.verdict == "leak" else 0


def _check(options: dict[str, Any]) -> None:
    if bool(options["generate"]) == bool(options["files"]):
        raise UsageError("give question files to audit, or --generate N to audit the generator (one of the two)")
    if options["generate"] and options["secret_file"]:
        raise UsageError("--secret-file goes with files: what --generate makes has a secret of its own")
    for name in ONLY_GENERATE:
        if options["files"] and options[name]:
            raise UsageError(f"--{name} goes with --generate; files are audited as they are")


def _criteria(options: dict[str, Any]) -> Criteria:
    return Criteria(
        rule_p=options["min_p"], learned_bound=options["max_learned"], subset_accuracy=options["max_subset"],
        uniform_p=options["min_uniform_p"], least=options["min_n"], permutations=options["permutations"],
    )  # fmt: skip


def _wish(options: dict[str, Any]) -> Wish:
    from backtrader_bench.mcq_builder.audit.generate import Wish

    return Wish(
        number=options["generate"], seed=options["seed"], scheme=options["scheme"] or "siblings",
        templates=options["template"], strategies=options["strategy"], data=options["data"],
    )  # fmt: skip


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr while the block runs where someone watches, else a line at ever longer intervals."""
    if not total:
        yield lambda done: None
        return
    if not sys.stderr.isatty():
        yield _lines(total)
        return
    columns = (TextColumn("generating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("generating", total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(total: int) -> Callable[[int], None]:
    began, due = time.monotonic(), FIRST_LINE

    def heard(done: int) -> None:
        nonlocal due
        seconds = time.monotonic() - began
        if seconds >= due:
            click.echo(f"generated {done:,} of {total:,} questions in {seconds:,.0f} s", err=True)
            due = 2 * seconds

    return heard


def _say(what: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{what} ...", err=True)


def show(found: Audit, page: Path | None) -> None:
    """The screen: attackers, the worst types, the criteria, one line that sums up."""
    console = Console()
    console.print(attackers_table(found))
    console.print(types_table(found))
    console.print(criteria_table(found))
    if page is not None:
        console.print(f"page: {page}", markup=False, highlight=False, soft_wrap=True)
    console.print(summary(found), markup=False, highlight=False, soft_wrap=True)


def attackers_table(found: Audit) -> Table:
    """Every attacker, the highest accuracy first; those that had nothing to go by in one line."""
    table = Table(title=f"attackers on {found.n:,} questions of {found.clusters:,} configurations (chance 25%)",
                  title_justify="left", box=None, pad_edge=False, header_style="bold")  # fmt: skip
    idle = [row.name for row in found.rows if not row.answered]
    if idle:
        table.caption, table.caption_justify = f"nothing to go by: {', '.join(idle)}", "left"
    table.add_column("attacker", no_wrap=True)
    for name in ("accuracy", "95%", "answers", "right", "Holm p"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.rows:
        if row.answered:
            style = "bold red" if row in found.leaks else "yellow" if row in found.suspects else ""
            table.add_row(*_cells(row, found.criteria.rule_p), style=style)
    return table


def _cells(row: Row, level: float) -> tuple[str, ...]:
    right = "" if row.when_answered is None else f"{100 * row.when_answered:.0f}%"
    return (
        row.name, f"{100 * row.accuracy:.1f}%", f"{100 * row.low:.1f}-{100 * row.high:.1f}", f"{row.answered:,}", right,
        p_value(row.holm, level),
    )  # fmt: skip


def types_table(found: Audit) -> Table:
    """The types on which the best attacker does best."""
    types = sorted((one for one in found.subsets if one.kind == "type"), key=lambda one: -one.low)
    table = Table(title="types most at risk (the best attacker of each)", title_justify="left", box=None,
                  pad_edge=False, header_style="bold")  # fmt: skip
    table.add_column("type", no_wrap=True)
    table.add_column("n", justify="right")
    table.add_column("attacker", no_wrap=True)
    table.add_column("accuracy", justify="right")
    table.add_column("95%", justify="right", no_wrap=True)
    for one in types[:WORST]:
        span = f"{100 * one.low:.0f}-{100 * one.high:.0f}"
        table.add_row(one.name, f"{one.n:,}", one.attacker, f"{100 * one.accuracy:.1f}%", span)
    return table


def criteria_table(found: Audit) -> Table:
    """Every criterion with its outcome."""
    table = Table(title="criteria", title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("criterion", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold", ratio=1)
    for one in found.findings:
        table.add_row(one.criterion, MARKS[one.ok], one.text, style="bold red" if one.ok is False else "")
    return table


def summary(found: Audit) -> str:
    """The verdict in one line."""
    points = f"{100 * found.smallest_leak:.1f} points"
    if found.verdict == "pass":
        return f"pass: no attacker beats chance; {found.n:,} questions would show a leak of {points}"
    if found.verdict == "too small":
        return f"too small to certify, which is not clean: {found.n:,} questions could show a leak of {points} at best"
    names = ", ".join(row.name for row in found.leaks[:8])
    broken = ", ".join(dict.fromkeys(one.criterion for one in found.findings if one.ok is False))
    return f"leak ({broken}): {names or 'no single attacker after adjustment'}"
