"""``bench build``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from backtrader_bench.bounds import PROCESSES
from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import Seed, within

F = TypeVar("F", bound=Callable[..., Any])

# The help texts stand here as well as in mcq_builder.settings, so that `bench build --help` needs no import of it; a
# test holds the two to the same names.


def _value(*names: str, **more: Any) -> Callable[[F], F]:
    """An option whose absence is None, so that a configuration file's value is told from a flag's."""
    return click.option(*names, default=None, **more)


@click.command(epilog="Exit codes: 0 built, 2 usage or input, 3 data missing, 4 another build holds the file.")
@_value("--symbol", help="Ticker. [AAPL; of a CSV file its name; SYN for synthetic]")
@_value("--data", type=kinds.Words(kinds.sources),
        help="auto, bundled, synthetic[:REGIME[:SEED]], csv:PATH or yfinance. [auto]")
@_value("--start-date", type=kinds.Day(), help="First day of the window, YYYY-MM-DD. [the source's first bar]")
@_value("--end-date", type=kinds.Day(), help="First day after the window, YYYY-MM-DD. [after the source's last bar]")
@_value("--initial-cash", type=float, help="Dollars in the account at the start. [50000]")
@_value("--commission-rate", type=float, help="Share of traded value charged on each side. [0.001]")
@_value("--stake", type=int, help="Most shares of one buy; with --sizing fixed the shares of every buy. [1000]")
@_value("--sizing", type=kinds.Words(kinds.sizings),
        help="capped: 95% of the cash, at most the stake; fixed: the stake. [capped]")
@click.option("--strategy", multiple=True, type=kinds.Words(kinds.strategies, commas=True),
              help="Strategy to ask about; repeatable, or all. [sma_crossover]")
@_value("--strategy-params", type=kinds.JsonObject(), help="JSON object of parameters, or of such objects by strategy.")
@_value("--num-questions", "-n", type=int, help="How many, split evenly over the tiers. [30]")
@_value("--seed", type=Seed(), help="The same settings and seed give the same bytes; random draws one that nobody "
        "guesses, for banks whose keys are to be sealed. [42]")
@_value("--difficulty", type=kinds.Words(kinds.tiers, commas=True),
        help="easy, medium, hard, all or a comma list. [all]")
@click.option("--template", multiple=True, type=kinds.Words(kinds.templates, commas=True),
              help="Only this template; repeatable.")
@click.option("--all-templates", is_flag=True, default=None, help="One question of every template and strategy.")
@_value("--worlds", type=kinds.Words(kinds.worlds),
        help="resampled: hide a real tape behind worlds drawn from its blocks, re-scaled and re-dated.")
@_value("--scheme", type=kinds.Words(kinds.schemes),
        help="How options are made: siblings (hidden worlds; certified), diagnostic (a wrong pick names its mistake), "
        "ladder, or published (jitter, for comparison; leaks). [siblings where the bars can be hidden, else ladder]")
@_value("--bundle", type=int, help="So many questions share their four hidden worlds and the key's.")
@click.option("--secret-file", type=click.Path(path_type=Path),
              help="The secret behind hidden worlds. [db/secret.key, made on first use]")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The file. [db/mcq/NAME-OF-SETTINGS.jsonl]")
@click.option("--force", is_flag=True, help="Replace a different bank at the same place.")
@click.option("--exclude", multiple=True, type=click.Path(path_type=Path),
              help="Ask nothing that is in this question file; repeatable.")
@click.option("--config", "config_file", type=click.Path(path_type=Path),
              help="JSON or TOML file of settings, named as the flags with _ for -; flags go before it.")
@click.option("--interactive", "-i", is_flag=True, help="Ask for every setting, with its default.")
@click.option("--jobs", "-j", type=within(PROCESSES), default=1, help="Processes. [1]")
@click.option("--cluster", help="dask://HOST:PORT runs the work there (extra: cluster).")
@click.option("--no-cache", is_flag=True, help="Keep no finished backtests on disk.")
@click.option("--list-templates", is_flag=True, help="List the templates and leave.")
@click.option("--list-strategies", is_flag=True, help="List the strategies with their parameters and leave.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of tables.")
def build(**options: Any) -> int:
    """Build multiple-choice questions from backtests, each with a key that `bench check` can confirm.

    With no option at all: 30 questions of all tiers on the bundled daily bars of AAPL, seed 42.

    \b
    bench build
    bench build --strategy all -n 150 --jobs 2 -o bank.jsonl
    bench build --data csv:prices.csv --symbol ACME --difficulty hard
    bench build --seed random -o secret.jsonl           a bank to publish without its keys
    bench build --data synthetic:hard:7 --symbol SYNX --all-templates
    bench build --strategy macd_crossover --strategy-params '{"pfast": 8, "pslow": 21}'
    bench build --symbol MSFT --data yfinance --start-date 2020-01-01 --end-date 2024-01-01
    """
    from backtrader_bench.cli import building

    if options.pop("list_templates"):
        return building.list_templates(as_json=options["as_json"])
    if options.pop("list_strategies"):
        return building.list_strategies(as_json=options["as_json"])
    return building.build(options, [Path(sys.argv[0]).name, *sys.argv[1:]])
