"""Run one backtest in backtrader."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from backtrader_bench.backtest.strategies import strategy_named
from backtrader_bench.errors import BacktestError

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import BacktestSpec, Result
    from backtrader_bench.market.tape import Tape


def run(tape: Tape, spec: BacktestSpec) -> Result:
    """The result of ``spec`` on all bars of ``tape``.

    No cheating on open or close; commission is a share of traded value on each side; slippage only for a strategy with
    a ``slip_percent``. BacktestError when the tape has no bar left after the warm-up, or when a strategy with resting
    orders is to be delayed.
    """
    entry = strategy_named(spec.strategy)
    if entry.resting and spec.fill_delay:
        raise BacktestError(f"{spec.strategy} has resting orders, which a fill_delay can't delay")
    needed = entry.first_row(spec.params) + 1
    if len(tape) < needed:
        raise BacktestError(
            f"{tape.symbol} has {len(tape)} bars from {tape.dates[0]} to {tape.dates[-1]}; {spec.strategy} with "
            f"these parameters needs at least {needed}: choose a longer window or shorter periods"
        )
    import backtrader as bt

    from backtrader_bench.backtest.order_rules import ORDER_RULES
    from backtrader_bench.backtest.rules import RULES

    cerebro = bt.Cerebro(stdstats=False, preload=True, runonce=True)
    cerebro.adddata(_feed(bt)(tape=tape))
    cerebro.addstrategy({**RULES, **ORDER_RULES}[spec.strategy], spec=spec)
    cerebro.broker.setcash(spec.initial_cash)
    cerebro.broker.setcommission(commission=spec.commission_rate)
    if "slip_percent" in spec.params:
        cerebro.broker.set_slippage_perc(
            spec.params["slip_percent"], slip_open=True, slip_limit=True, slip_match=True, slip_out=False
        )
    result: Result = cerebro.run()[0].result()
    return result


_feeds: dict[str, Any] = {}


def _feed(bt: Any) -> Any:
    """The feed class, made on first use because backtrader is imported late."""
    if "tape" not in _feeds:

        class TapeFeed(bt.feed.DataBase):  # type: ignore[misc]
            """A tape as a backtrader feed, without pandas in between (1.6 to 2 times faster)."""

            params = (("tape", None),)

            def start(self) -> None:
                super().start()
                tape = self.p.tape
                days = (float(date.fromisoformat(day).toordinal()) for day in tape.dates)
                self.bars = zip(days, tape.open, tape.high, tape.low, tape.close, tape.volume, strict=True)

            def _load(self) -> bool:
                lines = self.lines
                bar = next(self.bars, None)
                if bar is None:
                    return False
                (lines.datetime[0], lines.open[0], lines.high[0], lines.low[0], lines.close[0], volume) = bar
                lines.volume[0] = float(volume)
                lines.openinterest[0] = 0.0
                return True

        _feeds["tape"] = TapeFeed
    return _feeds["tape"]
