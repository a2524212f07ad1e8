"""Order-mechanics templates: answers from the log of orders and the stop's levels."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from backtrader_bench.checker.answers import Answer, Count, Day, Label, Money, Undefined, composite, single
from backtrader_bench.checker.oracles.case import Oracle

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.backtest.result import LoggedOrder
    from backtrader_bench.checker.oracles.case import Case

    Ask = Callable[[Case], Answer | Undefined]

RESTING = ("bracket_breakout", "trailing_stop", "atr_stop")


def only(strategies: tuple[str, ...]) -> Callable[[Ask], Ask]:
    """Make an oracle answer for some strategies alone."""

    def wrap(ask: Ask) -> Ask:
        def answer(case: Case) -> Answer | Undefined:
            if case.spec.strategy not in strategies:
                return Undefined(f"only {', '.join(strategies)} have such orders, not {case.spec.strategy}")
            return ask(case)

        return answer

    return wrap


def _with_status(case: Case, status: str) -> list[LoggedOrder]:
    return [order for order in case.result.orders if order.status == status]


@only(("bracket_breakout",))
def bracket_exit_kind(case: Case) -> Answer | Undefined:
    """Which child of the nth filled bracket filled, and when."""
    mains = [order for order in _with_status(case, "completed") if order.role == "main"]
    n = case.number("n")
    if n > len(mains):
        return Undefined(f"there is no filled bracket {n}, only {len(mains)}")
    # A bracket's orders are made together: main, stop, limit.
    children = case.result.orders[mains[n - 1].ref : mains[n - 1].ref + 2]
    for child in children:
        if child.status == "completed" and child.bar is not None:
            return composite(kind=Label(child.role), date=Day(case.tape.dates[child.bar]))
    return Undefined(f"bracket {n} is still open at the end")


@only(("trailing_stop",))
def stop_trail_level_on_date(case: Case) -> Answer | Undefined:
    """Where the trailing stop stands after a row's close."""
    level = case.result.stops[case.row("date")]
    return Undefined("no trailing stop stands after that close") if level is None else single(Money(level))


@only(RESTING)
def cancelled_orders(case: Case) -> Answer:
    """Orders taken back."""
    return single(Count(len(_with_status(case, "cancelled"))))


@only((*RESTING, "slippage_cross"))
def margin_rejections(case: Case) -> Answer:
    """Orders refused for want of cash."""
    return single(Count(len(case.result.rejections)))


@only(("atr_stop",))
def atr_stop_exit_date(case: Case) -> Answer | Undefined:
    """When the stop closed its nth position."""
    n, trades = case.number("n"), case.result.trades
    if n > len(trades):
        return Undefined(f"the stop closed {len(trades)} positions, not {n}")
    return single(Day(case.tape.dates[trades[n - 1].close_bar]))


@only(("slippage_cross",))
def slippage_cost(case: Case) -> Answer | Undefined:
    """Shares times what each fill was worse than the open."""
    opens = case.tape.open
    worse = [
        fill.size * (fill.price - opens[fill.bar] if fill.side == "buy" else opens[fill.bar] - fill.price)
        for fill in case.result.fills
    ]
    return single(Money(fsum(worse))) if worse else Undefined("no order was filled")


ORDERS = {
    "bracket_exit_kind": Oracle("hard", ("n",), bracket_exit_kind),
    "stop_trail_level_on_date": Oracle("hard", ("date",), stop_trail_level_on_date),
    "cancelled_orders": Oracle("hard", (), cancelled_orders),
    "margin_rejections": Oracle("hard", (), margin_rejections),
    "atr_stop_exit_date": Oracle("hard", ("n",), atr_stop_exit_date),
    "slippage_cost": Oracle("hard", (), slippage_cost),
}
