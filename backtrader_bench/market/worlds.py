"""Many tapes at once that differ in everything but their calendar: the hidden worlds of scheme ``siblings``.

``world:REGIME:SEED`` is made up, ``resampled:SHA256:SEED`` is a pinned tape cut into blocks, drawn anew, re-scaled and
re-dated. A world is a function of its source string and its calendar alone, the same bytes on every platform: only
``RandomState.random_sample`` is drawn, and only +, -, *, / are applied, element by element in a stated order.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError, UsageError
from backtrader_bench.market import synthetic
from backtrader_bench.market.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

SEED = re.compile(r"[0-9a-f]{32}")
"""A world's seed: 128 bits in hex."""
BLOCK = 20
"""Mean length of the blocks that a resampled world is made of, in bars (stationary bootstrap)."""


def worlds(
    kind: str, seeds: Sequence[str], symbol: str, days: Sequence[str], base: Tape | None = None
) -> list[Tape]:
    """One tape a seed over the calendar ``days``; ``kind`` is ``world:REGIME`` or ``resampled:SHA256`` of ``base``.

    UsageError for another kind or a seed that is not 32 hex digits.
    """
    for seed in seeds:
        if not SEED.fullmatch(seed):
            raise UsageError(f"a world's seed must be 32 hex digits, not {seed!r}")
    name, _, argument = kind.partition(":")
    if name == "world":
        made = _made_up(argument, kind, seeds, symbol, len(days))
    elif name == "resampled" and base is not None and base.sha256 == argument:
        made = _resampled(base, kind, seeds, symbol, len(days))
    else:
        raise UsageError(f"no kind of world {kind!r}; there are world:REGIME and resampled:SHA256")
    return [_tape(symbol, f"{kind}:{seed}", days, *columns) for seed, columns in zip(seeds, made, strict=True)]


def read_world(source: str, symbol: str, start: str, end: str) -> Tape:
    """The tape of a source string on business days from ``start`` to before ``end``; its base, if any, is pinned."""
    from backtrader_bench.market import pins

    kind, _, seed = source.rpartition(":")
    name, _, argument = kind.partition(":")
    base = pins.load_pin(argument, symbol, "a pinned tape") if name == "resampled" else None
    return worlds(kind, [seed], symbol, synthetic.business_days(start, end), base)[0]


def _tape(symbol: str, source: str, days: Sequence[str], *columns: Floats) -> Tape:
    """Columns open, high, low, close in dollars and volume, as a checked tape."""
    import numpy as np

    opened, high, low, closed, volume = columns
    # What Tape.checked holds bars to, for all bars at once: a question needs dozens of worlds.
    fit = (low > 0) & (low <= np.minimum(opened, closed)) & (high >= np.maximum(opened, closed)) & (high < np.inf)
    if not (fit & (volume >= 0) & (volume < 2**63)).all():
        raise DataError(f"{source}: a world breaks the contract of a tape: this is a defect, please report it")
    o, h, l, c = (tuple(column.tolist()) for column in (opened, high, low, closed))  # noqa: E741
    return Tape(symbol, source, tuple(days), o, h, l, c, tuple(volume.astype(np.int64).tolist()))


def _draws(kind: str, seed: str, symbol: str, size: tuple[int, int]) -> Floats:
    """Uniforms in [0, 1) of one world."""
    import numpy as np

    digest = hashlib.sha256(f"{kind}|{seed}|{symbol}".encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]
    return np.random.RandomState(words).random_sample(size)


def _normal(uniforms: Floats) -> Floats:
    """About normal from twelve uniforms in the last axis, added up in their order."""
    total = uniforms[..., 0] - 6.0
    for place in range(1, 12):
        total = total + uniforms[..., place]
    return total


def _cents(prices: Floats) -> Floats:
    """Rounded to cents, no lower than one."""
    import numpy as np

    return np.maximum(np.floor(prices * 100 + 0.5), 1.0) / 100


def _made_up(regime: str, kind: str, seeds: Sequence[str], symbol: str, bars: int) -> list[tuple[Floats, ...]]:
    """The regime's process of synthetic.py, with start price, volatility and drift of each world's own."""
    import numpy as np

    synthetic.check_regime(regime)
    model = synthetic.REGIMES[regime]
    drawn = np.stack([_draws(kind, seed, symbol, (bars + 1, 56)) for seed in seeds], axis=1)
    own, u = drawn[0], drawn[1:]
    anchor = 20 + 180 * own[:, 0]
    volatility = model.volatility * (0.6 + own[:, 1])
    tilt = 0.0006 * (own[:, 2] - 0.5)
    base_volume = 200_000 + 4_800_000 * own[:, 3]
    gaps, moves, tops, bottoms = (_normal(u[..., 8 + 12 * i : 20 + 12 * i]) for i in range(4))
    switch = u[..., 0] * model.stay < 1
    switch[0] = True
    states = np.floor(u[..., 1] * len(model.drifts)).astype(int)
    drifts = np.asarray(model.drifts)
    jumps = np.where(u[..., 3] < model.jump_chance, model.jump_size * (2 * u[..., 4] - 1), 0.0)
    # All that doesn't depend on the price is worked out for all bars at once.
    since = np.maximum.accumulate(np.where(switch, np.arange(bars)[:, None], 0), axis=0)
    drift = np.take_along_axis(drifts[states], since, axis=0)
    scale = np.take_along_axis(1 + model.swing * (2 * u[..., 2] - 1), since, axis=0)
    growth = 1 + (model.growth - 1) * np.minimum(np.arange(bars) / 1008, 1.0)
    sigma = volatility * scale * growth[:, None]
    steady, convexity, shocks = drift + tilt, 0.5 * sigma * sigma, 0.85 * sigma * moves
    leaps = 1 + np.maximum(0.5 * sigma * gaps + jumps, -0.5)
    prices = np.empty((bars + 1, len(seeds)))
    prices[0] = price = anchor
    opens = np.empty((bars, len(seeds)))
    for bar in range(bars):
        pull = 0.002 * np.minimum(np.maximum(1 - price / anchor, -4.0), 0.8)
        lift = steady[bar] + pull + convexity[bar]
        opens[bar] = opened = _cents(price * leaps[bar])
        prices[bar + 1] = price = _cents(opened * (1 + np.maximum(lift + shocks[bar], -0.5)))
    closes = prices[1:]
    highs = _cents(np.maximum(opens, closes) * (1 + 0.5 * sigma * np.abs(tops)))
    lows = _cents(np.minimum(opens, closes) * (1 - np.minimum(0.5 * sigma * np.abs(bottoms), 0.5)))
    busy = 1 + np.abs(closes / prices[:-1] - 1) / volatility
    shares = _lots(base_volume * busy * (0.4 + 0.6 * (u[..., 5] + u[..., 6])), u[..., 7])
    columns = (opens, highs, lows, closes, shares)
    return [tuple(column[:, place] for column in columns) for place in range(len(seeds))]


def _lots(shares: Floats, odd: Floats) -> Floats:
    """Whole lots of 100 on four days of five, odd lots on the others."""
    import numpy as np

    return np.floor(shares / 100) * 100 + np.where(odd > 0.8, np.floor((odd - 0.8) * 500), 0.0)


def _resampled(real: Tape, kind: str, seeds: Sequence[str], symbol: str, bars: int) -> list[tuple[Floats, ...]]:
    """Blocks of the real tape's bars, each bar kept as ratios to the close before it, on a price path of their own."""
    import numpy as np

    opened, high, low, closed = (np.asarray(c) for c in (real.open, real.high, real.low, real.close))
    volume = np.asarray(real.volume, dtype=float)
    before = closed[:-1]
    ratios = [column[1:] / before for column in (opened, high, low, closed)]
    made = []
    for seed in seeds:
        u = _draws(kind, seed, symbol, (bars + 1, 2))
        fresh = u[1:, 0] * BLOCK < 1
        fresh[0] = True
        starts = np.floor(u[1:, 1] * len(before)).astype(int)
        index, at = np.empty(bars, dtype=int), 0
        for bar in range(bars):
            at = int(starts[bar]) if fresh[bar] else (at + 1) % len(before)
            index[bar] = at
        path = np.cumprod(np.concatenate(([20 + 180 * u[0, 0]], ratios[3][index])))
        prices = [_cents(path[:-1] * ratio[index]) for ratio in ratios]
        prices[1] = np.maximum(prices[1], np.maximum(prices[0], prices[3]))
        prices[2] = np.minimum(prices[2], np.minimum(prices[0], prices[3]))
        shares = np.floor(volume[1:][index] * (0.2 + 1.6 * u[0, 1]) / 100) * 100
        made.append((*prices, shares))
    return made
