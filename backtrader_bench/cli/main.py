"""``bench``: finds the verb, loads only that verb's module, and turns errors into one line and an exit code."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import TYPE_CHECKING

import click

from backtrader_bench import __version__
from backtrader_bench.cli import configuration, streams
from backtrader_bench.errors import BenchError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# name -> (module.attribute, the line that `bench --help` shows). Listing them here keeps start-up free of imports.
COMMANDS = {
    "build": ("backtrader_bench.cli.build:build", "Build multiple-choice questions from backtests."),
    "check": ("backtrader_bench.cli.check:check", "Compute every key of a question file again, with two engines."),
    "show": ("backtrader_bench.cli.show:show", "Show a question, its options and the backtest behind it."),
    "page": ("backtrader_bench.cli.page:page", "A browsable HTML page of a bank, with or without its keys."),
    "audit": ("backtrader_bench.cli.audit:audit", "Test whether keys can be guessed without a backtest."),
    "run": ("backtrader_bench.cli.run:run", "Ask agents the questions of a bank, and keep every attempt."),
    "report": ("backtrader_bench.cli.report:report", "What runs show: accuracy, failures, agents compared."),
    "compare": ("backtrader_bench.cli.compare:compare", "Two runs, question by question."),
    "mine": ("backtrader_bench.cli.mine:mine", "Mine hard questions: generate, verify, screen, validate, keep."),
    "review": ("backtrader_bench.cli.review:review", "Judge mined questions that their solver got wrong."),
    "rescore": ("backtrader_bench.cli.rescore:rescore", "Read a run's stored replies again, offline."),
    "export": ("backtrader_bench.cli.export:export", "Write questions or attempts in the forms of other tools."),
    "import": ("backtrader_bench.cli.import_:import_", "Take in published questions, or other tools' logs as a run."),
    "reveal": ("backtrader_bench.cli.reveal:reveal", "Hold sealed keys against the export that they belong to."),
    "canary": ("backtrader_bench.cli.canary:canary", "Make a canary, or find one where it should not be."),
    "agents": ("backtrader_bench.cli.agents:agents", "List the agents that can be asked; try one."),
    "demo": ("backtrader_bench.cli.demo:demo", "The whole way in a minute, offline, ending with pages to look at."),
    "data": ("backtrader_bench.cli.data:data", "List, show, fetch and verify price data."),
    "config": ("backtrader_bench.cli.config:config", "Show every option's value, and where it comes from."),
    "doctor": ("backtrader_bench.cli.doctor:doctor", "What this machine has and lacks, each lack with its fix."),
    "db": ("backtrader_bench.cli.db:db", "Look after the store: check, count, query, follow it."),
}
EXPLAINING = frozenset({"config", "doctor"})
HELP = frozenset({"-h", "--help"})


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command object, imported now."""
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        configuration.name_variables(command, (name,))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command to run, with the defaults of ``bench.toml`` laid out for it."""
        name, command, rest = super().resolve_command(ctx, args)
        # Help, completion and the commands that explain a faulty file must work where there is one.
        if command is not None and name not in EXPLAINING and not ctx.resilient_parsing and not HELP & set(rest):
            configuration.apply(ctx, str(name), command, COMMANDS)
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs from the table alone: pressing TAB imports no command."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="bench")
def cli() -> None:
    """Multiple-choice questions from real backtrader backtests, with keys that two engines confirm.

    \b
    bench build                 30 questions on bundled data, into db/mcq/
    bench check db/mcq/*.jsonl  every key computed again by two engines
    bench audit db/mcq/*.jsonl  can the keys be guessed without a backtest?
    bench run FILE --agent oracle --agent guesser, then: bench report last
    bench mine                  harder questions, offline or by an agent

    Files go under $BENCH_HOME (default: the current folder). Options have defaults in bench.toml and in variables:
    see bench config. Exit codes: 0 done, 1 a check found mismatches or an audit a leak, 2 usage or input, 3 something
    needed is missing, 4 another process holds the lock, 5 a cap ended the session early, 130 interrupted.
    """


def main(argv: list[str] | None = None) -> None:
    """Run ``bench`` and leave with its exit code."""
    streams.make_safe()
    code = run(argv)
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would complain of it at exit, in two lines. The disk is full.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - it stays open to the end
        code = fail(f"cannot write the output: {error.strerror}", 2)
    sys.exit(code)


def run(argv: list[str] | None = None) -> int:
    """Run ``bench`` with ``argv`` (default: the process's own); one line on stderr for every expected error."""
    try:
        outcome = cli.main(argv, prog_name="bench", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "bench"
        told = f"{where}: {error.format_message()}{configuration.refused(error)} (see '{where} --help')"
        return fail(told, error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return fail("interrupted; what was finished is kept", 130)
    except BenchError as error:
        return fail(str(error), error.exit_code)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return fail(f"cannot write the output: {error.strerror}", 2)
    return outcome if isinstance(outcome, int) else 0


def fail(message: str, code: int) -> int:
    """One line on stderr, whatever the message holds; returns ``code``."""
    click.echo("error: " + " ".join(message.split()), err=True)
    return code
