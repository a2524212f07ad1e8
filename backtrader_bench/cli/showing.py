"""What ``bench show`` does and prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from backtrader_bench.api import showing as api
from backtrader_bench.cli.charts import chart

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backtrader_bench.api.showing import Shown
    from backtrader_bench.backtest.result import Result
    from backtrader_bench.market.tape import Tape
    from backtrader_bench.records import Question


def show(
    file: Path, which: str | None, *, no_key: bool, data: Path | None, network: bool, as_json: bool
) -> int:
    """Print one question, or the list of them; returns the exit code."""
    if which is None:
        for one in api.records(file):
            _row(one.line, one.fields)
        return 0
    found = api.show(file, which)
    if as_json:
        click.echo(json.dumps(found.public if no_key else found.fields, indent=2, ensure_ascii=False))
        return 0
    record = found.question
    click.echo(found.text)
    if record is None and not no_key:
        click.echo(f"\nkey  {found.fields.get('answer')}")
    if record is not None and not no_key:
        for line in _behind(found, record, data, network):
            click.echo(line)
    return 0


def _row(number: int, fields: dict[str, Any]) -> None:
    cells = [str(fields.get(name, "")) for name in ("difficulty", "type", "strategy_name", "scheme")]
    click.echo(f"{number:5}  {str(fields.get('id', ''))[:8]:8}  {cells[0]:6}  {cells[1]:28}  {cells[2]:36}  {cells[3]}")


def _behind(found: Shown, record: Question, data: Path | None, network: bool) -> Iterator[str]:
    """Key, origins, and the backtest that the key rests on."""
    yield ""
    yield f"key       {record.answer}, {json.dumps(record.value)}" + (
        f" within {record.tolerance:g}" if record.tolerance else ""
    )
    for letter, origin in record.option_origins.items():
        world = record.private.option_worlds.get(letter) if record.private else None
        yield f"option {letter}  {origin}" + (f" (world {world})" if world is not None else "")
    for name, value in (record.private.fingerprints if record.private else {}).items():
        yield f"mistake   {name}: {json.dumps(value)}"
    yield f"id        {record.id}"
    if record.certificate:
        yield f"promise   text fixed before the key was drawn; {record.certificate.worlds} hidden worlds, " \
              f"{record.certificate.valid} with an answer"  # fmt: skip
    behind = found.backtest(data, network=network)
    if behind is None:
        yield from _verifier(record)
        return
    tape, result = behind
    yield f"bars      {tape.source}, {len(tape)} from {tape.dates[0]} to {tape.dates[-1]}, sha256 {tape.sha256[:16]}"
    yield from _charts(tape, result, record.config["initial_cash"])


def _verifier(record: Question) -> Iterator[str]:
    """Where a mined question's key comes from: its program, and what that answered at each seed."""
    yield f"labels    {', '.join(record.labels) or 'none'}"
    if record.verification is not None:
        said = record.verification
        yield f"made by   {said.generator}, {said.attempt}"
        yield f"seeds     {said.base_seed}: {json.dumps(said.answer)}" + "".join(
            f", {seed}: {json.dumps(answer)}" for seed, answer in said.others.items()
        )
        yield f"sandbox   {', '.join(f'{name} {value}' for name, value in said.isolation.items())}"
    if record.verifier is not None:
        yield f"\nverifier\n\n{record.verifier}"


def _charts(tape: Tape, result: Result, cash: float) -> Iterator[str]:
    fills = {
        "B": [(fill.bar, fill.price) for fill in result.fills if fill.side == "buy"],
        "S": [(fill.bar, fill.price) for fill in result.fills if fill.side == "sell"],
    }
    yield f"\nclose, with {len(fills['B'])} buys (B) and {len(fills['S'])} sells (S) filled"
    yield from chart(tape.dates, tape.close, 16, fills)
    yield f"\nportfolio value, from {cash:,.2f} to {result.value[-1]:,.2f}"
    yield from chart(tape.dates[result.first_row :], result.value, 12)
