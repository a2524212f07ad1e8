"""What attackers may know of the other questions of a bank: their text, never their keys."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.mcq_builder.audit.items import item_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backtrader_bench.mcq_builder.audit.items import Item
    from backtrader_bench.records import Question

_SHORTEST = 4
"""Digits that a value must have to be told from a chance coincidence."""


@dataclass(frozen=True)
class Bank:
    """Items, and which values occur where."""

    items: Sequence[Item]

    @cached_property
    def _seen(self) -> dict[str, Counter[str]]:
        """Per configuration (and per bundle), in how many questions each value stands among the options."""
        found: dict[str, Counter[str]] = {}
        for item in self.items:
            tokens = set().union(*(option_tokens(item, place) for place in range(len(item.options))))
            for scope in scopes(item):
                found.setdefault(scope, Counter()).update(tokens)
        return found

    def shared(self, item: Item, place: int) -> int:
        """In how many other questions of its configuration or bundle values of an option occur, summed over values."""
        tokens = option_tokens(item, place)
        return sum(self._seen[scope][token] - 1 for scope in scopes(item) for token in tokens)


def scopes(item: Item) -> list[str]:
    """The groups of questions about the same bars that a reader can see."""
    also = {"bundle": item.bundle, "bars": item.bars}
    return [item.cluster, *(f"{name} {value}" for name, value in also.items() if value is not None)]


def option_tokens(item: Item, place: int) -> set[str]:
    """The telling values of one option, and the returns that they imply on the initial cash."""
    found = set()
    for column in item.columns:
        token, value = column.tokens[place], column.values[place]
        if column.sign in "@&":
            found.add(token)
        elif sum(char.isdigit() for char in token) >= _SHORTEST:
            found.add(f"{column.sign}{token.lstrip('-')}")
            found.update(_returns(item, column.sign, value))
    return found


def _returns(item: Item, sign: str, value: float) -> Iterable[str]:
    """A profit, a final value and a return on the same cash are one fact in three guises."""
    if sign == "%":
        return [f"return {value:.2f}"]
    if sign != "$" or not item.account.cash:
        return []
    of_cash = 100 * value / item.account.cash
    return [f"return {of_cash:.2f}", f"return {of_cash - 100:.2f}"]


def telling_values(question: Question) -> frozenset[tuple[str, str]]:
    """(Backtest, value) of all options of a record: two questions that share one are linked."""
    fields = msgspec.to_builtins(question)
    item, backtest = item_of(fields, question.id), backtest_of(fields)
    found = set().union(*(option_tokens(item, place) for place in range(len(item.options))))
    return frozenset((backtest, token) for token in found)


def backtest_of(fields: Mapping[str, Any]) -> str:
    """The backtest behind a record: its bars by their hash, where it names them, since one window has many names (a
    start on a Saturday is one on the Monday), and its configuration."""
    config, tape = fields.get("config") or {}, fields.get("tape") or {}
    bars = {"bars": tape["sha256"], "start_date": None, "end_date": None} if tape.get("sha256") else {}
    text = json.dumps({**config, **bars}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
