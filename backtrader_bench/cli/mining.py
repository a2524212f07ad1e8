"""What ``bench mine`` does and prints. Apart from mine.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from backtrader_bench import store
from backtrader_bench.agents import environment
from backtrader_bench.agents.command import absolute
from backtrader_bench.agents.runs.budget import Caps, tokens_of
from backtrader_bench.cli import configuration
from backtrader_bench.errors import UsageError
from backtrader_bench.mcq_builder.seeds import drawn_seed
from backtrader_bench.miner import cron, journal, report, session
from backtrader_bench.miner.decisions import ACCEPTED, DECISIONS, REVIEW
from backtrader_bench.miner.session import Host, Limits, Watch, exit_code
from backtrader_bench.miner.settings import Settings, safe_name, settings_of
from backtrader_bench.sandbox import selftest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from backtrader_bench.miner.journal import SessionFile
    from backtrader_bench.miner.records import AttemptLine, SessionLine, Spending

FREE = (
    "until_accepted", "max_hours", "max_tokens", "max_cost", "prices", "require_sandbox", "allow_unsafe",
    "keep_workspaces", "no_fsync", "as_json", "quiet", "resume", "print_cron",
)  # fmt: skip
"""Options that may differ when a session is resumed; the others are kept with it."""
WORDS = {
    "tool_solver_correct": "accepted", "tool_solver_wrong": "for review", "easy_discarded": "too easy",
    "not_well_posed": "not well posed", "duplicate": "duplicate", "verifier_failed": "verifier failed",
    "malformed": "malformed", "unscreened": "unscreened", "generator_failed": "generator failed",
}  # fmt: skip


def mine(options: dict[str, Any], argv: list[str]) -> int:
    """Mine as the command line asks for; returns the exit code."""
    if options["print_cron"]:
        return _print_cron(options, argv)
    console = Console(stderr=True)
    prices = _prices(options["prices"])
    limits = _limits(options)
    found = _resumed(options) if options["resume"] is not None else settings_of({**options, **_derived(options)})
    settings = found if isinstance(found, Settings) else found.settings
    name = safe_name(options["run_name"])
    agents = session.check_host(settings, limits, os.environ, prices)
    isolation = selftest.best(required=options["require_sandbox"], allow_unsafe=options["allow_unsafe"])
    quiet = options["quiet"]
    run = f"mining{name}" if isinstance(found, Settings) else found.run
    with session.only_one(run, lambda text: _say(console, text)):
        opened = session.begin(settings, name) if isinstance(found, Settings) else found
        session.tell_waiting(opened.run)
        if (left := session.sweep(opened)) and not quiet:
            _say(console, f"{left} processes of a killed session ended")
        if not quiet:
            _announce(opened, selftest.said(isolation), console)
        host = Host(
            agents=agents, isolation=isolation, environ=os.environ, prices=prices, command=("bench", *argv),
            keep_workspaces=options["keep_workspaces"], fsync=not options["no_fsync"],
        )  # fmt: skip
        with watching(opened, console, quiet=quiet) as watch:
            line = session.perform(opened, limits, host, watch)
    _finish(line, options)
    return exit_code(line)


def _prices(path: Path | None) -> Any:
    from backtrader_bench.agents.usage import read_prices

    return read_prices(path) if path is not None else None


def _derived(options: Mapping[str, Any]) -> dict[str, Any]:
    seed = options["seed"]
    return {
        "seed": drawn_seed() if seed is None else seed,
        "steer": not options["no_steer"],
        "own_config": options["own_config"] or None,
    }


def _limits(options: Mapping[str, Any]) -> Limits:
    hours = options["max_hours"]
    caps = Caps(tokens=options["max_tokens"], usd=options["max_cost"], seconds=hours * 3600 if hours else None)
    return Limits(until_accepted=options["until_accepted"], caps=caps)


def _resumed(options: Mapping[str, Any]) -> SessionFile:
    """The session to go on with. UsageError: an option that would make it another one."""
    options = configuration.only_given(options, [name for name in options if name not in FREE])
    given = [name for name, value in options.items() if name not in FREE and value not in (None, (), False)]
    if given:
        flag = "--" + given[0].replace("_agents", "_agent").replace("_models", "_model").replace("_", "-")
        raise UsageError(f"{flag} is kept with the session; --resume goes on with what it was begun with")
    return journal.read_session(options["resume"])


def _print_cron(options: Mapping[str, Any], argv: Sequence[str]) -> int:
    if options["resume"] is not None:
        raise UsageError("--print-cron and --resume don't go together: every night is a session of its own")
    if options["seed"] is not None:
        source = configuration.origin(click.get_current_context(), "seed")
        where = f" (from {source})" if source else ""
        raise UsageError(f"--print-cron: seed {options['seed']}{where} would mine the same every night; leave it out")
    settings = settings_of({**options, **_derived(options)})
    agents = session.check_host(settings, _limits(options), os.environ, _prices(options["prices"]))
    words = cron.options_without(argv[1:] if argv[:1] == ["mine"] else argv, {
        "--print-cron": 0, "--quiet": 0, "-q": 0, "--json": 0})  # fmt: skip
    command = cron.command(sys.executable, cron.elsewhere(words, ELSEWHERE))
    variables = {
        "BENCH_HOME": str(store.home()), "PATH": os.environ.get("PATH", os.defpath), **configuration.in_effect("mine"),
    }  # fmt: skip
    if (word := cron.unquotable(command, variables)) is not None:
        raise UsageError(f"--print-cron: {word!r} holds a line break or another control character; no crontab line can")
    wanted = ("BENCH_*", *(name for agent in agents.values() for name in agent.backend.allowed))
    left = sorted(set(environment.select(os.environ, wanted)) - set(variables))
    if options["as_json"]:
        units = cron.systemd(command, variables)
        lines = {"crontab": cron.crontab(command, variables), "systemd": units, "not_carried_over": left}
        click.echo(json.dumps(lines, indent=2))
    else:
        click.echo(cron.shown(command, variables, left))
    return 0


def _file(value: str) -> str:
    return str(Path(value).absolute())


def _agent(value: str) -> str:
    """An agent whose files are named by their full paths."""
    name, _, rest = value.partition(":")
    if name == "scripted" and rest:
        return f"scripted:{_file(rest)}"
    return f"command:{absolute(rest)}" if name == "command" else value


ELSEWHERE = {
    "--prices": _file, "--generator-agent": _agent, "--no-tools-agent": _agent, "--with-tools-agent": _agent,
    "--second-verifier": _agent,
}  # fmt: skip
"""Options that name files, and how their value reads in another folder, which is where cron starts."""


def _say(console: Console, text: str) -> None:
    plain = "".join(char if char.isprintable() else " " for char in text)
    console.print(plain, markup=False, highlight=False, soft_wrap=True)


def _announce(opened: SessionFile, sandbox: str, console: Console) -> None:
    settings = opened.settings
    agents = "; ".join(f"{role} {agent}" for role, agent in settings.agents.items())
    _say(console, f"{opened.run}: {settings.attempts} attempts, seed {settings.seed}")
    _say(console, f"{agents}; {sandbox}")


class _Screen:
    """What a terminal shows: finished attempts by decision, and the stage of those that run."""

    def __init__(self, opened: SessionFile) -> None:
        self.total = opened.settings.attempts
        self.began = time.monotonic()
        self.running: dict[int, tuple[str, float]] = {}
        self.counts: dict[str, int] = {}
        self.lock = threading.Lock()
        for line in journal.open_journal(opened.run).finished.values():
            self.counts[line.decision] = self.counts.get(line.decision, 0) + 1

    def stage(self, attempt: int, stage: str) -> None:
        """An attempt entered a stage."""
        with self.lock:
            self.running[attempt] = (stage, time.monotonic())

    def finished(self, line: AttemptLine) -> None:
        """An attempt was decided."""
        with self.lock:
            self.running.pop(line.attempt, None)
            self.counts[line.decision] = self.counts.get(line.decision, 0) + 1

    @property
    def head(self) -> str:
        """``4 of 10: 2 accepted, 1 too easy, 1 not well posed``."""
        done = sum(self.counts.values())
        told = ", ".join(f"{self.counts[name]} {WORDS[name]}" for name in DECISIONS if self.counts.get(name))
        return f"{done} of {self.total}{f': {told}' if told else ''}"

    def __rich__(self) -> RenderableType:
        now = time.monotonic()
        with self.lock:
            stages = [f"  attempt {number}  {stage}  {now - since:.0f} s"
                      for number, (stage, since) in sorted(self.running.items())]  # fmt: skip
            return Text("\n".join([f"{self.head}  ({now - self.began:.0f} s)", *stages]))


@contextmanager
def watching(opened: SessionFile, console: Console, *, quiet: bool) -> Iterator[Watch]:
    """Show a session as it goes: a moving picture in a terminal, a line a finished attempt elsewhere."""
    if quiet:
        # The line that sums up says what ended the session.
        yield Watch()
        return
    screen = _Screen(opened)

    def finished(line: AttemptLine) -> None:
        screen.finished(line)
        _say(console, attempt_words(line, screen.total))

    watch = Watch(stage=screen.stage, finished=finished, say=lambda text: _say(console, text))
    if not console.is_terminal:
        yield watch
        return
    with Live(screen, console=console, refresh_per_second=4, transient=True):
        yield watch


def attempt_words(line: AttemptLine, total: int) -> str:
    """``attempt 3 of 10: accepted  trail  $1,204.10 ...``."""
    why = f" ({', '.join(line.reasons)})" if line.reasons else ""
    about = line.category or line.asked_category or ""
    return f"attempt {line.attempt} of {total}: {WORDS[line.decision]}{why}  {about}  {line.seconds:.1f} s"


def _finish(line: SessionLine, options: Mapping[str, Any]) -> None:
    if options["as_json"]:
        click.echo(json.dumps(as_json(line), indent=2))
        return
    if options["quiet"]:
        click.echo(one_line(line))
        return
    console = Console()
    console.print(decisions_table(line))
    console.print()
    console.print(categories_table(line))
    console.print()
    console.print(spending_table(line))
    click.echo(report.survivors(line))
    click.echo(one_line(line))
    files = journal.Journal(line.run)
    if files.kept.exists():
        click.echo(f"questions: {files.kept}")
    if line.decisions.get(REVIEW):
        click.echo(f"next: bench review {line.run}")


def one_line(line: SessionLine) -> str:
    """What a quiet session says."""
    told = ", ".join(f"{count} {WORDS[name]}" for name, count in line.decisions.items() if name != ACCEPTED)
    accepted = line.decisions.get(ACCEPTED, 0)
    how = {
        "max_hours": "; --max-hours ended it", "max_tokens": "; --max-tokens ended it",
        "max_cost": "; --max-cost ended it", "agents_failing": "; an agent can't be asked, see the last reasons",
        "goal_missed": "; fewer accepted than wanted",
    }.get(line.ended_by, "")  # fmt: skip
    if exit_code(line) == 3 and not how:
        how = "; the agents answered in few attempts or none, see the last reasons"
    rest = f" ({told})" if told else ""
    return f"{line.run}: {accepted} of {line.attempts} accepted{rest}, {line.seconds:.0f} s{how}"


def as_json(line: SessionLine) -> dict[str, Any]:
    """What ``--json`` prints: the session's last line, and where its files are."""
    files = journal.Journal(line.run)
    fields: dict[str, Any] = msgspec.to_builtins(line)
    return {
        **fields, "exit_code": exit_code(line), "questions_file": str(files.kept),
        "discarded_file": str(files.discarded), "attempts_file": str(files.solved),
        "summary_file": str(files.summary), "logs": str(files.logs),
    }  # fmt: skip


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=True)
    return table


def decisions_table(line: SessionLine) -> Table:
    """Attempts by decision, with the reasons of those that have any."""
    table = _table("decision", "attempts")
    for name in DECISIONS:
        if line.decisions.get(name):
            table.add_row(WORDS[name], str(line.decisions[name]))
    for reason, count in line.reasons.items():
        table.add_row(Text(f"  {reason}", style="dim"), Text(str(count), style="dim"))
    return table


def categories_table(line: SessionLine) -> Table:
    """Acceptance by category."""
    table = _table("category", "attempts", "accepted", "for review")
    for name, counts in line.categories.items():
        table.add_row(name, str(counts["attempts"]), str(counts["accepted"] or ""), str(counts["review"] or ""))
    return table


def spending_table(line: SessionLine) -> Table:
    """Calls, tokens and dollars by role; a dash where nothing is known."""
    table = _table("role", "calls", "tokens", "cost", "seconds")
    for role, one in line.spending.items():
        table.add_row(role.replace("_", " "), str(one.calls), tokens(one), cost(one), f"{one.seconds:.1f}")
    return table


def tokens(one: Spending) -> str:
    """``1,234``; ``~`` where some were counted from the text, ``+`` where some calls' are unknown."""
    known = tokens_of(one.usage)
    if known is None:
        return "-"
    return f"{'~' if one.usage.estimated else ''}{known:,}{'+' if one.with_tokens < one.calls else ''}"


def cost(one: Spending) -> str:
    """``$0.0123``; ``+`` where some calls' cost is unknown."""
    return "-" if one.cost is None else f"${one.cost:.4f}{'+' if one.with_cost < one.calls else ''}"
