"""Numbers and dates in a text as people and models write them. Pure functions."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"))
_DIGIT_SPACE = re.compile("(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{3})")

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = rf"(?P<{{}}>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = re.compile(
    r"(?<![0-9])(?P<y1>[0-9]{4})[-/](?P<m1>[0-9]{1,2})[-/](?P<d1>[0-9]{1,2})(?![0-9])"
    r"(?:[t ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:z|[-+][0-9]{2}:?[0-9]{2})?)?"
    rf"|\b{_MONTH.format('m2')}\s+(?P<d2>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y2>[0-9]{{4}})\b"
    rf"|(?<![0-9])(?P<d3>[0-9]{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?{_MONTH.format('m3')},?[\s-]+(?P<y3>[0-9]{{4}})\b",
    re.IGNORECASE,
)
_MARK = "\ue000"
"""Stands for a date while numbers are looked for."""

_GROUPED = r"[0-9]{{1,3}}(?:(?P<{name}>[,'_{space}])[0-9]{{3}})(?:(?P={name})[0-9]{{3}})*(?![0-9])"
_FRACTION = r"(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?"


_FREE = r"(?<![^\W_])(?<!\))"
"""Where a sign belongs to what follows: not behind a letter, a digit or a bracket; "_" may be italics."""


def _digits(name: str, space: str = "") -> str:
    grouped = _GROUPED.format(name=name, space=space)
    return rf"(?:(?:{grouped}|[0-9]+){_FRACTION}|(?<![0-9])\.[0-9]+)"


def _token(space: str) -> re.Pattern[str]:
    before = rf"(?P<minus>{_FREE}[-+]\s?)?(?:\$\s?)?(?P<after>{_FREE}[-+])?"
    return re.compile(rf"{_MARK}|{before}(?P<digits>{_digits('comma', space)})", re.IGNORECASE)


_TOKENS = {False: _token(""), True: _token(" ")}
"""Whether an ordinary space may stand between thousands."""

_BETWEEN = re.compile(r"(?<=[0-9%])-(?=[$0-9])|(?<=[0-9%\ue000])\s+-\s+(?=[$0-9\ue000])")
_MONEY = r"(?:(?:USD|EUR|GBP|US\s?\$|[$\u20ac\u00a3])\s?)"
_LETTER = re.compile(rf"^(\W*(?:(?:option|choice|answer)\W+)?[a-d]\W?)\s+-\s+(?=[-+(.0-9]|{_MONEY})", re.IGNORECASE)
"""An option's letter and a dash before the option's value."""
_SAID_MINUS = re.compile(rf"\b(?:minus|negative)\s+(?=[0-9(]|{_MONEY})", re.IGNORECASE)
_AWAY_MINUS = re.compile(rf"{_FREE}-\s?({_MONEY}?[({{]\s?{_MONEY}?|{_MONEY})(?=[.0-9])", re.IGNORECASE)
"""A minus before a currency or a bracket, with the amount behind that."""
_BRACKETED = re.compile(
    rf"(^\s*|\b(?:with|of|at|is)\s+|[:=]\s*)(\$?)\(\s*(\$?)\s*({_digits('sep')})\s*(%?)\s*\)", re.IGNORECASE
)
_LOSS = r"(?<!or )(?<!and )(?<!& )(?<!/)(?<!stop )(?<!stop-)\bloss(?:es)?\b"
_LOSS_OF = re.compile(
    rf"({_LOSS}(?:\s+(?:of|is|was))?\s*[:=]?\s*)(?=\$|{_digits('sep')}(?:%|\b))(?![0-9]+\b(?![.,][0-9]|%))",
    re.IGNORECASE,
)
_A_LOSS = re.compile(
    rf"(?<![-+$0-9.,])(\$\s?{_digits('sep')}|{_digits('other')}%)(?=\s+(?:net\s+)?loss\b)", re.IGNORECASE
)
"""Amounts that are lost, by the word before or behind them; a whole number without a sign of money is a count."""


class Token(NamedTuple):
    """A number or an ISO date, and where it stands in the text that :func:`tokens` gives beside it."""

    value: float | str
    start: int
    end: int


def folded(text: str) -> str:
    """One glyph for each thing: dashes, spaces, full-width forms, escapes of LaTeX."""
    text = _DIGIT_SPACE.sub("'", text.translate(_DASHES).replace(_MARK, " "))
    text = " ".join(unicodedata.normalize("NFKC", text).translate(_DASHES).split())
    text = text.replace("\\(", " ").replace("\\)", " ")  # inline formulas, no accounting
    return text.replace("{,}", ",").replace("\\,", "").replace("\\$", "$").replace("\\%", "%")


def tokens(text: str, *, spaced: bool = False) -> tuple[str, list[Token]]:
    """The dates and numbers of a folded text in order, and the text that their places count in.

    A minus between two numbers separates them, commas stand between groups of three digits alone; with ``spaced`` so
    may spaces. Bracketed amounts of money are negative as in accounting, and so is a loss.
    """
    days: list[str] = []

    def keep(found: re.Match[str]) -> str:
        days.append(_iso(found))
        return _MARK

    text = _BETWEEN.sub(" ; ", _DAY.sub(keep, _LETTER.sub(r"\1 ; ", text)))
    text = _AWAY_MINUS.sub(r"\1-", _SAID_MINUS.sub("-", text))
    text = _BRACKETED.sub(_accounting, text)
    text = _A_LOSS.sub(r"-\1", _LOSS_OF.sub(r"\1-", text))
    left = iter(days)
    found = []
    for one in _TOKENS[spaced].finditer(text):
        value = next(left) if one[0] == _MARK else _amount(one)
        found.append(Token(value, one.start(), one.end()))
    return text, found


def _iso(found: re.Match[str]) -> str:
    at = next(at for at in "123" if found[f"y{at}"])
    month = found[f"m{at}"]
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    return f"{found[f'y{at}']}-{number:02}-{int(found[f'd{at}']):02}"


def _accounting(found: re.Match[str]) -> str:
    before, outer, inner, digits, percent = found[1], found[2], found[3], found[4], found[6]
    if not (outer or inner or percent or "." in digits):
        return found[0]
    return f"{before}-{digits}{percent}"


def _amount(found: re.Match[str]) -> float:
    size = float(re.sub(r"[,'_ ]", "", found["digits"]))
    return -size if "-" in (found["minus"] or "") + (found["after"] or "") else size
