"""Made-up banks whose options give nothing away, and the same banks with one leak planted.

In a clean bank the four options of a question are drawn from one distribution and the key is one of them at random, so
that no attacker can do better than one in four. Tests and benchmarks/audit.py share them.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.audit.items import Account, Item, item

if TYPE_CHECKING:
    from collections.abc import Callable

CASH, STAKE = 50_000.0, 100_000
START, END = "2015-01-01", "2019-01-01"
ACCOUNT = Account(cash=CASH, stake=STAKE, commission=0.001, target=1.0, start=START, end=END)
STRATEGIES = ("sma_crossover", "macd_crossover", "rsi_strategy")
TIERS = ("easy", "medium", "hard")
PER_CONFIGURATION = 20
STEM = "- initial_cash: $50,000.00\n- stake: 100000\n\n{ask}"


@dataclass(frozen=True)
class Draft:
    """A question before it has letters: option texts, the key among them, and what else an item has."""

    type: str
    texts: tuple[str, ...]
    key: int
    place: int
    """Its number in the bank."""
    bundle: str | None = None
    worlds: tuple[str, ...] | None = None
    id: str | None = None
    letter: int | None = None
    """Where the key goes; None: at random."""


def distinct(draw: Callable[[], str]) -> tuple[str, ...]:
    """Four different texts, one draw each."""
    found: dict[str, None] = {}
    while len(found) < 4:
        found[draw()] = None
    return tuple(found)


def business_day(rng: Random) -> str:
    while True:
        day = date(2015, 1, 1) + timedelta(days=rng.randrange(1460))
        if day.weekday() < 5:
            return day.isoformat()


def money(value: float) -> str:
    return f"{'-' if value < 0 else ''}${abs(value):,.2f}"


def purchase(rng: Random, low: float = 0.90, high: float = 0.95) -> str:
    """A purchase that spends a share of the cash, on one of the window's days."""
    close = round(rng.uniform(20, 200), 2)
    return f"{int(CASH * rng.uniform(low, high) / close)} shares at close ${close:.2f} on {business_day(rng)}"


def win_rate(rng: Random) -> str:
    n = rng.randrange(6, 40)
    return f"{100 * rng.randrange(1, n) / n:.2f}%"


def volume(rng: Random, odd: float = 0.2) -> str:
    lots = rng.randrange(2_000, 50_000) * 100
    return str(lots + (rng.randrange(1, 100) if rng.random() < odd else 0))


def texts(kind: str, rng: Random) -> tuple[str, ...]:
    """Four exchangeable options of a type."""
    scale = math.exp(rng.uniform(7, 12))
    draws: dict[str, Callable[[], str]] = {
        "portfolio_value": lambda: money(scale * math.exp(rng.gauss(0, 0.2))),
        "net_pnl": lambda: money(scale * rng.gauss(0.3, 1)),
        "volume": lambda: volume(rng),
        "win_rate": lambda: win_rate(rng),
        "peak_portfolio_date": lambda: f"{business_day(rng)} at {money(scale * math.exp(rng.gauss(0, 0.2)))}",
        "first_buy": lambda: purchase(rng),
        "crossovers": lambda: str(rng.randrange(10, 60)),
        "sharpe_ratio": lambda: f"{rng.gauss(0.4, 0.8):.3f}",
    }
    return distinct(draws[kind])


TYPES = ("portfolio_value", "net_pnl", "volume", "win_rate", "peak_portfolio_date", "first_buy", "crossovers",
         "sharpe_ratio")  # fmt: skip


def drafts(n: int, seed: int) -> list[Draft]:
    """``n`` clean drafts, types in turn."""
    rng = Random(seed)
    kinds = [TYPES[place % len(TYPES)] for place in range(n)]
    return [Draft(kind, texts(kind, rng), rng.randrange(4), place) for place, kind in enumerate(kinds)]


def finished(found: list[Draft], seed: int) -> list[Item]:
    """The items of some drafts, letters drawn."""
    rng = Random(seed + 1)
    return [_item(draft, seed, rng) for draft in found]


def _item(draft: Draft, seed: int, rng: Random) -> Item:
    order = list(range(4))
    rng.shuffle(order)
    if draft.letter is not None:
        at = order.index(draft.key)
        order[at], order[draft.letter] = order[draft.letter], order[at]
    # A bundle of three lies in one configuration.
    configuration = draft.place // (PER_CONFIGURATION + 1 if draft.bundle else PER_CONFIGURATION)
    return item(
        STEM.format(ask=f"What is the {draft.type} of question {draft.place % PER_CONFIGURATION}?"),
        [draft.texts[place] for place in order],
        order.index(draft.key),
        id=draft.id or hashlib.sha256(f"{seed} {draft.place}".encode()).hexdigest(),
        type=draft.type,
        difficulty=TIERS[TYPES.index(draft.type) % 3] if draft.type in TYPES else "hard",
        strategy=STRATEGIES[configuration % 3],
        cluster=f"c{configuration}",
        dataset=hashlib.sha256(f"data {seed} {configuration}".encode()).hexdigest()[:8],
        scheme="test",
        account=ACCOUNT,
        bundle=draft.bundle,
        worlds=None if draft.worlds is None else tuple(draft.worlds[place] for place in order),
    )


def clean(n: int, seed: int) -> list[Item]:
    """A clean bank."""
    return finished(drafts(n, seed), seed)


def _amount(text: str) -> float:
    """The value by which options of one part are ordered."""
    return float(text.split(" at ")[-1].replace("$", "").replace(",", "").replace("%", ""))


def _ordered(draft: Draft) -> list[int]:
    return sorted(range(4), key=lambda place: _amount(draft.texts[place]))


def second_smallest(draft: Draft, rng: Random) -> Draft:
    return draft if draft.type == "first_buy" else _with(draft, key=_ordered(draft)[1])


def letter_a(draft: Draft, rng: Random) -> Draft:
    """A in 35% of the questions: at random, and in 2 of 15 others at A."""
    return _with(draft, letter=0) if rng.random() < 2 / 15 else draft


def lots_for_the_key(draft: Draft, rng: Random) -> Draft:
    if draft.type != "volume":
        return draft
    return _with(draft, texts=tuple(volume(rng, odd=0.0 if place == draft.key else 1.0) for place in range(4)))


def irrational_distractors(draft: Draft, rng: Random) -> Draft:
    if draft.type != "win_rate":
        return draft
    key = draft.texts[draft.key]
    others = iter(distinct(lambda: f"{_amount(key) * rng.uniform(0.78, 1.3) % 100:.2f}%"))
    return _with(draft, texts=tuple(key if place == draft.key else next(others) for place in range(4)))


def earliest_date(draft: Draft, rng: Random) -> Draft:
    if draft.type != "peak_portfolio_date":
        return draft
    return _with(draft, key=min(range(4), key=lambda place: draft.texts[place]))


def beyond_the_budget(draft: Draft, rng: Random) -> Draft:
    if draft.type != "first_buy":
        return draft
    wrong = iter(distinct(lambda: purchase(rng, 1.05, 1.4)))
    return _with(draft, texts=tuple(draft.texts[draft.key] if p == draft.key else next(wrong) for p in range(4)))


def template_letter(draft: Draft, rng: Random) -> Draft:
    return _with(draft, letter=(7 * TYPES.index(draft.type) + 1) % 4)


def index_in_the_id(draft: Draft, rng: Random) -> Draft:
    if draft.type == "first_buy":
        return draft
    digest = hashlib.sha256(f"{draft.place}".encode()).hexdigest()[:12]
    return _with(draft, id=f"{digest}-{_ordered(draft).index(draft.key)}")


def _with(draft: Draft, **changes: Any) -> Draft:
    return replace(draft, **changes)


def bundles(n: int, seed: int, *, one_set: bool) -> list[Item]:
    """Bundles of three questions on one hidden world: its profit, return and final value.

    With ``one_set`` all three offer the same four worlds, as they must; without, each draws its other three anew, and
    the world that comes up in all of them is the key's.
    """
    rng = Random(seed)
    found = []
    for start in range(0, n, 3):
        profits = [round(rng.gauss(4_000, 12_000), 2) for _ in range(8)]
        key, rest = 0, list(range(1, 8))
        worlds = [key, *rng.sample(rest, 3)]
        answer = rng.randrange(4) if one_set else 0
        for place, kind in zip(range(start, min(start + 3, n)), ("net_pnl", "roi", "final_value"), strict=False):
            shown = worlds if one_set else [key, *rng.sample(rest, 3)]
            words = {
                "net_pnl": [money(profits[w]) for w in shown],
                "roi": [f"{100 * profits[w] / CASH:.2f}%" for w in shown],
                "final_value": [money(CASH + profits[w]) for w in shown],
            }[kind]
            found.append(
                Draft(kind, tuple(words), answer, place, bundle=f"b{start}", worlds=tuple(str(w) for w in shown))
            )
    return finished(found, seed)


PLANTS: dict[str, tuple[Callable[[Draft, Random], Draft], tuple[str, ...]]] = {
    "key always second smallest": (second_smallest, ("rank_2",)),
    "key letter A 35%": (letter_a, ("bank_to_letter",)),
    "volumes in lots only for the key": (lots_for_the_key, ("lot_lattice",)),
    "win rates not k/n in the distractors": (irrational_distractors, ("rational_percent",)),
    "earliest date": (earliest_date, ("earliest_date",)),
    "budget-infeasible composites": (beyond_the_budget, ("budget",)),
    "template predicts letter": (template_letter, ("template_to_letter",)),
    "seed index in the id": (index_in_the_id, ("id_number_to_rank", "id_last_character_to_rank")),
}
"""The leak, and the attackers that must name it."""
BUNDLES = "subset-linked bundles"


def planted(name: str, n: int, seed: int) -> tuple[list[Item], tuple[str, ...]]:
    """A bank with one leak, and the attackers that must name it."""
    if name == BUNDLES:
        return bundles(n, seed, one_set=False), ("linked",)
    plant, expected = PLANTS[name]
    rng = Random(seed + 2)
    return finished([plant(draft, rng) for draft in drafts(n, seed)], seed), expected
