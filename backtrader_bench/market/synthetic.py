"""Seeded daily bars that no model can have seen: ``synthetic:REGIME:SEED``.

A tape is a function of (symbol, regime, seed, first bar's date) and of nothing else: a later end adds bars
and changes none, another start gives another series. Bars fall on Monday to Friday; there are no holidays.

The same arguments give the same bytes on every platform. Only ``RandomState.random_sample`` is drawn (its
stream is frozen, and its doubles come from integers), and only +, -, *, / follow: exp, log and the normal
generators built on them differ in the last bit between C libraries, so a sum of twelve uniforms stands in for
the normal, and returns multiply instead of adding up in logarithms.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError, UsageError
from backtrader_bench.market.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Uniform = Callable[[], float]
    Bar = tuple[str, float, float, float, float, int]

DEFAULT_START, DEFAULT_END = "2016-01-04", "2020-01-01"
TICKS = 100
"""Ticks in one unit of price: the tick is a cent."""
FLOOR, CEILING = 1 * TICKS, 10_000 * TICKS
"""Prices stay from 1.00 to 10,000.00; a move beyond is bounced back inside."""
MAX_BARS = 100_000


@dataclass(frozen=True)
class Regime:
    """How a price moves. Standard deviations and drifts are fractions a day; ``stay`` is in bars."""

    about: str
    volatility: float
    growth: float
    """Factor that volatility has reached after four years (1,008 bars), where it stops rising."""
    drifts: tuple[float, ...]
    """Mean return in each state; the state changes about every ``stay`` bars."""
    stay: int
    swing: float
    """Each state's volatility is drawn from 1 - swing to 1 + swing times the regime's."""
    jump_chance: float
    jump_size: float


REGIMES = {
    "calm": Regime("small moves around a gentle trend", 0.008, 1.0, (0.0004, 0.0001), 120, 0.2, 0.0, 0.0),
    "hard": Regime(
        "trends that turn every few weeks, some jumps",
        0.016,
        1.5,
        (0.0018, -0.0016, 0.0),
        40,
        0.4,
        0.012,
        0.06,
    ),
    "extreme": Regime(
        "rising volatility, sudden turns, violent jumps",
        0.024,
        2.5,
        (0.0045, -0.0045, 0.0),
        18,
        0.6,
        0.035,
        0.16,
    ),
}


def check_regime(regime: str) -> None:
    """UsageError for a regime that there is none of."""
    if regime not in REGIMES:
        raise UsageError(f"no synthetic regime {regime!r}; there are {', '.join(REGIMES)}")


def synthetic(symbol: str, regime: str, seed: int, start: str | None = None, end: str | None = None) -> Tape:
    """The bars of ``symbol`` from ``start`` to before ``end`` (ISO; 2016-01-04 to 2020-01-01 where None).

    UsageError for an unknown regime or a negative seed, DataError for a window without a business day.
    """
    check_regime(regime)
    if not 0 <= seed < 2**63:
        raise UsageError(f"synthetic seed {seed} is out of range; take one from 0 to 2**63 - 1")
    start, end = _window(start, end)
    days = business_days(start, end)
    source = f"synthetic:{regime}:{seed}"
    if not days:
        raise DataError(f"{source}: no business day from {start} to before {end}")
    if len(days) > MAX_BARS:
        raise UsageError(f"{source}: {len(days)} bars asked for, at most {MAX_BARS} are made")
    bars = list(_bars(REGIMES[regime], days, _stream(f"{symbol}|{regime}|{seed}|{days[0]}")))
    return Tape.checked(symbol, source, bars)


def _window(start: str | None, end: str | None) -> tuple[str, str]:
    """Start and end, by default DEFAULT_START and DEFAULT_END; four years where the one given lies beyond those."""
    four_years = timedelta(days=4 * 365)
    if end is None:
        end = DEFAULT_END
        if start is not None and start >= DEFAULT_END:
            end = (date.fromisoformat(start) + four_years).isoformat()
    if start is None:
        start = DEFAULT_START if end > DEFAULT_START else (date.fromisoformat(end) - four_years).isoformat()
    return start, end


def business_days(start: str, end: str) -> list[str]:
    """Mondays to Fridays from ``start`` to before ``end``, ISO."""
    first, stop = date.fromisoformat(start).toordinal(), date.fromisoformat(end).toordinal()
    return [date.fromordinal(day).isoformat() for day in range(first, stop) if (day - 1) % 7 < 5]


def _stream(name: str) -> Uniform:
    """Uniform doubles in [0, 1) as Python floats, seeded by all 256 bits of the name's SHA-256."""
    import numpy as np

    digest = hashlib.sha256(name.encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]
    draw = np.random.RandomState(words).random_sample
    return lambda: float(draw())


def _normal(uniform: Uniform) -> float:
    """About normal: mean 0, standard deviation 1, within -6 and 6."""
    total = -6.0
    for _ in range(12):
        total += uniform()
    return total


def _bars(regime: Regime, days: list[str], uniform: Uniform) -> Iterator[Bar]:
    anchor = float(int((20 + 180 * uniform()) * TICKS))
    price, base_volume = anchor, 200_000 + 4_800_000 * uniform()
    drift, scale = 0.0, 1.0
    for index, day in enumerate(days):
        if index == 0 or uniform() * regime.stay < 1:
            drift = regime.drifts[int(uniform() * len(regime.drifts))]
            scale = 1 + regime.swing * (2 * uniform() - 1)
        growth = 1 + (regime.growth - 1) * min(index / 1008, 1.0)
        sigma = regime.volatility * scale * growth
        # The pull keeps a series of decades within an order of magnitude or so of where it began.
        pull = 0.002 * min(max(1 - price / anchor, -4.0), 0.8)
        # Half the variance makes up for what compounding takes, or violent series would sink to the floor.
        lift = drift + pull + 0.5 * sigma * sigma
        overnight = 0.5 * sigma * _normal(uniform) + _jump(regime, uniform)
        opened = _inside(price * (1 + max(overnight, -0.5)))
        closed = _inside(opened * (1 + max(lift + 0.85 * sigma * _normal(uniform), -0.5)))
        high = max(opened, closed, int(max(opened, closed) * (1 + 0.5 * sigma * abs(_normal(uniform)))))
        low = max(FLOOR, int(min(opened, closed) * (1 - min(0.5 * sigma * abs(_normal(uniform)), 0.5))))
        busy = 1 + abs(closed / price - 1) / regime.volatility
        volume = _volume(base_volume * busy, uniform)
        yield day, opened / TICKS, high / TICKS, low / TICKS, closed / TICKS, volume
        price = float(closed)


def _jump(regime: Regime, uniform: Uniform) -> float:
    """The overnight jump, most often 0. Draws twice in any case, so that streams stay in step."""
    happens, size = uniform() < regime.jump_chance, 2 * uniform() - 1
    return regime.jump_size * size if happens else 0.0


def _inside(ticks: float) -> int:
    """Whole ticks within the floor and the ceiling; what passes one is mirrored back, a twentieth at most."""
    if ticks < FLOOR:
        ticks = min(2 * FLOOR - ticks, FLOOR * 1.05)
    if ticks > CEILING:
        ticks = max(2 * CEILING - ticks, CEILING * 0.95)
    return int(ticks + 0.5)


def _volume(mean: float, uniform: Uniform) -> int:
    """Shares traded: whole lots of 100 on four days of five, odd lots on the others."""
    shares = mean * (0.4 + 0.6 * (uniform() + uniform()))
    odd = uniform()
    lots = int(shares / 100) * 100
    return lots + int((odd - 0.8) * 5 * 100) if odd > 0.8 else lots
