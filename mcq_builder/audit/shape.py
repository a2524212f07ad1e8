"""Attackers that look at how the four values lie to each other: ranks, distances, votes, digits, length."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrader_bench.mcq_builder.audit.options import highest, kept, lowest
from backtrader_bench.mcq_builder.audit.registry import add_rule, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backtrader_bench.mcq_builder.audit.bank import Bank
    from backtrader_bench.mcq_builder.audit.items import Item
    from backtrader_bench.mcq_builder.audit.options import Column
    from backtrader_bench.mcq_builder.audit.registry import Pick, Rule

FOUR = range(4)


def ranks(item: Item) -> tuple[int, ...] | None:
    """Rank 0 to 3 of each option by its leading value (a date where there is no other), None where two are equal."""
    return _order(item.amounts or item.dates)


def in_file_order(items: Sequence[Item]) -> list[Item]:
    """The items, each with the key's place and rank of the one before it: nothing for the first.

    Nothing either within a bundle, whose keys are one world and go together for whoever knows one of them.
    """
    found = list(items[:1])
    for one, last in zip(items[1:], items, strict=False):
        order = ranks(last)
        linked = one.bundle is not None and one.bundle == last.bundle
        found.append(one if linked else replace(one, before=(last.key, order[last.key] if order else None)))
    return found


def date_ranks(item: Item) -> tuple[int, ...] | None:
    """Rank 0 to 3 of each option by its date, None where there is none or two are equal."""
    return _order(item.dates)


def _order(column: Column | None) -> tuple[int, ...] | None:
    if column is None or not column.distinct:
        return None
    order = sorted(FOUR, key=lambda place: column.values[place])
    return tuple(order.index(place) for place in FOUR)


def _at_ranks(*wanted: int) -> Rule:
    def pick(item: Item, bank: Bank) -> Pick:
        found = ranks(item)
        return () if found is None else tuple(place for place in FOUR if found[place] in wanted)

    return pick


add_rule("rank_1", "ranks", "the smallest value", _at_ranks(0))
add_rule("rank_2", "ranks", "the second smallest value", _at_ranks(1))
add_rule("rank_3", "ranks", "the second largest value", _at_ranks(2))
add_rule("rank_4", "ranks", "the largest value", _at_ranks(3))
add_rule("middle", "ranks", "one of the two middle values", _at_ranks(1, 2))
add_rule("outer", "ranks", "the smallest or the largest value", _at_ranks(0, 3))


def _scored(score: Callable[[Sequence[float], int], float], choose: Callable[[Sequence[float]], Pick]) -> Rule:
    """Chooses by a score of each value among the four; abstains where there are no values or a score is undefined."""

    def pick(item: Item, bank: Bank) -> Pick:
        if item.amounts is None:
            return ()
        values = item.amounts.values
        scores = [score(values, place) for place in FOUR]
        return choose(scores) if all(math.isfinite(one) for one in scores) else ()

    return pick


def _from_mean(values: Sequence[float], place: int) -> float:
    return abs(values[place] - statistics.fmean(values))


def _from_geometric_mean(values: Sequence[float], place: int) -> float:
    logs = _logs(values)
    return abs(logs[place] - statistics.fmean(logs)) if logs else math.nan


def _from_median(values: Sequence[float], place: int) -> float:
    return abs(values[place] - statistics.median(_others(values, place)))


def _others(values: Sequence[float], place: int) -> list[float]:
    return [value for other, value in enumerate(values) if other != place]


def _logs(values: Sequence[float]) -> list[float]:
    """Logarithms of values of one sign; empty where there are none."""
    return [math.log(abs(v)) for v in values] if min(values) > 0 or max(values) < 0 else []


def _ratios(values: Sequence[float], place: int) -> list[float]:
    logs = _logs(values)
    return [abs(logs[place] - other) for other in _others(logs, place)] if logs else [math.nan]


def _gaps(values: Sequence[float], place: int) -> list[float]:
    return [abs(values[place] - other) for other in _others(values, place)]


add_rule("closest_to_mean", "distance", "the value closest to the mean of the four", _scored(_from_mean, lowest))
add_rule("farthest_from_mean", "distance", "the value farthest from the mean", _scored(_from_mean, highest))
add_rule("closest_to_geometric_mean", "distance", "the value closest to the geometric mean",
         _scored(_from_geometric_mean, lowest))  # fmt: skip
add_rule("closest_to_median", "distance", "the value closest to the median of the other three",
         _scored(_from_median, lowest))  # fmt: skip
add_rule("hub_ratio", "distance", "the value whose farthest neighbour is nearest, by ratio",
         _scored(lambda values, place: max(_ratios(values, place)), lowest))  # fmt: skip
add_rule("anti_hub_ratio", "distance", "the value whose nearest neighbour is farthest, by ratio",
         _scored(lambda values, place: min(_ratios(values, place)), highest))  # fmt: skip
add_rule("hub_absolute", "distance", "the value whose farthest neighbour is nearest, by difference",
         _scored(lambda values, place: max(_gaps(values, place)), lowest))  # fmt: skip
add_rule("anti_hub_absolute", "distance", "the value whose nearest neighbour is farthest, by difference",
         _scored(lambda values, place: min(_gaps(values, place)), highest))  # fmt: skip
add_rule("closest_pair", "distance", "one of the two values closest to each other",
         _scored(lambda values, place: min(_gaps(values, place)), lowest))  # fmt: skip

_STEPS = (0.8, 0.9, 1.1, 1.2)


@rule("distance", "the value of which most others are 80%, 90%, 110% or 120%")
def ladder_ratio(item: Item, bank: Bank) -> Pick:
    if item.amounts is None:
        return ()
    values, tokens = item.amounts.values, item.amounts.tokens
    unit = max(10.0 ** -len(token.partition(".")[2]) for token in tokens)
    return highest([
        sum(any(abs(one - v * step) <= 0.51 * unit + 1e-9 * abs(v) for step in _STEPS) for one in _others(values, at))
        for at, v in enumerate(values)
    ])  # fmt: skip


def _votes(item: Item) -> list[int]:
    """For each option, how many parts it shares with other options, summed over these."""
    counts = [Counter(column.tokens) for column in item.columns]
    return [sum(count[column.tokens[place]] - 1 for count, column in zip(counts, item.columns, strict=True))
            for place in FOUR]  # fmt: skip


@rule("distance", "the option that shares most parts with the others")
def component_vote(item: Item, bank: Bank) -> Pick:
    return highest(_votes(item)) if len(item.columns) > 1 else ()


@rule("distance", "the option that shares fewest parts with the others")
def component_vote_least(item: Item, bank: Bank) -> Pick:
    return lowest(_votes(item)) if len(item.columns) > 1 else ()


def _zeros(token: str) -> int:
    """Trailing zeros of the digits as written."""
    digits = re.sub(r"[^0-9]", "", token)
    return len(digits) - len(digits.rstrip("0"))


def _by_token(score: Callable[[str], float], choose: Callable[[Sequence[float]], Pick]) -> Rule:
    def pick(item: Item, bank: Bank) -> Pick:
        return choose([score(token) for token in item.amounts.tokens]) if item.amounts else ()

    return pick


add_rule("most_round", "digits", "the value that ends in most zeros", _by_token(_zeros, highest))
add_rule("least_round", "digits", "the value that ends in fewest zeros", _by_token(_zeros, lowest))


@rule("digits", "the only value with another number of digits")
def digit_count_odd(item: Item, bank: Bank) -> Pick:
    if item.amounts is None:
        return ()
    return odd_one_out([sum(char.isdigit() for char in token) for token in item.amounts.tokens])


@rule("digits", "the only value with another sign")
def sign_outlier(item: Item, bank: Bank) -> Pick:
    return odd_one_out([value < 0 for value in item.amounts.values]) if item.amounts else ()


@rule("digits", "one of the values whose sign most others have")
def sign_of_most(item: Item, bank: Bank) -> Pick:
    odd = sign_outlier(item, bank)
    return tuple(place for place in FOUR if place not in odd) if odd else ()


def odd_one_out(marks: Sequence[object]) -> Pick:
    """The place whose mark no other has, where the others have one mark; none otherwise."""
    counts = Counter(marks)
    if len(counts) != 2 or 1 not in counts.values():
        return ()
    return kept([counts[mark] == 1 for mark in marks])


@rule("digits", "the longest text")
def longest_text(item: Item, bank: Bank) -> Pick:
    return highest([len(text) for text in item.options])


@rule("digits", "the shortest text")
def shortest_text(item: Item, bank: Bank) -> Pick:
    return lowest([len(text) for text in item.options])


_ODD_SPACE = re.compile(r"^\s|\s$|\s{2}|[^\S ]|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


@rule("digits", "the only option with white space of its own: at an end, doubled, of another kind, or the only without")
def odd_white_space(item: Item, bank: Bank) -> Pick:
    found = [tuple(_ODD_SPACE.findall(text)) for text in item.seen]
    return odd_one_out([bool(one) for one in found]) or odd_one_out(found) if found else ()


_GROUPED, _UNGROUPED = re.compile(r"[0-9],[0-9]{3}"), re.compile(r"(?<![0-9.,-])[0-9]{4,}(?![0-9-])")


def _typography(text: str) -> tuple[object, ...]:
    """What an option is written with, its words and values aside: signs, separators of thousands, capitals."""
    signs = frozenset(re.sub(r"[A-Za-z0-9\s.,-]", "", text))
    return signs, text[:1].isupper(), text.rstrip()[-1:] in (".", ",")


@rule("digits", "the only option written with other signs, capitals or separators than the others")
def odd_typography(item: Item, bank: Bank) -> Pick:
    odd = odd_one_out([_typography(text) for text in item.seen]) if item.seen else ()
    thousands = [bool(_GROUPED.search(text)) for text in item.seen]
    large = all(one or _UNGROUPED.search(text) for one, text in zip(thousands, item.seen, strict=True))
    return odd or (odd_one_out(thousands) if large and item.seen else ())


_LOT = 100
_SMALLEST_VOLUME = 1000


def _in_lots(item: Item) -> list[bool]:
    column = item.amounts
    if column is None or column.sign != "#" or min(column.values) < _SMALLEST_VOLUME:
        return []
    return [value % _LOT == 0 for value in column.values]


@rule("lots", "a large whole number in lots of 100, where not all are")
def lot_lattice(item: Item, bank: Bank) -> Pick:
    return kept(_in_lots(item))


@rule("lots", "a large whole number not in lots of 100, where some are")
def off_the_lattice(item: Item, bank: Bank) -> Pick:
    return kept([not flag for flag in _in_lots(item)])


def least_denominator(value: float, unit: float, most: int = 400) -> int:
    """The smallest n for which some k/n is ``value`` to half a ``unit``; ``most`` + 1 where there is none."""
    for n in range(1, most + 1):
        if abs(round(value * n) / n - value) <= 0.5 * unit * (1 + 1e-6):
            return n
    return most + 1


def _denominators(item: Item, sign: str, scale: float) -> list[int]:
    column = item.amounts
    if column is None or column.sign != sign:
        return []
    if sign == "%" and not 0 <= min(column.values) <= max(column.values) <= 100:
        return []
    return [
        least_denominator(value / scale, 10.0 ** -len(token.partition(".")[2]) / scale)
        for value, token in zip(column.values, column.tokens, strict=True)
    ]


@rule("rational", "the percentage that is k/n for the smallest n")
def rational_percent(item: Item, bank: Bank) -> Pick:
    found = _denominators(item, "%", 100.0)
    return lowest(found) if found else ()


@rule("rational", "the ratio that is k/n for the smallest n")
def rational_ratio(item: Item, bank: Bank) -> Pick:
    found = _denominators(item, "~", 1.0)
    return lowest(found) if found else ()


@rule("rational", "the percentages that are k/n for an n of at most 60, where the others are not")
def common_denominator(item: Item, bank: Bank) -> Pick:
    found = _denominators(item, "%", 100.0)
    return kept([n <= 60 for n in found]) if found else ()
