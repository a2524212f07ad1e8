"""``bench db``: check, stats, dedupe, query, tail."""

from __future__ import annotations

from pathlib import Path

import click

from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import Finite


@click.group(invoke_without_command=True)
@click.pass_context
def db(context: click.Context) -> None:
    """Look after the store: what is wrong with it, what is in it, questions to it. docs/store.md.

    \b
    bench db check                            everything that can't be trusted, with file and line
    bench db stats                            what there is
    bench db query "select status, count(*) from attempts group by all"
    bench db dedupe db/mcq/*.jsonl -o all.jsonl
    bench db tail                             the last records

    The store is db/ under $BENCH_HOME (default: the current folder). None of these changes a file of it.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@db.command(
    short_help="Everything that can't be trusted, named.",
    epilog="Exit codes: 0 nothing wrong, 1 something is, 2 no store or a file that can't be read at all.",
)
@click.option("--all", "everything", is_flag=True, help="Print every problem, not the first 20 of a kind.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of text.")
def check(everything: bool, as_json: bool) -> int:
    """Walk the store and name what can't be trusted: file, line, what, and the way out.

    Lines that are cut off, not UTF-8, not JSON or of another schema version; ids that don't match their content;
    questions without their tape, certificate or verifier; attempts without their question; repeats; tapes and banks
    that are not what they were. Whether keys are right is for bench check.

    \b
    bench db check
    bench db check --json | jq .counts
    """
    from backtrader_bench.cli import dbing

    return dbing.check(everything=everything, as_json=as_json)


@db.command(short_help="What the store holds, counted.", epilog="Exit codes: 0 counted, 2 no store.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of text.")
def stats(as_json: bool) -> int:
    """Count what the store holds: questions by scheme, tier and template, attempts by agent and status, mining, disk.

    \b
    bench db stats
    bench db stats --json | jq .agents
    """
    from backtrader_bench.cli import dbing

    return dbing.stats(as_json=as_json)


@db.command(
    short_help="Question or attempt files without repeats, as a new file.",
    epilog="Exit codes: 0 written, 2 usage, a line that is no record, a question with two keys (nothing is written).",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), metavar="NEW",
              help="The new file; one that exists is refused.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of a line.")
def dedupe(files: tuple[Path, ...], output: Path, as_json: bool) -> int:
    """Write the lines of FILEs, without repeats and byte for byte, to a new file.

    Of questions the first of each id stays. Of attempts goes what could never stand: copies of a line, and records of
    what already has its final outcome (one that says that it replaces it stays).

    \b
    bench db dedupe db/mcq/*.jsonl -o all.jsonl
    bench db dedupe run_a.jsonl -o run_a_once.jsonl
    """
    from backtrader_bench.cli import dbing

    return dbing.dedupe(files, output, as_json=as_json)


@db.command(
    short_help="SQL over questions, attempts, summary and reviews.",
    epilog="Exit codes: 0 done, 2 no store or wrong SQL, 3 the extra is missing, 5 --timeout ended it.",
)
@click.argument("sql", metavar="SQL")
@click.option("--csv", "as_csv", is_flag=True, help="CSV on stdout instead of a table.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row on stdout instead of a table.")
@click.option("--limit", type=click.IntRange(1), default=200, show_default=True, metavar="N",
              help="Most rows of a table; CSV and JSON have all.")
@click.option("--timeout", type=Finite(0, min_open=True), metavar="S", help="End the query after so many seconds.")
def query(sql: str, as_csv: bool, as_json: bool, limit: int, timeout: float | None) -> int:
    """Ask the store one SELECT in DuckDB's SQL. Needs the extra: pip install 'backtrader-bench[db]'.

    Views: questions, attempts, summary, reviews. Their columns are the fields of the records, and file.

    \b
    bench db query "describe attempts"
    bench db query "select agent, status, count(*) n from attempts group by all order by all"
    bench db query "select q.type, avg((a.status = 'correct')::int) from attempts a
                    join questions q on q.id = a.question_id group by all" --csv
    """
    from backtrader_bench.cli import dbing

    return dbing.query(sql, as_csv=as_csv, as_json=as_json, limit=limit, timeout=timeout)


@db.command(short_help="The last records of a run or file.", epilog="Exit codes: 0 shown, 2 no such file or run.")
@click.argument("which", metavar="[RUN|FILE]", required=False, type=kinds.Words(kinds.names, files=True))
@click.option("--lines", "-n", type=click.IntRange(0, 100_000), default=10, show_default=True, help="How many.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what is appended, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="The records as they stand, one a line.")
def tail(which: str | None, lines: int, follow: bool, as_json: bool) -> int:
    """Show the last records of a run or file, one line each; without a name those of the file written last.

    \b
    bench db tail
    bench db tail run_20260101_120000 -n 50
    bench db tail --follow
    """
    from backtrader_bench.cli import dbing

    return dbing.tail(which, lines, follow=follow, as_json=as_json)
