"""Answers of offline scenarios, without backtrader: the checker's broker, and indicators in plain Python.

Written from the words of the stems. Values are full precision; the caller compares them as shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from backtrader_bench.checker.orders.account import Account
from backtrader_bench.checker.orders.broker import Broker
from backtrader_bench.checker.orders.order import Order
from backtrader_bench.checker.orders.prices import Bar, Slippage
from backtrader_bench.miner.offline.scenario import BARS, Scenario, weekdays

Params = dict[str, Any]
NAN = math.nan


class PerShare(Account):
    """Commission a share."""

    def fee(self, size: int, price: float) -> float:
        return abs(size) * self.rate


def sma(closes: list[float], n: int) -> list[float]:
    return [math.fsum(closes[t - n + 1 : t + 1]) / n if t >= n - 1 else NAN for t in range(len(closes))]


def ema(closes: list[float], n: int) -> list[float]:
    found = [NAN] * (n - 1) + [math.fsum(closes[:n]) / n]
    for close in closes[n:]:
        found.append(found[-1] + 2 / (n + 1) * (close - found[-1]))
    return found


def atr(bars: list[Bar], n: int) -> list[float]:
    ranges = [max(b.high, a.close) - min(b.low, a.close) for a, b in pairwise(bars)]
    found = [NAN] * n + [math.fsum(ranges[:n]) / n]
    for one in ranges[n:]:
        found.append((found[-1] * (n - 1) + one) / n)
    return found


class Replay:
    """One scenario at some parameters, bar by bar."""

    def __init__(self, scenario: Scenario, params: Params) -> None:
        self.scenario, self.p = scenario, params
        self.days = weekdays(params["first"], params["count"])
        self.bars = [Bar(*row[:4]) for row in BARS[scenario.data](*(params[name] for name in scenario.numbers))]
        self.closes = [bar.close for bar in self.bars]
        self.broker = Broker(self.bars, float(params["cash"]), self.rate(), self.slip())
        if scenario.commission.name == "per_share":
            self.broker.account = PerShare(float(params["cash"]), self.rate())
        self.order: Order | None = None
        self.guard: Order | None = None
        self.values: list[float] = []
        self.held: list[int] = []
        self.run()

    def rate(self) -> float:
        p = self.p
        return float({"free": 0, "percent": p.get("commission", 0) / 100, "per_share": p.get("fee", 0)}[
            self.scenario.commission.name])

    def slip(self) -> Slippage:
        name = self.scenario.slippage.name
        percent, fixed = (self.p["slip"] / 100, 0.0) if name == "percent" else (0.0, self.p.get("slip", 0.0))
        return Slippage(percent=percent, fixed=fixed, at_open=True)

    def run(self) -> None:
        entry, first = self.entry()
        leave, later = self.leave()
        for t in range(len(self.bars)):
            self.broker.step(t)
            account = self.broker.account
            self.values.append(account.cash + account.size * self.closes[t])
            self.held.append(account.size)
            if t < max(first, later) or (self.order is not None and self.order.live):
                continue
            if account.size:
                leave(t)
            elif entry(t):
                self.buy(t)
        assert not any(order.status in ("margin", "rejected") for order in self.broker.orders)

    def entry(self) -> tuple[Callable[[int], bool], int]:
        """The condition, and the first bar that it can be looked at."""
        p, closes, name = self.p, self.closes, self.scenario.entry.name
        if name == "above_average":
            line = sma(closes, p["average"])
            return (lambda t: closes[t] > line[t]), p["average"] - 1
        if name in ("two_averages", "two_emas"):
            make = sma if name == "two_averages" else ema
            fast, slow = make(closes, p["fast"]), make(closes, p["slow"])
            return (lambda t: fast[t] > slow[t]), p["slow"] - 1
        if name == "breakout":
            n = p["channel"]
            return (lambda t: closes[t] > max(bar.high for bar in self.bars[t - n : t])), n
        if name == "dip":
            n = p["dip"]
            return (lambda t: closes[t] < min(bar.low for bar in self.bars[t - n : t])), n
        if name == "momentum":
            return (lambda t: closes[t] > closes[t - p["lag"]] * (1 + p["rise"] / 100)), p["lag"]
        if name == "rising":
            n = p["streak"]
            return (lambda t: all(a < b for a, b in zip(closes[t - n : t], closes[t - n + 1 : t + 1], strict=True))), n
        assert name == "weekday"
        # The first bar is a Monday's.
        place = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday").index(p["weekday"])
        return (lambda t: t % 5 == place), 0

    def leave(self) -> tuple[Callable[[int], None], int]:
        """What is done on the close of a bar at whose close a position is held, and the first bar that it can be."""
        p, closes, name = self.p, self.closes, self.scenario.exit.name
        if name == "held":
            return (lambda t: self.sell_if(t - self.entered >= p["hold"])), 0
        if name == "percent":
            high, low = 1 + p["gain"] / 100, 1 - p["loss"] / 100
            return (lambda t: self.sell_if(closes[t] >= self.paid * high or closes[t] <= self.paid * low)), 0
        if name == "below_average":
            line = sma(closes, p["exit_average"])
            return (lambda t: self.sell_if(closes[t] < line[t])), p["exit_average"] - 1
        if name == "below_channel":
            n = p["low_channel"]
            return (lambda t: self.sell_if(closes[t] < min(bar.low for bar in self.bars[t - n : t]))), n
        if name == "bracket":
            return (lambda t: None), 0
        if name == "stop":
            return (lambda t: self.protect(t, "Stop", price=self.paid * (1 - p["loss"] / 100))), 0
        if name == "trail_percent":
            return (lambda t: self.protect(t, "StopTrail", percent=p["trail"])), 0
        if name == "trail_amount":
            return (lambda t: self.protect(t, "StopTrail", amount=p["trail_amount"])), 0
        line = atr(self.bars, p["atr"])
        if name == "atr_exit":
            peak = lambda t: max(closes[self.entered : t + 1])  # noqa: E731
            return (lambda t: self.sell_if(closes[t] < peak(t) - p["mult"] * line[t])), p["atr"]
        assert name == "atr_stop"
        return (lambda t: self.protect(t, "Stop", price=closes[t] - p["mult"] * line[t])), p["atr"]

    @property
    def entered(self) -> int:
        return [fill[0] for fill in self.broker.fills if fill[2] > 0][-1]

    @property
    def paid(self) -> float:
        return [fill[3] for fill in self.broker.fills if fill[2] > 0][-1]

    def shares(self, t: int) -> int:
        p, close = self.p, self.closes[t]
        if self.scenario.size.name == "shares":
            return int(p["stake"])
        money = p["dollars"] if self.scenario.size.name == "dollars" else self.broker.account.cash * p["share"] / 100
        return int(money / close)

    def buy(self, t: int) -> None:
        size, close = self.shares(t), self.closes[t]
        self.order = main = self.broker.make("Market", size)
        if self.scenario.exit.name != "bracket":
            self.broker.send(main)
            return
        stop = self.broker.make("Stop", -size, price=close * (1 - self.p["loss"] / 100), parent=main)
        limit = self.broker.make("Limit", -size, price=close * (1 + self.p["gain"] / 100), parent=main)
        self.broker.send(main, stop, limit)

    def sell_if(self, wanted: bool) -> None:
        if wanted:
            self.order = self.broker.make("Market", -self.broker.account.size)
            self.broker.send(self.order)

    def protect(self, t: int, kind: Any, **how: float) -> None:
        if self.guard is None or not self.guard.live:
            self.guard = self.broker.make(kind, -self.broker.account.size, **how)
            self.broker.send(self.guard)
        elif t - self.entered >= self.p["hold"]:
            self.broker.cancel(self.guard)
            self.sell_if(True)

    def drawdowns(self) -> tuple[float, float, int]:
        """Largest in percent, in money, and the longest in bars: below the highest value so far."""
        peak, percent, money, length, longest = -math.inf, 0.0, 0.0, 0, 0
        for value in self.values:
            peak = max(peak, value)
            money, percent = max(money, peak - value), max(percent, 100 * (peak - value) / peak)
            length = 0 if value == peak else length + 1
            longest = max(longest, length)
        return percent, money, longest

    def answer(self) -> Any:
        """What the scenario's metric is worth."""
        values, trades, fills = self.values, self.broker.account.closed, self.broker.fills
        nets = [one.net for one in trades]
        changes = [100 * (b / a - 1) for a, b in pairwise(values)]
        bought = [(size, price, fee) for _, _, size, price, fee in fills if size > 0]
        sold = [(-size, price, fee) for _, _, size, price, fee in fills if size < 0]
        made: dict[str, Callable[[], Any]] = {
            "final_value": lambda: values[-1], "highest_value": lambda: max(values),
            "lowest_value": lambda: min(values), "mean_value": lambda: math.fsum(values) / len(values),
            "closed_profit": lambda: math.fsum(nets), "best_trade": lambda: max(nets), "worst_trade": lambda: min(nets),
            "bought": lambda: math.fsum(n * price for n, price, _ in bought),
            "sold": lambda: math.fsum(n * price for n, price, _ in sold),
            "commission_paid": lambda: math.fsum(fee for _, _, fee in bought + sold),
            "commission_bought": lambda: math.fsum(fee for _, _, fee in bought),
            "purchases": lambda: len(bought), "bars_held": lambda: sum(n > 0 for n in self.held),
            "winners": lambda: sum(net > 0 for net in nets), "shares_bought": lambda: sum(n for n, _, _ in bought),
            "total_return": lambda: 100 * (values[-1] / self.p["cash"] - 1),
            "worst_day": lambda: min(changes), "best_day": lambda: max(changes),
            "peak_day": lambda: self.days[values.index(max(values))],
            "trough_day": lambda: self.days[values.index(min(values))],
            "last_sale_day": lambda: self.days[[fill[0] for fill in fills if fill[2] < 0][-1]],
            "best_trade_day": lambda: self.days[trades[nets.index(max(nets))].close_bar],
            "max_drawdown": lambda: self.drawdowns()[0], "max_moneydown": lambda: self.drawdowns()[1],
            "drawdown_length": lambda: self.drawdowns()[2],
            "average_net": lambda: math.fsum(nets) / len(nets),
            "gross_total": lambda: math.fsum(one.gross for one in trades),
            "total_length": lambda: sum(one.close_bar - one.open_bar for one in trades),
            "sqn": lambda: self.sqn(nets),
        }  # fmt: skip
        return made[self.p["metric"]]()

    @staticmethod
    def sqn(nets: list[float]) -> float:
        """Van Tharp's system quality number, with the divisor n that backtrader takes."""
        mean = math.fsum(nets) / len(nets)
        spread = math.sqrt(math.fsum((net - mean) ** 2 for net in nets) / len(nets))
        return math.sqrt(len(nets)) * mean / spread
