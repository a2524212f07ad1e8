"""Charts for the terminal: plain characters, as wide as it is, fit for pipes."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BOXES = str.maketrans("\u2502\u2500\u250c\u2510\u2514\u2518\u2524\u252c\u251c\u2534\u253c", "|-+++++++++")


def chart(
    dates: Sequence[str],
    values: Sequence[float],
    height: int = 16,
    marks: Mapping[str, Sequence[tuple[int, float]]] | None = None,
) -> list[str]:
    """``values`` over ``dates``, up to 110 columns wide; empty where the terminal or the series is too small.

    ``marks`` puts single characters at points (index, value). No colours, so that pipes take it as it is.
    """
    width = min(shutil.get_terminal_size((80, 24)).columns, 110)
    if width < 30 or len(values) < 2:
        return []
    plain = not _can_print("\u2800\u2502")
    count = max(2, min(6, width // 18))
    at = [round(i * (len(values) - 1) / (count - 1)) for i in range(count)]
    labels = [dates[i][:7] if len(values) > 120 else dates[i][5:] for i in at]
    drawn = _draw(list(values), at, labels, (width, height), "*" if plain else "braille", marks or {})
    if plain:
        drawn = drawn.translate(_BOXES)
    return [line.rstrip() for line in drawn.splitlines() if line.strip()]


def _draw(
    values: list[float],
    at: list[int],
    labels: list[str],
    size: tuple[int, int],
    marker: str,
    marks: Mapping[str, Sequence[tuple[int, float]]],
) -> str:
    import plotext

    days = list(range(len(values)))
    points = [(char, *zip(*found, strict=True)) for char, found in marks.items() if found]
    if hasattr(plotext, "plotsize"):  # plotext 5; its successor has another interface altogether
        plotext.clear_figure()
        plotext.plot(days, values, marker=marker)
        for char, x, y in points:
            plotext.scatter(x, y, marker=char)
        plotext.plotsize(*size)
        plotext.xticks(at, labels)
        return str(plotext.uncolorize(plotext.build()))
    figure = plotext.figure
    figure.clear()
    figure.plot_size(*size)
    figure.draw(figure.signal(days, values, marker=marker).lines())
    for char, x, y in points:
        figure.draw(figure.signal(list(x), list(y), marker=char))
    figure.ruler("x").ticks(at, labels)
    return str(figure.build().string(colorless=True))


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
