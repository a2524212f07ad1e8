"""Options read as they are written, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from backtrader_bench.checker import published
from backtrader_bench.checker.answers import (
    Answer,
    Count,
    Day,
    Label,
    Money,
    Number,
    Part,
    Percent,
    near,
    params,
    right,
    single,
)
from backtrader_bench.checker.oracles import ORACLES
from backtrader_bench.checker.reading import FORMS, LABELS, alike, match, read

# template, option, values: the examples of docs/templates.md
OURS: list[tuple[str, str, tuple[Any, ...]]] = [
    ("first_close", "$75.09", (75.09,)),
    ("net_pnl", "-$1,234.56", (-1234.56,)),
    ("net_pnl", "$1,234,567.80", (1234567.8,)),
    ("volume", "63141600", (63141600,)),
    ("sma", "162.79", (162.79,)),
    ("position_on_date", "0", (0,)),
    ("crossovers", "16", (16,)),
    ("buy_sell_signals", "16 buys and 15 sells", (16, 15)),
    ("first_buy", "668 shares at close $71.67 on 2020-04-16", (668, 71.67, "2020-04-16")),
    ("trade_outcomes", "8 won and 7 lost", (8, 7)),
    ("commission", "$2,194.33 over 31 orders", (2194.33, 31)),
    ("total_shares_traded", "7769 bought, 7326 sold, 15095 in total", (7769, 7326, 15095)),
    ("days_in_position", "602 days in a position, 374 without, 976 in total", (602, 374, 976)),
    ("peak_portfolio_date", "2023-07-31 at $96,438.36", ("2023-07-31", 96438.36)),
    ("best_trade_day", "2020-09-17 with $25,179.21", ("2020-09-17", 25179.21)),
    ("largest_loss_trade", "2022-03-14 with -$4,592.98", ("2022-03-14", -4592.98)),
    ("win_rate", "53.33%", (53.33,)),
    ("roi_percentage", "-4.10%", (-4.1,)),
    ("max_drawdown_window", "2020-09-01 to 2020-11-23: $28,843.29 (31.49%)",
     ("2020-09-01", "2020-11-23", 28843.29, 31.49)),
    ("drawdown_recovery_days", "647 trading days, on 2023-06-22", (647, "2023-06-22")),
    ("calmar_ratio", "0.761", (0.761,)),
    ("sharpe_ratio", "-0.012", (-0.012,)),
    ("sma_comparison", "(pfast=13, pslow=40) with $50,746.75", ((("pfast", 13.0), ("pslow", 40.0)), 50746.75)),
    ("signal_diff", "16 vs 18 (difference 2)", (16, 18, 2)),
    ("best_parameter_set", "(rsi_period=9, rsi_buy_threshold=27.5, rsi_sell_threshold=70)",
     ((("rsi_buy_threshold", 27.5), ("rsi_period", 9.0), ("rsi_sell_threshold", 70.0)),)),
    ("best_parameter_set", "(window=90)", ((("window", 90.0),),)),
    ("commission_breakeven", "0.125%", (0.125,)),
    ("strategy_action_on_date", "a buy order was filled", ("buy",)),
    ("strategy_action_on_date", "no order was filled and no position was held", ("flat",)),
    ("signal_state_on_date", "fast SMA not above slow SMA, position held", ("below_long",)),
    ("drawdown_recovery_days", "not recovered", ("not recovered",)),
]  # fmt: skip

THEIRS: list[tuple[str, str, tuple[Any, ...]]] = [
    ("net_pnl", "$-3017.22", (-3017.22,)),
    ("trade_outcomes", "3 profitable and 4 losing", (3, 4)),
    ("total_shares_traded", "10 bought and 9 sold (19 total)", (10, 9, 19)),
    ("days_in_position", "5 days in position, 6 days out (11 total trading days)", (5, 6, 11)),
    ("best_trade_day", "2021-05-12 with P/L $-3017.22", ("2021-05-12", -3017.22)),
    ("drawdown_recovery_days", "9 trading days after 2020-11-23 (recovered on 2020-12-06)",
     (9, "2020-11-23", "2020-12-06")),
    ("drawdown_recovery_days", "Not recovered by the end", ("not recovered",)),
    ("sma_comparison", "(pfast=1, pslow=2) with net P/L $5.00", ((("pfast", 1.0), ("pslow", 2.0)), 5.0)),
    ("signal_diff", "1 vs 2 (difference of 1)", (1, 2, 1)),
    ("strategy_action_on_date", "Sell — 584 shares sold", ("sell", 584)),
    ("strategy_action_on_date", "Buy — shares purchased", ("buy", None)),
    ("strategy_action_on_date", "Buy and Sell — both", ("buy and sell", None)),
    ("strategy_action_on_date", "No action — held", ("nothing", None)),
    ("strategy_action_on_date", "No action — a sell signal, no position",
     ("no action — a sell signal, no position", None)),
]  # fmt: skip


def values(parts: tuple[Part, ...] | None) -> tuple[Any, ...] | None:
    """The bare values."""
    return None if parts is None else tuple(part.value for part in parts)


@pytest.mark.parametrize(("template", "text", "expected"), OURS)
def test_our_options_are_read(template: str, text: str, expected: tuple[Any, ...]) -> None:
    assert values(read(template, text)) == expected


@pytest.mark.parametrize(("template", "text", "expected"), THEIRS)
def test_published_options_are_read(template: str, text: str, expected: tuple[Any, ...]) -> None:
    assert values(published.read(template, text)) == expected


def test_every_template_has_a_way_to_be_read() -> None:
    assert set(FORMS) | set(LABELS) == set(ORACLES)
    assert set(published.MARKS) <= set(ORACLES) and len(published.MARKS) == 33


REFUSED = [
    ("net_pnl", "1234.56"), ("net_pnl", "$$5.00"), ("net_pnl", "-$-5.00"), ("net_pnl", "$1,23.45"),
    ("net_pnl", "$1.2.3"), ("net_pnl", "$5.00 or so"), ("net_pnl", "$"), ("net_pnl", ""), ("net_pnl", "$٣.٠٠"),
    ("net_pnl", "$5.00\n$6.00"), ("net_pnl", "$1e3"), ("net_pnl", "−$5.00"), ("net_pnl", "$inf"), ("net_pnl", "nan"),
    ("volume", "#"), ("volume", "1.0"), ("volume", "12e3"), ("volume", "0x10"), ("volume", "1 000"), ("volume", "$16"),
    ("win_rate", "53.33"), ("win_rate", "53.33%%"), ("sma", "2"), ("sma", "$2.00"), ("sma", "~"),
    ("trade_outcomes", "8 lost and 7 won"), ("trade_outcomes", "8 and 7"), ("trade_outcomes", "# won and 7 lost"),
    ("best_parameter_set", "pfast=8, pslow=40"), ("best_parameter_set", "(pfast=)"), ("best_parameter_set", "(8, 40)"),
    ("first_buy", "668 shares at close $71.67 on 2020-4-16"), ("first_buy", "668 shares at close 71.67 on 2020-04-16"),
    ("strategy_action_on_date", "a buy order was filled and a sell order was filled"), ("crossovers", "9" * 5000),
    ("max_drawdown_window", "2020-09-01 to 2020-11-23: $28,843.29"), ("volume", "<script>16</script>"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "text"), REFUSED)
def test_what_only_looks_like_an_option_is_not_one(template: str, text: str) -> None:
    assert read(template, text) is None


def one(text: str, template: str = "net_pnl") -> tuple[Part, ...]:
    """The parts of an option that can be read."""
    parts = read(template, text)
    assert parts is not None
    return parts


def test_a_value_is_right_when_rounded_as_shown() -> None:
    truth = single(Money(1234.5649))
    assert right(truth, one("$1,234.56"))
    assert right(single(Money(1234.565)), one("$1,234.56")) and right(single(Money(1234.565)), one("$1,234.57"))
    assert not right(truth, one("$1,234.57"))
    assert near(truth, one("$1,234.57")) and not near(truth, one("$1,234.55"))


def test_other_decimals_than_the_kind_shows_are_wrong() -> None:
    assert not right(single(Money(1234.5)), one("$1,234.5"))
    assert not right(single(Number(0.76, 3)), one("0.76", "sma"))
    assert not right(single(Money(1234.5)), one("$1,234.500"))


def test_exact_kinds_have_no_neighbours() -> None:
    assert not near(single(Count(16)), one("17", "crossovers"))
    assert not near(single(Percent(0.06, 2, exact=True)), one("0.07%", "commission_breakeven"))
    assert near(single(Percent(0.06)), one("0.07%", "win_rate"))
    assert not right(single(Day("2020-01-02")), (Day("2020-01-03"),))
    assert not right(single(Label("buy")), (Label("sell"),))


def test_every_part_must_be_right() -> None:
    truth = Answer((Count(8), Count(7)), ("won", "lost"))
    assert right(truth, one("8 won and 7 lost", "trade_outcomes"))
    assert not right(truth, one("8 won and 6 lost", "trade_outcomes"))
    assert not right(truth, (Count(8),))


def test_sets_are_equal_in_any_order() -> None:
    assert right(single(params({"pslow": 40, "pfast": 8})), one("(pfast=8, pslow=40)", "best_parameter_set"))
    assert not right(single(params({"pslow": 40, "pfast": 8})), one("(pfast=8, pfast=40)", "best_parameter_set"))


def test_options_that_say_the_same() -> None:
    assert alike(one("$1,234.50"), one("$1234.5")) and alike(one("$0.00"), one("-$0.00"))
    assert not alike(one("$1.00"), one("1.00", "sma")) and not alike(None, None)


def test_a_form_must_match_from_end_to_end() -> None:
    assert match("#", "16 ") is not None
    assert match("#", "16 or 17") is None
