"""One backtest to ask about: its bars, its configuration, its result, and other backtests like it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.backtest.strategies import Strategy, strategy_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.backtest.cache import Backtests, Remembered
    from backtrader_bench.backtest.result import BacktestSpec, Result
    from backtrader_bench.market.tape import Tape

Answer = dict[str, Any]
"""An answer by the fields of its template's parts, at full precision."""


class Skip(Exception):
    """This question is not asked; the message is the reason that is counted and shown."""


@dataclass(frozen=True)
class Context:
    """What questions are made from. Rows are numbered from 0; ``bar(row)`` is the index into the tape."""

    tape: Tape
    spec: BacktestSpec
    config: dict[str, Any]
    """As the records carry it."""
    backtests: Backtests | Remembered

    @cached_property
    def result(self) -> Result:
        """The backtest asked about."""
        return self.backtests.run(self.tape, self.spec)

    @property
    def strategy(self) -> Strategy:
        """The registry entry."""
        return strategy_named(self.spec.strategy)

    @property
    def periods_per_year(self) -> int:
        """Rows that a year has in formulas."""
        return int(self.config["periods_per_year"])

    def bar(self, row: int) -> int:
        """Index into the tape of a row."""
        return self.result.first_row + row

    def day(self, row: int) -> str:
        """Date of a row."""
        return self.tape.dates[self.bar(row)]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row by date."""
        return {day: row for row, day in enumerate(self.tape.dates[self.result.first_row :])}

    def base_set(self) -> dict[str, int | float]:
        """The configuration's varied parameters, in registry order."""
        return {name: self.spec.params[name] for name in self.strategy.varied}

    def with_set(self, varied: Mapping[str, int | float]) -> Result:
        """The backtest with some parameters replaced; Skip when they leave too few bars."""
        params = {**self.spec.params, **varied}
        if self.strategy.first_row(params) >= len(self.tape):
            raise Skip("too few bars for another parameter set")
        return self.backtests.run(self.tape, msgspec.structs.replace(self.spec, params=params))

    def with_commission(self, rate: float) -> Result:
        """The backtest at another commission rate."""
        return self.backtests.run(self.tape, msgspec.structs.replace(self.spec, commission_rate=rate))

    def delayed(self) -> Result:
        """The backtest with every order sent one bar later; Skip when resting orders could not be."""
        if self.strategy.resting:
            raise Skip("resting orders can't be sent a bar later")
        return self.backtests.run(self.tape, msgspec.structs.replace(self.spec, fill_delay=1))
