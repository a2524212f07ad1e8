"""``bench canary``."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def canary() -> None:
    """Texts that stand in exports and nowhere else: make one, find one where it should not be.

    \b
    bench canary make
    bench canary find logs/ transcripts.txt
    """


@canary.command()
def make() -> int:
    """A new canary, for `bench export --canary`. Without one, an export has a canary made of its questions' ids.

    \b
    bench canary make
    bench export hf bank.jsonl -o dataset --canary "$(bench canary make)"
    """
    from backtrader_bench.agents.exports import canary as canaries

    click.echo(canaries.make())
    return 0


@canary.command(epilog="Exit codes: 0 none found, 1 found, 2 usage or input.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--canary", "texts", multiple=True, metavar="TEXT",
              help="What to look for; repeatable. [any canary that bench makes]")
@click.option("--from", "export", type=click.Path(path_type=Path), metavar="DIR",
              help="Look for the canaries of this export.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def find(paths: tuple[Path, ...], texts: tuple[str, ...], export: Path | None, as_json: bool) -> int:
    """Look for canaries in files and in all that folders hold: transcripts, replies, corpora.

    No question shows its canary. A transcript that holds it comes from an agent that read the export, or from a model
    that was trained on it.

    \b
    bench canary find logs/run_20260102_101500
    bench canary find reply.txt --from dataset
    bench canary find corpus/ --canary "our own canary 7f3a"
    """
    from backtrader_bench.cli import finding

    return finding.find(paths, texts, export, as_json=as_json)
