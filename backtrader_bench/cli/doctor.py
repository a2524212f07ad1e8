"""``bench doctor``."""

from __future__ import annotations

import click


@click.command(epilog="Exit codes: 0 nothing that stops work, 3 something is missing or broken; the fix is beside it.")
@click.option("--network", is_flag=True, help="Also ask Yahoo Finance for a few bars; else nothing is requested.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of text.")
def doctor(network: bool, as_json: bool) -> int:
    """What this machine has and lacks for the work here, on one screen, each lack with its fix.

    Python and packages, agents, the sandbox with what every level was found to enforce, price data, the
    configuration file, the store (a quick look; bench db check reads it all), disk, and who holds a lock.

    \b
    bench doctor
    bench doctor --network
    bench doctor --json | jq '.checks[] | select(.state == "problem")'
    """
    from backtrader_bench.cli import doctoring

    return doctoring.doctor(network=network, as_json=as_json)
