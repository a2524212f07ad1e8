"""Made-up bars. The source of these functions goes into programs and, as the definition of the data, into stems.

So they use plain Python alone, and every number is rounded to cents where it is made: the same bars everywhere.
"""

from __future__ import annotations


def walk_bars(seed, count, start, swing, drift):  # type: ignore[no-untyped-def]
    """A random walk: bars as (open, high, low, close, volume)."""
    state, close, bars = seed, start, []
    for _ in range(count):
        draws = []
        for _ in range(5):
            state = (1103515245 * state + 12345) % 2147483648
            draws.append(state / 2147483648)
        first = round(close * (1 + swing * (draws[0] - 0.5) / 200), 2)
        close = round(first * (1 + (swing * (draws[1] - 0.5) + drift) / 100), 2)
        high = round(max(first, close) * (1 + swing * draws[2] / 300), 2)
        low = round(min(first, close) * (1 - swing * draws[3] / 300), 2)
        bars.append((first, high, low, close, 1000 + int(9000 * draws[4])))
    return bars


def wave_bars(seed, count, start, swing, pull):  # type: ignore[no-untyped-def]
    """A walk that is pulled back to where it started: bars as (open, high, low, close, volume)."""
    state, close, bars = seed, start, []
    for _ in range(count):
        draws = []
        for _ in range(4):
            state = (22695477 * state + 1) % 4294967296
            draws.append(state / 4294967296)
        first = round(close + (draws[0] - 0.5) * swing * start / 400, 2)
        close = round(first + (draws[1] - 0.5) * swing * start / 100 + pull * (start - first), 2)
        high = round(max(first, close) + draws[2] * swing * start / 300, 2)
        low = round(min(first, close) - draws[3] * swing * start / 300, 2)
        bars.append((first, high, low, close, 500 + int(5000 * draws[2])))
    return bars
