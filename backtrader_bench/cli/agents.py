"""``bench agents``: list them, try one."""

from __future__ import annotations

import click

from backtrader_bench.cli import kinds
from backtrader_bench.cli.numbers import Finite

EXIT_CODES = (
    "Exit codes: 0 answered right in every mode, 1 it answered otherwise or failed, 2 usage, 3 the program, its login "
    "or the network is missing."
)


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of text.")
@click.pass_context
def agents(context: click.Context, as_json: bool) -> None:
    """List the agents that questions can be put to: what is here of each, and what keeps it from cheating.

    Nothing is asked of a vendor: programs are looked for and say their version, keys are looked for in the
    environment. docs/agents.md describes each agent.

    \b
    bench agents
    bench agents --json
    bench agents test claude:sonnet
    """
    if context.invoked_subcommand is None:
        from backtrader_bench.cli import agents_shown

        for line in agents_shown.listing(as_json=as_json):
            click.echo(line)


@agents.command(epilog=EXIT_CODES, short_help="Ask one trivial question in each mode.")
@click.argument("name", metavar="NAME[:MODEL]", type=kinds.Words(kinds.agents))
@click.option("--mode", type=click.Choice(["with-tools", "no-tools"]), help="Only this mode. [both]")
@click.option("--timeout", type=Finite(1, 86_400), default=180, help="Seconds for each. [180]")
@click.option("--own-config", is_flag=True, help="Use your own login and configuration folder of the agent.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of text.")
def test(name: str, mode: str | None, timeout: float, own_config: bool, as_json: bool) -> int:
    """Ask an agent one trivial question in each mode and show the reply in its normal form.

    Real agents ask their vendor, which costs a few hundred tokens.

    \b
    bench agents test oracle
    bench agents test codex:gpt-5.5 --mode no-tools
    bench agents test api:anthropic/claude-sonnet-4-5 --json
    bench agents test 'command:python3 my_agent.py'
    """
    from backtrader_bench.cli import agents_shown

    return agents_shown.test(name, mode, timeout, own_config=own_config, as_json=as_json)
