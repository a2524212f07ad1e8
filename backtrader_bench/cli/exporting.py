"""What ``bench export`` does and prints. Apart from export.py so that its help needs none of these imports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backtrader_bench.agents.exports import hugging_face, inspect_log, make
from backtrader_bench.errors import BenchError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backtrader_bench.agents.exports.make import Made

OF_QUESTIONS = {"no_answers": "--no-answers", "sealed": "--sealed", "canary": "--canary", "data": "--data"}
OF_HF = {"license_id": "--license", "no_tapes": "--no-tapes"}
OF_LOGS = {"questions": "--questions", "agent": "--agent"}


def export(form: str, sources: Sequence[str], options: dict[str, Any]) -> int:
    """Export what the command line asks for; 0."""
    if form == "inspect-log":
        _refuse(form, options, OF_QUESTIONS | OF_HF)
        return _log(sources, options)
    _refuse(form, options, OF_LOGS if form == "hf" else OF_LOGS | OF_HF)
    if options["sealed"] and not options["no_answers"]:
        raise UsageError("--sealed goes with --no-answers: otherwise the keys are in the export")
    made = make.export(make.Wish(
        format=form, files=tuple(map(Path, sources)), folder=options["output"],  # type: ignore[arg-type]
        answers=not options["no_answers"], sealed=options["sealed"], canary=options["canary"], name=options["name"],
        license=options["license_id"] or hugging_face.LICENSE, tapes=not options["no_tapes"], data=options["data"],
        force=options["force"], session_seed=_session_seed,
    ))  # fmt: skip
    if options["as_json"]:
        click.echo(json.dumps({
            "folder": str(made.folder), "questions": made.questions, "duplicates": made.duplicates,
            "files": list(made.files), "canary": made.canary, "sealed": str(made.sealed) if made.sealed else None,
            "guessable": made.guesses.built + made.guesses.mined,
            "seed_unknown": made.guesses.unknown + made.guesses.published, "linked": made.guesses.linked,
        }, indent=2))  # fmt: skip
    else:
        _show(made)
    for warning in _warnings(made):
        click.echo(f"WARNING: {warning}", err=True)
    return 0


def _session_seed(run: str) -> int | None:
    from backtrader_bench.miner.journal import read_session

    try:
        return read_session(run).settings.seed
    except BenchError:
        return None


def _warnings(made: Made) -> Iterator[str]:
    """What keeps a sealed export from keeping its keys."""
    found = made.guesses
    if found.built:
        yield (
            f"the keys of {found.built} of {made.questions} questions can be found without a backtest. They were built "
            "from a seed below 2**62, and their scheme draws letters and ranks from it: whoever has this package tries "
            "seeds. Before you publish, build with --seed random, or a scheme with hidden worlds (siblings)."
        )
    if found.linked:
        yield (
            f"{found.linked} of {made.questions} questions stand here with other options too, or share values with "
            "another question of the same backtest: what they have in common is true. Build the next bank with "
            "--exclude FILE for each one before it; bench audit FILE... shows how much is seen."
        )
    if found.mined:
        yield (
            f"the keys of {found.mined} of {made.questions} questions can be found by mining again. Their session's "
            "seed is below 2**62, and letters, and all of the offline generator's questions, are drawn from it. Before "
            "you publish, mine without --seed."
        )
    if found.unknown:
        yield (
            f"{found.unknown} of {made.questions} questions come of mining sessions that are not in this store. Where "
            "their seeds are below 2**62 (any that was given by hand or drawn by an older version), their keys can be "
            "found by mining again."
        )
    if found.published:
        yield (
            f"{found.published} of {made.questions} questions are published records, which name no seed. Where they "
            "were built from one below 2**62 (the default was 42), their keys can be found without a backtest; and "
            "where they were published with answers, their keys are known."
        )


def _refuse(form: str, options: dict[str, Any], foreign: dict[str, str]) -> None:
    for name, flag in foreign.items():
        if options[name]:
            raise UsageError(f"{flag} is not for format {form}")


def _show(made: Made) -> None:
    twice = f", {made.duplicates} that came twice left out" if made.duplicates else ""
    click.echo(f"{made.questions} questions{twice}: {made.folder}")
    tapes = sum(name.startswith(f"{make.TAPES}/") for name in made.files)
    named = [name for name in made.files if not name.startswith(f"{make.TAPES}/")]
    click.echo(f"files   {', '.join(named)}" + (f", {tapes} tapes" if tapes else ""))
    click.echo(f"canary  {made.canary}")
    if made.sealed is None:
        click.echo("The folder holds the keys: keep it where no agent can read it.")
        return
    click.echo(f"keys    {made.sealed}: keep it, nothing else has the nonces that the commitments were made with")
    click.echo(f"next: publish the folder; later, publish the keys, and anyone can run: bench reveal {made.sealed} "
               f"{made.folder}")  # fmt: skip


def _log(sources: Sequence[str], options: dict[str, Any]) -> int:
    if len(sources) != 1:
        raise UsageError("inspect-log takes one run: its name, its file, or last")
    written = inspect_log.export(
        sources[0], options["output"], options["questions"], options["agent"], force=options["force"]
    )
    if options["as_json"]:
        logs = [{"file": str(one.path), "agent": one.agent, "samples": one.samples} for one in written]
        click.echo(json.dumps({"logs": logs}, indent=2))
    else:
        for one in written:
            click.echo(f"{one.samples} attempts of {one.agent}: {one.path}")
        click.echo("They hold the keys. next: inspect view start --log-dir FOLDER")
    return 0
