"""The strategies' rules as backtrader strategies. Importing this module imports backtrader.

Formulas are backtrader's own indicators, so what is asked is what backtrader users get.
"""

from __future__ import annotations

from typing import Any

import backtrader as bt

from backtrader_bench.backtest.result import BacktestSpec, Fill, Rejection, Result, Side, Signal, Trade
from backtrader_bench.backtest.strategies import strategy_named

# Share of cash that a capped buy leaves unspent, so that a gap up to the next open rarely refuses it.
CASH_SHARE = 0.95


class Rules(bt.Strategy):  # type: ignore[misc]
    """Decides on closes, sends market orders, and writes one row at the end of every ``next``."""

    params = (("spec", None),)

    def __init__(self) -> None:
        self.spec: BacktestSpec = self.p.spec
        fast, slow = strategy_named(self.spec.strategy).sma_periods(self.spec.params)
        self.fast_sma = bt.ind.SMA(self.data.close, period=fast)
        self.slow_sma = bt.ind.SMA(self.data.close, period=slow)
        self.order: Any = None
        self.decided: tuple[Side, int, int] | None = None
        self.first_row = -1
        self.entered: Fill | None = None
        self.columns: dict[str, list[Any]] = {name: [] for name in ("fast", "slow", "cash", "value", "position")}
        self.fills: list[Fill] = []
        self.trades: list[Trade] = []
        self.signals: list[Signal] = []
        self.rejections: list[Rejection] = []
        self.indicators()

    def param(self, name: str) -> Any:
        """One parameter of the strategy."""
        return self.spec.params[name]

    def indicators(self) -> None:
        """Build the indicators that the rule needs."""
        raise NotImplementedError

    def entry(self) -> bool:
        """Whether to buy, asked when flat."""
        raise NotImplementedError

    def exit(self) -> bool:
        """Whether to close, asked when long."""
        raise NotImplementedError

    @property
    def bar(self) -> int:
        """Index of the current bar in the tape."""
        return len(self.data) - 1

    def next(self) -> None:
        """One bar: look for a signal unless an order is on its way, send what is due, write the row."""
        if self.first_row < 0:
            self.first_row = self.bar
        if self.order is None and self.decided is None:
            self.decide()
        if self.decided is not None and self.bar - self.decided[2] >= self.spec.fill_delay:
            self.send()
        self.protect()
        self.write_row()

    def protect(self) -> None:
        """Place or move resting orders, once the bar's market order (if any) has been sent; none by default."""

    def decide(self) -> None:
        """Turn a signal on this close into a decision; a buy of 0 shares is none."""
        side: Side = "sell" if self.position else "buy"
        if not (self.exit() if self.position else self.entry()):
            return
        size = self.position.size if self.position else self.buy_size()
        if size > 0:
            self.decided = (side, size, self.bar)
            self.signals.append(Signal(self.bar, side))

    def buy_size(self) -> int:
        """Shares of a buy decided on this close."""
        if self.spec.sizing == "fixed":
            return self.spec.stake
        cash = self.broker.get_cash()
        return min(self.spec.stake, int(cash * self.param("target_percent") * CASH_SHARE / self.data.close[0]))

    def send(self) -> None:
        """Send the decided order."""
        assert self.decided is not None
        side, size, _ = self.decided
        self.order = self.buy(size=size) if side == "buy" else self.close()
        self.decided = None

    def write_row(self) -> None:
        """The row of this bar."""
        columns = self.columns
        columns["fast"].append(self.fast_sma[0])
        columns["slow"].append(self.slow_sma[0])
        columns["cash"].append(float(self.broker.get_cash()))
        columns["value"].append(float(self.broker.get_value()))
        columns["position"].append(int(self.position.size))

    def notify_order(self, order: Any) -> None:
        """Fills and refusals; both arrive on their own bar, before ``next``."""
        if order.status in (order.Submitted, order.Accepted):
            return
        side: Side = "buy" if order.isbuy() else "sell"
        if order.status == order.Completed:
            done = order.executed
            self.fills.append(Fill(self.bar, side, int(abs(done.size)), float(done.price), float(done.comm)))
            if side == "buy":
                self.entered = self.fills[-1]
        else:
            self.rejections.append(Rejection(self.bar, side, int(abs(order.created.size))))
        self.order = None

    def notify_trade(self, trade: Any) -> None:
        """Closed round trips."""
        if trade.isclosed and self.entered is not None:
            self.trades.append(
                Trade(self.entered.bar, self.bar, self.entered.size,
                      float(trade.pnl), float(trade.pnlcomm), float(trade.commission))
            )  # fmt: skip

    def result(self) -> Result:
        """What happened."""
        return Result(
            first_row=self.first_row, fills=self.fills, trades=self.trades, signals=self.signals,
            rejections=self.rejections, **self.columns,
        )  # fmt: skip


class SmaCrossover(Rules):
    """SMA(pfast) against SMA(pslow), which are the recorded ones."""

    def indicators(self) -> None:
        self.cross = bt.ind.CrossOver(self.fast_sma, self.slow_sma)

    def entry(self) -> bool:
        return bool(self.cross[0] > 0)

    def exit(self) -> bool:
        return bool(self.cross[0] < 0)


class RollingWindowMean(Rules):
    """Close against SMA(window), the recorded slow one."""

    def indicators(self) -> None:
        pass

    def entry(self) -> bool:
        return bool(self.data.close[0] > self.slow_sma[0])

    def exit(self) -> bool:
        return not self.entry()


class ExponentialMovingAverages(Rules):
    """EMA(pfast) against EMA(pslow), by level, not by crossing."""

    def indicators(self) -> None:
        self.quick = bt.ind.EMA(self.data.close, period=self.param("pfast"))
        self.lagging = bt.ind.EMA(self.data.close, period=self.param("pslow"))

    def entry(self) -> bool:
        return bool(self.quick[0] > self.lagging[0])

    def exit(self) -> bool:
        return bool(self.quick[0] < self.lagging[0])


class RsiThresholds(Rules):
    """RSI with Wilder's smoothing, guarded against a window without losses (backtrader's RSI_Safe)."""

    def indicators(self) -> None:
        self.rsi = bt.ind.RSI_Safe(self.data.close, period=self.param("rsi_period"))

    def entry(self) -> bool:
        return bool(self.rsi[0] < self.param("rsi_buy_threshold"))

    def exit(self) -> bool:
        return bool(self.rsi[0] > self.param("rsi_sell_threshold"))


class MacdCrossover(Rules):
    """MACD against its signal line."""

    def indicators(self) -> None:
        self.macd = bt.ind.MACD(
            self.data.close, period_me1=self.param("pfast"), period_me2=self.param("pslow"),
            period_signal=self.param("psignal"),
        )  # fmt: skip
        self.cross = bt.ind.CrossOver(self.macd.macd, self.macd.signal)

    def entry(self) -> bool:
        return bool(self.cross[0] > 0)

    def exit(self) -> bool:
        return bool(self.cross[0] < 0)


RULES: dict[str, type[Rules]] = {
    "sma_crossover": SmaCrossover,
    "rolling_window_mean": RollingWindowMean,
    "exponential_weighted_moving_average": ExponentialMovingAverages,
    "rsi_strategy": RsiThresholds,
    "macd_crossover": MacdCrossover,
}
