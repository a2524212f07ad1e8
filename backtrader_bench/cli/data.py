"""``bench data``: list, show, fetch, verify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from backtrader_bench.cli import kinds

F = TypeVar("F", bound=Callable[..., Any])


def _json(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of text.")(command)


def _window(command: F) -> F:
    """The options that say which bars."""
    for decorate in (
        click.option("--end-date", type=kinds.Day(), metavar="DATE", help="First day after the window, YYYY-MM-DD."),
        click.option("--start-date", type=kinds.Day(), metavar="DATE", help="First day of the window, YYYY-MM-DD."),
        click.option(
            "--data",
            type=kinds.Words(kinds.sources),
            metavar="SOURCE",
            default="auto",
            help="auto, bundled, synthetic[:REGIME[:SEED]], csv:PATH or yfinance. [auto]",
        ),
    ):
        command = decorate(command)
    return command


@click.group(invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List, show, fetch and verify price data ("tapes": one symbol's daily bars, named by their SHA-256).

    \b
    bench data list                           what there is without any network
    bench data show AAPL                      chart, span, gaps, warnings, hash
    bench data show prices.csv                the same of a file, or why it is refused
    bench data fetch MSFT --start-date 2020-01-01 --end-date 2024-01-01
    bench data verify                         re-hash everything that is kept

    Auto takes bundled data where they cover the symbol and the window, synthetic for SYN..., else yfinance.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@data.command("list", short_help="Bundled data, synthetic regimes, pinned tapes.")
@_json
def list_tapes(as_json: bool) -> None:
    """List bundled data, synthetic regimes and the tapes pinned in the store.

    \b
    bench data list
    bench data list --json
    """
    from backtrader_bench.cli import tapes

    click.echo("\n".join(tapes.listing(as_json=as_json)))


@data.command(short_help="Chart, span, gaps, jumps, warnings and hash of one tape.")
@click.argument("target", metavar="SYMBOL|FILE|HASH")
@_window
@_json
def show(target: str, data: str, start_date: str | None, end_date: str | None, as_json: bool) -> None:
    """Draw a tape and say what is in it: span, gaps above 4 days, split-like jumps, warnings, hash.

    SYMBOL is looked up in --data, FILE is a CSV file as vendors write them (see the message if it is refused), HASH is
    a pinned tape or the beginning of one.

    \b
    bench data show AAPL --start-date 2008-01-01 --end-date 2010-01-01
    bench data show "AAPL Historical Data.csv"
    bench data show SYNA --data synthetic:extreme:7
    bench data show bd109b6c
    """
    from backtrader_bench.cli import tapes

    tape = tapes.open_target(target, data, start_date, end_date)
    click.echo("\n".join(tapes.description(tape, as_json=as_json)))


@data.command(short_help="Download or derive tapes and pin them.")
@click.argument("symbols", metavar="SYMBOL...", nargs=-1, required=True)
@_window
@_json
def fetch(symbols: tuple[str, ...], data: str, start_date: str | None, end_date: str | None, as_json: bool) -> int:
    """Download or derive tapes and pin them in the store, under db/tapes/HASH.csv.gz.

    A pinned tape never changes, so whatever rests on it can be computed again for ever.

    \b
    bench data fetch AAPL MSFT
    bench data fetch NVDA --data yfinance --start-date 2020-01-01 --end-date 2024-01-01
    bench data fetch ABC --data csv:prices/

    Exit codes: 0 all pinned, 2 bad input, 3 no data or no network; what could be had is pinned in any case.
    """
    from backtrader_bench.cli import tapes

    return tapes.fetch(symbols, data, start_date, end_date, as_json=as_json)


@data.command(short_help="Hash tapes again and compare with their names.")
@click.argument("targets", metavar="[HASH|FILE]...", nargs=-1)
@_json
def verify(targets: tuple[str, ...], as_json: bool) -> int:
    """Hash tapes again and compare with their names: all bundled and pinned ones, or those given.

    A FILE whose name is no hash is read and hashed; it is unchanged as far as the store knows when a pinned tape has
    that hash.

    \b
    bench data verify
    bench data verify bd109b6c96e4 prices.csv

    Exit codes: 0 all as named, 1 one is not, 2 unreadable, 3 not there.
    """
    from backtrader_bench.cli import tapes

    return tapes.verify(targets, as_json=as_json)
