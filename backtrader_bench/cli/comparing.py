"""What ``bench compare`` does and prints. Apart from compare.py so that its help needs none of these imports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console

from backtrader_bench.agents.reports import words
from backtrader_bench.api import reporting as api
from backtrader_bench.cli.report_tables import name, plain, table

if TYPE_CHECKING:
    from rich.table import Table

    from backtrader_bench.agents.reports.compare import Compared, Comparison, Difference


def compare(first: str, second: str, options: dict[str, Any]) -> int:
    """Compare what the command line asks for; returns the exit code."""
    found = api.compare(first, second, questions=options["questions"], seed=options["seed"])
    if options["as_json"]:
        click.echo(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        show(found, options["flips"])
    return 0


def show(found: Comparison, flips: int) -> None:
    """Print the comparison."""
    console = Console()
    console.print(f"first   {plain(found.first)}\nsecond  {plain(found.second)}", markup=False, highlight=False)
    for note in found.notes:
        console.print(f"note: {plain(note.text)}", markup=False, highlight=False, soft_wrap=True)
    console.print()
    if found.settings:
        console.print(settings_table(found.settings))
    else:
        console.print("no setting differs")
    for one in found.agents:
        console.print()
        for line in lines(one):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        if (one.lost or one.won) and flips:
            console.print(flips_table(one, flips))


def settings_table(settings: tuple[Difference, ...]) -> Table:
    """Settings that differ."""
    made = table("settings that differ", ["setting", "first", "second"], [])
    for one in settings:
        made.add_row(name(one.name), name(one.first), name(one.second))
    return made


def lines(one: Compared) -> list[str]:
    """One comparison in words."""
    pair = one.pair
    named = one.first_agent if one.first_agent == one.second_agent else f"{one.first_agent} and {one.second_agent}"
    apart = [f"{count:,} in the {side} alone" for count, side in
             ((one.only_in_first, "first"), (one.only_in_second, "second")) if count]  # fmt: skip
    rest = f" ({', '.join(apart)})" if apart else ""
    if pair.difference is None:
        return [f"{plain(named)}: no question was answered in both{rest}"]
    said = {"ahead": "the first run is ahead", "behind": "the second run is ahead", "tied": "tied"}
    outcome = said[pair.word] if pair.word else words.nothing_to_say(pair)
    could = words.NOTHING if pair.smallest is None else f"{words.points(pair.smallest)} points"
    return [
        f"{plain(named)}: {pair.questions:,} questions answered in both{rest}",
        f"  first {words.percent(one.first_accuracy)}, second {words.percent(one.second_accuracy)}, difference "
        f"{words.points(pair.difference)} points ({words.span(pair)}), Holm p {words.p(pair.holm)} ({pair.test}): "
        f"{outcome}",
        f"  {len(one.lost):,} went from right to wrong, {len(one.won):,} from wrong to right, {one.same:,} stayed; so "
        f"many questions could show {could}",
    ]


def flips_table(one: Compared, most: int) -> Table:
    """The questions that changed, losses first."""
    flips = [("right -> wrong", flip) for flip in one.lost] + [("wrong -> right", flip) for flip in one.won]
    several = any(flip.first not in (0, 1) or flip.second not in (0, 1) for _, flip in flips)
    made = table("changed", ["question", "change", "tier", "template", "key", "picked"], [])
    for change, flip in flips[:most]:
        text = f"{words.percent(flip.first, 0)} -> {words.percent(flip.second, 0)}" if several else change
        picked = f"{flip.first_letters} -> {flip.second_letters}"
        made.add_row(flip.question[:12], text, name(flip.tier), name(flip.template), flip.key or "?", picked)
    if len(flips) > most:
        made.caption, made.caption_justify = f"and {len(flips) - most:,} more; --flips N or --json lists them", "left"
    return made
