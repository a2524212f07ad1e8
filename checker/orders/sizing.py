"""How many shares a buy takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import BacktestSpec


def shares(spec: BacktestSpec, cash: float, close: float) -> int:
    """Shares of a buy decided at ``close``."""
    if spec.sizing == "fixed":
        return spec.stake
    return min(spec.stake, int(cash * spec.params["target_percent"] * 0.95 / close))
