"""``bench mine``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from backtrader_bench.bounds import ACCEPTED, HOURS, MINE, SANDBOX, TOKENS, USD
from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import within

EXIT_CODES = (
    "Exit codes: 0 done, 2 usage or input, 3 an agent, its login or a sandbox is missing, or nothing was kept and "
    "most attempts got no answer from their agents, 4 another session holds the store, 5 a budget ended the session or "
    "fewer than --until-accepted came of all attempts, 130 interrupted."
)


@click.command(epilog=EXIT_CODES)
@click.option("--attempts", type=within(MINE["attempts"]), help="Questions to try. [10]")
@click.option("--generator-agent", type=kinds.Words(kinds.generators), metavar="AGENT",
              help="Writes question and verifier; offline needs no model. [offline]")
@click.option("--generator-model", metavar="MODEL", help="Its model, where AGENT has none after a colon.")
@click.option("--no-tools-agent", "no_tools_agents", multiple=True, type=kinds.Words(kinds.agents), metavar="AGENT",
              help="Screens out what needs no computing; give several to share the draws. [the generator; guesser]")
@click.option("--no-tools-model", "no_tools_models", multiple=True, metavar="MODEL", help="Their models, in order.")
@click.option("--with-tools-agent", type=kinds.Words(kinds.agents), metavar="AGENT",
              help="Answers what is left, with tools. [the generator; oracle]")
@click.option("--with-tools-model", metavar="MODEL", help="Its model.")
@click.option("--second-verifier", type=kinds.Words(kinds.agents), metavar="AGENT",
              help="Writes a second program from the question alone. [off]")
@click.option("--generator-timeout", type=within(MINE["generator_timeout"]), metavar="S", help="Seconds. [600]")
@click.option("--code-timeout", type=within(MINE["code_timeout"]), metavar="S",
              help="Seconds for each run of a verifier. [120]")
@click.option("--no-tools-timeout", type=within(MINE["no_tools_timeout"]), metavar="S", help="Seconds. [120]")
@click.option("--with-tools-timeout", type=within(MINE["with_tools_timeout"]), metavar="S", help="Seconds. [180]")
@click.option("--choice-perturbations", type=within(MINE["choice_perturbations"]),
              help="Seeds that give wrong options. [8]")
@click.option("--seed-step", type=within(MINE["seed_step"]), help="Distance between those seeds. [1009]")
@click.option("--seed", type=within(MINE["seed"]),
              help="Of the session; who knows it can make its questions again. [drawn, and kept with it]")
@click.option("--category", type=kinds.Words(kinds.categories), metavar="NAME",
              help="Ask for this category alone; --help lists them at the end.")
@click.option("--no-steer", is_flag=True, help="Leave the category to the generator.")
@click.option("--no-tools-draws", type=within(MINE["no_tools_draws"]), metavar="M", help="Draws of the screen. [1]")
@click.option("--no-tools-threshold", type=within(MINE["no_tools_threshold"]), metavar="T",
              help="Right draws that discard a question. [more than half of M]")
@click.option("--holdout-draws", type=within(MINE["holdout_draws"]), metavar="K",
              help="No-tools draws on kept questions that screen nothing: how hard they are. [0]")
@click.option("--with-tools-runs", type=within(MINE["with_tools_runs"]),
              help="Runs of the validation; most must be right. [1]")
@click.option("--retries", type=within(MINE["retries"]), help="Repeats of what ended without an answer. [2]")
@click.option("--jobs", "-j", type=within(MINE["jobs"]), help="Attempts at the same time. [1]")
@click.option("--until-accepted", type=within(ACCEPTED), metavar="N", help="Stop when so many are accepted.")
@click.option("--max-hours", type=within(HOURS), metavar="H", help="Start nothing after so long.")
@click.option("--max-tokens", type=within(TOKENS), metavar="T", help="Start nothing after so many tokens.")
@click.option("--max-cost", type=within(USD), metavar="USD", help="Start nothing after so many dollars.")
@click.option("--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Price table of models, for agents that report no cost.")
@click.option("--run-name", metavar="NAME", help="Becomes part of the session's name.")
@click.option("--resume", type=kinds.Words(kinds.sessions), metavar="RUN",
              help="Go on with a session (last: the newest).")
@click.option("--require-sandbox", type=within(SANDBOX), help="Refuse to run verifiers with less.")
@click.option("--allow-unsafe", is_flag=True, help="Run verifiers with your files and network in reach, if need be.")
@click.option("--own-config", is_flag=True, help="Agents run with your own login and configuration.")
@click.option("--keep-workspaces", is_flag=True, help="Leave the folders that agents worked in.")
@click.option("--no-fsync", is_flag=True, help="Faster on slow disks; a power cut may lose the last lines.")
@click.option("--print-cron", is_flag=True, help="Print a crontab line and a systemd timer for these options.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of tables.")
@click.option("--quiet", "-q", is_flag=True, help="One line that sums up, and nothing else.")
def mine(**options: Any) -> int:
    """Mine hard questions: a generator writes each with a program that answers it; the sound and the hard are kept.

    Each attempt: generate, run the program in a sandbox, make options of its answers, check the words, let a solver
    without tools try (right: too easy), then one with tools (right: accepted, wrong: for review). Questions go to
    db/mcq/RUN.jsonl, everything else to logs/RUN/.

    \b
    bench mine                                        ten attempts offline, no model, about a minute
    bench mine --generator-agent claude --with-tools-agent codex --attempts 50 --max-cost 20
    bench mine --resume last                          after anything, kill -9 included
    bench mine --generator-agent codex --print-cron   every night

    \b
    Categories: bracket, trail, atr, stop, slippage, table, analyzer, breakout, exit_rule, moving_average, other.
    """
    from backtrader_bench.cli import mining

    return mining.mine(options, sys.argv[1:])
