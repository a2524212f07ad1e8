"""Hard templates: several steps over the whole series, or a second backtest."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

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
    params,
    single,
)
from backtrader_bench.checker.oracles import measures
from backtrader_bench.checker.oracles.case import Oracle, held_rows, longest_run, net, same, side_signals
from backtrader_bench.checker.oracles.orders import RESTING
from backtrader_bench.errors import RecordError

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import Result
    from backtrader_bench.checker.oracles.case import Case

NO_FALL = "the portfolio value never fell"


def max_drawdown(case: Case) -> Answer:
    """The maximum drawdown in dollars."""
    return single(Money(measures.max_drawdown(case.result.value).dollars))


def roi_percentage(case: Case) -> Answer:
    """Return on the initial cash."""
    return single(Percent(case.roi))


def win_rate(case: Case) -> Answer | Undefined:
    """Share of closed trades that won, of those that won or lost."""
    won, lost = (sum(sign * trade.net > 0 for trade in case.result.trades) for sign in (1, -1))
    if won + lost == 0:
        return Undefined("no closed trade won or lost", single(Percent(0.0)))
    return single(Percent(won / (won + lost) * 100))


def profit_factor(case: Case) -> Answer | Undefined:
    """Gains over losses of closed trades."""
    nets = [trade.net for trade in case.result.trades]
    losses = math.fsum(net for net in nets if net < 0)
    if losses == 0:
        return Undefined("no closed trade lost", single(Number(0.0)))
    return single(Number(math.fsum(net for net in nets if net > 0) / abs(losses)))


def annualized_return(case: Case) -> Answer | Undefined:
    """Growth a year."""
    growth = measures.annualised(case.spec.initial_cash, case.result.value, case.periods_per_year)
    return Undefined("the growth exceeds any number") if growth is None else single(Percent(growth))


def avg_holding_period(case: Case) -> Answer | Undefined:
    """Rows with a position a closed trade."""
    trades = len(case.result.trades)
    if not trades:
        return Undefined("no trade was closed", single(Number(0.0)))
    return single(Number(held_rows(case.result) / trades))


def golden_cross_count(case: Case) -> Answer:
    """Rows of a period where the fast average has just come above the slow one."""
    start, end = case.row("from"), case.row("to")
    if end < start:
        raise RecordError("template_params: the period ends before it starts")
    gaps = [fast - slow for fast, slow in zip(case.result.fast, case.result.slow, strict=True)]
    rows = range(max(start, 1), end + 1)
    return single(Count(sum(gaps[row] > 0 and gaps[row - 1] <= 0 for row in rows)))


def max_drawdown_window(case: Case) -> Answer | Undefined:
    """Peak, trough, dollars and percent of the maximum drawdown."""
    fall = measures.max_drawdown(case.result.value)
    answer = composite(
        peak=Day(case.date(fall.peak)),
        trough=Day(case.date(fall.trough)),
        dollars=Money(fall.dollars),
        percent=Percent(fall.percent),
    )
    return answer if fall.dollars > 0 else Undefined(NO_FALL, answer)


def drawdown_recovery_days(case: Case) -> Answer | Undefined:
    """Rows from the trough to the first at the old peak again."""
    values = case.result.value
    fall = measures.max_drawdown(values)
    back = measures.recovery(values, fall)
    if back is None:
        return Undefined("the peak was not reached again", single(Label("not recovered")))
    answer = composite(days=Count(back - fall.trough), date=Day(case.date(back)))
    return answer if fall.dollars > 0 else Undefined(NO_FALL, answer)


def calmar_ratio(case: Case) -> Answer | Undefined:
    """Growth a year over the percent of the maximum drawdown."""
    fall = measures.max_drawdown(case.result.value)
    growth = measures.annualised(case.spec.initial_cash, case.result.value, case.periods_per_year)
    if fall.percent == 0 or growth is None:
        return Undefined(NO_FALL, single(Number(0.0, 3)))
    return single(Number(growth / fall.percent, 3))


def exposure_adjusted_return(case: Case) -> Answer | Undefined:
    """Return over the percent of rows with a position."""
    held = held_rows(case.result)
    if not held:
        return Undefined("there never was a position", single(Number(0.0)))
    return single(Number(case.roi / (held / case.result.rows * 100)))


def sma_comparison(case: Case) -> Answer | Undefined:
    """The better of two parameter sets by net P/L."""
    other = case.alternative(case.asked.get("alternative"))
    theirs = net(case.rerun(params=other), case.spec)
    if same(case.net, theirs):
        return Undefined("both sets end with the same net P/L")
    chosen = case.own(other) if case.net > theirs else other
    return composite(params=params(chosen), pnl=Money(max(case.net, theirs)))


def signal_diff(case: Case) -> Answer:
    """Buy signals under two parameter sets."""
    other = case.rerun(params=case.alternative(case.asked.get("alternative")))
    first, second = side_signals(case.result, "buy"), side_signals(other, "buy")
    return composite(first=Count(first), second=Count(second), difference=Count(abs(first - second)))


def sharpe_ratio(case: Case) -> Answer | Undefined:
    """Mean over deviation of the returns, a year."""
    ratio = measures.sharpe(case.result.value, case.periods_per_year)
    return Undefined("the returns have no spread") if ratio is None else single(Number(ratio, 3))


def sortino_ratio(case: Case) -> Answer | Undefined:
    """Mean of the returns over the root mean square of the negative ones, a year."""
    changes = measures.returns(case.result.value)
    if not any(change < 0 for change in changes):
        return Undefined("no return is negative")
    downside = math.sqrt(measures.mean([min(change, 0.0) ** 2 for change in changes]))
    return single(Number(measures.mean(changes) * math.sqrt(case.periods_per_year) / downside, 3))


def annualized_volatility(case: Case) -> Answer | Undefined:
    """Deviation of the returns, a year."""
    changes = measures.returns(case.result.value)
    if len(changes) < 2:
        return Undefined("there are fewer than two returns")
    return single(Percent(measures.deviation(changes) * math.sqrt(case.periods_per_year) * 100))


def longest_losing_streak(case: Case) -> Answer:
    """Most consecutive closed trades that lost."""
    return single(Count(longest_run([trade.net < 0 for trade in case.result.trades])))


def excess_over_buy_and_hold(case: Case) -> Answer:
    """Return minus that of the price from the first row to the last."""
    closes = case.tape.close[case.result.first_row :]
    return single(Percent(case.roi - (closes[-1] / closes[0] - 1) * 100))


def time_under_water(case: Case) -> Answer:
    """Rows below an earlier high of the portfolio value."""
    return single(Count(measures.under_water(case.result.value)))


def best_parameter_set(case: Case) -> Answer | Undefined:
    """The best of several parameter sets by a named metric."""
    sets = case.asked.get("sets")
    if not isinstance(sets, list) or len(sets) < 2:
        raise RecordError("template_params: sets must be a list of parameter sets")
    scores = [_score(case, case.rerun(params=case.alternative(one))) for one in sets]
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return Undefined("a set has no such metric")
    best = max(known)
    if sum(same(score, best) for score in known) > 1:
        return Undefined("two sets share the best metric")
    return single(params(sets[known.index(best)]))


def _score(case: Case, result: Result) -> float | None:
    """The asked metric, larger is better."""
    match case.asked.get("metric"):
        case "net_pnl":
            return net(result, case.spec)
        case "max_drawdown":
            return -measures.max_drawdown(result.value).dollars
        case "sharpe_ratio":
            return measures.sharpe(result.value, case.periods_per_year)
        case metric:
            raise RecordError(f"template_params: metric {metric!r:.40} is unknown")


def commission_breakeven(case: Case) -> Answer | Undefined:
    """The lowest of the given commission rates at which money is lost."""
    for rate in _rates(case.asked.get("rates")):
        if net(case.rerun(commission_rate=rate), case.spec) < 0:
            percent = Decimal(repr(rate)) * 100
            exponent = percent.normalize().as_tuple().exponent
            return single(Percent(float(percent), max(2, -int(exponent)), exact=True))
    return Undefined("no rate turns the net P/L negative")


def _rates(rates: Any) -> list[float]:
    numbers = isinstance(rates, list) and all(type(rate) in (int, float) for rate in rates)
    if not numbers or len(rates) < 2 or sorted(set(rates)) != rates or not 0 <= rates[0] <= rates[-1] < 1:
        raise RecordError("template_params: rates must be ascending numbers from 0 to below 1")
    return [float(rate) for rate in rates]


def delayed_fill_cost(case: Case) -> Answer | Undefined:
    """Net P/L lost when every order goes out one bar later."""
    if case.spec.strategy in RESTING:
        return Undefined(f"the resting orders of {case.spec.strategy} can't be sent later")
    return single(Money(case.net - net(case.rerun(fill_delay=1), case.spec)))


def worst_rolling_window(case: Case) -> Answer | Undefined:
    """The worst return over a fixed number of rows."""
    values, rows = case.result.value, case.number("rows")
    if rows >= len(values):
        return Undefined(f"there are no {rows} rows between two rows of {len(values)}")
    changes = [(after / before - 1) * 100 for before, after in zip(values, values[rows:], strict=False)]
    return single(Percent(min(changes)))


HARD = {
    "max_drawdown": Oracle("hard", (), max_drawdown),
    "roi_percentage": Oracle("hard", (), roi_percentage),
    "win_rate": Oracle("hard", (), win_rate),
    "profit_factor": Oracle("hard", (), profit_factor),
    "annualized_return": Oracle("hard", (), annualized_return),
    "avg_holding_period": Oracle("hard", (), avg_holding_period),
    "golden_cross_count": Oracle("hard", ("from", "to"), golden_cross_count),
    "max_drawdown_window": Oracle("hard", (), max_drawdown_window),
    "drawdown_recovery_days": Oracle("hard", (), drawdown_recovery_days),
    "calmar_ratio": Oracle("hard", (), calmar_ratio),
    "exposure_adjusted_return": Oracle("hard", (), exposure_adjusted_return),
    "sma_comparison": Oracle("hard", ("alternative",), sma_comparison),
    "signal_diff": Oracle("hard", ("alternative",), signal_diff),
    "sharpe_ratio": Oracle("hard", (), sharpe_ratio),
    "sortino_ratio": Oracle("hard", (), sortino_ratio),
    "annualized_volatility": Oracle("hard", (), annualized_volatility),
    "longest_losing_streak": Oracle("hard", (), longest_losing_streak),
    "excess_over_buy_and_hold": Oracle("hard", (), excess_over_buy_and_hold),
    "time_under_water": Oracle("hard", (), time_under_water),
    "best_parameter_set": Oracle("hard", ("metric", "sets"), best_parameter_set),
    "commission_breakeven": Oracle("hard", ("rates",), commission_breakeven),
    "delayed_fill_cost": Oracle("hard", (), delayed_fill_cost),
    "worst_rolling_window": Oracle("hard", ("rows",), worst_rolling_window),
}
