"""Whether a text says a day, however it is written: ``4 March 2021``, ``Mar 4th '21``, ``the fourth of March``,
``3/4/21``, ``2021.03.04``, ``04MAR2021``. Pure."""

from __future__ import annotations

import calendar
import re
from datetime import date

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty[- ]first twenty[- ]second twenty[- ]third "
    "twenty[- ]fourth twenty[- ]fifth twenty[- ]sixth twenty[- ]seventh twenty[- ]eighth twenty[- ]ninth thirtieth "
    "thirty[- ]first"
).replace("[- ]", "\0").split()  # fmt: skip
_NO_YEAR = r"(?![ ,.]{0,3}(?:of )?(?:\d{4}|'\d{2})\b)"


def says_day(text: str, day: str) -> bool:
    """Whether ``text``, whose dashes are hyphens, names the ISO date ``day``, with its year or without."""
    try:
        on = date.fromisoformat(day)
    except ValueError:
        return False
    named = calendar.month_abbr[on.month].casefold() in text.casefold()
    # A pattern takes longer to make than most texts to search.
    return (named and _in_words(text, on)) or (str(on.day) in text and _in_figures(text, on))


def _in_words(text: str, on: date) -> bool:
    name = calendar.month_name[on.month]
    month = rf"(?:{'|'.join(sorted({name, name[:3], name[:4]}, key=len, reverse=True))})\b\.?"
    glued = rf"(?:{name[:3]}|{name})"
    ordinal = _ORDINALS[on.day - 1].replace("\0", "[- ]")
    number = rf"(?:the )?(?:0?{on.day}(?:st|nd|rd|th)?|{ordinal})"
    year, gap = rf"(?:{on.year}|'?{on.year % 100:02})", r"[ ,/.-]{1,3}(?:of )?"
    ways = (
        rf"{number}{gap}{month}{gap}{year}", rf"{month}{gap}{number}{gap}{year}",
        rf"{on.year}{gap}{month}{gap}{number}", rf"{on.year}{gap}{number}{gap}{month}",
        rf"0?{on.day}{glued}(?:{on.year}|{on.year % 100:02})",
        rf"{number}{gap}{month}{_NO_YEAR}", rf"{month}{gap}{number}{_NO_YEAR}",
    )  # fmt: skip
    return _found(text, ways)


def _in_figures(text: str, on: date) -> bool:
    month, day, mark = f"0?{on.month}", f"0?{on.day}", "([/.-])"
    year = rf"(?:{on.year}|{on.year % 100:02})"
    # Each way with one kind of mark in both places.
    ways = [rf"{first}{mark}{second}(?:\{place}){third}" for place, (first, second, third) in enumerate((
        (str(on.year), month, day), (month, day, year), (day, month, year)), 1)]  # fmt: skip
    return _found(text, [*ways, f"{on:%Y%m%d}"])


def _found(text: str, ways: list[str] | tuple[str, ...]) -> bool:
    return re.search(rf"(?<![\w.,$/-])(?:{'|'.join(ways)})(?![\w%]|[.,/-]\d)", text, re.IGNORECASE) is not None
