"""Medium templates: rows picked by a condition, or one aggregation."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from backtrader_bench.checker.answers import (
    Answer,
    Count,
    Day,
    Label,
    Money,
    Number,
    Percent,
    Undefined,
    composite,
    single,
)
from backtrader_bench.checker.oracles.case import Oracle, held_rows, longest_run, same, side_fills

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import Trade
    from backtrader_bench.checker.oracles.case import Case

NO_TRADE = Undefined("no trade was closed")


def first_buy(case: Case) -> Answer | Undefined:
    """Size, close and date of the day of the first buy fill."""
    buys = side_fills(case.result, "buy")
    if not buys:
        return Undefined("nothing was bought")
    bar = buys[0].bar
    return composite(shares=Count(buys[0].size), close=Money(case.tape.close[bar]), date=Day(case.tape.dates[bar]))


def trade_outcomes(case: Case) -> Answer:
    """Closed trades that won and lost, after commission."""
    nets = [trade.net for trade in case.result.trades]
    return composite(won=Count(sum(net > 0 for net in nets)), lost=Count(sum(net < 0 for net in nets)))


def net_pnl(case: Case) -> Answer:
    """Net P/L."""
    return single(Money(case.net))


def commission(case: Case) -> Answer:
    """Commission of all fills, and their number."""
    fills = case.result.fills
    return composite(total=Money(fsum(fill.commission for fill in fills)), orders=Count(len(fills)))


def total_shares_traded(case: Case) -> Answer:
    """Shares bought, sold, and both."""
    bought, sold = (sum(fill.size for fill in side_fills(case.result, side)) for side in ("buy", "sell"))
    return composite(bought=Count(bought), sold=Count(sold), total=Count(bought + sold))


def days_in_position(case: Case) -> Answer:
    """Rows with a position, without, and all."""
    inside, rows = held_rows(case.result), case.result.rows
    return composite(inside=Count(inside), outside=Count(rows - inside), total=Count(rows))


def peak_portfolio_date(case: Case) -> Answer | Undefined:
    """The row with the highest value."""
    values = case.result.value
    highest = max(values)
    at = [row for row, value in enumerate(values) if same(value, highest)]
    answer = composite(date=Day(case.date(at[0])), value=Money(highest))
    return answer if len(at) == 1 else Undefined(f"the highest value stands on {len(at)} rows", answer)


def best_trade_day(case: Case) -> Answer | Undefined:
    """Closing date and net P/L of the best closed trade."""
    trades = case.result.trades
    return _one_trade(case, max(trades, key=lambda trade: trade.net)) if trades else NO_TRADE


def largest_loss_trade(case: Case) -> Answer | Undefined:
    """Closing date and net P/L of the worst closed trade."""
    trades = case.result.trades
    if not any(trade.net < 0 for trade in trades):
        return Undefined("no closed trade lost")
    return _one_trade(case, min(trades, key=lambda trade: trade.net))


def _one_trade(case: Case, chosen: Trade) -> Answer | Undefined:
    answer = composite(date=Day(case.tape.dates[chosen.close_bar]), pnl=Money(chosen.net))
    ties = sum(same(trade.net, chosen.net) for trade in case.result.trades)
    return answer if ties == 1 else Undefined(f"{ties} closed trades have that net P/L", answer)


def strategy_action_on_date(case: Case) -> Answer:
    """What was filled on a row's date, or whether something was held."""
    row = case.row("date")
    bar = case.result.first_row + row
    for fill in case.result.fills:
        if fill.bar == bar:
            return single(Label(fill.side))
    return single(Label("hold" if case.result.position[row] else "flat"))


def nth_trade_pnl(case: Case) -> Answer | Undefined:
    """Net P/L of the nth closed trade."""
    trades, n = case.result.trades, case.number("n")
    if n > len(trades):
        return Undefined(f"there is no closed trade {n}, only {len(trades)}")
    return single(Money(trades[n - 1].net))


def cash_after_nth_order(case: Case) -> Answer | Undefined:
    """Cash at the close of the day of the nth fill."""
    fills, n = case.result.fills, case.number("n")
    if n > len(fills):
        return Undefined(f"there is no executed order {n}, only {len(fills)}")
    return single(Money(case.result.cash[fills[n - 1].bar - case.result.first_row]))


def longest_holding(case: Case) -> Answer | Undefined:
    """Most bars from the buy to the sale over closed trades."""
    spans = [trade.close_bar - trade.open_bar for trade in case.result.trades]
    return single(Count(max(spans))) if spans else NO_TRADE


def idle_longest_stretch(case: Case) -> Answer:
    """Most consecutive rows without a position."""
    return single(Count(longest_run([size == 0 for size in case.result.position])))


def commission_share_of_gross(case: Case) -> Answer | Undefined:
    """Commission of closed trades in percent of their gross P/L."""
    trades = case.result.trades
    gross = fsum(trade.gross for trade in trades)
    if gross <= 0:
        return Undefined("the closed trades have no gross profit")
    return single(Percent(fsum(trade.commission for trade in trades) / gross * 100))


def price_paid_vs_signal_close(case: Case) -> Answer | Undefined:
    """Fill price minus the close that decided the buy, summed over buys, a share."""
    decided = [signal.bar for signal in case.result.signals if signal.side == "buy"]
    gaps = []
    for fill in side_fills(case.result, "buy"):
        close = case.tape.close[max(bar for bar in decided if bar < fill.bar)]
        gaps.append(fill.price - close)
    return single(Money(fsum(gaps))) if gaps else Undefined("nothing was bought")


def turnover(case: Case) -> Answer:
    """Traded value over the mean portfolio value."""
    traded = fsum(fill.size * fill.price for fill in case.result.fills)
    return single(Number(traded / (fsum(case.result.value) / case.result.rows)))


MEDIUM = {
    "first_buy": Oracle("medium", (), first_buy),
    "trade_outcomes": Oracle("medium", (), trade_outcomes),
    "net_pnl": Oracle("medium", (), net_pnl),
    "commission": Oracle("medium", (), commission),
    "total_shares_traded": Oracle("medium", (), total_shares_traded),
    "days_in_position": Oracle("medium", (), days_in_position),
    "peak_portfolio_date": Oracle("medium", (), peak_portfolio_date),
    "best_trade_day": Oracle("medium", (), best_trade_day),
    "largest_loss_trade": Oracle("medium", (), largest_loss_trade),
    "strategy_action_on_date": Oracle("medium", ("date",), strategy_action_on_date),
    "nth_trade_pnl": Oracle("medium", ("n",), nth_trade_pnl),
    "cash_after_nth_order": Oracle("medium", ("n",), cash_after_nth_order),
    "longest_holding": Oracle("medium", (), longest_holding),
    "idle_longest_stretch": Oracle("medium", (), idle_longest_stretch),
    "commission_share_of_gross": Oracle("medium", (), commission_share_of_gross),
    "price_paid_vs_signal_close": Oracle("medium", (), price_paid_vs_signal_close),
    "turnover": Oracle("medium", (), turnover),
}
