"""How typed values are written in options, see docs/templates.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Kind:
    """A type of answer: how many decimals it shows (None: it is no decimal number) and its sign of dimension."""

    name: str
    decimals: int | None = None
    signed: bool = False
    """Whether values below zero make sense."""

    def rounded(self, value: Any) -> Any:
        """``value`` as the record keeps it. Python's ``round`` is correct on the binary value, on every platform."""
        if self.name == "rate":
            return round(value * 100, 8)
        if self.decimals is None:
            return value
        return round(float(value), self.decimals) + 0.0  # + 0.0 turns -0.0 into 0.0

    def text(self, value: Any) -> str:
        """``value`` as an option shows it."""
        if self.name == "params":
            return params_text(value)
        if self.name == "rate":
            return rate_text(value)
        if self.decimals is None:
            return str(value)
        value = self.rounded(value)
        if self.name == "money":
            return f"{'-' if value < 0 else ''}${abs(value):,.2f}"
        return f"{value:.{self.decimals}f}{'%' if self.name == 'percent' else ''}"

    @property
    def unit(self) -> float:
        """One unit of the last place shown; 1 for integers."""
        return 10.0 ** -(self.decimals or 0)


MONEY = Kind("money", 2)
SIGNED_MONEY = Kind("money", 2, signed=True)
PERCENT = Kind("percent", 2)
SIGNED_PERCENT = Kind("percent", 2, signed=True)
NUMBER2 = Kind("number", 2)
SIGNED2 = Kind("number", 2, signed=True)
SIGNED3 = Kind("number", 3, signed=True)
INTEGER = Kind("integer")
SHARES = Kind("shares")
VOLUME = Kind("volume")
DATE = Kind("date")
PARAMS = Kind("params")
RATE = Kind("rate")
LABEL = Kind("label")


def exact_text(value: float) -> str:
    """A number as it is, without a fraction that is zero: ``1``, ``0.001``, ``12.345``."""
    return f"{value:.0f}" if value == int(value) else repr(value)


def cash_text(value: float) -> str:
    """An amount of dollars as it is: cents, or more decimals where it has them."""
    return f"${value:,.2f}" if value == round(value, 2) else f"${exact_text(value)}"


def params_text(params: Mapping[str, Any]) -> str:
    """``(pfast=13, pslow=40)``."""
    return f"({', '.join(f'{name}={exact_text(value)}' for name, value in params.items())})"


def rate_text(rate: float) -> str:
    """A rate as a percentage with at least two decimals and no more zeros than that: 0.0035 is ``0.35%``."""
    text = f"{rate * 100:.10f}".rstrip("0")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}%"


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    suffix = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"
