"""What learned attackers see of each option: every rule's opinion, the geometry of the four values, and the question.

Nothing here looks at a key.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.mcq_builder.audit.score import codes
from backtrader_bench.mcq_builder.audit.shape import FOUR, least_denominator, ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backtrader_bench.mcq_builder.audit.items import Item
    from backtrader_bench.mcq_builder.audit.options import Column

_COLUMNS = 3
"""Parts of a composite that are looked at; the longest has four, whose last follows from two others."""
_PER_COLUMN = 8


def option_features(items: Sequence[Item], rules: NDArray[np.float32]) -> NDArray[np.float32]:
    """(questions, 4, features): ``rules`` (attackers, questions, 4), letter, and geometry of the first columns."""
    opinions = np.moveaxis(rules, 0, 2)
    letters = np.tile(np.eye(4, dtype=np.float32), (len(items), 1, 1))
    geometry = np.array([_geometry(item) for item in items], dtype=np.float32)
    return np.concatenate([opinions, letters, geometry], axis=2)


def _geometry(item: Item) -> list[list[float]]:
    found = [_column(column) for column in item.columns[:_COLUMNS]]
    found += [[[0.0] * _PER_COLUMN] * 4] * (_COLUMNS - len(found))
    lengths = [len(text) for text in item.options]
    middle = sum(lengths) / 4
    return [[value for column in found for value in column[at]] + [lengths[at] - middle] for at in FOUR]


def _column(column: Column) -> list[list[float]]:
    """Per option: place among the values, distances to the others, roundness, rationality, and the last digit."""
    values = column.values
    mean = sum(values) / 4
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / 4) or 1.0
    return [
        [
            sum(other < value for other in values) + sum(other == value for other in values) / 2 - 0.5,
            (value - mean) / spread,
            *_distances(values, place, spread),
            float(len(token) - len(token.rstrip("0"))),
            float(_denominator(column, place)),
            float(int(token[-1])) if token[-1:].isdigit() else -1.0,
            float(value % 7) if column.sign == "@" else float(value < 0),
        ]
        for place, (value, token) in enumerate(zip(values, column.tokens, strict=True))
    ]


def _distances(values: Sequence[float], place: int, spread: float) -> tuple[float, float]:
    gaps = [abs(values[place] - other) / spread for at, other in enumerate(values) if at != place]
    return min(gaps), max(gaps)


def _denominator(column: Column, place: int) -> int:
    if column.sign not in "%~":
        return 0
    scale = 100.0 if column.sign == "%" else 1.0
    token = column.tokens[place]
    return least_denominator(column.values[place] / scale, 10.0 ** -len(token.partition(".")[2]) / scale, 60)


def question_features(items: Sequence[Item]) -> NDArray[np.float32]:
    """(questions, features): template, tier and strategy as codes, size of the values and of the account."""
    words = [codes([getattr(item, name) for item in items]) for name in ("type", "difficulty", "strategy")]
    sizes = [[_size(item), math.log10(item.account.cash or 1.0), _ratio(item)] for item in items]
    return np.column_stack([*words, np.array(sizes)]).astype(np.float32)


def _size(item: Item) -> float:
    return math.log10(1 + max(abs(value) for value in item.amounts.values)) if item.amounts else 0.0


def _ratio(item: Item) -> float:
    """Largest over smallest value: how widely the options are spread."""
    values = [abs(value) for value in item.amounts.values] if item.amounts else []
    return math.log(max(values) / min(values)) if values and min(values) > 0 else 0.0


def rank_codes(items: Sequence[Item]) -> NDArray[np.int64]:
    """(questions, 4): 1 + the rank of each option, 0 where there are no ranks."""
    return np.array([[rank + 1 for rank in found] if (found := ranks(item)) else [0] * 4 for item in items])
