"""Easy templates: one row or one scalar of the backtest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.checker.answers import Answer, Count, Label, Money, Number, composite, single
from backtrader_bench.checker.oracles.case import Oracle, side_signals
from backtrader_bench.errors import RecordError

if TYPE_CHECKING:
    from backtrader_bench.checker.oracles.case import Case


def first_close(case: Case) -> Answer:
    """Close of the window's first bar."""
    return single(Money(case.tape.close[0]))


def last_close(case: Case) -> Answer:
    """Close of the window's last bar."""
    return single(Money(case.tape.close[-1]))


def high_on_date(case: Case) -> Answer:
    """High of a bar."""
    return single(Money(case.tape.high[case.bar("date")]))


def volume(case: Case) -> Answer:
    """Volume of a bar."""
    return single(Count(case.tape.volume[case.bar("date")]))


def broker_cash(case: Case) -> Answer:
    """Cash at a row."""
    return single(Money(case.result.cash[case.row("date")]))


def portfolio_value(case: Case) -> Answer:
    """Portfolio value at a row."""
    return single(Money(case.result.value[case.row("date")]))


def sma(case: Case) -> Answer:
    """The recorded fast or slow average at a row."""
    which = case.asked.get("which")
    if which not in ("fast", "slow"):
        raise RecordError(f"template_params: which is {which!r:.40}; it must be fast or slow")
    column = case.result.fast if which == "fast" else case.result.slow
    return single(Number(column[case.row("date")]))


def max_shares(case: Case) -> Answer:
    """Shares that the initial cash buys at the first close, commission included."""
    price = case.tape.close[0] * (1 + case.spec.commission_rate)
    return single(Count(int(case.spec.initial_cash / price)))


def position_on_date(case: Case) -> Answer:
    """Shares held at a row's close."""
    return single(Count(case.result.position[case.row("date")]))


def crossovers(case: Case) -> Answer:
    """Signals acted on."""
    return single(Count(len(case.result.signals)))


def buy_sell_signals(case: Case) -> Answer:
    """Signals acted on, by side."""
    buys, sells = (Count(side_signals(case.result, side)) for side in ("buy", "sell"))
    return composite(buys=buys, sells=sells)


def signal_state_on_date(case: Case) -> Answer:
    """Which average is higher, and whether there is a position."""
    row = case.row("date")
    above = case.result.fast[row] > case.result.slow[row]
    state = f"{'above' if above else 'below'}_{'long' if case.result.position[row] else 'flat'}"
    return single(Label(state))


EASY = {
    "first_close": Oracle("easy", (), first_close),
    "last_close": Oracle("easy", (), last_close),
    "high_on_date": Oracle("easy", ("date",), high_on_date),
    "volume": Oracle("easy", ("date",), volume),
    "broker_cash": Oracle("easy", ("date",), broker_cash),
    "portfolio_value": Oracle("easy", ("date",), portfolio_value),
    "sma": Oracle("easy", ("which", "date"), sma),
    "max_shares": Oracle("easy", (), max_shares),
    "position_on_date": Oracle("easy", ("date",), position_on_date),
    "crossovers": Oracle("easy", (), crossovers),
    "buy_sell_signals": Oracle("easy", (), buy_sell_signals),
    "signal_state_on_date": Oracle("easy", ("date",), signal_state_on_date),
}
