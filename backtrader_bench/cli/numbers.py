"""Numbers on a command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import click

from backtrader_bench.arguments import Number, OneOf, Whole

if TYPE_CHECKING:
    from backtrader_bench.arguments import Check

    _Kind = click.ParamType[Any]  # generic for type checkers alone, in all versions of click
else:
    _Kind = click.ParamType


class Finite(click.FloatRange):
    """A range of floating point numbers without what passes for a number and has no place in it: nan compares as
    false with every bound, and infinity is no budget."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; a usage error for any other text."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


def within(check: Check) -> _Kind:
    """The kind of a flag whose value ``check`` is for: the same bounds as from Python."""
    if isinstance(check, Whole):
        return click.IntRange(check.low, check.high)
    if isinstance(check, Number):
        return Finite(check.low, check.high, min_open=check.above, max_open=check.below)
    if isinstance(check, OneOf):
        return click.Choice(check.words)
    raise TypeError(f"{check} has no bounds that a flag could have")


class Seed(_Kind):
    """A whole number, or ``random``."""

    name = "integer|random"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number or the word; a usage error for anything else."""
        if value == "random" or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        try:
            return int(value) if isinstance(value, str) else self._refuse(value, param, ctx)
        except ValueError:
            return self._refuse(value, param, ctx)

    def _refuse(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
        self.fail(f"{value!r} is no whole number, nor the word random.", param, ctx)
