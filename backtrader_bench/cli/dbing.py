"""What ``bench db`` does and prints. Apart from db.py so that its help needs none of these imports."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from backtrader_bench import store
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs.questions import asking
from backtrader_bench.attempts import ATTEMPT_VERSION
from backtrader_bench.cli import streams
from backtrader_bench.cli.live import plain
from backtrader_bench.mcq_builder.options.siblings import commitment, text_digest
from backtrader_bench.miner import records as mined
from backtrader_bench.miner.journal import PREFIX
from backtrader_bench.records import SCHEMA_VERSION
from backtrader_bench.upkeep import places
from backtrader_bench.upkeep import tail as tails
from backtrader_bench.upkeep.check import FIXES, Checker, Facts, Readers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from backtrader_bench.records import Question
    from backtrader_bench.upkeep.check import Problem
    from backtrader_bench.upkeep.places import Kind
    from backtrader_bench.upkeep.query import Answer
    from backtrader_bench.upkeep.stats import Stats

SHOWN = 20
"""Problems of a kind that are printed without ``--all``."""
TURNED_DOWN = ("duplicate", "not_well_posed")
"""Decisions on mined questions that are never written down, even where solvers saw them."""
HELD = 1000
"""Problems kept for ``--json``: a ruined store must not fill the memory."""
VERSIONS: dict[Kind, int] = {"summary": mined.SUMMARY_VERSION, "reviews": mined.SUMMARY_VERSION}


def readers() -> Readers:
    """The records of all layers, for :class:`Checker`."""
    return Readers(
        summary=_summary, reviews=_review, versions=VERSIONS, question_files=_question_files, asked=_asked,
        certificate=_certificate, mining=lambda run: run.startswith(PREFIX),
    )  # fmt: skip


def _summary(line: bytes, where: str) -> Facts:
    record = mined.read_line(line, where)
    if isinstance(record, mined.SessionLine):
        return Facts(record.run, None, None)
    stored = record.decision not in TURNED_DOWN
    return Facts(record.run, f"attempt {record.attempt}", record.question_id, stored)


def _review(line: bytes, where: str) -> Facts:
    record = mined.read_review(line, where)
    return Facts(record.run, None, record.question_id)


def _question_files(path: Path) -> list[Path]:
    return [Path(one.path) for one in manifests.read(path).files]


def _asked(fields: Any, where: str) -> tuple[str, str]:
    one = asking(fields, where)
    return one.id, one.key


def _certificate(record: Question) -> str | None:
    """What needs no worlds to be made again."""
    certificate, private = record.certificate, record.private
    if certificate is None or private is None:
        return "its certificate is not whole"
    if certificate.text_sha256 != text_digest(record.stem, record.options):
        return "the text is not the one that was certified"
    if certificate.commitment != commitment(private.seeds):
        return "the seeds of its worlds are not those that were committed to"
    return None


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal, if there is one; gives what to call with the bytes that went by."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda count: None
        return
    columns = (TextColumn(what), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.advance(task, count)


def check(*, everything: bool, as_json: bool) -> int:
    """Name what can't be trusted; 1 when something is."""
    home = store.home()
    held: list[Problem] = []
    with progress("checking", places.total_bytes(home)) as read:
        walk = Checker(home, readers(), read)
        for problem in walk.problems():
            if len(held) < HELD:
                held.append(problem)
            if not as_json and (everything or walk.counts.faults[problem.fault] <= SHOWN):
                click.echo(plain(f"{problem.where}: {problem.fault}: {problem.text}"))
    counts = walk.counts
    if as_json:
        click.echo(json.dumps({
            "home": str(home), "files": counts.files, "records": dict(counts.records), "tapes": counts.tapes,
            "published": counts.published, "repeated": counts.repeated, "counts": dict(counts.faults),
            "problems": [{**problem._asdict(), "fix": FIXES[problem.fault]} for problem in held],
            "notes": counts.notes,
        }, indent=2))  # fmt: skip
    else:
        _summed_up(walk, everything=everything)
    return 1 if counts.faults else 0


def _summed_up(walk: Checker, *, everything: bool) -> None:
    counts = walk.counts
    for fault, count in counts.faults.items():
        more = f" ({count - SHOWN} more not shown; --all shows them)" if count > SHOWN and not everything else ""
        click.echo(f"{fault}: {count}{more}; {FIXES[fault]}")
    for note in counts.notes:
        click.echo(plain(f"note: {note}"))
    if counts.repeated:
        click.echo(f"note: {counts.repeated:,} questions are in more than one bank, the same in each")
    seen = ", ".join(f"{counts.records[kind]:,} {kind}" for kind in places.KINDS)
    found = counts.faults.total()
    told = f"{found:,} problem{'' if found == 1 else 's'}" if found else "nothing wrong"
    click.echo(f"{told}: {seen}, {counts.tapes:,} tapes, in {walk.home / 'db'}")


def stats(*, as_json: bool) -> int:
    """Count what there is."""
    from backtrader_bench.upkeep.stats import as_json as fields
    from backtrader_bench.upkeep.stats import stats as count

    home = store.home()
    with progress("counting", places.total_bytes(home)) as read:
        found = count(home, VERSIONS, read)
    if as_json:
        click.echo(json.dumps({"home": str(home), **fields(found)}, indent=2))
    else:
        _show_stats(found)
    return 0


def _show_stats(found: Stats) -> None:
    console = Console()
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in ("files", "records", "unreadable", "size"):
        table.add_column(name, justify="right")
    for kind in places.KINDS:
        unreadable = f"{found.unreadable[kind]:,}" if found.unreadable[kind] else ""
        table.add_row(kind, f"{found.files[kind]:,}", f"{found.records[kind]:,}", unreadable, size(found.size[kind]))
    table.add_row("tapes", f"{found.tapes:,}", "", "", size(found.size["tapes"]))
    table.add_row("cache", "", "", "", size(found.size["cache"]))
    console.print(table)
    lines = {
        "schemes": found.schemes, "tiers": found.tiers, "templates": found.templates, "mined": found.decisions,
        "reviews": found.verdicts, **{f"{agent}": counts for agent, counts in sorted(found.agents.items())},
    }  # fmt: skip
    for name, counts in lines.items():
        if counts:
            text = ", ".join(f"{key} {count:,}" for key, count in counts.most_common(10))
            more = f" and {len(counts) - 10} more" if len(counts) > 10 else ""
            console.print(Text(plain(f"{name}: {text}{more}")), soft_wrap=True)
    if found.unreadable.total():
        click.echo("lines that can't be read: bench db check names them")
    for kind in places.KINDS:
        if other := found.other_version[kind]:
            click.echo(f"note: {other:,} {kind} are of another schema_version, and in no count", err=True)


def size(count: int) -> str:
    """``12.3 MB``."""
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def dedupe(files: Sequence[Path], output: Path, *, as_json: bool) -> int:
    """Write a file without repeats."""
    from backtrader_bench.upkeep.dedupe import dedupe as write

    total = sum(path.stat().st_size for path in files if path.is_file())
    with progress("reading", total) as read:
        found = write(files, output, _asked, read)
    if as_json:
        told = {"file": str(output), "kept": dict(found.kept), "dropped": dict(found.dropped)}
        click.echo(json.dumps(told, indent=2))
    else:
        kinds = [kind for kind in ("questions", "attempts") if found.kept[kind]]
        parts = [f"{found.kept[kind]:,} {kind} ({found.dropped[kind]:,} repeats left out)" for kind in kinds]
        click.echo(f"{', '.join(parts) or 'nothing'} written: {output}")
    return 0


def query(sql: str, *, as_csv: bool, as_json: bool, limit: int, timeout: float | None) -> int:
    """Ask one SELECT; 5 when ``timeout`` seconds were not enough."""
    from backtrader_bench.errors import UsageError
    from backtrader_bench.upkeep.query import query as ask

    if as_csv and as_json:
        raise UsageError("--csv and --json don't go together")
    places.database(store.home())
    try:
        found = ask(store.home(), sql, VERSIONS, timeout)
        for text in found.left_out:
            click.echo(f"note: {text}", err=True)
        _write_rows(found, limit, as_csv=as_csv, as_json=as_json)
    except TimeoutError:
        click.echo(f"error: the query took longer than {timeout:g} s and was ended", err=True)
        return 5
    return 0


def _write_rows(found: Answer, limit: int, *, as_csv: bool, as_json: bool) -> None:
    if as_json:
        for row in found.rows:
            click.echo(json.dumps(dict(zip(found.columns, row, strict=True)), ensure_ascii=False, default=str))
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows(found.rows)
    else:
        _show_rows(found.columns, found.rows, limit)


def _show_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], limit: int) -> None:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(Text(plain(column)), overflow="fold")
    more = False
    for number, row in enumerate(rows):
        if number == limit:
            more = True
            break
        table.add_row(*(Text("" if value is None else plain(str(value))) for value in row))
    Console().print(table)
    if more:
        click.echo(f"the first {limit} rows; --limit, --csv or --json for more", err=True)


def tail(which: str | None, count: int, *, follow: bool, as_json: bool) -> int:
    """Show the last records, and those to come."""
    path = tails.pick(store.home(), which)
    if not as_json:
        click.echo(f"{places.shown(path, store.home())}:")
    lines, end = tails.last(path, count)
    for line in lines:
        click.echo(_told(line, as_json=as_json))
    if follow:
        for line in tails.follow(path, end):
            click.echo(_told(line, as_json=as_json))
            sys.stdout.flush()
            if streams.reader_gone():
                break
    return 0


def _told(line: bytes, *, as_json: bool) -> str:
    """A record in one line."""
    if as_json:
        return line.decode(errors="replace")
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        return f"(unreadable, {len(line)} bytes)"
    version = fields.get("schema_version")
    known = _version(fields)
    other = () if version in (None, known) else (f"(schema_version {version}; this bench reads {known})",)
    return plain("  ".join(str(part) for part in (*_parts(fields), *other) if part))


def _version(fields: dict[str, Any]) -> int:
    """The schema that this version reads of such a record."""
    if "status" in fields:
        return ATTEMPT_VERSION
    return mined.SUMMARY_VERSION if "kind" in fields else SCHEMA_VERSION


def _seconds(value: Any) -> str:
    return f"{value:.1f} s" if isinstance(value, float) else f"{value} s"


def _parts(fields: dict[str, Any]) -> list[Any]:
    """What is worth seeing of a record; of any record, however odd."""
    names: tuple[str, ...] = ("type", "difficulty", "scheme", "strategy_name")
    if "status" in fields:
        names = ("started", "agent", "mode", "status")
        error = fields.get("error")
        kind = error.get("kind") if isinstance(error, dict) else None
        more = [kind, str(fields.get("question_id"))[:12], fields.get("letter"), _seconds(fields.get("seconds"))]
    elif fields.get("kind") == "attempt":
        names = ("kind", "attempt", "decision", "category", "reasons")
        more = []
    elif "kind" in fields:
        names = ("kind", "run", "ended_by", "at", "question_id", "verdict", "reason")
        more = []
    else:
        more = [str(fields.get("id", "published"))[:12]]
    return [*(fields.get(name) for name in names), *more]

