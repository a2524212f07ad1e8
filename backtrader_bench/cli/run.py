"""``bench run``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from backtrader_bench.bounds import HOURS, RUN, RUNNING, TOKENS, USD
from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import within

EXIT_CODES = (
    "Exit codes: 0 all asked, 2 usage, input or a full disk, 3 an agent is missing, not logged in or out of quota, "
    "4 another process works on the run, 5 a cap ended it early, 130 interrupted. Whatever the code, what was answered "
    "is kept and --resume asks the rest."
)


@click.command(epilog=EXIT_CODES)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--agent", "agents", multiple=True, type=kinds.Words(kinds.agents), metavar="NAME[:MODEL]",
              help="Who is asked; repeatable. `bench agents` lists them.")
@click.option("--mode", type=within(RUN["mode"]), help="Whether agents may use tools. [no-tools]")
@click.option("--repeats", type=within(RUN["repeats"]), help="How often each agent is asked each question. [1]")
@click.option("--rotate", is_flag=True, default=None, help="Ask each with its options in all four cyclic orders.")
@click.option("--ask-value", is_flag=True, default=None,
              help="Ask for the computed value beside the letter, for verified accuracy.")
@click.option("--data-access", type=within(RUN["data_access"]),
              help="With tools: the bars as prices.csv, no bars, or none and the agent may download them. [prices]")
@click.option("--data", type=click.Path(path_type=Path), metavar="PATH",
              help="Prices to hand out instead of the store's: a CSV file or a folder of SYMBOL.csv.")
@click.option("--limit", type=within(RUN["limit"]), metavar="N", help="Ask so many questions, drawn by the seed. [all]")
@click.option("--seed", type=within(RUN["seed"]), help="Order of asking, and draws of offline agents. [42]")
@click.option("--timeout", type=within(RUN["timeout"]), metavar="S", help="Seconds an agent may take. [600]")
@click.option("--own-config", is_flag=True, default=None,
              help="Let agents use your own login and configuration folders instead of empty ones.")
@click.option("--jobs", "-j", type=within(RUNNING["jobs"]), default=4,
              help="Most asked at the same time; fewer while a provider pushes back. [4]")
@click.option("--retries", type=within(RUNNING["retries"]), default=5,
              help="Tries after rate limits, overload and network faults. [5]")
@click.option("--max-tokens", type=within(TOKENS), metavar="N", help="Stop when the run has used so many.")
@click.option("--max-cost", type=within(USD), metavar="USD",
              help="Stop when the run has cost so much.")
@click.option("--max-hours", type=within(HOURS), metavar="H", help="Stop asking after so long.")
@click.option("--prices", type=click.Path(path_type=Path), metavar="FILE",
              help="Price table of models, for agents that report no cost.")
@click.option("--run-name", metavar="NAME", help="Becomes part of the run's name.")
@click.option("--resume", type=kinds.Words(kinds.runs), metavar="RUN",
              help="Ask what is missing of this run (last: the newest).")
@click.option("--dry-run", is_flag=True, help="Show prompts, counts and estimates; ask nobody.")
@click.option("--keep-workspaces", is_flag=True, help="Leave the folders that agents worked in.")
@click.option("--no-fsync", is_flag=True, help="Faster on slow disks; a power cut may lose the last attempts.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of tables.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def run(**options: Any) -> int:
    """Ask agents the questions of FILEs, each in a session of its own, and keep every attempt as it ends.

    Only a letter that an agent gave is right or wrong; everything else (time-outs, refusals, errors) is counted as what
    it is. Attempts go to db/attempts/RUN.jsonl, raw transcripts to logs/RUN/.

    \b
    bench run bank.jsonl --agent oracle --agent guesser
    bench run bank.jsonl --agent claude:claude-sonnet-4-5 --mode with-tools --repeats 3 --max-cost 20
    bench run bank.jsonl --agent codex --rotate --ask-value --dry-run
    bench run --resume last
    """
    from backtrader_bench.cli import running

    return running.run(options, [Path(sys.argv[0]).name, *sys.argv[1:]])
