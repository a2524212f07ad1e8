"""Answers that common mistakes give: fingerprints by which a wrong value names its mistake.

A mistake is a changed configuration, changed bars, or a changed parameter of the template; the answer is computed from
it as always, in the fast engine. They are private: a fingerprint next to the key leads to it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.backtest.cache import Backtests, Remembered
from backtrader_bench.checker.engine import simulate
from backtrader_bench.grading import value_matches
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Context, Skip
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrader_bench.mcq_builder.context import Answer
    from backtrader_bench.templates.template import Template

Changed = tuple[Context, dict[str, Any]]


@cache
def fast_backtests() -> Backtests:
    """The process's own backtests in the fast engine, for what is never a key."""
    return Backtests(simulate, "mistakes", None, keep=300)


def fingerprints(
    template: str, of: Context, params: Mapping[str, Any], key: Answer, fast: Backtests | Remembered | None = None
) -> dict[str, Any]:
    """Rounded wrong answers by mistake, leaving out those that are as good as right."""
    fast = fast or fast_backtests()
    words = TEMPLATES[template]
    right = words.value(key)
    found = {}
    for name, mistake in MISTAKES.items():
        answer = mistaken(template, of, params, mistake, fast)
        if answer is not None and words.value(answer) != right and not _as_good(words, answer, key):
            found[name] = words.value(answer)
    return found


def mistaken(
    template: str, of: Context, params: Mapping[str, Any], mistake: Callable[[Context, dict[str, Any]], Changed | None],
    fast: Backtests | Remembered,
) -> Answer | None:
    """The answer under a mistake; None where it can't be made here."""
    changed = mistake(Context(of.tape, of.spec, of.config, fast), dict(params))
    if changed is None:
        return None
    try:
        return ANSWERS[template](*changed)
    except (Skip, KeyError, IndexError, ZeroDivisionError):
        # A mistake may leave nothing to compute: a date before the first row, no trade, too few bars.
        return None


def _as_good(words: Template, answer: Answer, key: Answer) -> bool:
    """Whether a reply with that answer would be graded right: within the tolerance, in composites that of each part."""
    return value_matches(words.option_text(answer), words.value(key), tolerance(words, key))


def tolerance(words: Template, key: Answer) -> float | None:
    """How far a given value may be off: less than half the separation of options; None for what is no single number."""
    if [part.field for part in words.parts] != ["value"]:
        return None
    kind, value = words.parts[0].kind, key["value"]
    if kind.name in ("integer", "shares", "volume"):
        return 0.0
    if kind.decimals is None:
        return None
    return float(round(0.45 * max(2 * kind.unit, 0.01 * abs(value)), 6))


def _late(of: Context, params: dict[str, Any]) -> Changed | None:
    """Every order sent a bar late, where that means something."""
    return None if of.strategy.resting else _spec(fill_delay=1)(of, params)


def _spec(**changes: Any) -> Callable[[Context, dict[str, Any]], Changed]:
    def mistake(of: Context, params: dict[str, Any]) -> Changed:
        return replace(of, spec=msgspec.structs.replace(of.spec, **changes)), params

    return mistake


def _windows(step: int) -> Callable[[Context, dict[str, Any]], Changed | None]:
    """Every period of the strategy off by one."""

    def mistake(of: Context, params: dict[str, Any]) -> Changed | None:
        spec = of.spec.params
        moved = {name: value + step if isinstance(value, int) else value for name, value in spec.items()}
        if min(value for value in moved.values() if isinstance(value, int)) < 2:
            return None
        if of.strategy.first_row(moved) >= len(of.tape):
            return None
        return replace(of, spec=msgspec.structs.replace(of.spec, params=moved)), params

    return mistake


def _all_the_cash(of: Context, params: dict[str, Any]) -> Changed:
    """100% of the cash instead of 95%."""
    raised = {**of.spec.params, "target_percent": of.spec.params["target_percent"] / 0.95}
    return replace(of, spec=msgspec.structs.replace(of.spec, params=raised)), params


def _same_bar(of: Context, params: dict[str, Any]) -> Changed:
    """Orders filled at the close they are decided on: the next bar opens there."""
    tape = of.tape
    return replace(of, tape=replace(tape, open=(tape.open[0], *tape.close[:-1]))), params


def _open_for_close(of: Context, params: dict[str, Any]) -> Changed:
    """Signals and values taken from opens."""
    return replace(of, tape=replace(of.tape, close=of.tape.open)), params


def _previous_bar(of: Context, params: dict[str, Any]) -> Changed | None:
    """The row before the one asked about."""
    if "date" not in params:
        return None
    place = of.tape.dates.index(params["date"])
    return (of, {**params, "date": of.tape.dates[place - 1]}) if place else None


def _year(of: Context, params: dict[str, Any]) -> Changed:
    """Calendar days instead of trading days in a year."""
    return replace(of, config={**of.config, "periods_per_year": 365}), params


MISTAKES: dict[str, Callable[[Context, dict[str, Any]], Changed | None]] = {
    "filled at the close of the decision": _same_bar,
    "filled one bar late": _late,
    "open used for close": _open_for_close,
    "periods one longer": _windows(1),
    "periods one shorter": _windows(-1),
    "the row before": _previous_bar,
    "no commission": _spec(commission_rate=0.0),
    "all of the cash": _all_the_cash,
    "a year of 365": _year,
}
"""By name; see options.md for which of them a diagnostic question may be built on."""

DIAGNOSTIC = (
    "filled at the close of the decision", "open used for close", "periods one longer", "periods one shorter",
    "the row before",
)  # fmt: skip
"""Mistakes whose direction is not known beforehand; commission left out or a longer year always err one way."""
