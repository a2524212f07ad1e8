"""Showing one question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrader_bench import store
from backtrader_bench.arguments import checked, flag, optional, path, shown, text
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.backtest.run import run
from backtrader_bench.errors import RecordError, UsageError
from backtrader_bench.market import pins
from backtrader_bench.records import MINED, check_version, is_published, parse_json, public_part, to_question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrader_bench.backtest.result import Result
    from backtrader_bench.market.tape import Tape
    from backtrader_bench.records import Question


@dataclass(frozen=True)
class Shown:
    """A question of a file."""

    file: Path
    line: int
    fields: dict[str, Any]
    """The decoded record, ours or published."""

    @property
    def question(self) -> Question | None:
        """The typed record; None for a published one. RecordError: it is no record of ours."""
        return None if is_published(self.fields) else to_question(self.fields, f"{self.file}, line {self.line}")

    @property
    def text(self) -> str:
        """What a solver sees."""
        return str(self.fields["question"])

    @property
    def public(self) -> dict[str, Any]:
        """The record without what leads to its key."""
        return public_part(self.fields)

    @checked(self=lambda name, value: value, data=optional(path), network=flag)
    def backtest(self, data: Path | None = None, *, network: bool = False) -> tuple[Tape, Result] | None:
        """The bars behind the question and backtrader's result on them; None for published and mined ones.

        ``data``: where to look for the bars instead of the store. MissingError: they are not here.
        """
        record = self.question
        if record is None or record.scheme == MINED:
            return None
        tape, config = pins.find(record.tape, record.config["symbol"], None, None, data, network), record.config
        return tape, run(tape, BacktestSpec(
            strategy=record.strategy_name, params=record.strategy_params, initial_cash=config["initial_cash"],
            commission_rate=config["commission_rate"], stake=config["stake"], sizing=config["sizing"],
        ))  # fmt: skip


def _which(name: str, value: Any) -> str | int:
    """A check for an id, or its beginning, or a line."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise UsageError(f"{name} is {shown(value)}; it must be a line's number or the beginning of an id")
    return text(name, value)


@checked(file=path, which=_which)
def show(file: str | Path, which: str | int) -> Shown:
    """The question of a line number, or of the beginning of an id that no other shares.

    UsageError: there is none, or several, or a line holds no question. RecordError: the file is empty. StoreError: it
    can't be read.
    """
    named = str(which).strip()
    if not named:
        raise UsageError(f"the question's id or line is empty; bench show {file} lists them")
    numbered = named.isdigit() and len(named) < 7
    found = [
        one for one in records(Path(file))
        if (numbered and one.line == int(named)) or str(one.fields.get("id", "")).startswith(named)
    ]  # fmt: skip
    exact = [one for one in found if numbered and one.line == int(named)]
    if len(exact) == 1:
        return exact[0]
    if len(found) != 1:
        many = f"{len(found)} questions begin with {named}; write more of the id" if found else f"no question {named}"
        raise UsageError(f"{file}: {many}; bench show {file} lists them")
    return found[0]


def records(file: Path) -> Iterator[Shown]:
    """Every question of a file, in order. UsageError: a line that holds none; RecordError: one of a newer version, or
    no line at all."""
    number = 0
    for number, line in store.read_lines(file):
        fields = parse_json(line, f"{file}, line {number}")
        if not isinstance(fields, dict) or not isinstance(fields.get("question"), str):
            raise UsageError(f"{file}, line {number}: no question record")
        check_version(fields, f"{file}, line {number}")
        yield Shown(file, number, fields)
    if not number:
        raise RecordError(f"{file}: empty; there is no question to show")
