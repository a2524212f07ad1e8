"""The one repair that is made to bars: High and Low that miss the body by rounding noise."""

from __future__ import annotations

NOISE = 1e-9
"""Relative. Prices adjusted in floating point miss High by 1e-14 to 1e-11; a real fault is 1e-4 or more."""


def settle(open_: float, high: float, low: float, close: float) -> tuple[float, float, bool]:
    """High and Low moved to the body where they miss it by at most NOISE, and whether either was moved.

    What misses by more is given back as it is, for the rules of tapes to refuse.
    """
    top, bottom = max(open_, close), min(open_, close)
    settled_high = top if top * (1 - NOISE) <= high < top else high
    settled_low = bottom if bottom < low <= bottom * (1 + NOISE) else low
    return settled_high, settled_low, (settled_high, settled_low) != (high, low)
