"""Answers as verifiers print them, read into kinds that options can be made of. Pure functions.

A verifier prints what its author thought of: ``12345.678``, ``$12,345.68``, ``3.2%``, ``2021-03-04``, ``7``,
``7 trades``. What the numbers of one question look like is settled over all
its seeds together, so that no option stands out by its form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from backtrader_bench.miner import wordings

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["money", "percent", "number", "count", "date", "text"]
Unread = Literal["answer_missing", "answer_not_finite", "answer_not_usable"]

LONGEST = 200
"""Characters of an option's text."""
LONGEST_RAW = 1000
"""Characters of an answer as printed, with its blanks, at any seed."""
MOST_DECIMALS = 4
MOST_DIGITS = 15
"""Of a number as shown: so many a float holds."""
_NUMBER = re.compile(
    r"(?P<sign>[-+\u2212]?)\s?(?P<dollar>\$?)\s?(?P<inner>[-+\u2212]?)"
    r"(?P<digits>\d{1,3}(?:,\d{3})+|\d{1,18})(?:\.(?P<decimals>\d{1,12}))?\s?(?P<unit>%|[A-Za-z][A-Za-z ]{0,30})?"
)
_SIGNS = r"[-+\u2212(]*\s?"
_CURRENCY = (
    r"(?:(?i:usd|eur|gbp|jpy|chf|cad|aud|nzd|cny|inr|krw|hkd|sgd|sek|nok|dkk|btc|eth|usdt|us|dollars?|euros?|pounds?|yen"
    r"|cents?|rupees?)|[A-Z]{0,2}[$\u00a2-\u00a5\u20a0-\u20cf])"
)
_NOT_FINITE = re.compile(
    rf"{_SIGNS}(?:{_CURRENCY}\s?)?{_SIGNS}(?i:nan|inf|infinity)(?:\s?%|\s?{_CURRENCY}|\s[A-Za-z][A-Za-z ]{{0,30}})?\)*"
)
_WITHOUT_WORDS = re.compile(rf"{_CURRENCY}|and|or|to|[\0,;|&.()\[\]+\u2212%-]", re.IGNORECASE)
_FIGURE = re.compile(r"(?:\d[\d,.]*\d|\d)(?:e[-+]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?)?")


@dataclass(frozen=True)
class Read:
    """One printed answer."""

    kind: Kind
    number: Decimal | None
    """Of the numeric kinds."""
    decimals: int
    unit: str
    """A word behind the number."""
    grouped: bool
    """Thousands were separated by commas."""
    words: str
    """Of dates and texts, as an option shows them."""


@dataclass(frozen=True)
class Form:
    """How all answers of a question are shown."""

    kind: Kind
    decimals: int = 0
    unit: str = ""
    grouped: bool = False

    @property
    def step(self) -> float:
        """One unit of the last place."""
        return 10.0**-self.decimals

    @property
    def half_step(self) -> Decimal:
        """How far a number may be from what is shown of it."""
        return Decimal(5).scaleb(-self.decimals - 1)

    def text(self, value: float | str) -> str:
        """A value as an option shows it."""
        if isinstance(value, str):
            return value
        number = round(value, self.decimals) + 0.0
        body = f"{abs(number):{',' if self.grouped else ''}.{self.decimals}f}"
        sign = "-" if number < 0 else ""
        tail = "%" if self.kind == "percent" else f" {self.unit}" if self.unit else ""
        return f"{sign}{'$' if self.kind == 'money' else ''}{body}{tail}"

    def apart(self, one: float | str, other: float | str) -> bool:
        """Whether two values can be options of one question: further apart than rounding, and by one percent."""
        if isinstance(one, str) or isinstance(other, str):
            return wordings.apart(str(one), str(other))
        return abs(one - other) >= self.separation(max(abs(one), abs(other))) - 1e-9

    def separation(self, size: float) -> float:
        """Least distance between options of that size."""
        if self.kind == "count":
            return max(1.0, 0.01 * size if size >= 100 else 0.0)
        return max(2 * self.step, 0.01 * size)

    def tolerance(self, key: float | str) -> float | None:
        """How far a given value may be from the key's and still be right: less than half the separation."""
        if isinstance(key, str):
            return None
        return 0.0 if self.kind == "count" else float(round(0.45 * self.separation(abs(key)), 6))


def unkept(raw: str) -> str | None:
    """Why a printed answer can't be kept in a record, as the end of a sentence; None where it can."""
    if len(raw) > LONGEST_RAW:
        return f"has {len(raw):,} characters, more than {LONGEST_RAW:,}"
    half = next((char for char in raw if "\ud800" <= char <= "\udfff"), None)
    return None if half is None else f"holds half a character, U+{ord(half):04X}"


def read(raw: str) -> Read | Unread:
    """One answer; the name of what is wrong with it otherwise: ``answer_missing``, ``answer_not_finite``,
    ``answer_not_usable`` (too long, with characters that don't show, about letters or other options, or numbers in a
    form whose distance can't be told: other currencies than dollars, exponents, parentheses, several at once)."""
    text = " ".join(raw.split())
    if not text:
        return "answer_missing"
    if len(text) > LONGEST or not text.isprintable() or wordings.about_options(text):
        return "answer_not_usable"
    if _NOT_FINITE.fullmatch(text):
        return "answer_not_finite"
    if _folded(text) in ("none", "null", "n/a", "na", "nat", "undefined"):
        return "answer_missing"
    if (day := _DATE.fullmatch(text)) and _is_day(day[1]):
        return Read("date", None, 0, "", False, day[1])
    found = _NUMBER.fullmatch(text)
    if found is None and _only_figures(text):
        return "answer_not_usable"
    if found is None or (found["sign"] and found["inner"]):
        return Read("text", None, 0, "", False, text)
    digits = found["digits"].replace(",", "")
    minus = "-" if (found["sign"] or found["inner"]) in ("-", "\u2212") else ""
    number = Decimal(f"{minus}{digits}.{found['decimals'] or '0'}")
    unit = found["unit"] or ""
    decimals = len(found["decimals"] or "")
    if found["dollar"]:
        kind: Kind = "money"
    elif unit == "%":
        kind = "percent"
    else:
        kind = "number" if decimals else "count"
    grouped = "," in found["digits"]
    return Read(kind, number, decimals, "" if unit == "%" else unit.strip(), grouped, "")


def form_of(key: Read, others: Sequence[Read]) -> Form:
    """How the answers are shown: the key's kind, with as many decimals as any of them needs."""
    same = [key, *(one for one in others if fits(key, one))]
    if key.number is None:
        return Form(key.kind)
    kind: Kind = "number" if key.kind == "count" and any(one.kind == "number" for one in same) else key.kind
    decimals = max(one.decimals for one in same)
    if decimals > MOST_DECIMALS:
        # A number printed as it came: nobody chose so many.
        largest = max(abs(one.number) for one in same if one.number is not None)
        decimals = 4 if largest < 1 else 3 if largest < 10 else 2
    return Form(kind, decimals, key.unit, grouped=kind == "money" or any(one.grouped for one in same))


def fits(key: Read, other: Read) -> bool:
    """Whether two answers are of one kind; whole numbers and others are, beside each other."""
    numbers = {"count", "number"}
    alike = key.kind == other.kind or {key.kind, other.kind} == numbers
    return alike and key.unit == other.unit


def value_of(form: Form, one: Read) -> float | int | str:
    """The value as the record keeps it: rounded as shown."""
    if one.number is None:
        return one.words
    if form.kind == "count":
        return int(one.number)
    return round(float(one.number), form.decimals) + 0.0


def digits(form: Form, one: Read) -> int:
    """Digits of a number as the form shows it, 0 for words."""
    return 0 if one.number is None else max(0, one.number.adjusted()) + 1 + form.decimals


def blurred(form: Form, one: Read) -> str | None:
    """How showing a number would change it, as the end of a sentence; None where it stays what it is."""
    if one.number is None or not one.number:
        return None
    if digits(form, one) > MOST_DIGITS:
        return f"has more than {MOST_DIGITS} digits with {form.decimals} decimals"
    shown = round(one.number, form.decimals)
    if shown != one.number and abs(shown) < 10 * Decimal(1).scaleb(-form.decimals):
        return f"would be shown as {shown:f}: print it in a smaller unit or with at most {MOST_DECIMALS} decimals"
    return None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _only_figures(text: str) -> bool:
    """Whether an answer is numbers and what stands around numbers; 5-3, 3/4 and 15:30 are words."""
    rest = _FIGURE.sub("\0", text)
    tokens = re.findall(r"[^\W\d_]+|\S", rest)
    return "\0" in rest and "\0-\0" not in rest and all(map(_WITHOUT_WORDS.fullmatch, tokens))
