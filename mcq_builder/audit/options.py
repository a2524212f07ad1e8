"""What an option says, read once: its values in order, each with its sign of dimension, as columns over all four.

Reading goes by the checker's signs (``#`` whole number, ``~`` number with decimals, ``$`` money, ``%`` percent, ``@``
date, ``&`` parameter set) and needs no template, so that published and future templates are read alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from backtrader_bench.checker.reading import LONGEST, VALUE, number

if TYPE_CHECKING:
    from collections.abc import Sequence

AMOUNTS = "#~$%"
_SIGNS = {"params": "&", "date": "@", "money": "$", "percent": "%", "number": "~"}
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Column:
    """One part of the answer in all four options."""

    sign: str
    """One of ``# ~ $ % @ &``."""
    tokens: tuple[str, ...]
    """As written, without ``$``, ``%`` and commas."""
    values: tuple[float, ...]
    """Numbers in their own unit; dates as proleptic ordinals; parameter sets as 0."""

    @property
    def distinct(self) -> bool:
        """Whether no two options have the same value here."""
        return len(set(self.values)) == len(self.values)


def columns(options: Sequence[str]) -> tuple[Column, ...]:
    """The columns of four options; none where they don't have the same kinds of values in the same order."""
    read = [_values(text) for text in options]
    signs = {tuple(sign for sign, _ in parts) for parts in read}
    if len(signs) != 1:
        # A whole number among numbers with decimals is still a number.
        read = [[("~" if sign == "#" else sign, token) for sign, token in parts] for parts in read]
        signs = {tuple(sign for sign, _ in parts) for parts in read}
    if len(signs) != 1:
        return ()
    return tuple(
        Column(parts[0][0], tuple(token for _, token in parts), tuple(_number(*part) for part in parts))
        for parts in zip(*read, strict=True)
    )


def _values(text: str) -> list[tuple[str, str]]:
    found = []
    for match in VALUE.finditer(text[:LONGEST]):
        kind = match.lastgroup or ""
        token = match[kind]
        sign = _SIGNS[kind]
        if kind == "number" and "." not in token:
            sign = "#"
        found.append((sign, re.sub(r"[$,%]", "", token) if sign not in "&@" else token))
    return found


def _number(sign: str, token: str) -> float:
    if sign == "&":
        return 0.0
    if sign == "@":
        try:
            return float(date.fromisoformat(token).toordinal())
        except ValueError:
            return 0.0  # a day that no calendar has; it is equal to no other value
    return number(token)


def leading(found: Sequence[Column], signs: str) -> Column | None:
    """The first column with one of ``signs`` that tells all options apart, else the first that tells any apart."""
    fitting = [column for column in found if column.sign in signs and len(set(column.values)) > 1]
    return next((column for column in fitting if column.distinct), fitting[0] if fitting else None)


def lowest(scores: Sequence[float]) -> tuple[int, ...]:
    """The places of the smallest score, ties included; none when all are alike, which is no choice."""
    least = min(scores)
    near = tuple(place for place, score in enumerate(scores) if score - least <= _TIE * max(1.0, abs(least)))
    return near if len(near) < len(scores) else ()


def highest(scores: Sequence[float]) -> tuple[int, ...]:
    """The places of the largest score, as :func:`lowest`."""
    return lowest([-score for score in scores])


def kept(flags: Sequence[bool]) -> tuple[int, ...]:
    """The places whose flag is set; none when all or no flags are, which is no choice."""
    places = tuple(place for place, flag in enumerate(flags) if flag)
    return places if 0 < len(places) < len(flags) else ()
