"""What an oracle is given, and the small questions that several oracles ask of a result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from backtrader_bench.backtest.result import BacktestSpec, Fill, Result
from backtrader_bench.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backtrader_bench.checker.answers import Answer, Undefined
    from backtrader_bench.market.tape import Tape

EQUAL = 1e-9
"""Relative: amounts closer than this are the same amount, reached in another float order."""


class Rerun(Protocol):
    """A second backtest of the same configuration on the same engine, with what is given replaced."""

    def __call__(
        self,
        *,
        params: Mapping[str, int | float] | None = None,
        commission_rate: float | None = None,
        fill_delay: int | None = None,
    ) -> Result:
        """The other result; BacktestError when it can't be run."""


@dataclass(frozen=True)
class Case:
    """One question: the backtest that it asks about and what its stem was filled with."""

    tape: Tape
    spec: BacktestSpec
    result: Result
    periods_per_year: float
    asked: Mapping[str, Any]
    """``template_params`` of the record."""
    rerun: Rerun

    def date(self, row: int) -> str:
        """ISO date of a row."""
        return self.tape.dates[self.result.first_row + row]

    def day(self, name: str) -> str:
        """The asked date, as it is."""
        value = self.asked.get(name)
        if not isinstance(value, str):
            raise RecordError(f"template_params: {name} is {value!r:.40}; it must be a date")
        return value

    def bar(self, name: str) -> int:
        """Index into the tape of an asked date."""
        day = self.day(name)
        if day not in self.tape.dates:
            raise RecordError(f"template_params: {name} {day:.20} is no bar of the tape")
        return self.tape.dates.index(day)

    def row(self, name: str) -> int:
        """Row of an asked date."""
        row = self.bar(name) - self.result.first_row
        if row < 0:
            raise RecordError(f"template_params: {name} {self.day(name)} lies in the warm-up")
        return row

    def number(self, name: str) -> int:
        """An asked whole number from 1 up."""
        value = self.asked.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise RecordError(f"template_params: {name} is {value!r:.40}; it must be a whole number from 1 up")
        return value

    def alternative(self, values: Any) -> dict[str, int | float]:
        """A set of parameters named by the record, each known to the strategy."""
        if not isinstance(values, dict) or not values or set(values) - set(self.spec.params):
            raise RecordError(f"template_params: {values!r:.60} is no set of {self.spec.strategy}'s parameters")
        return values

    def own(self, names: Mapping[str, Any]) -> dict[str, int | float]:
        """The configuration's own values of ``names``."""
        return {name: self.spec.params[name] for name in names}

    @property
    def net(self) -> float:
        """Net P/L in dollars."""
        return net(self.result, self.spec)

    @property
    def roi(self) -> float:
        """Net P/L in percent of the initial cash."""
        return self.net / self.spec.initial_cash * 100


@dataclass(frozen=True)
class Oracle:
    """One template as the checker knows it."""

    tier: str
    asks: tuple[str, ...]
    """Names in ``template_params``, all of them."""
    answer: Callable[[Case], Answer | Undefined]


def net(result: Result, spec: BacktestSpec) -> float:
    """Net P/L in dollars of a backtest of ``spec``'s cash."""
    return result.value[-1] - spec.initial_cash


def same(one: float, other: float) -> bool:
    """Whether two amounts differ by float order at most."""
    return math.isclose(one, other, rel_tol=EQUAL, abs_tol=EQUAL)


def held_rows(result: Result) -> int:
    """Rows with a position."""
    return sum(1 for size in result.position if size)


def side_fills(result: Result, side: str) -> list[Fill]:
    """Fills of one side, in order."""
    return [fill for fill in result.fills if fill.side == side]


def side_signals(result: Result, side: str) -> int:
    """Signals of one side that were acted on."""
    return sum(1 for signal in result.signals if signal.side == side)


def longest_run(flags: Sequence[bool]) -> int:
    """Length of the longest unbroken run of true entries."""
    longest = current = 0
    for flag in flags:
        current = current + 1 if flag else 0
        longest = max(longest, current)
    return longest
