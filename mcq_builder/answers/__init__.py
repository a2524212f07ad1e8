"""The answer of every template, by name: ``ANSWERS[name](context, params)``, at full precision, or Skip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.answers import easy, hard, medium, orders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrader_bench.mcq_builder.context import Answer, Context

_EASY = (
    "first_close last_close high_on_date volume broker_cash portfolio_value sma max_shares position_on_date crossovers "
    "buy_sell_signals signal_state_on_date"
)
_MEDIUM = (
    "first_buy trade_outcomes net_pnl commission total_shares_traded days_in_position peak_portfolio_date "
    "best_trade_day largest_loss_trade strategy_action_on_date nth_trade_pnl cash_after_nth_order longest_holding "
    "idle_longest_stretch commission_share_of_gross price_paid_vs_signal_close turnover"
)
_HARD = (
    "max_drawdown roi_percentage win_rate profit_factor annualized_return avg_holding_period golden_cross_count "
    "max_drawdown_window drawdown_recovery_days calmar_ratio exposure_adjusted_return sma_comparison signal_diff "
    "sharpe_ratio sortino_ratio annualized_volatility longest_losing_streak excess_over_buy_and_hold time_under_water "
    "best_parameter_set commission_breakeven delayed_fill_cost worst_rolling_window"
)
_ORDERS = (
    "bracket_exit_kind stop_trail_level_on_date cancelled_orders margin_rejections atr_stop_exit_date slippage_cost"
)

ANSWERS: dict[str, Callable[[Context, Mapping[str, Any]], Answer]] = {
    name: getattr(module, name)
    for module, names in ((easy, _EASY), (medium, _MEDIUM), (hard, _HARD), (orders, _ORDERS))
    for name in names.split()
}
