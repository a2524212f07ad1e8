"""What a mined question is about, told from its code and stem, and which category to ask for next.

The most special counts: a bracket on a moving average is a bracket. Steering is Thompson sampling over what was
accepted so far: every category has a chance, those that gave accepted questions have a better one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backtrader_bench.mcq_builder.seeds import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CATEGORIES: dict[str, str] = {
    "bracket": "bracket orders: an entry with a stop and a limit that cancel each other",
    "trail": "trailing stop orders, by percent or by amount",
    "atr": "exits or stops at a distance of so many ATR",
    "stop": "resting stop orders",
    "slippage": "fills made worse by slippage",
    "table": "an OHLCV table in the question itself",
    "analyzer": "statistics of backtrader's analyzers",
    "breakout": "entries on a breakout above a channel of earlier bars",
    "exit_rule": "exits after a number of bars, or at a percentage of profit or loss",
    "moving_average": "the final value of a moving-average strategy",
    "other": "anything else that backtrader computes",
}
"""Name -> what it is, in the words of a prompt; in the order in which they are looked for."""

_CODE = {
    "bracket": r"\b(buy|sell)_bracket\s*\(",
    "trail": r"\bStopTrail|\btrail(percent|amount)\s*=",
    "atr": r"\bATR\b|AverageTrueRange",
    "stop": r"\bOrder\.Stop(Limit)?\b",
    "slippage": r"\bset_slippage_|\bslip_(perc|fixed)\s*=",
    "analyzer": r"\baddanalyzer\s*\(",
    "breakout": r"\b(Highest|Donchian\w*|MaxN)\b",
    "exit_rule": r"len\(self\)\s*-\s*self\.|\b(bars?_held|hold\w*bars?|max_bars|holding_period|bars_in_trade)\b"
    r"|\b(take_profit|stop_loss|profit_target|tp_pct|sl_pct)\b",
    "moving_average": r"\b(SMA|EMA|WMA|SimpleMovingAverage|ExponentialMovingAverage|MovingAverage\w*|CrossOver)\b",
}
_STEM = {
    "breakout": r"\b(breaks? ?out|breakouts?|channel high)\b",
    "exit_rule": r"\b(take[- ]profit|stop[- ]loss|profit target)\b|\bheld for \d+ bars\b"
    r"|\bbars (after|since) (the )?(entry|purchase|buying)\b",
}
_ROW = re.compile(r"^[^\n\d]{0,20}\d[\d\-/: .]*(?:[,|;\t][ \t]*-?\d[\d.\-/: ]*){4,}", re.MULTILINE)
TABLE_ROWS = 10
"""Rows of at least five numbers in the stem that make it a table."""


def category_of(code: str, stem: str) -> str:
    """The category of a question; one of CATEGORIES."""
    for name in CATEGORIES:
        if _is(name, code, stem):
            return name
    return "other"


def _is(name: str, code: str, stem: str) -> bool:
    if name == "table":
        return len(_ROW.findall(stem)) >= TABLE_ROWS
    in_code = name in _CODE and re.search(_CODE[name], code)
    return bool(in_code or (name in _STEM and re.search(_STEM[name], stem, re.IGNORECASE)))


def steer(seed: int, attempt: int, accepted: Mapping[str, int], others: Mapping[str, int]) -> str:
    """The category to try, by Thompson sampling: the largest of one Beta(1 + accepted, 1 + others) draw each.

    ``others``: attempts that ended otherwise, for reasons that lie with the question. Pure: the same counts, seed and
    attempt give the same category.
    """
    rng = stream(seed, "steer", attempt)
    draws = {
        name: rng.betavariate(1 + accepted.get(name, 0), 1 + others.get(name, 0))
        for name in CATEGORIES if name != "other"
    }  # fmt: skip
    return max(draws, key=lambda name: draws[name])


def counted(outcomes: Iterable[tuple[str | None, str]], accepted: str, blameless: frozenset[str]) -> tuple[
    dict[str, int], dict[str, int]
]:  # fmt: skip
    """(accepted, others) by category, of (category, decision) pairs; ``blameless`` decisions say nothing of either."""
    won: dict[str, int] = {}
    lost: dict[str, int] = {}
    for category, decision in outcomes:
        if category is not None and decision not in blameless:
            counts = won if decision == accepted else lost
            counts[category] = counts.get(category, 0) + 1
    return won, lost
