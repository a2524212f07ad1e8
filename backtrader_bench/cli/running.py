"""What ``bench run`` does and prints. Apart from run.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from backtrader_bench.agents import shown
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import names, perform, read
from backtrader_bench.agents.runs import session as sessions
from backtrader_bench.agents.runs.budget import Caps
from backtrader_bench.agents.runs.estimate import ASSUMED, estimates, prompts
from backtrader_bench.agents.runs.perform import Running
from backtrader_bench.agents.runs.schedule import GIVE_UP_AFTER
from backtrader_bench.agents.runs.tally import tally
from backtrader_bench.attempts import FINAL
from backtrader_bench.cli import configuration, live
from backtrader_bench.errors import UsageError
from backtrader_bench.templates.prompts import system_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.agents.runs.conduct import Conductor, Ending, Watch
    from backtrader_bench.agents.runs.read import Run
    from backtrader_bench.agents.runs.session import Work
    from backtrader_bench.agents.runs.tally import AgentTally

MANY = 100
"""Series of bars that take a while to read."""
EXIT = {"done": 0, "incomplete": 3, "budget": 5, "interrupted": 130}


def run(options: dict[str, Any], command: list[str]) -> int:
    """Ask what the command line asks for; returns the exit code."""
    if options["resume"] is not None:
        options = configuration.only_given(options, [*sessions.BINDING, "run_name"])
    given = {name: options[name] for name in sessions.BINDING if options[name] not in (None, ())}
    running = _running(options)
    console = Console(stderr=True)
    with _prepared(options, given) as work:
        agents = perform.agents_of(work.manifest.settings)
        if options["dry_run"]:
            return dry_run(work, agents, running, as_json=options["as_json"])
        if work.manifest.settings.data_access == "prices" and len(work.manifest.tapes) > MANY and not options["quiet"]:
            _say(console, f"looking for the bars of {work.manifest.questions} questions ...")
        perform.check(work, agents, running, os.environ)
        if options["resume"] is None:
            work = sessions.named(work, options["run_name"])
        with perform.holding(work.manifest.run) if options["resume"] is None else _nothing():
            ending = _perform(work, agents, running, command, console, quiet=options["quiet"])
    found = read.read_run(work.manifest.run)
    _finish(found, work, ending, as_json=options["as_json"])
    return EXIT[ending.outcome]


def _running(options: Mapping[str, Any]) -> Running:
    from backtrader_bench.agents.usage import read_prices

    hours = options["max_hours"]
    caps = Caps(tokens=options["max_tokens"], usd=options["max_cost"], seconds=hours * 3600 if hours else None)
    return Running(
        jobs=options["jobs"], retries=options["retries"], caps=caps, fsync=not options["no_fsync"],
        keep_workspaces=options["keep_workspaces"], data=options["data"],
        prices=read_prices(options["prices"]) if options["prices"] else None,
    )  # fmt: skip


@contextmanager
def _prepared(options: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Work]:
    """The work; of a run to be resumed, while it is held and what killed sessions left is gone."""
    if options["resume"] is None:
        yield sessions.begin(options["files"], given)
        return
    if options["run_name"]:
        raise UsageError("--run-name is for a new run; --resume goes on with one that has its name")
    name = read.run_named(options["resume"])
    with perform.holding(name):
        if left := perform.sweep(read.read_run(name).manifest):
            click.echo(f"{left} processes of a killed session ended", err=True)
        yield sessions.resume(name, options["files"], given)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _perform(
    work: Work, agents: Mapping[str, Agent], running: Running, command: list[str], console: Console, *, quiet: bool
) -> Ending:
    progress = live.Progress(
        tally(work.planned, (one for one in work.standing if one.status in FINAL)),
        {text: agent.backend.name for text, agent in agents.items()},
    )
    if not quiet:
        _announce(work, console)

    with live.watching(progress, console, quiet=quiet) as shown:

        def watch(conductor: Conductor) -> Watch:
            progress.conductor = conductor
            return shown

        ending = perform.perform(work, agents, running, command, os.environ, watch)
    for agent, error in (progress.conductor.schedule.given_up if progress.conductor else {}).items():
        _say(console, f"{agent} is asked no more after {GIVE_UP_AFTER} such errors in a row: {error.message}")
    return ending


def _announce(work: Work, console: Console) -> None:
    settings, todo = work.manifest.settings, len(work.todo)
    if work.duplicates:
        _say(console, f"questions that come more than once are asked once ({_count(work.duplicates, 'line')} left out)")
    left = f", {todo} left" if todo < work.manifest.planned else ""
    orders = " x 4 orders of the options" if settings.rotate else ""
    times = f" x {settings.repeats} repeats" if settings.repeats > 1 else ""
    what = f"{_count(work.manifest.questions, 'question')} x {_count(len(settings.agents), 'agent')}{times}{orders}"
    _say(console, f"{work.manifest.run}: {what} = {_count(work.manifest.planned, 'attempt')}{left}, {settings.mode}")


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _say(console: Console, text: str) -> None:
    console.print(live.plain(text), markup=False, highlight=False, soft_wrap=True)


def _finish(found: Run, work: Work, ending: Ending, *, as_json: bool) -> None:
    standing = read.effective(found.attempts)
    tallies = tally(work.planned, standing.values())
    final = sum(one.final for one in tallies.values())
    if as_json:
        click.echo(json.dumps(summary(found, work, ending, tallies), indent=2))
    else:
        Console().print(end_table(tallies, ask_value=found.manifest.settings.ask_value))
        click.echo(f"attempts: {read.attempts_path(found.manifest.run)}")
        if found.manifest.sessions[-1].running["keep_workspaces"]:
            click.echo(f"workspaces: {found.manifest.sessions[-1].workspaces}")
    rest = work.manifest.planned - final
    why = {"budget": ending.reason, "interrupted": "interrupted; what was finished is kept"}.get(ending.outcome)
    if why:
        click.echo(why, err=True)
    if rest:
        click.echo(f"{rest} of {work.manifest.planned} have no final outcome yet; "
                   f"bench run --resume {found.manifest.run} asks them", err=True)  # fmt: skip


def summary(found: Run, work: Work, ending: Ending, tallies: Mapping[str, AgentTally]) -> dict[str, Any]:
    """What ``--json`` prints."""
    run = found.manifest.run
    return {
        "run": run,
        "outcome": ending.outcome,
        "reason": ending.reason,
        "attempts_file": str(read.attempts_path(run)),
        "manifest": str(manifests.manifest_path(run)),
        "transcripts": str(names.logs_path(run)),
        "mode": found.manifest.settings.mode,
        "questions": found.manifest.questions,
        "duplicates": work.duplicates,
        "planned": found.manifest.planned,
        "final": sum(one.final for one in tallies.values()),
        "agents": {agent: one.as_dict() for agent, one in tallies.items()},
    }


def end_table(tallies: Mapping[str, AgentTally], *, ask_value: bool) -> Table:
    """Per agent: answered, right, accuracy, and every way of giving no answer, each counted as what it is."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    called = shown.names(tallies)
    # In a narrow terminal the last column gives way: it is broken between words.
    table.add_column("agent", overflow="fold", min_width=min(19, max(map(len, called.values()), default=0)))
    for name in ("asked", "answered", "right", "accuracy", *(["verified"] if ask_value else []), "tokens", "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("no answer", overflow="fold")
    for agent, one in tallies.items():
        verified = [str(one.verified)] if ask_value else []
        table.add_row(
            live.plain(called[agent]), f"{one.ended}/{one.planned}", str(one.answered), str(one.statuses["correct"]),
            live.percent(one.accuracy), *verified, live.tokens(one), live.cost(one), live.failures(one),
        )  # fmt: skip
    return table


def dry_run(work: Work, agents: Mapping[str, Agent], running: Running, *, as_json: bool) -> int:
    """Show what would be asked; 0."""
    settings = work.manifest.settings
    system = system_text(settings.mode, settings.data_access)
    found = estimates(work, agents, running.prices)
    if as_json:
        asked = [{"question": name, "shift": shift, "prompt": text} for name, shift, text in prompts(work)]
        click.echo(json.dumps({
            "questions": work.manifest.questions, "attempts": len(work.todo), "duplicates": work.duplicates,
            "mode": settings.mode, "system": system, "prompts": asked, "agents": [one.as_dict() for one in found],
        }, indent=2))  # fmt: skip
        return 0
    click.echo(f"system\n\n{system}\n")
    for number, (name, shift, text) in enumerate(prompts(work), 1):
        turned = f", options rotated by {shift}" if shift else ""
        click.echo(f"prompt {number}: question {name[:12]}{turned}\n\n{live.plain_lines(text)}\n")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("agent", overflow="fold")
    for column in ("attempts", "input tokens", "output tokens", "cost"):
        table.add_column(column, justify="right", no_wrap=True)
    called = shown.names(one.agent for one in found)
    for one in found:
        usd = "?" if one.usd is None else f"${one.usd:.2f}"
        table.add_row(live.plain(called[one.agent]), f"{one.attempts:,}", f"{one.input:,}", f"{one.output:,}", usd)
    Console().print(table)
    rounds, output = ASSUMED[settings.mode]
    click.echo(f"estimates: words and punctuation x 1.25; assumed that an attempt sends its prompt {rounds} times and "
               f"writes {output:,} tokens")  # fmt: skip
    return 0
