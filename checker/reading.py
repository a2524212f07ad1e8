"""Options read back into typed parts, by forms that docs/templates.md gives.

A text is first reduced to its *skeleton*: each value becomes one sign (``#`` whole number, ``~`` number with
decimals, ``$`` money, ``%`` percent, ``@`` date, ``&`` parameter set), the words stay. The skeleton must
match the template's form from end to end, so what merely looks like an option is not read as one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backtrader_bench.checker.answers import Count, Day, Label, Money, Number, Params, Part, Percent

if TYPE_CHECKING:
    from collections.abc import Mapping

Parts = tuple[Part, ...]

LONGEST = 200
"""Characters; the longest honest option has about 70."""
DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
VALUE = re.compile(
    rf"""(?<![\w.,$%-])(?:
        (?P<params>\([a-z_]+=-?{DIGITS}(?:,\ [a-z_]+=-?{DIGITS})*\))
        | (?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})
        | (?P<money>(?:-\$|\$-?){DIGITS})
        | (?P<percent>-?{DIGITS}%)
        | (?P<number>-?{DIGITS})
    )(?![\w$%-]|[.,][0-9])""",
    re.VERBOSE,
)
SETTING = re.compile(r"([a-z_]+)=([^,)]+)")

FORMS: Mapping[str, str] = {
    "first_close": r"\$",
    "last_close": r"\$",
    "high_on_date": r"\$",
    "volume": "#",
    "broker_cash": r"\$",
    "portfolio_value": r"\$",
    "sma": "~",
    "max_shares": "#",
    "position_on_date": "#",
    "crossovers": "#",
    "buy_sell_signals": "# buys? and # sells?",
    "first_buy": r"# shares? at close \$ on @",
    "trade_outcomes": "# won and # lost",
    "net_pnl": r"\$",
    "commission": r"\$ over # orders?",
    "total_shares_traded": "# bought, # sold, # in total",
    "days_in_position": "# days? in a position, # without, # in total",
    "peak_portfolio_date": r"@ at \$",
    "best_trade_day": r"@ with \$",
    "largest_loss_trade": r"@ with \$",
    "nth_trade_pnl": r"\$",
    "cash_after_nth_order": r"\$",
    "longest_holding": "#",
    "idle_longest_stretch": "#",
    "commission_share_of_gross": "%",
    "price_paid_vs_signal_close": r"\$",
    "turnover": "~",
    "max_drawdown": r"\$",
    "roi_percentage": "%",
    "win_rate": "%",
    "profit_factor": "~",
    "annualized_return": "%",
    "avg_holding_period": "~",
    "golden_cross_count": "#",
    "max_drawdown_window": r"@ to @: \$ \(%\)",
    "drawdown_recovery_days": "# trading days?, on @",
    "calmar_ratio": "~",
    "exposure_adjusted_return": "~",
    "sma_comparison": r"& with \$",
    "signal_diff": r"# vs # \(difference #\)",
    "sharpe_ratio": "~",
    "sortino_ratio": "~",
    "annualized_volatility": "%",
    "longest_losing_streak": "#",
    "excess_over_buy_and_hold": "%",
    "time_under_water": "#",
    "best_parameter_set": "&",
    "commission_breakeven": "%",
    "delayed_fill_cost": r"\$",
    "worst_rolling_window": "%",
    "bracket_exit_kind": r"(?P<word>its stop order|its limit order) on @",
    "stop_trail_level_on_date": r"\$",
    "cancelled_orders": "#",
    "margin_rejections": "#",
    "atr_stop_exit_date": "@",
    "slippage_cost": r"\$",
}
WORDS: Mapping[str, str] = {"its stop order": "stop", "its limit order": "limit"}
"""Labels that stand before the values of an option, in a form's group ``word``."""
LABELS: Mapping[str, Mapping[str, str]] = {
    "signal_state_on_date": {
        f"fast SMA {relation} slow SMA, {position}": f"{side}_{state}"
        for relation, side in (("above", "above"), ("not above", "below"))
        for position, state in (("position held", "long"), ("no position", "flat"))
    },
    "strategy_action_on_date": {
        "a buy order was filled": "buy",
        "a sell order was filled": "sell",
        "no order was filled and a position was held": "hold",
        "no order was filled and no position was held": "flat",
    },
    "drawdown_recovery_days": {"not recovered": "not recovered"},
}


def read(template: str, text: str) -> Parts | None:
    """The parts of an option of ``template``, None when it isn't written as the template's options are."""
    label = LABELS.get(template, {}).get(text.strip())
    if label is not None:
        return (Label(label),)
    form = FORMS.get(template)
    return match(form, text) if form is not None else None


def match(form: str, text: str) -> Parts | None:
    """The values of ``text`` in order when its skeleton matches ``form``, else None."""
    if len(text) > LONGEST:
        return None
    parts: list[Part] = []

    def sign(found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        mark, part = _typed(kind, found[kind])
        parts.append(part)
        return mark

    skeleton = " ".join(VALUE.sub(sign, text).split())
    # Signs that stand in the text itself would pass for values that aren't there.
    honest = sum(skeleton.count(mark) for mark in "#~$%@&") == len(parts)
    found = re.fullmatch(form, skeleton)
    if not found or not honest:
        return None
    return (Label(WORDS[found["word"]]), *parts) if "word" in found.groupdict() else tuple(parts)


def _typed(kind: str, text: str) -> tuple[str, Part]:
    """A value's sign in the skeleton, and the value."""
    if kind == "date":
        return "@", Day(text)
    if kind == "params":
        return "&", Params(tuple(sorted((name, number(value)) for name, value in SETTING.findall(text))))
    decimals = len(re.sub(r"[^0-9.]", "", text).partition(".")[2])
    if kind == "money":
        return "$", Money(number(text), decimals)
    if kind == "percent":
        return "%", Percent(number(text), decimals)
    if decimals:
        return "~", Number(number(text), decimals)
    return "#", Count(int(text.replace(",", "")))


def number(text: str) -> float:
    """The number in a value, whatever its unit."""
    return float(re.sub(r"[$,%]", "", text))


def alike(one: Parts | None, other: Parts | None) -> bool:
    """Whether two options say the same; how many decimals they say it with makes no difference."""
    if one is None or other is None or len(one) != len(other):
        return False
    return all(type(a) is type(b) and a.value == b.value for a, b in zip(one, other, strict=True))
