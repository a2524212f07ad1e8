"""Data for the page: JSON, deflated, in base64, unpacked by the page when it is looked at."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrader_bench.mcq_builder.pages.charts import Chart


def packed(value: Any) -> str:
    """``value`` as JSON, raw deflate, base64: letters, digits, ``+/=`` alone, whatever is in it."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(errors="replace")
    return base64.b64encode(squeeze.compress(data) + squeeze.flush()).decode()


def unpacked(text: str) -> Any:
    """The value of :func:`packed`."""
    return json.loads(zlib.decompress(base64.b64decode(text), -15))


def deltas(values: Iterable[int]) -> list[int]:
    """The first value, then differences."""
    found, last = [], 0
    for value in values:
        found.append(value - last)
        last = value
    return found


class ChartPack:
    """Packed charts; calendars that several share are kept once."""

    def __init__(self) -> None:
        self.charts: list[str] = []
        self._calendars: dict[tuple[int, ...], int] = {}

    def add(self, chart: Chart) -> int:
        """Pack a chart; its place in :attr:`charts`."""
        calendar = self._calendars.setdefault(chart.days, len(self._calendars))
        self.charts.append(packed({
            "calendar": calendar, "title": chart.title, "cash": chart.cash, "first": chart.first_row,
            "close": deltas(chart.close), "closeDecimals": chart.close_decimals,
            "value": deltas(chart.value), "valueDecimals": chart.value_decimals, "fills": chart.fills,
            "lines": chart.lines, "stops": [(first, deltas(levels)) for first, levels in chart.stops],
            "own": chart.own and {
                "title": chart.own.title, "bounds": chart.own.bounds,
                "lines": [(name, first, deltas(line), decimals) for name, first, line, decimals in chart.own.lines],
            },
        }))  # fmt: skip
        return len(self.charts) - 1

    @property
    def calendars(self) -> list[str]:
        """Packed, each as days since 1970-01-01 in differences."""
        return [packed(deltas(days)) for days in self._calendars]
