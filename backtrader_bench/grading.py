"""Grading a reply's letter and value, and naming the mistake behind a wrong value. Pure functions.

A letter alone is lenient: with one known mistake, the option nearest to the mistaken value is the key half of the
time. A value within tolerance is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"\d{4}-\d{2}-\d{2}|(?:[-+]\s?)?(?:\$\s?)?[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Grade(NamedTuple):
    """What a reply is worth. ``verified`` is letter and value both right; None where no value was given."""

    letter_right: bool
    value_right: bool | None
    verified: bool | None
    mistake: str | None
    """The common mistake whose value this is, where it is the only one and the value is wrong."""


def grade(record: Mapping[str, Any], letter: str | None, value: str | None) -> Grade:
    """Grade a reply to a decoded record with its private part."""
    letter_right = letter == record["answer"]
    if value is None:
        return Grade(letter_right, None, None, None)
    value_right = value_matches(value, record["value"], record.get("tolerance"))
    mistake = None if value_right else named_mistake(record, value)
    return Grade(letter_right, value_right, letter_right and value_right, mistake)


def named_mistake(record: Mapping[str, Any], value: str) -> str | None:
    """The one fingerprint of the record that ``value`` matches; None when none or several do."""
    prints = (record.get("private") or {}).get("fingerprints") or {}
    found = [name for name, wrong in prints.items() if value_matches(value, wrong, record.get("tolerance"))]
    return found[0] if len(found) == 1 else None


def value_matches(text: str, truth: Any, tolerance: float | None) -> bool:
    """Whether ``text`` says ``truth``, a record's ``value``: every part of it, in order, and no more numbers.

    Numbers count within ``tolerance`` (parts of composites within half of 1%, as theirs is not recorded); integers,
    dates and words must be equal.
    """
    parts = _leaves(truth)
    if all(isinstance(part, str) and not _DATE.fullmatch(part) for part in parts):
        return len(parts) == 1 and text.strip().casefold() == parts[0].casefold()
    tokens = _TOKEN.findall(text)
    return len(tokens) == len(parts) and all(
        _same(token, part, tolerance) for token, part in zip(tokens, parts, strict=True)
    )


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    return [value]


def _same(token: str, part: Any, tolerance: float | None) -> bool:
    if isinstance(part, str):
        return token == part
    if _DATE.fullmatch(token):
        return False
    given = float(re.sub(r"[$,\s]", "", token))
    if isinstance(part, int):
        return given == part
    allowed = tolerance if tolerance is not None else max(0.01, 0.0049 * abs(part))
    return bool(abs(given - part) <= allowed + 1e-12 * abs(part))
