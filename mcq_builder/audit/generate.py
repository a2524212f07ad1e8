"""Banks over many configurations, for an audit of the generator: what is tested is how options are made, not one file.

Configuration i is drawn from its own stream: strategy and its parameters, cash, commission, stake, and bars (synthetic
ones of all regimes in turn, or windows of the source given).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import bounds
from backtrader_bench.arguments import hold, optional, text
from backtrader_bench.backtest.strategies import REGISTRY, strategy_named
from backtrader_bench.errors import BacktestError, DataError, UsageError
from backtrader_bench.market import bundled, sources
from backtrader_bench.market.synthetic import REGIMES
from backtrader_bench.mcq_builder.audit.items import Certificates, Item, item_of, no_verifier
from backtrader_bench.mcq_builder.build import build_bank, fetch
from backtrader_bench.mcq_builder.seeds import stream
from backtrader_bench.mcq_builder.settings import Settings
from backtrader_bench.parallel import spread
from backtrader_bench.records import HIDDEN_SCHEMES

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

VERIFIED = 25
"""One certificate in so many is verified when questions are generated; in files, each is."""
PER_CONFIGURATION = 100
"""Questions of one configuration: enough to pay for its backtests, few enough for many configurations."""
_PATIENCE = 3
"""Rounds in a row that may bring nothing new before the wish is given up."""


@dataclass(frozen=True)
class Wish:
    """What to generate. Empty tuples: everything there is."""

    number: int
    seed: int = 42
    scheme: str = "siblings"
    templates: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    data: str | None = None
    """A source of bars; None: synthetic bars of all regimes."""
    per: int = PER_CONFIGURATION

    def __post_init__(self) -> None:
        """UsageError: one that can't be; whether there are such templates is seen when they are built."""
        hold(self, {**bounds.WISH, "data": optional(text)})


def generate(
    wish: Wish,
    *,
    jobs: int = 1,
    verify: Callable[..., str | None] = no_verifier,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Item], Certificates]:
    """``wish.number`` items, the same for every ``jobs``; UsageError when the wish can't be filled.

    ``verify`` is a VerifyCertificate that takes as ``base`` the bars that worlds are drawn from: nothing is pinned.
    """
    items: list[Item] = []
    certificates = Certificates()
    first, barren, why = 0, 0, ""
    while len(items) < wish.number and barren < _PATIENCE:
        count = -(-(wish.number - len(items)) // wish.per)
        before = len(items)
        run = spread(built, jobs)
        for found, seen, reason in run((wish, index, verify) for index in range(first, first + count)):
            items += found
            certificates.add(seen)
            why = reason or why
            progress(min(len(items), wish.number))
        first += count
        barren = barren + 1 if len(items) == before else 0
    if not items:
        cause = f": {why}" if why else ""
        raise UsageError(f"no question can be generated with these templates, strategies and data{cause}")
    return items[: wish.number], certificates


def built(wish: Wish, index: int, verify: Callable[..., str | None]) -> tuple[list[Item], Certificates, str]:
    """The items of one configuration; where its bars can't carry it none, and the reason."""
    settings = configuration(wish, index)
    certificates = Certificates()
    try:
        tape = sources.load(settings.data, settings.symbol, settings.start_date, settings.end_date)
        if wish.data is not None:
            settings, tape = _windowed(settings, tape, stream(wish.seed, "window", index))
        bank = build_bank(settings, tape, spread(fetch), secret=_secret(wish, index), bare=True)
    except (BacktestError, DataError) as error:
        # Too few bars for these parameters: another configuration takes its place.
        return [], certificates, str(error)
    items = []
    for number, question in enumerate(bank.questions):
        fields = msgspec.to_builtins(question)
        items.append(item_of(fields, f"configuration {index}"))
        # Four worlds and four answers a certificate: one in so many is made again, from every configuration.
        certificates.look(fields, partial(verify, base=tape) if number % VERIFIED == 0 else None)
    return items, certificates, ""


def _secret(wish: Wish, index: int) -> bytes:
    """A secret of this audit's own, another one a configuration."""
    return hashlib.sha256(f"audit|{wish.seed}|{index}".encode()).digest()


def configuration(wish: Wish, index: int) -> Settings:
    """The settings of one configuration."""
    rng = stream(wish.seed, "audit", wish.scheme, index)
    names = tuple(REGISTRY) if "all" in (wish.strategies or ("all",)) else wish.strategies
    strategy = names[index % len(names)]
    given: dict[str, Any] = {
        "strategy": strategy,
        "strategy_params": {strategy: parameters(strategy, rng)},
        "initial_cash": float(rng.choice((10_000, 25_000, 50_000, 100_000, 250_000))),
        "commission_rate": rng.choice((0.0005, 0.001, 0.0015, 0.002, 0.003)),
        "stake": rng.choice((200, 500, 1000, 5000, 100_000)),
        "num_questions": wish.per,
        "seed": rng.randrange(2**31),
        "scheme": wish.scheme,
        "worlds": "resampled" if wish.scheme in HIDDEN_SCHEMES and wish.data and not _made_up(wish.data) else "",
        "template": wish.templates,
        "difficulty": _tiers(wish.templates),
        **_bars(wish.data, index, rng),
    }
    return Settings.of(given)


def _made_up(data: str) -> bool:
    return data.startswith("synthetic")


def _tiers(templates: tuple[str, ...]) -> tuple[str, ...]:
    from backtrader_bench.templates.registry import TEMPLATES
    from backtrader_bench.templates.template import TIERS

    tiers = {TEMPLATES[name].tier for name in templates if name in TEMPLATES}
    return tuple(tier for tier in TIERS if tier in tiers) or TIERS


def _bars(data: str | None, index: int, rng: Random) -> dict[str, Any]:
    """Source, symbol and window. Real bars are cut to a window once they are there."""
    if data == "bundled":
        return {"data": data, "symbol": sorted(bundled.HASHES)[index % len(bundled.HASHES)]}
    if data is not None and not data.startswith("synthetic"):
        return {"data": data}
    # The round is added so that every strategy meets every regime, whatever their numbers have in common.
    turn = (index + index // len(REGISTRY)) % len(REGIMES)
    regime = data.split(":")[1] if data and ":" in data else list(REGIMES)[turn]
    start = 2001 + rng.randrange(20)
    return {
        "data": f"synthetic:{regime}:{rng.randrange(2**31)}",
        "symbol": f"SYN{''.join(rng.choices('ABCDEFGHJKLMNPQRSTUVWXYZ', k=3))}",
        "start_date": f"{start}-0{rng.randrange(1, 10)}-01",
        "end_date": f"{start + rng.randrange(2, 5)}-0{rng.randrange(1, 10)}-01",
    }


def _windowed(settings: Settings, tape: Any, rng: Random) -> tuple[Settings, Any]:
    """A window of two to four years of the bars, where there are as many."""
    length = min(len(tape), rng.randrange(500, 1000))
    first = rng.randrange(len(tape) - length + 1)
    days = tape.dates
    end = days[first + length] if first + length < len(tape) else settings.end_date
    narrowed = replace(settings, start_date=days[first], end_date=end)
    return narrowed, sources.load(narrowed.data, narrowed.symbol, narrowed.start_date, narrowed.end_date)


def parameters(strategy: str, rng: Random) -> dict[str, Any]:
    """Parameters of a strategy near its defaults, drawn so that fast stays below slow."""
    found: dict[str, Any] = dict(strategy_named(strategy).defaults)
    for name, value in found.items():
        if name.endswith("threshold"):
            continue
        if isinstance(value, int):
            found[name] = max(2, round(value * rng.uniform(0.6, 1.5)))
    if "rsi_buy_threshold" in found:
        low = rng.choice((25, 30, 35, 40))
        found |= {"rsi_buy_threshold": float(low), "rsi_sell_threshold": float(100 - low)}
    if found.get("pfast", 0) >= found.get("pslow", 10**6):
        found["pslow"] = found["pfast"] * 2
    return found
