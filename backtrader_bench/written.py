"""Figures written so short that they can be read, and so long that they don't contradict the limit they are held to."""

from __future__ import annotations

_MOST = 15
"""Decimals after which a figure is the limit itself, as far as a float tells."""


def p_value(p: float, *levels: float, least: float = 0.001) -> str:
    """A p value to three decimals, or below ``least`` its order of size.

    To more decimals where it would seem on the wrong side of one of ``levels``.
    """
    small = p < least
    for more in range(_MOST):
        text = f"{p:.{more}e}" if small else f"{p:.{3 + more}f}"
        if all((float(text) < level) == (p < level) for level in levels):
            return text
    return repr(p)


def percent(share: float, *limits: float) -> str:
    """``27.0%`` of a share of 0.27; to more decimals where it would seem on the wrong side of a limit (a share)."""
    for more in range(1, _MOST):
        text = f"{100 * share:.{more}f}"
        if all((float(text) / 100 > limit) == (share > limit) for limit in limits):
            return f"{text}%"
    return f"{100 * share!r}%"
