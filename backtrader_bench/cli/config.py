"""``bench config``."""

from __future__ import annotations

import click


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Exit codes: 0 shown, 2 a configuration file or a value in it is wrong.",
)
@click.option("--all", "everything", is_flag=True, help="Also options that have their default.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of a table.")
@click.argument("words", nargs=-1, metavar="[COMMAND [OPTION]...]", type=click.UNPROCESSED)
def config(everything: bool, as_json: bool, words: tuple[str, ...]) -> int:
    """Show the value of every option and where it comes from: the command line, a variable, bench.toml, the default.

    Without COMMAND those of all commands that differ from their default; with one all of it, as it would run with the
    OPTIONs that follow. Nothing is run. docs/configuration.md.

    \b
    bench config
    bench config run --agent claude
    bench config --json mine
    """
    from backtrader_bench.cli import configuring

    return configuring.show(words, everything=everything, as_json=as_json)
