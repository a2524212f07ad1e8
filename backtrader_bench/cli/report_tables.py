"""A report on the terminal: readable at 80 columns, and no wider than it needs at more."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from backtrader_bench.agents import shown
from backtrader_bench.agents.reports import words
from backtrader_bench.attempts import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backtrader_bench.agents.reports.schema import AgentReport, Group, Report, Share

MOST_GROUPS = 40
"""Rows of a table by template or strategy."""


def show(found: Report, by: Sequence[str], console: Console | None = None) -> None:
    """Print the report."""
    console = console or Console()
    found = shortly(found)
    for run in found.runs:
        agents = ", ".join(run.agents)
        outcome = run.outcome or "not ended"
        say(console, f"{plain(run.run)}: {run.mode}, {plain(agents)}, {run.stored:,} attempts, {outcome}")
    for note in found.notes:
        say(console, f"note: {plain(note.text)}")
    for condition, agents_of in groupby(found.agents, words.condition):
        mine = list(agents_of)
        for made in of_condition(found, condition, mine):
            console.print()
            console.print(made)
    apart = sum(not one.questions for one in found.pairs)
    if len(found.pairs) > apart:
        console.print()
        console.print(pairs(found))
    if apart:
        console.print()
        say(console, f"{apart:,} of {len(found.pairs):,} pairs have no common question and no difference to show")
    for kind in by:
        groups = [one for one in found.groups if one.kind == kind]
        for places in columns(groups, found, console.width) if len(groups) > 1 else ():
            console.print()
            console.print(by_group(kind, groups, found, places))
    console.print()
    for line in footnotes(found):
        say(console, line)


def shortly(found: Report) -> Report:
    """The report with agents called as a screen has room for."""
    called = shown.names([one.agent for one in found.agents] + [agent for run in found.runs for agent in run.agents])
    series = {one.name: called[one.agent] + one.name.removeprefix(one.agent) for one in found.agents}
    change = msgspec.structs.replace
    return change(
        found,
        runs=tuple(change(one, agents=tuple(called[agent] for agent in one.agents)) for one in found.runs),
        agents=tuple(change(one, agent=called[one.agent], name=series[one.name]) for one in found.agents),
        pairs=tuple(change(one, first=series[one.first], second=series[one.second]) for one in found.pairs),
    )


def say(console: Console, text: str) -> None:
    """A line as it is: no markup, broken where the terminal ends."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def of_condition(found: Report, condition: str, agents: Sequence[AgentReport]) -> Iterator[Table]:
    """The tables about agents under one condition; those that have something to say."""
    yield accuracy(found, condition, agents)
    yield failures(agents)
    yield readings(agents)
    if any(len(one.repeats.accuracies) > 1 for one in agents):
        yield repeats(agents)
    if any(one.position for one in agents):
        yield positions(agents)
    if any(one.mistakes for one in agents):
        yield mistakes(agents)
    yield cost(agents)


def table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """A table without lines: text columns, then figures."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", title_style="bold")
    for name in left:
        made.add_column(name, overflow="fold")
    for name in right:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def plain(text: str) -> str:
    """Text from records, without what could steer a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


def name(text: str) -> Text:
    """A cell of such text: no markup in it."""
    return Text(plain(text))


def accuracy(found: Report, condition: str, agents: Sequence[AgentReport]) -> Table:
    """The headline figures."""
    questions = max(one.questions for one in agents)
    verified = any(one.verified for one in agents)
    columns = ["n", "accuracy", "95%", "as\nwrong", *(["verified"] if verified else []), "over\nchance"]
    made = table(f"{condition}: accuracy on {questions:,} questions", ["agent"], [
        *columns, *(["over\nfloor"] if found.floor else []),
    ])  # fmt: skip
    for one in agents:
        cells = [f"{one.accuracy.n:,}", words.percent(one.accuracy.value), between(one.accuracy),
                 words.percent(one.as_wrong.value)]  # fmt: skip
        if verified:
            cells.append(words.percent(one.verified.value) if one.verified else words.NOTHING)
        cells.append(words.percent(one.guess_corrected))
        if found.floor:
            cells.append(words.percent(one.above_floor))
        made.add_row(name(one.agent), *cells)
    return made


def failures(agents: Sequence[AgentReport]) -> Table:
    """Attempts by outcome; only outcomes that there were."""
    present = [one for one in words.STATUSES if any(one in agent.statuses for agent in agents)]
    failed = [one for one in present if one not in ANSWERS]
    answered = [words.STATUSES[one] for one in present if one in ANSWERS]
    made = table("attempts by outcome", ["agent"], ["asked", *answered])
    made.add_column("without an answer", overflow="fold")
    for one in agents:
        answers = [f"{one.statuses.get(status, 0):,}" for status in present if status in ANSWERS]
        rest = words.failures(one.statuses, one.errors) if failed else "none"
        made.add_row(name(one.agent), f"{one.attempts:,}", *answers, rest)
    return made


def readings(agents: Sequence[AgentReport]) -> Table:
    """Lenient and strict, by what failures count for."""
    made = table("letters read leniently, and in strict form only", ["agent", "letters"],
                 ["answered", "left out", "as wrong", "as guess", "as right"])  # fmt: skip
    for one in agents:
        for reading, found in (("lenient", one.lenient), ("strict", one.strict)):
            shares = (found.excluded, found.as_wrong, found.as_guess, found.as_right)
            made.add_row(name(one.agent) if reading == "lenient" else "", reading, f"{found.answered:,}",
                         *(words.percent(share) for share in shares))  # fmt: skip
    return made


def repeats(agents: Sequence[AgentReport]) -> Table:
    """Spread of repeats, and pass@k with pass^k for the largest k."""
    most = max(len(one.passes) for one in agents)
    made = table("repeats", ["agent"], ["repeats", "mean", "SD", "SE questions", f"pass@{most}", f"pass^{most}"])
    for one in agents:
        last = one.passes[-1] if len(one.passes) == most else None
        shares = (one.repeats.mean, one.repeats.sd, one.repeats.se_questions,
                  last.pass_at if last else None, last.pass_hat if last else None)  # fmt: skip
        made.add_row(name(one.agent), str(len(one.repeats.accuracies)), *(words.percent(share) for share in shares))
    return made


def positions(agents: Sequence[AgentReport]) -> Table:
    """Picks by place, where options were rotated."""
    made = table("picks by place, options in all four orders (a quarter each without bias)", ["agent"],
                 ["questions", "A", "B", "C", "D", "same option in all"])  # fmt: skip
    for one in agents:
        if one.position:
            picks = [words.percent(share.value) for share in one.position.picks]
            made.add_row(name(one.agent), f"{one.position.questions:,}", *picks, words.percent(one.position.steady))
    return made


def mistakes(agents: Sequence[AgentReport]) -> Table:
    """Wrong values that one common mistake explains."""
    made = table("wrong values that are a common mistake", ["agent", "mistake"], ["times"])
    for one in agents:
        ranked = sorted(one.mistakes.items(), key=lambda item: (-item[1], item[0]))
        for place, (mistake, times) in enumerate(ranked[:5]):
            made.add_row(name(one.agent) if place == 0 else "", name(mistake), f"{times:,}")
    return made


def cost(agents: Sequence[AgentReport]) -> Table:
    """Tokens, dollars and seconds."""
    made = table("tokens, cost, time", ["agent"], [])
    for column in ("input", "output", "cost", "median", "in all"):
        made.add_column(column, justify="right", overflow="fold")
    for one in agents:
        sums = (words.total(one.tokens["input"]), words.total(one.tokens["output"]), words.total(one.cost, "$"))
        made.add_row(name(one.agent), *sums, words.seconds(one.seconds.median), words.seconds(one.seconds.total))
    return made


def pairs(found: Report) -> Table:
    """Agents against each other."""
    about = {one.name: one for one in found.agents}
    several = len({words.condition(one) for one in found.agents}) > 1
    made = table("differences in points on common questions", ["first\nless the second"],
                 ["n", "difference", "95%", "Holm p"])  # fmt: skip
    made.add_column("", overflow="fold")
    made.add_column("could\nshow", justify="right")
    for one in found.pairs:
        if not one.questions:
            continue
        sides = (one.first, one.second) if several else (about[one.first].agent, about[one.second].agent)
        made.add_row(name("\n".join(sides)), f"{one.questions:,}", words.points(one.difference), words.span(one),
                     words.p(one.holm), name(words.verdict(one, about)), words.points(one.smallest))  # fmt: skip
    return made


def columns(groups: Sequence[Group], found: Report, width: int) -> list[list[int]]:
    """Places of the agents for which a table by group has room beside each other: one table for each list."""
    left = max(len(group.name) for group in groups[:MOST_GROUPS]) + len("  1,000")
    parts: list[list[int]] = [[]]
    used = left
    for place, one in enumerate(found.agents):
        needs = 2 + max(len(one.agent), len("100% 50-100"))
        if parts[-1] and used + needs > width:
            parts.append([])
            used = left
        parts[-1].append(place)
        used += needs
    return parts


def by_group(kind: str, groups: Sequence[Group], found: Report, places: Sequence[int]) -> Table:
    """Accuracy by one kind of group, a column for each agent at ``places``."""
    several = len({words.condition(one) for one in found.agents}) > 1
    made = table(f"by {kind}", [kind], ["n"])
    for one in (found.agents[place] for place in places):
        made.add_column(name(one.name if several else one.agent), justify="right", overflow="fold")
    for group in groups[:MOST_GROUPS]:
        shares = (group.cells[place].share for place in places)
        made.add_row(name(group.name), f"{group.questions:,}", *map(cell, shares))
    if len(groups) > MOST_GROUPS:
        made.caption, made.caption_justify = f"and {len(groups) - MOST_GROUPS} more; --json and --html have all", "left"
    return made


def between(share: Share) -> str:
    """``65.6-80.5``."""
    return words.span(share).replace(" to ", "-")


def cell(share: Share) -> str:
    """``74% 66-81``."""
    if share.value is None:
        return words.NOTHING
    if share.low is None or share.high is None:
        return words.percent(share.value, 0)
    return f"{words.percent(share.value, 0)} {100 * share.low:.0f}-{100 * share.high:.0f}"


def footnotes(found: Report) -> list[str]:
    """What the tables leave to be said."""
    lines = [f"intervals: {100 * found.level:g}%, clustered by configuration ({found.configurations:,} of them)"]
    if found.floor and found.floor.chance_p is not None:
        lines.append(
            f"floor: {words.percent(found.floor.value)}, the best shortcut on these questions ({found.floor.source}); "
            f"if nothing gave keys away, one would reach as much with p {words.p(found.floor.chance_p)}"
        )
    elif found.floor:
        lines.append(f"floor: {words.percent(found.floor.value)}, as given")
    if found.items.kr20 is not None:
        lines.append(
            f"questions: KR-20 {found.items.kr20:.3f} over the {found.items.complete:,} that all {found.items.takers} "
            "takers answered"
        )
    return lines
