"""Answers in words: whether two say different things, and whether one can be an option at all. Pure."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NAMED = {**{name: place for place, name in enumerate(ONES)}, **{name: 20 + 10 * n for n, name in enumerate(TENS)}}
_SPELLED = re.compile(
    rf"\b(?:({'|'.join(TENS)})[- ]({'|'.join(ONES[1:10])})|({'|'.join(sorted(_NAMED, key=len, reverse=True))}))\b"
)
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d{1,3})?"
_TOKEN = re.compile(
    rf"(?P<ratio>(?<![\w./:])\d{{1,9}}\s?[/:]\s?\d{{1,9}}(?![\w]|[/:.,]\d))"
    rf"|(?P<sign>(?<![\w)])[-+])?\$?(?P<number>{_NUMBER})(?P<percent>\s?%)?"
    r"|(?P<word>[^\W\d_]+)|(?P<mark>[^\w\s])"
)
_EMPTY = frozenset("-.,;:!?\"'()[]{}`*_\u00b7\u2026\u2013\u2014\u2018\u2019\u201c\u201d\u00ab\u00bb")
"""Marks that change nothing of what is said."""
_PLACES = re.compile(
    r"(?:option|choice|answer|letter)?s?\s*\(?[a-d]\)?(?:\s*(?:,|/|&|\+|and|or|,\s*and|,\s*or)\s*\(?[a-d]\)?)*[.!]?"
    r"|(?:none|all|both|neither|either|any|some|one|each|two|three|most)\s+(?:of\s+)?(?:the\s+)?"
    r"(?:above|below|these|those|others?|options?|choices?|answers?|foregoing|given)\b.*",
    re.IGNORECASE,
)
MOST_WHOLE = 10_000
"""Whole numbers below it (bars, years, hours) differ when they aren't the same."""


class _Number(NamedTuple):
    """A number in words."""

    value: Fraction
    step: Fraction
    """One unit of its last place."""
    whole: bool
    exact: bool
    """A ratio: it is not rounded."""


def about_options(text: str) -> bool:
    """Whether an answer speaks of the options or of the solver's reply, beside which letters will stand."""
    return "<<<" in text or ">>>" in text or _PLACES.fullmatch(text.strip()) is not None


def apart(one: str, other: str) -> bool:
    """Whether two answers differ in their words, or else in a number by more than rounding and one percent.

    Marks at no number, case, ways of writing a number (five, 5, +5, 5.0) and of a ratio (1/2, 2:4, 50%) make no
    difference.
    """
    (words, numbers), (others_words, others_numbers) = _folded(one), _folded(other)
    if words != others_words:
        return True
    return any(_numbers_apart(mine, theirs) for mine, theirs in zip(numbers, others_numbers, strict=True))


def _folded(text: str) -> tuple[list[str], list[_Number]]:
    """Words, with ``#`` for each number, and the numbers."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2044", "/").replace("\u2212", "-").casefold()
    plain = _SPELLED.sub(lambda found: str(sum(_NAMED[name] for name in found.groups() if name)), plain)
    words, numbers = [], []
    for token in _TOKEN.finditer(plain):
        if token["ratio"] or token["number"]:
            words.append("#")
            numbers.append(_ratio(token["ratio"]) if token["ratio"] else _number(token))
        elif token["word"] or token["mark"] not in _EMPTY:
            words.append(token["word"] or token["mark"])
    return words, numbers


def _ratio(text: str) -> _Number:
    above, below = (int(part) for part in re.split(r"[/:]", text))
    # Nothing is divided by zero: 10:00 is a time.
    return _Number(Fraction(above, below) if below else Fraction(above), Fraction(0), whole=False, exact=True)


def _number(token: re.Match[str]) -> _Number:
    text = token["number"].replace(",", "")
    value, decimals = Fraction(Decimal(text)), len(text.partition(".")[2].partition("e")[0])
    scale = Fraction(1, 100) if token["percent"] else Fraction(1)
    sign = -1 if token["sign"] == "-" else 1
    whole = not {".", "e"} & set(text)
    # Of one with an exponent the last place says nothing.
    step = Fraction(0) if "e" in text else Fraction(1, 10**decimals) * scale
    return _Number(sign * value * scale, step, whole, exact=False)


def _numbers_apart(mine: _Number, theirs: _Number) -> bool:
    one, other = mine.value, theirs.value
    largest = max(abs(one), abs(other))
    if (mine.exact and theirs.exact) or (mine.whole and theirs.whole and largest < MOST_WHOLE):
        return one != other
    return one != other and abs(one - other) >= max(2 * mine.step, 2 * theirs.step, largest / 100)
