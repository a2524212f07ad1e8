"""``bench demo``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="Exit codes: 0 every step went through, 2 the folder can't be used, 130 interrupted; else the code of the "
    "first step that failed (3 from mine: no sandbox on this machine). Steps that don't need it are made all the same."
)
@click.option("--output", "-o", type=click.Path(path_type=Path), metavar="DIR",
              help="Where everything goes: a folder that is not there yet or empty. [bench-demo, or bench-demo-2 ...]")
@click.option("--json", "as_json", is_flag=True, help="Steps, times and pages as one JSON object on stdout; the rest "
              "goes to stderr.")
def demo(output: Path | None, as_json: bool) -> int:
    """The whole way in about a minute: build, check, audit, run, mine, report, and pages to look at.

    Needs no network, key or agent: bundled prices, offline agents, the offline generator. Each step's command is shown
    and can be typed in the same folder.

    \b
    bench demo
    bench demo --output /tmp/look
    bench demo --json | jq '.pages'
    """
    from backtrader_bench.cli import demoing

    return demoing.demo(output, as_json=as_json)
