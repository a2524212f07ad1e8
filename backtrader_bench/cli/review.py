"""``bench review``."""

from __future__ import annotations

from typing import Any

import click

from backtrader_bench.cli import kinds


@click.command(epilog="Exit codes: 0 done, 2 usage or input, 130 interrupted (verdicts given are kept).")
@click.argument("run", required=False, type=kinds.Words(kinds.sessions))
@click.option("--question", metavar="ID", help="Only this one, named by the beginning of its id.")
@click.option("--verdict", type=click.Choice(["accept", "reject", "fix-needed"]), help="Give it without being asked.")
@click.option("--reason", default="", help="Why; needed for reject and fix-needed.")
@click.option("--reviewer", default="", help="Who says so.")
@click.option("--all", "everything", is_flag=True, help="Also those that have a verdict.")
@click.option("--list", "as_list", is_flag=True, help="List them, ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Everything about them as JSON, ask nothing.")
def review(**options: Any) -> int:
    """Judge mined questions that their with-tools solver got wrong: is the key wrong, or was the solver?

    Shows each question with its options, the verifier and what it printed, every solver's answer and value, and where
    solvers agree against the key; asks for a verdict and keeps it in db/reviews/. RUN is a session or last; all
    sessions without it. The question's record stays as it is.

    \b
    bench review last
    bench review --list
    bench review --question 3fa9c1 --verdict reject --reason "the text doesn't say when the stop is placed"
    """
    from backtrader_bench.cli import reviewing

    return reviewing.review(options)
