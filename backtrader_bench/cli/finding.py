"""What ``bench canary find`` does and prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from backtrader_bench.agents.exports import canary as canaries
from backtrader_bench.cli.live import plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHOWN = 50


def find(paths: Sequence[Path], texts: Sequence[str], export: Path | None, *, as_json: bool) -> int:
    """1 when a canary was found, else 0."""
    wanted = [canaries.check(text) for text in texts]
    if export is not None:
        wanted += canaries.known(export)
    found, files = canaries.find(paths, wanted)
    if as_json:
        finds = [{"file": str(one.path), "line": one.line, "canary": one.canary} for one in found]
        click.echo(json.dumps({"files": files, "finds": finds}, indent=2))
        return int(bool(found))
    for one in found[:SHOWN]:
        click.echo(f"{plain(str(one.path))}, line {one.line}: {plain(one.canary)}")
    if len(found) > SHOWN:
        click.echo(f"and {len(found) - SHOWN} more; --json lists them")
    where = len({one.path for one in found})
    click.echo(f"{len(found)} found in {where} of {files} files" if found else f"none found in {files} files")
    return int(bool(found))
