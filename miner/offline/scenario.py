"""Which pieces make a scenario of a category, and its parameters at a seed."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.seeds import stream
from backtrader_bench.miner.offline.bars import walk_bars, wave_bars
from backtrader_bench.miner.offline.metrics import FAMILIES, Family
from backtrader_bench.miner.offline.parts import (
    COMMISSIONS,
    ENTRIES,
    EXITS,
    SIZES,
    SLIPPAGES,
    Draw,
    Part,
    between,
    one_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

PLAIN_ENTRIES = tuple(name for name in ENTRIES if name != "breakout")
AVERAGES = ("above_average", "two_averages", "two_emas")
PLAIN_EXITS = ("held", "percent", "below_average", "below_channel")
ANALYZED = tuple(name for name in FAMILIES if name.startswith("analyzer"))
PLAIN_FAMILIES = tuple(name for name in FAMILIES if name not in ANALYZED)


@dataclass(frozen=True)
class Rule:
    """The pieces that a category allows."""

    entries: tuple[str, ...] = PLAIN_ENTRIES
    exits: tuple[str, ...] = PLAIN_EXITS
    families: tuple[str, ...] = PLAIN_FAMILIES
    slippages: tuple[str, ...] = ("none",)
    data: tuple[str, ...] = ("walk", "wave")


ANY_SLIP = tuple(SLIPPAGES)
RULES = {
    "moving_average": Rule(entries=AVERAGES, exits=("below_average",), families=("final_value",)),
    "exit_rule": Rule(exits=("held", "percent")),
    "bracket": Rule(entries=tuple(ENTRIES), exits=("bracket",), slippages=ANY_SLIP),
    "stop": Rule(entries=tuple(ENTRIES), exits=("stop",), slippages=ANY_SLIP),
    "trail": Rule(entries=tuple(ENTRIES), exits=("trail_percent", "trail_amount"), slippages=ANY_SLIP),
    "slippage": Rule(slippages=("percent", "fixed")),
    "atr": Rule(entries=tuple(ENTRIES), exits=("atr_exit", "atr_stop"), slippages=ANY_SLIP),
    "analyzer": Rule(families=ANALYZED),
    "table": Rule(data=("table",)),
    "breakout": Rule(entries=("breakout",)),
}
"""By category. What would make a scenario one of a category that counts before it is left out, see categories.py."""

BARS: dict[str, Callable[..., Any]] = {"walk": walk_bars, "wave": wave_bars, "table": walk_bars}
_LAST = {"walk": one_of("drift", 0.0, 0.02, 0.05), "wave": one_of("pull", 0.03, 0.05, 0.08)}


def bars_source(data: str) -> str:
    """The function that makes the bars, as it stands in programs and stems."""
    return inspect.getsource(BARS[data]).replace("  # type: ignore[no-untyped-def]", "").strip()


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One composition; parameters are open until a seed draws them."""

    category: str
    data: str
    entry: Part
    exit: Part
    size: Part
    commission: Part
    slippage: Part
    family: Family
    week: int
    """About which the first bar's lies, since 2012."""
    count: int
    """About how many bars there are."""
    price: int
    """About which they start, in dollars."""
    cash: int

    @property
    def draws(self) -> tuple[Draw, ...]:
        """All parameters, in the order in which they are drawn.

        Dates, prices and cash vary little from seed to seed: else the text would tell which of the seeds' answers is
        its own by size alone.
        """
        last = _LAST.get(self.data, _LAST["walk"])
        pieces = (self.entry, self.exit, self.size, self.commission, self.slippage)
        return (
            Draw("symbol", "symbol"),
            Draw("first", "monday", (self.week, self.week + 4)),
            between("count", self.count, self.count + 10),
            between("tape", 1, 999_999),
            one_of("start", *(self.price * step / 100 for step in range(96, 106, 2))),
            one_of("swing", 4.0, 5.0, 6.0),
            last,
            Draw("cash", "between", (self.cash, self.cash + 1_001, 100)),
            *(draw for piece in pieces for draw in piece.draws),
            one_of("metric", *(metric.name for metric in self.family.metrics)),
        )

    @property
    def numbers(self) -> tuple[str, ...]:
        """The arguments of the function that makes the bars, by parameter name."""
        return ("tape", "count", "start", "swing", "pull" if self.data == "wave" else "drift")

    def parameters(self, rng: Random) -> dict[str, Any]:
        """One value each."""
        return {draw.name: draw.value(rng) for draw in self.draws}


def scenario(seed: int, number: int, category: str | None = None) -> Scenario:
    """Composition ``number`` of a session's seed, of ``category`` or of any."""
    rng = stream(seed, "offline", number, category)
    chosen = category or rng.choice(list(RULES))
    rule = RULES[chosen]
    slippage = SLIPPAGES[rng.choice(rule.slippages)]
    entry, exit_ = rng.choice(rule.entries), rng.choice(rule.exits)
    commission, size = rng.choice(list(COMMISSIONS)), rng.choice(list(SIZES))
    family = rng.choice([name for name in rule.families if commission != "free" or not FAMILIES[name].paid])
    data = rng.choice(rule.data)
    return Scenario(
        category=chosen, data=data, entry=ENTRIES[entry], exit=EXITS[exit_], size=SIZES[size],
        commission=COMMISSIONS[commission], slippage=slippage, family=FAMILIES[family], week=rng.randrange(600),
        count=rng.randrange(40, 51) if data == "table" else rng.randrange(120, 191),
        price=rng.choice([40, 50, 60, 80, 100]), cash=rng.randrange(20_000, 60_000, 1_000),
    )  # fmt: skip


def weekdays(first: str, count: int) -> list[str]:
    """``count`` days from Monday to Friday, from ``first`` on."""
    found: list[str] = []
    day = date.fromisoformat(first)
    while len(found) < count:
        if day.weekday() < 5:
            found.append(str(day))
        day += timedelta(days=1)
    return found
