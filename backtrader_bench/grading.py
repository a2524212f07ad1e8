"""Grading a reply's letter and value, and naming the mistake behind a wrong value. Pure functions.

A letter alone is lenient: with one known mistake, the option nearest to the mistaken value is the key half of the
time. A value within tolerance is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from backtrader_bench.amounts import folded, tokens
from backtrader_bench.worded import says

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backtrader_bench.amounts import Token

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_REMARK = re.compile(r"(?<=[\d%])\s*\((?!\s*(?:or|alternatively|maybe|perhaps|possibly)\b)[^()]*\)\s*$", re.IGNORECASE)
"""What stands in brackets behind a value: a derivation, unless it is a part of the answer or another one."""
_AMOUNT = r"(?:the\s+|about\s+)?[-+$(]*[.0-9\ue000]"
_DOUBT = re.compile(
    r"(?:\bnot\b|n['\u2019]t\b|\bcannot\b)"
    r"(?!\s+(?:in|inside|invested|hold|held|holding|long|counting|including|annuali[sz]ed|rounded)\b)"
    r"|\b(?:no|without|not|never)\s+(?:an?\s+|any\s+)?(?:net\s+)?loss\b"
    r"|\banything but\b|\b(?:wrong|incorrect)\b|\u2260|!="
    rf"|(?<![-=])[<>\u2264\u2265]=?\s*{_AMOUNT}|[0-9%]\s*[<>\u2264\u2265]"
    rf"|\b(?:(?:less|fewer|lower|smaller|more|greater|higher|larger|other) than|at (?:least|most)|before|after"
    rf"|(?:half|third|quarter) of|half|twice|double)\s+{_AMOUNT}"
    r"|(?<!profit )(?<!profits )(?<!gain )(?<!gains )\bor\b(?! (?:loss(?:es)?|so)\b)"
    r"|[0-9](?:[km]\b|\s?(?:hundred|thousand|million|billion)\b)",
    re.IGNORECASE,
)
"""What makes of a number another one, none or a choice of several; a derivation behind it may have it."""
_ROUNDED = frozenset({"close", "total", "value", "pnl", "dollars", "percent"})
"""Fields of composites whose numbers have a tolerance; all others, parameters of strategies among them, are exact."""
_CALLED = {
    "buys": "buys?|bought|buying", "sells": "sells?|sold|selling", "won": "won|wins?|winners?|winning",
    "lost": "lost|loss(?:es)?|losers?|losing", "bought": "bought|buys?", "sold": "sold|sells?",
    "total": "total|in all|altogether|overall|commissions?", "orders": "orders?|fills?",
    "outside": "outside|without|out(?: of)?|not in|flat|no position",
    "inside": "inside|in(?! total| all)|held|holding|with (?:a )?position",
    "shares": "shares?|size", "close": "clos(?:e|ing)|price", "difference": "diff(?:erence)?", "days": "days?|rows?",
    "dollars": "dollars|drawdown", "percent": "percent(?:age)?", "pnl": "pnl|p/l|p&l|profit|loss",
    "pfast": "pfast|fast", "pslow": "pslow|slow",
}  # fmt: skip
"""What a field is called in replies, where that is more than its own name."""


class Grade(NamedTuple):
    """What a reply is worth. ``verified`` is letter and value both right; None where no value was given."""

    letter_right: bool
    value_right: bool | None
    verified: bool | None
    mistake: str | None
    """The common mistake whose value this is, where it is the only one and the value is wrong."""


class _Part(NamedTuple):
    """One value of a record's answer."""

    field: str
    value: Any
    tolerance: float
    """How far a number may be off."""


def grade(record: Mapping[str, Any], letter: str | None, value: str | None) -> Grade:
    """Grade a reply to a decoded record with its private part. An option's own text is right if that is the key."""
    letter_right = letter == record["answer"]
    if value is None:
        return Grade(letter_right, None, None, None)
    said = _options_said(record, value)
    value_right = record["answer"] in said if said else value_matches(value, record["value"], record.get("tolerance"))
    mistake = None if value_right else named_mistake(record, value)
    return Grade(letter_right, value_right, letter_right and value_right, mistake)


def _options_said(record: Mapping[str, Any], value: str) -> list[str]:
    """The letters of the options that ``value`` is word for word."""
    plain = _plain(value)
    return [letter for letter, text in (record.get("options") or {}).items() if _plain(text) == plain]


def _plain(text: str) -> str:
    return " ".join(folded(text).casefold().split()).strip(" .")


def named_mistake(record: Mapping[str, Any], value: str) -> str | None:
    """The one fingerprint of the record that ``value`` matches; None when none or several do."""
    prints = (record.get("private") or {}).get("fingerprints") or {}
    found = [name for name, wrong in prints.items() if value_matches(value, wrong, record.get("tolerance"))]
    return found[0] if len(found) == 1 else None


def value_matches(text: str, truth: Any, tolerance: float | None) -> bool:
    """Whether ``text`` says ``truth``, a record's ``value``: every part of it and no more numbers.

    Numbers count within ``tolerance`` (dollars, percentages and prices of composites within half of 1%, as theirs is
    not recorded); integers, dates, parameters and rates must be equal. Words and amounts are read in their usual
    writings, see worded.py and amounts.py; "not 35" and "35 or more" say no number. Parts are told apart by
    the names that stand with them, else by their order.
    """
    text = folded(text)
    parts = _parts(truth, tolerance)
    words = [part.value for part in parts if _is_word(part.value)]
    amounts = [part for part in parts if not _is_word(part.value)]
    if not amounts:
        return len(words) == 1 and says(text, words[0])
    for shown in dict.fromkeys((text, _REMARK.sub("", text))):
        for spaced in (False, True):
            placed, found = tokens(shown, spaced=spaced)
            if len(found) == len(amounts) and not _DOUBT.search(placed):
                rest = _without(placed, found)
                return all(says(rest, word) for word in words) and _all_same(placed, found, amounts)
    return False


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and not _DATE.fullmatch(value)


def _parts(truth: Any, tolerance: float | None) -> list[_Part]:
    if not isinstance(truth, dict):
        return [_Part("", truth, tolerance or 0.0)]
    return [
        _Part(one.field or name, *one[1:])
        for name, value in truth.items()
        for one in _parts(value, _slack(name, value))
    ]


def _slack(name: str, value: Any) -> float:
    return max(0.01, 0.0049 * abs(value)) if name in _ROUNDED and isinstance(value, float) else 0.0


def _without(text: str, found: Sequence[Token]) -> str:
    for token in reversed(found):
        text = f"{text[: token.start]} {text[token.end :]}"
    return text


def _all_same(text: str, found: Sequence[Token], parts: Sequence[_Part]) -> bool:
    """Whether the values found are the parts: named ones by their names, the rest in order among their own kind."""
    named = _named(text, found, [part.field for part in parts]) if len(parts) > 1 else {}
    if named is None:
        return False
    left = [place for place in range(len(found)) if place not in named]
    pairs = [(found[place], next(part for part in parts if part.field == field)) for place, field in named.items()]
    for dated in (True, False):
        mine = [found[place] for place in left if isinstance(found[place].value, str) is dated]
        due = [part for part in parts if part.field not in named.values() and isinstance(part.value, str) is dated]
        if len(mine) != len(due):
            return False
        pairs += zip(mine, due, strict=True)
    return all(_same(token.value, part) for token, part in pairs)


def _named(text: str, found: Sequence[Token], fields: Sequence[str]) -> dict[int, str] | None:
    """Place of a value -> the field whose name stands with it; None where names contradict each other.

    Names stand before their values all through, or behind them: which, shows at the ends of the text.
    """
    ends = [0, *(token.end for token in found)]
    starts = [*(token.start for token in found), len(text)]
    between = [_names(text[end:start], fields) for end, start in zip(ends, starts, strict=True)]
    first, last = bool(between[0]), bool(between[-1])
    if first != last:
        held = between[:-1] if first else between[1:]
        if all(len(names) < 2 for names in held):
            bound = {place: names[0] for place, names in enumerate(held) if names}
            return bound if len(set(bound.values())) == len(bound) else None
    order = [fields.index(name) for names in between for name in names]
    return {} if order == sorted(order) else None


def _names(text: str, fields: Sequence[str]) -> list[str]:
    """The fields that a piece of text names, each once, in its order."""
    ordered = sorted(fields, key=lambda field: field != "outside")  # "not in" before "in"
    form = "|".join(rf"\b({_CALLED.get(field) or re.escape(field)})\b" for field in ordered)
    return list(dict.fromkeys(ordered[(one.lastindex or 1) - 1] for one in re.finditer(form, text, re.IGNORECASE)))


def _same(given: float | str, part: _Part) -> bool:
    if isinstance(part.value, str) or isinstance(given, str):
        return bool(given == part.value)
    return bool(abs(given - part.value) <= part.tolerance + 1e-12 * abs(part.value))
