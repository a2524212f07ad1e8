"""Every oracle on a backtest worked out by hand, and the edges of the harder ones."""

from __future__ import annotations

import math
import statistics
from itertools import pairwise
from typing import Any

import pytest

from backtrader_bench.checker.answers import Answer, Percent, Undefined, show
from backtrader_bench.checker.oracles import ORACLES, measures
from backtrader_bench.checker.oracles.case import Case
from backtrader_bench.checker.oracles.orders import ORDERS
from backtrader_bench.errors import RecordError
from tests.checker.hand import RESULT, case, ending, flat

VALUES = RESULT.value
RETURNS = [after / before - 1 for before, after in pairwise(VALUES)]
YEAR = math.sqrt(252)
DOWN = math.sqrt(sum(min(r, 0) ** 2 for r in RETURNS) / len(RETURNS))
GROWTH = (0.9541 ** (252 / 8) - 1) * 100

# template, template_params, parts' values in order
BY_HAND: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
    ("first_close", {}, (10.0,)),
    ("last_close", {}, (13.0,)),
    ("high_on_date", {"date": "2020-01-01"}, (10.25,)),
    ("volume", {"date": "2020-01-02"}, (1001,)),
    ("broker_cash", {"date": "2020-01-04"}, (394.0,)),
    ("portfolio_value", {"date": "2020-01-05"}, (944.0,)),
    ("sma", {"which": "slow", "date": "2020-01-07"}, (12.5,)),
    ("sma", {"which": "fast", "date": "2020-01-03"}, (11.0,)),
    ("max_shares", {}, (99,)),  # 1000 / (10 * 1.01) = 99.0099
    ("position_on_date", {"date": "2020-01-07"}, (40,)),
    ("crossovers", {}, (5,)),
    ("buy_sell_signals", {}, (3, 2)),
    ("signal_state_on_date", {"date": "2020-01-03"}, ("below_flat",)),
    ("signal_state_on_date", {"date": "2020-01-04"}, ("above_long",)),
    ("signal_state_on_date", {"date": "2020-01-05"}, ("below_long",)),
    ("signal_state_on_date", {"date": "2020-01-06"}, ("above_flat",)),
    ("first_buy", {}, (50, 12.0, "2020-01-04")),
    ("trade_outcomes", {}, (1, 1)),
    ("net_pnl", {}, (-45.9,)),
    ("commission", {}, (25.9, 5)),
    ("total_shares_traded", {}, (120, 90, 210)),
    ("days_in_position", {}, (5, 3, 8)),
    ("peak_portfolio_date", {}, ("2020-01-06", 1037.5)),
    ("best_trade_day", {}, ("2020-01-06", 37.5)),
    ("largest_loss_trade", {}, ("2020-01-08", -49.2)),
    ("strategy_action_on_date", {"date": "2020-01-04"}, ("buy",)),
    ("strategy_action_on_date", {"date": "2020-01-05"}, ("hold",)),
    ("strategy_action_on_date", {"date": "2020-01-06"}, ("sell",)),
    ("strategy_action_on_date", {"date": "2020-01-03"}, ("flat",)),
    ("nth_trade_pnl", {"n": 2}, (-49.2,)),
    ("cash_after_nth_order", {"n": 4}, (988.3,)),
    ("longest_holding", {}, (2,)),
    ("idle_longest_stretch", {}, (1,)),
    ("commission_share_of_gross", {}, (21.7 / 10 * 100,)),
    ("price_paid_vs_signal_close", {}, ((12 - 11) + (12 - 13) + (14 - 11),)),
    ("turnover", {}, ((600 + 650 + 480 + 440 + 420) / statistics.mean(VALUES),)),
    ("max_drawdown", {}, (1037.5 - 954.1,)),
    ("roi_percentage", {}, (-4.59,)),
    ("win_rate", {}, (50.0,)),
    ("profit_factor", {}, (37.5 / 49.2,)),
    ("annualized_return", {}, (GROWTH,)),
    ("avg_holding_period", {}, (2.5,)),
    ("golden_cross_count", {"from": "2020-01-03", "to": "2020-01-10"}, (3,)),
    ("golden_cross_count", {"from": "2020-01-04", "to": "2020-01-04"}, (1,)),
    ("golden_cross_count", {"from": "2020-01-03", "to": "2020-01-03"}, (0,)),
    ("max_drawdown_window", {}, ("2020-01-06", "2020-01-10", 83.4, 83.4 / 1037.5 * 100)),
    ("calmar_ratio", {}, (GROWTH / (83.4 / 1037.5 * 100),)),
    ("exposure_adjusted_return", {}, (-4.59 / 62.5,)),
    ("sharpe_ratio", {}, (statistics.mean(RETURNS) / statistics.stdev(RETURNS) * YEAR,)),
    ("sortino_ratio", {}, (statistics.mean(RETURNS) * YEAR / DOWN,)),
    ("annualized_volatility", {}, (statistics.stdev(RETURNS) * YEAR * 100,)),
    ("longest_losing_streak", {}, (1,)),
    ("excess_over_buy_and_hold", {}, (-4.59 - (13 / 11 - 1) * 100,)),
    ("time_under_water", {}, (6,)),
    ("worst_rolling_window", {"rows": 2}, (min(VALUES[i + 2] / VALUES[i] - 1 for i in range(6)) * 100,)),
]


def values(answer: Answer | Undefined) -> tuple[Any, ...]:
    """The values of an answer's parts."""
    assert isinstance(answer, Answer), answer
    return tuple(part.value for part in answer.parts)


def ask(template: str, one: Case) -> Answer | Undefined:
    """The oracle's answer."""
    return ORACLES[template].answer(one)


@pytest.mark.parametrize(
    ("template", "asked", "expected"), BY_HAND, ids=[f"{t}-{i}" for i, (t, _, _) in enumerate(BY_HAND)]
)
def test_answers_worked_out_by_hand(template: str, asked: dict[str, Any], expected: tuple[Any, ...]) -> None:
    found = values(ask(template, case(asked)))
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == (theirs if isinstance(theirs, str) else pytest.approx(theirs, rel=1e-12))


def test_every_template_is_there_once() -> None:
    assert len(ORACLES) == 58
    tested = {template for template, _, _ in BY_HAND}
    second_backtest = {
        "sma_comparison",
        "signal_diff",
        "best_parameter_set",
        "commission_breakeven",
        "delayed_fill_cost",
    }
    # Order mechanics have a page of tests of their own, test_order_oracles.py.
    assert set(ORACLES) == tested | second_backtest | {"drawdown_recovery_days"} | set(ORDERS)


OTHER = {"pfast": 3, "pslow": 9}
OTHERS = {
    str(OTHER): ending(10.0),
    "1": ending(-60.0),
    "0.02": ending(5.0),
    "0.03": ending(-1.0),
    "0.0425": ending(-9.0),
}


def test_the_better_of_two_sets_is_named_with_its_result() -> None:
    found = ask("sma_comparison", case({"alternative": OTHER}, OTHERS))
    assert values(found) == ((("pfast", 3), ("pslow", 9)), pytest.approx(10.0))
    found = ask("sma_comparison", case({"alternative": OTHER}, {str(OTHER): ending(-50.0)}))
    assert values(found) == ((("pfast", 1), ("pslow", 2)), pytest.approx(-45.9))
    assert isinstance(ask("sma_comparison", case({"alternative": OTHER}, {str(OTHER): RESULT})), Undefined)


def test_signals_of_two_sets_are_compared() -> None:
    assert values(ask("signal_diff", case({"alternative": OTHER}, {str(OTHER): flat().result}))) == (3, 0, 3)


def test_delayed_fills_cost_the_difference() -> None:
    assert values(ask("delayed_fill_cost", case({}, OTHERS))) == (pytest.approx(-45.9 + 60.0),)


def test_the_first_rate_with_a_loss_is_written_with_its_decimals() -> None:
    found = ask("commission_breakeven", case({"rates": [0.02, 0.03, 0.0425]}, OTHERS))
    assert isinstance(found, Answer) and found.parts == (Percent(3.0, 2, exact=True),)
    found = ask("commission_breakeven", case({"rates": [0.02, 0.0425]}, OTHERS))
    assert isinstance(found, Answer) and found.parts == (Percent(4.25, 2, exact=True),)
    found = ask("commission_breakeven", case({"rates": [0.00125, 0.02]}, {"0.00125": ending(-1.0)}))
    assert isinstance(found, Answer) and found.parts == (Percent(0.125, 3, exact=True),)
    assert isinstance(
        ask("commission_breakeven", case({"rates": [0.01, 0.02]}, {"0.01": ending(1), "0.02": ending(0)})), Undefined
    )


@pytest.mark.parametrize(("metric", "best"), [("net_pnl", 2), ("max_drawdown", 1), ("sharpe_ratio", 2)])
def test_the_best_set_by_each_metric(metric: str, best: int) -> None:
    sets = [{"pfast": n, "pslow": 9} for n in range(4)]
    results = {str(one): ending(net) for one, net in zip(sets, (-100.0, -45.0, 300.0, -70.0), strict=True)}
    if metric == "max_drawdown":  # the others fall by as much, to another end
        results |= {str(sets[2]): ending(-200.0)}
    assert values(ask("best_parameter_set", case({"metric": metric, "sets": sets}, results))) == (
        (("pfast", best), ("pslow", 9)),
    )


def test_two_best_sets_are_no_answer() -> None:
    sets = [{"pfast": n} for n in range(2)]
    found = ask("best_parameter_set", case({"metric": "net_pnl", "sets": sets}, {str(s): RESULT for s in sets}))
    assert isinstance(found, Undefined)


UNDEFINED = [
    "first_buy", "best_trade_day", "largest_loss_trade", "longest_holding", "commission_share_of_gross", "win_rate",
    "price_paid_vs_signal_close", "profit_factor", "avg_holding_period", "max_drawdown_window", "calmar_ratio",
    "drawdown_recovery_days", "exposure_adjusted_return", "sharpe_ratio", "sortino_ratio", "peak_portfolio_date",
]  # fmt: skip


@pytest.mark.parametrize("template", UNDEFINED)
def test_a_backtest_without_trades_leaves_it_undefined(template: str) -> None:
    found = ask(template, flat())
    assert isinstance(found, Undefined) and found.reason
    assert show(found).startswith("undefined")


def test_zero_is_an_answer_where_it_is_one() -> None:
    for template in ("trade_outcomes", "commission", "crossovers", "max_drawdown", "turnover", "roi_percentage"):
        assert isinstance(ask(template, flat()), Answer), template
    assert values(ask("idle_longest_stretch", flat())) == (8,)


def test_ordinals_beyond_the_last_are_undefined() -> None:
    assert isinstance(ask("nth_trade_pnl", case({"n": 3})), Undefined)
    assert isinstance(ask("cash_after_nth_order", case({"n": 6})), Undefined)


def test_tied_trades_are_no_answer() -> None:
    twice = [RESULT.trades[0], RESULT.trades[0]]
    assert isinstance(ask("best_trade_day", case(trades=twice)), Undefined)


# values -> peak row, trough row, dollars
FALLS = [
    ([5.0, 4.0, 3.0], (0, 2, 2.0)),
    ([1.0, 9.0, 9.0, 4.0, 9.0, 4.0], (1, 3, 5.0)),  # first row at the maximum, first row of the largest fall
    ([1.0, 5.0, 3.0, 6.0, 4.0], (1, 2, 2.0)),  # two falls of 2: the first
    ([1.0, 2.0, 3.0], (0, 0, 0.0)),
    ([7.0], (0, 0, 0.0)),
]


@pytest.mark.parametrize(("series", "expected"), FALLS)
def test_drawdown_peaks_and_ties(series: list[float], expected: tuple[int, int, float]) -> None:
    fall = measures.max_drawdown(series)
    assert (fall.peak, fall.trough, fall.dollars) == expected


def test_recovery_is_the_first_row_at_the_peak_again() -> None:
    series = [1000.0, 900.0, 950.0, 1000.0, 1200.0, 1100.0, 1150.0, 1199.0]
    found = ask("drawdown_recovery_days", case(value=series))
    assert values(found) == (2, "2020-01-06")
    assert measures.recovery(series, measures.max_drawdown(series)) == 3
    assert measures.recovery(series[4:], measures.max_drawdown(series[4:])) is None
    missing = ask("drawdown_recovery_days", case(value=[1000.0, 1100.0, 900.0, 1000, 1000, 1000, 1000, 1000]))
    assert isinstance(missing, Undefined) and missing.filler is not None


def test_a_cross_on_the_first_row_never_counts() -> None:
    fast, slow = [2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0], [1.0] * 8
    whole = {"from": "2020-01-03", "to": "2020-01-10"}
    assert values(ask("golden_cross_count", case(whole, fast=fast, slow=slow))) == (2,)
    from_third = {"from": "2020-01-05", "to": "2020-01-09"}
    assert values(ask("golden_cross_count", case(from_third, fast=fast, slow=slow))) == (1,)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("broker_cash", {"date": "2020-01-02"}, "warm-up"),
    ("broker_cash", {"date": "2020-02-02"}, "no bar"),
    ("broker_cash", {"date": 7}, "date"),
    ("sma", {"which": "middle", "date": "2020-01-05"}, "which"),
    ("nth_trade_pnl", {"n": 0}, "n is 0"),
    ("nth_trade_pnl", {"n": True}, "True"),
    ("golden_cross_count", {"from": "2020-01-08", "to": "2020-01-05"}, "ends before"),
    ("sma_comparison", {"alternative": {"speed": 3}}, "speed"),
    ("sma_comparison", {"alternative": []}, "no set"),
    ("best_parameter_set", {"metric": "luck", "sets": [OTHER, OTHER]}, "luck"),
    ("best_parameter_set", {"metric": "net_pnl", "sets": OTHER}, "list"),
    ("commission_breakeven", {"rates": [0.2, 0.1]}, "ascending"),
    ("commission_breakeven", {"rates": [0.2, 10**400]}, "ascending"),
    ("worst_rolling_window", {"rows": "2"}, "rows"),
]


@pytest.mark.parametrize(("template", "asked", "word"), BAD)
def test_parameters_that_cannot_be_asked(template: str, asked: dict[str, Any], word: str) -> None:
    with pytest.raises(RecordError, match=word):
        ask(template, case(asked, OTHERS))


def test_parts_have_the_decimals_of_the_page() -> None:
    three = {"calmar_ratio", "sharpe_ratio", "sortino_ratio"}
    for template, asked, _ in BY_HAND:
        answer = ask(template, case(asked))
        assert isinstance(answer, Answer)
        decimals = {getattr(part, "decimals", None) for part in answer.parts} - {None}
        assert decimals <= ({3} if template in three else {2}), template


def test_names_of_parts_are_the_keys_of_value() -> None:
    names = {
        template: found.names
        for template, asked, _ in BY_HAND
        if isinstance(found := ask(template, case(asked)), Answer)
    }
    assert names["first_buy"] == ("shares", "close", "date")
    assert names["max_drawdown_window"] == ("peak", "trough", "dollars", "percent")
    assert names["net_pnl"] == ("",)
