"""Whether a stem says a value: as an option shows it, or as the same number or day written in another way. Pure.

Looked for are ways that people and models write: other marks between thousands and before decimals, percentages as
shares, basis points and factors, cents, thousands and millions, rounded amounts, small numbers in words, days in any
order. Not looked for: fractions (13/400), larger numbers in words, other numerals than digits, riddles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from backtrader_bench.miner.days import says_day
from backtrader_bench.miner.values import Form, Read, read
from backtrader_bench.miner.wordings import ONES, TENS

if TYPE_CHECKING:
    Value = float | int | str

ROUND = 1000
"""Whole numbers from here on, and numbers with so many digits, aren't met by chance in a stem."""
LARGEST = 20
"""Digits before the point of a numeral that is looked at."""
NEAR = Decimal("0.005")
"""Share of a number by which a rounded one may be off: options are one percent apart, so that it tells the one."""
LANGUAGE = frozenset({0, 1, 2, 3, 100})
"""Numbers whose words are parts of the language."""
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_MARKS = str.maketrans({
    **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u2018\u2019\u02bc\u00b4\uff07", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
})  # fmt: skip
_NUMERAL = re.compile(r"(?<![\d.])(?<!\d,)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,2}\b)?(?!\d|[.,]\d)", re.I)
_OTHER = re.compile(
    r"(?<![\d.,'_])(?<!\d )(?:"
    r"(?P<a>\d{1,3}(?:(?: \d{3})+|(?:'\d{3})+|(?:_\d{3})+))(?:[.,](?P<a_decimals>\d{1,12}))?"  # 12 345.60, 12'345,60
    r"|(?P<b>\d{1,3}(?:\.\d{3})+),(?P<b_decimals>\d{1,12})"  # 12.345,60
    r"|(?P<c>\d{1,3}(?:\.\d{3}){2,6})"  # 1.234.567
    r"|(?P<d>\d{1,18}),(?P<d_decimals>\d{1,2}|\d{4,12})"  # 12345,60
    r")(?!\d|[.,'_]\d)"
)
_UNIT = re.compile(
    r"[ -]?(?:(?P<percent>%|percent\b|per cent\b|pct\b)|(?P<points>bps?\b|basis[ -]points?\b)"
    r"|(?P<cents>cents?\b|\u00a2)"
    r"|(?P<thousand>thousand\b|grand\b|k\b)|(?P<million>million\b|mio\b|mn\b|m\b)|(?P<billion>billion\b|bn\b))",
    re.IGNORECASE,
)
_AND_CENTS = re.compile(
    r"[ ]?(?:dollars?|usd|bucks)?[ ]?(?:and|,|&)?[ ](\d{1,2})(?:[ ]?cents?\b|[ ]?\u00a2|/100\b)", re.IGNORECASE
)
_FACTOR = re.compile(r"\b(?:factor|times|fold|multiple|multiplied|multiplier)\b|\u00d7", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.|(?:just|a little) (?:over|under"
    r"|above|below)|close to|near)|[~\u2248])[ ]?(?:usd)?[ ]?\$?$",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9}
Unit = Literal["", "percent", "points", "cents", "thousand", "million", "billion"]


@dataclass(frozen=True)
class Said:
    """A numeral of a stem."""

    number: Decimal
    decimals: int
    unit: Unit
    prose: bool
    """Outside code and rows of data: only there it may mean what an option shows in another way."""
    factor: bool
    """Stands beside a word for multiplying."""
    about: bool
    """Is said to be near."""


def states(stem: str, form: Form, value: Value) -> bool:
    """Whether the stem says ``value``: as an option shows it, or as the same number or day written in another way.

    Numbers are compared sign and unit aside. Numbers as short as 3 or 0.5% are parameters of every other scenario, so
    they count only with the decimals of the option; whole numbers are not looked for in data or code.
    """
    text = stem.translate(_MARKS)
    if form.kind == "count":
        text = _FENCED.sub(" ", text)
    wanted = form.text(value)
    if _stands(text, wanted) or (form.grouped and _stands(text, wanted.replace(",", ""))):
        return True
    if form.kind == "date":
        return says_day(text, str(value))
    if form.kind == "count" and _spelled(text, int(value)):
        return True
    return form.kind != "text" and _holds(text, form, value)


def _stands(text: str, wanted: str) -> bool:
    if wanted.casefold() not in text.casefold():
        return False
    return re.search(rf"(?<![\w.,$-]){re.escape(wanted)}(?![\w%]|[.,]\d)", text, re.IGNORECASE) is not None


def _spelled(text: str, count: int) -> bool:
    """Whether a small whole number is written in words, or with a zero behind the point."""
    if 0 <= count < ROUND and any(_stands(text, f"{count}.{zeros}") for zeros in ("0", "00")):
        return True
    if count in LANGUAGE or not 0 < count < 100:
        return False
    words = ONES[count] if count < 20 else TENS[count // 10 - 2] + (f"[- ]{ONES[count % 10]}" if count % 10 else "")
    alone = "".join(rf"(?<!\b{ten} )" for ten in TENS) if count < 10 else ""
    more = "|".join(ONES[1:10])
    return re.search(rf"(?<![\w-]){alone}{words}(?![\w-]| percent\b| (?:{more})\b)", text, re.I) is not None


def _holds(text: str, form: Form, value: Value) -> bool:
    """Whether one of the text's numerals is the number."""
    found = read(value) if isinstance(value, str) else None
    number = abs(found.number) if isinstance(found, Read) and found.number is not None else None
    if not isinstance(value, str):
        number = Decimal(f"{abs(value):.{form.decimals}f}")
    if number is None or (number == int(number) and number < ROUND):
        return False
    return any(_is_meant(number, form, said) for said in numerals(text))


def _is_meant(number: Decimal, form: Form, said: Said) -> bool:
    short = len(number.normalize().as_tuple().digits) < 3 and number < ROUND
    # One with more decimals than the option is the answer before rounding, where that is no coincidence.
    long = number * 10**form.decimals >= ROUND
    for one, decimals in _readings(said, form):
        if one == number and not (short and decimals < form.decimals):
            return True
        if long and one.adjusted() < LARGEST and abs(one - number) <= form.half_step:
            return True
    return said.prose and _rounds(number, form, said)


def _readings(said: Said, form: Form) -> Iterator[tuple[Decimal, int]]:
    """What a numeral may mean in the option's unit, with the decimals that it has there."""
    yield said.number, said.decimals
    if not said.prose or said.number.adjusted() >= LARGEST:
        return
    if form.kind == "count" and said.decimals == 3 and 1 <= said.number < ROUND and not said.unit:
        yield said.number.scaleb(3), 0
    if said.unit in _SCALES:
        yield said.number.scaleb(_SCALES[said.unit]), max(0, said.decimals - _SCALES[said.unit])
    if said.unit == "cents" and form.kind in ("money", "number"):
        yield said.number.scaleb(-2), said.decimals + 2
    if form.kind == "percent" and said.unit == "points":
        yield said.number.scaleb(-2), said.decimals + 2
    if form.kind == "percent" and not said.unit:
        if said.number < 1 or said.factor:
            yield said.number.scaleb(2), max(0, said.decimals - 2)
        if said.factor:
            yield abs(said.number - 1).scaleb(2), max(0, said.decimals - 2)
    if form.kind == "number" and said.unit in ("percent", "points"):
        places = 2 if said.unit == "percent" else 4
        yield said.number.scaleb(-places), said.decimals + places


def _rounds(number: Decimal, form: Form, said: Said) -> bool:
    """Whether a numeral is the number rounded, so little that it tells the option: to dollars, or as it says itself."""
    places = _SCALES.get(said.unit, 0)
    if said.number.adjusted() + places >= LARGEST or said.unit in ("points", "cents"):
        return False
    one, off = said.number.scaleb(places), abs(said.number.scaleb(places) - number)
    if off > number * NEAR:
        return False
    if said.about:
        zeros = len(f"{int(said.number)}") - len(f"{int(said.number)}".rstrip("0")) if not said.decimals else 0
        return off <= Decimal(5).scaleb(places + zeros - said.decimals - 1)
    if places:
        return said.decimals > 0 and off <= Decimal(5).scaleb(places - said.decimals - 1)
    # A round amount is more likely one of the scenario's own.
    return form.kind in ("money", "number") and not said.unit and said.decimals == 0 and number >= ROUND and (
        off < 1 and one % 100 != 0)  # fmt: skip


@lru_cache(maxsize=4)
def numerals(text: str) -> tuple[Said, ...]:
    """The numerals of a text, those with other marks than ``12,345.60`` included."""
    figures = _figures(text)
    found = [_said(text, one.start(), one.end(), one[0].replace(",", ""), figures) for one in _NUMERAL.finditer(text)]
    for one in _OTHER.finditer(text):
        name = str(one.lastgroup)[0]
        whole, decimals = re.sub(r"\D", "", one[name]), one.groupdict().get(f"{name}_decimals") or ""
        # (10,20) is a pair rather than a number.
        pair = name == "d" and ((len(whole) < 4 and text[one.start() - 1 : one.start()] == "(") or len(one[0]) < 4)
        if not pair:
            found.append(_said(text, one.start(), one.end(), f"{whole}.{decimals}" if decimals else whole, figures))
    return tuple(dict.fromkeys(said for pair in found for said in pair))


def _said(text: str, start: int, end: int, plain: str, figures: list[tuple[int, int]]) -> tuple[Said, ...]:
    """A numeral with what stands around it; a second one where cents follow."""
    number = Decimal(plain)
    decimals = max(0, -int(number.as_tuple().exponent))
    after = _UNIT.match(text, end)
    unit: Unit = after.lastgroup if after is not None else ""  # type: ignore[assignment]
    prose = not any(low <= start < high for low, high in figures)
    beside = f"{text[max(0, start - 24) : start]} {text[end : end + 12]}" if prose else ""
    about = prose and _ABOUT.search(text, max(0, start - 24), start) is not None
    one = Said(number, decimals, unit, prose, _FACTOR.search(beside) is not None, about)
    cents = _AND_CENTS.match(text, end) if prose and not decimals and number.adjusted() < LARGEST else None
    if cents is None:
        return (one,)
    return one, Said(number + Decimal(cents[1]).scaleb(-2), 2, "", prose, factor=False, about=about)


def _figures(text: str) -> list[tuple[int, int]]:
    """Where code and rows of data stand: fenced blocks, and lines with more digits than letters and several numbers."""
    found = [one.span() for one in _FENCED.finditer(text)]
    for line in re.finditer(r"[^\n]+", text):
        letters, digits = sum(char.isalpha() for char in line[0]), sum(char.isdigit() for char in line[0])
        if digits > letters and len(re.findall(r"\d+", line[0])) > 3:
            found.append(line.span())
    return found
