"""From a template and its parameters to the text of a question. Everything comes from fields of the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.backtest.strategies import strategy_named
from backtrader_bench.templates.kinds import cash_text, ordinal, params_text, rate_text
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.setup import setup_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.records import TapeRef

INTRODUCTION = (
    "This question is about one backtest of a trading strategy, run with the Python package backtrader. The answer "
    "follows from the price bars and the configuration below."
)
REPLY = "Give your answer as <<< X >>>, with A, B, C or D in place of X."

REPLY_VALUE = (
    "On a line of its own before that, write VALUE: and the answer that you computed yourself, to the precision of the "
    "options, whichever option is nearest to it."
)

METRIC_WORDS = {
    "net_pnl": "the highest net profit or loss (last portfolio value minus initial cash)",
    "max_drawdown": "the lowest maximum drawdown in dollars (the largest amount by which the portfolio value of a row "
    "stays below the highest of any row up to it)",
    "sharpe_ratio": "the highest Sharpe ratio (mean over standard deviation, with divisor count - 1, of the relative "
    "changes of the portfolio value between consecutive rows)",
}


def stem_text(template: str, params: Mapping[str, Any], config: Mapping[str, Any], tape: TapeRef) -> str:
    """The stem: the configuration block and the question, without options."""
    asked = TEMPLATES[template].ask.format(**facts(params, config))
    return f"{setup_text(config, tape)}\n\n{asked}"


def question_text(stem: str, options: Mapping[str, str], *, ask_value: bool = False) -> str:
    """The full text that a solver sees; with ``ask_value`` it asks for the answer itself beside the letter."""
    listed = "\n".join(f"{letter}. {options[letter]}" for letter in sorted(options))
    reply = f"{REPLY}\n{REPLY_VALUE}" if ask_value else REPLY
    return f"{INTRODUCTION}\n\n{stem}\n\n{listed}\n\n{reply}"


def facts(params: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """What the holes of a question are filled with."""
    entry = strategy_named(config["strategy_name"])
    settings = config["strategy_params"]
    fast, slow = entry.sma_periods(settings)
    known: dict[str, Any] = {
        "symbol": config["symbol"],
        "cash": cash_text(config["initial_cash"]),
        "commission": rate_text(config["commission_rate"]),
        "periods": config["periods_per_year"],
        "fast_period": fast,
        "slow_period": slow,
        "base": params_text({name: settings[name] for name in entry.varied}),
        **params,
    }
    if "which" in params:
        known["which_period"] = {"fast": fast, "slow": slow}[params["which"]]
    if "n" in params:
        known["nth"] = ordinal(params["n"])
    if "alternative" in params:
        known["alternative"] = params_text(params["alternative"])
    if "sets" in params:
        known["sets"] = listing([params_text(one) for one in params["sets"]])
        known["metric_words"] = METRIC_WORDS[params["metric"]]
    if "rates" in params:
        known["rates"] = listing([rate_text(rate) for rate in params["rates"]])
    return known


def listing(items: list[str]) -> str:
    """``a, b, c and d``."""
    return f"{', '.join(items[:-1])} and {items[-1]}"
