"""Attackers that hold options against the text: dates and window, budget, arithmetic, anchors, other questions."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from backtrader_bench.mcq_builder.audit.options import AMOUNTS, highest, kept, lowest
from backtrader_bench.mcq_builder.audit.registry import add_habits, add_rule, rule
from backtrader_bench.mcq_builder.audit.shape import FOUR

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from backtrader_bench.mcq_builder.audit.bank import Bank
    from backtrader_bench.mcq_builder.audit.items import Item
    from backtrader_bench.mcq_builder.audit.options import Column
    from backtrader_bench.mcq_builder.audit.registry import Pick, Rule

# Letters, templates and ids: what the key had most often elsewhere.
add_habits("bank", "letters", "the whole bank", lambda item: "", "letter")
add_habits("template", "templates", "the template", lambda item: item.type, "letter", "rank", "date")
add_habits("strategy", "templates", "the strategy", lambda item: item.strategy, "letter")
add_habits("template_and_strategy", "templates", "template and strategy together",
           lambda item: (item.type, item.strategy), "letter")  # fmt: skip

add_habits("previous_letter", "letters", "the letter of the key before it in the file",
           lambda item: item.before[0] if item.before else None, "letter")  # fmt: skip
add_habits("previous_rank", "ranks", "the rank of the key before it in the file",
           lambda item: item.before[1] if item.before else None, "rank")  # fmt: skip


def last_number(text: str) -> int | None:
    """The last run of digits, modulo 4."""
    found = re.findall(r"[0-9]+", text)
    return int(found[-1][-18:]) % 4 if found else None


def _of(text: Callable[[Item], str], mark: Callable[[str], Hashable | None]) -> Callable[[Item], Hashable | None]:
    return lambda item: mark(text(item)) if text(item) else None


for _name, _text in (("id", lambda item: item.id), ("dataset", lambda item: item.dataset)):
    add_habits(f"{_name}_last_character", "ids", f"the last character of the {_name}",
               _of(_text, lambda text: text[-1:]), "letter", "rank")  # fmt: skip
    add_habits(f"{_name}_number", "ids", f"the last number in the {_name}, modulo 4", _of(_text, last_number),
               "letter", "rank")  # fmt: skip


def _dates(choose: Callable[[tuple[float, ...]], Pick]) -> Rule:
    def pick(item: Item, bank: Bank) -> Pick:
        return choose(item.dates.values) if item.dates else ()

    return pick


def _middle(values: tuple[float, ...]) -> Pick:
    if len(set(values)) < 4:
        return ()
    order = sorted(FOUR, key=lambda place: values[place])
    return tuple(sorted(order[1:3]))


add_rule("earliest_date", "dates", "the earliest date", _dates(lowest))
add_rule("latest_date", "dates", "the latest date", _dates(highest))
add_rule("middle_date", "dates", "one of the two middle dates", _dates(_middle))


def _days(item: Item) -> list[Column]:
    return [column for column in item.columns if column.sign == "@"]


@rule("dates", "an option whose dates all fall on Monday to Friday")
def weekday(item: Item, bank: Bank) -> Pick:
    # Ordinal 1 was a Monday.
    return kept([all((column.values[place] - 1) % 7 < 5 for column in _days(item)) for place in FOUR])


@rule("dates", "an option whose dates all lie in the window that the text states")
def window(item: Item, bank: Bank) -> Pick:
    low, high = _ordinal(item.account.start), _ordinal(item.account.end)
    if low is None or high is None:
        return ()
    return kept([all(low <= column.values[place] < high for column in _days(item)) for place in FOUR])


def _ordinal(day: str | None) -> int | None:
    try:
        return date.fromisoformat(day).toordinal() if day else None
    except ValueError:
        return None


@rule("dates", "an option whose first date is before its second")
def date_order(item: Item, bank: Bank) -> Pick:
    days = _days(item)
    return kept([days[0].values[place] < days[1].values[place] for place in FOUR]) if len(days) > 1 else ()


def _shares_and_price(item: Item) -> tuple[Column, Column] | None:
    """The columns of a purchase: a whole number and an amount of money, in that order."""
    found = [column for column in item.columns if column.sign in "#$"]
    return (found[0], found[1]) if [column.sign for column in found] == ["#", "$"] else None


def _spent(item: Item) -> list[float]:
    """Shares times price as a share of the initial cash."""
    pair = _shares_and_price(item)
    if pair is None or not item.account.cash:
        return []
    shares, price = pair
    return [a * b / item.account.cash for a, b in zip(shares.values, price.values, strict=True)]


@rule("stem", "a purchase that cash and stake allow, where others are beyond them")
def budget(item: Item, bank: Bank) -> Pick:
    spent = _spent(item)
    if not spent:
        return ()
    shares = _shares_and_price(item)
    most = item.account.stake or float("inf")
    assert shares is not None
    return kept([one <= 1.0 and n <= most for one, n in zip(spent, shares[0].values, strict=True)])


@rule("stem", "the purchase that comes closest to spending 95% of the cash")
def budget_spent(item: Item, bank: Bank) -> Pick:
    share = 0.95 * (item.account.target or 1.0)
    spent = _spent(item)
    return lowest([abs(one - share) for one in spent]) if spent else ()


@rule("stem", "an option whose parts add up, where others' don't")
def arithmetic(item: Item, bank: Bank) -> Pick:
    counts = [column.values for column in item.columns if column.sign == "#"]
    if len(counts) != 3:
        return ()
    first, second, third = counts
    return kept([third[at] in (first[at] + second[at], abs(first[at] - second[at])) for at in FOUR])


def _nearest_to(amount: Callable[[Item], float | None]) -> Rule:
    """The option whose leading value is nearest to an amount that the text states, by ratio."""

    def pick(item: Item, bank: Bank) -> Pick:
        anchor = amount(item)
        if not anchor or item.amounts is None or min(item.amounts.values) <= 0:
            return ()
        return lowest([max(value / anchor, anchor / value) for value in item.amounts.values])

    return pick


add_rule("anchor_cash", "stem", "the value nearest to the initial cash", _nearest_to(lambda item: item.account.cash))
add_rule("anchor_stake", "stem", "the value nearest to the stake", _nearest_to(lambda item: item.account.stake))


def _stated(item: Item) -> list[float]:
    """Numbers of the question's last paragraph, dates and what stands in brackets behind an average left out."""
    text = re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", " ", item.ask)
    numbers = [float(found.replace(",", "")) for found in re.findall(r"(?<![\w.])[0-9][0-9,]*(?:\.[0-9]+)?", text)]
    return list(dict.fromkeys(numbers))[:12]


def _combined(numbers: list[float]) -> Iterator[float]:
    for one in numbers:
        for other in numbers:
            if one != other:
                yield one - other
                if other:
                    yield one / other
                    yield 100 * one / other


@rule("stem", "a value that two numbers of the question give by division or subtraction")
def operands(item: Item, bank: Bank) -> Pick:
    column = item.amounts
    if column is None:
        return ()
    made = list(_combined(_stated(item)))
    units = [10.0 ** -len(token.partition(".")[2]) for token in column.tokens]
    pairs = zip(column.values, units, strict=True)
    return kept([any(abs(value - one) <= 0.5 * unit * (1 + 1e-6) for one in made) for value, unit in pairs])


@rule("stem", "the percentage that is k/n for a whole n that the question states")
def stated_denominator(item: Item, bank: Bank) -> Pick:
    column = item.amounts
    if column is None or column.sign != "%":
        return ()
    whole = [n for n in _stated(item) if n == int(n) and 1 < n <= 400]
    return kept([any(abs(round(v * n / 100) / n * 100 - v) <= 0.00501 for n in whole) for v in column.values])


@rule("stem", "an option that stands word for word in the text, where others don't")
def said_in_the_stem(item: Item, bank: Bank) -> Pick:
    return kept([text in item.stem for text in item.options])


@rule("links", "the option whose values occur most in other questions of the same configuration or bundle")
def linked(item: Item, bank: Bank) -> Pick:
    return highest([bank.shared(item, place) for place in FOUR])


@rule("links", "the option whose values occur least in other questions of the same configuration or bundle")
def linked_least(item: Item, bank: Bank) -> Pick:
    return lowest([bank.shared(item, place) for place in FOUR])


def _largest_of(signs: str, choose: Callable[[list[float]], Pick]) -> Rule:
    """Chooses by the last number of a composite, which need not be the leading one."""

    def pick(item: Item, bank: Bank) -> Pick:
        numbers = [column for column in item.columns if column.sign in signs]
        return choose(list(numbers[-1].values)) if len(numbers) > 1 else ()

    return pick


add_rule("last_part_largest", "ranks", "the composite whose last number is largest", _largest_of(AMOUNTS, highest))
add_rule("last_part_smallest", "ranks", "the composite whose last number is smallest", _largest_of(AMOUNTS, lowest))
