"""Numbers as people and vendors write them. One file has one convention, found from all its cells.

``1,234`` alone may be a thousand or a bit more than one; whether a comma or a point separates decimals is
settled by cells that can be read in one way only, and where there is none the file is refused rather than
guessed at.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fault = Callable[[int, str], Exception]

MISSING = frozenset(
    {
        "",
        ".",
        "-",
        "--",
        "---",
        "–",
        "—",
        "null",
        "(null)",
        "nan",
        "-nan",
        "n/a",
        "#n/a",
        "#na",
        "na",
        "n.a.",
        "none",
        "nil",
        "nat",
        "<na>",
        "\\n",
        "#n/a n/a",
        "missing",
    }
)
_INFINITE = re.compile(r"[+-]?(inf(inity)?|∞)", re.I)
_CURRENCY = (
    r"US\$|C\$|A\$|R\$|HK\$|[$€£¥₹₩₽₺]|USD|EUR|GBP|GBX|GBp|CHF|JPY|CAD|AUD|INR|CNY|HKD|"
    r"SEK|NOK|DKK|PLN|Rs\.?|kr\.?|zł"
)
_CELL = re.compile(
    rf"(?P<sign>[+\-−]?)\s*(?P<before>{_CURRENCY})?\s*(?P<sign2>[+\-−]?)\s*"
    rf"(?P<digits>[0-9.,][0-9.,'’\s]*)(?P<power>[eE][+-]?[0-9]{{1,3}})?\s*(?P<after>{_CURRENCY})?"
)
_LONGEST = 60
"""Characters of a number; searching longer cells would only cost time."""
_PLAIN = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")
"""The common case, read without further ado."""
_SPACED = re.compile(r"[0-9]{1,3}(?:[\s'’][0-9]{3})+(?:[.,][0-9]+)?")
_SCALED = re.compile(r"(.*?[0-9])\s*(K|Tsd\.?|M|Mio\.?|Mln\.?|B|Bn|Mrd\.?|T)", re.I)
_SCALES = {"k": 3, "tsd": 3, "m": 6, "mio": 6, "mln": 6, "b": 9, "bn": 9, "mrd": 9, "t": 12}
# Groups of thousands never begin with a zero: 0,995 is less than one wherever it stands.
_COMMA_GROUPS = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
_POINT_GROUPS = r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"
_FORMS = (
    # Certain: point decimals (p), comma decimals (c). Uncertain: a single comma (?c) or point (?p) before
    # three digits.
    ("", re.compile(r"[0-9]+")),
    ("?c", re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")),
    ("?p", re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")),
    ("p", re.compile(rf"(?:{_COMMA_GROUPS})(?:\.[0-9]+)?|[0-9]*\.[0-9]+|[0-9]+\.")),
    ("c", re.compile(rf"(?:{_POINT_GROUPS})(?:,[0-9]+)?|[0-9]*,[0-9]+")),
)


_PROOF = 3
"""Volumes that must look alike to be a habit of the file."""


class NoNumber(ValueError):
    """The cell is no number; the message says what it is instead."""


def looks_like_number(cell: str) -> bool:
    """Whether a cell of a header or footer is a figure."""
    return bool(re.fullmatch(r"[$€£]?[+-]?[0-9][0-9.,'\s]*([eE][+-]?[0-9]+)?[KMBkmb%]?", cell))


def find_decimal(prices: Sequence[Sequence[str]], volumes: Sequence[str], delimiter: str, fault: Fault) -> str:
    """``.`` or ``,``: what separates decimals in this file. ``prices``: columns, a cell each row.

    Raises what ``fault(row index, problem)`` makes when cells contradict each other or leave it open.
    """
    seen: dict[str, tuple[int, str]] = {}
    uncertain: dict[str, tuple[int, str]] = {}
    for column in prices:
        for index, cell in enumerate(column):
            form = _form(cell)
            if form in ("p", "c"):
                seen.setdefault(form, (index, cell))
            elif form:
                uncertain.setdefault(form, (index, cell))
    volume_forms: dict[str, tuple[int, str]] = {}
    for index, cell in enumerate(volumes):
        form = _form(_unscaled(cell)[0])
        (seen if form in ("p", "c") else volume_forms).setdefault(form, (index, cell))
    if "p" in seen and "c" in seen:
        index, cell = max(seen["p"], seen["c"])
        other = min(seen["p"], seen["c"])[1]
        raise fault(index, f"{cell!r} after {other!r}: decimal commas and decimal points are mixed; write one kind")
    if seen:
        decimal = "." if "p" in seen else ","
        _refuse_open_volumes(volumes, f"?{_SIGN_FORM[decimal]}", fault)
        return decimal
    return _from_uncertain(uncertain, volume_forms, delimiter, fault)


def _refuse_open_volumes(volumes: Sequence[str], form: str, fault: Fault) -> None:
    """A fault when each volume looks like thousands to one reader and like three decimals to the next."""
    if len(volumes) >= _PROOF and all(_form(cell) == form for cell in volumes):
        raise fault(0, f"Volume {volumes[0]!r} is ambiguous: decimals or thousands? Write it without separators")


def _from_uncertain(
    prices: dict[str, tuple[int, str]], volumes: dict[str, tuple[int, str]], delimiter: str, fault: Fault
) -> str:
    """The decimal sign when every cell with a separator could be read in two ways."""
    if "?c" in prices or ("?p" in prices and delimiter == ";" and "?c" not in volumes):
        index, cell = prices.get("?c") or prices["?p"]
        raise fault(index, f"{cell!r} is ambiguous: decimals or thousands? Write prices with a decimal point")
    if "?p" in volumes and delimiter == ";":
        index, cell = volumes["?p"]
        raise fault(index, f"Volume {cell!r} is ambiguous: decimals or thousands? Write it without separators")
    if "?p" in volumes and "?c" in volumes:
        index, cell = max(volumes["?p"], volumes["?c"])
        raise fault(index, f"Volume {cell!r} is ambiguous: comma and point are both used; write it without separators")
    return "."


def read_price(cell: str, decimal: str) -> tuple[float, str]:
    """A positive finite price and the currency it is marked with (empty: none); NoNumber for the rest."""
    plain = decimal == "." and _PLAIN.fullmatch(cell)
    number, currency = (cell, "") if plain else _read(cell, decimal)
    value = float(number)
    if isinf(value):
        raise NoNumber(f"is {cell[:30]!r}; prices must be finite")
    if value == 0:
        raise NoNumber(f"is {cell[:30]}; prices must be positive, not zero")
    if value < 0:
        raise NoNumber(f"is {cell[:30]}; prices must be positive, not negative")
    return value, currency


def either_way(cell: str) -> bool:
    """Whether ``cell`` alone may have decimals or thousands: ``1,234``, ``1.234``."""
    return _form(cell).startswith("?")


def read_volume(cell: str, decimal: str) -> tuple[Decimal, bool]:
    """A volume >= 0, perhaps with a fraction, and whether it is written as K, M or B."""
    if re.fullmatch("[0-9]{1,18}", cell):
        return Decimal(cell), False
    bare, power = _unscaled(cell)
    number, _ = _read(bare, decimal)
    value = Decimal(number).scaleb(power)
    if value < 0:
        raise NoNumber(f"is {cell[:30]}; it must not be negative")
    if value >= 2**63:
        raise NoNumber(f"is {cell[:30]}; that is beyond any volume")
    return value, power > 0


def _read(cell: str, decimal: str) -> tuple[str, str]:
    """The number in ``cell`` as Python writes it, and its currency."""
    if cell.casefold() in MISSING:
        raise NoNumber(f"is missing ({cell[:30] or 'empty'}); fill it in or remove the row")
    if _INFINITE.fullmatch(cell):
        raise NoNumber(f"is {cell}; it must be finite (not infinite)")
    match = _CELL.fullmatch(_unwrapped(cell)) if len(cell) <= _LONGEST else None
    digits = "" if match is None else _without_spaces(match["digits"])
    form = next((form for form, pattern in _FORMS if pattern.fullmatch(digits)), None)
    if match is None or form is None or (form in ("p", "c") and form != _SIGN_FORM[decimal]):
        raise NoNumber(f"is {cell[:30]!r}, which is not a number")
    digits = digits.replace(",", "") if decimal == "." else digits.replace(".", "").replace(",", ".")
    negative = any(sign in ("-", "−") for sign in (match["sign"], match["sign2"]))
    number = f"{'-' if negative else ''}{digits}{match['power'] or ''}"
    try:
        Decimal(number)
    except InvalidOperation:
        raise NoNumber(f"is {cell[:30]!r}, which is not a number") from None
    return number, match["before"] or match["after"] or ""


_SIGN_FORM = {".": "p", ",": "c"}


def _form(cell: str) -> str:
    """How the separators of ``cell`` can be read, see _FORMS; empty where it has none or is no number."""
    if _PLAIN.fullmatch(cell):
        whole, _, decimals = cell.partition(".")
        if len(whole) > 3 or len(decimals) != 3 or whole[0] == "0":
            return "p"
    match = _CELL.fullmatch(_unwrapped(cell)) if len(cell) <= _LONGEST else None
    if match is None:
        return ""
    digits = _without_spaces(match["digits"])
    form = next((form for form, pattern in _FORMS if pattern.fullmatch(digits)), "")
    return form.removeprefix("?") if match["power"] and digits[-4:-3] in (".", ",") else form


def _without_spaces(digits: str) -> str:
    """``1 234,50`` and ``1'234.50`` without their grouping, where it is grouping by thousands."""
    digits = digits.strip()
    return re.sub(r"[\s'’]", "", digits) if _SPACED.fullmatch(digits) else digits


def _unscaled(cell: str) -> tuple[str, int]:
    """``12.31M`` as ``12.31`` and 6."""
    match = _SCALED.fullmatch(cell) if len(cell) <= _LONGEST else None
    return (match[1], _SCALES[match[2].casefold().rstrip(".")]) if match else (cell, 0)


def _unwrapped(cell: str) -> str:
    """Excel's ``="123.45"`` without its wrapping."""
    return cell[2:-1] if cell.startswith('="') and cell.endswith('"') else cell
