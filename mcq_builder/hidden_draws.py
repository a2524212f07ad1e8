"""What templates ask of hidden worlds: parameters that depend on the configuration or the set of worlds, never on one.

Where a template can be asked of any row, the calendar is all it takes; the nth trade is one that most worlds have, and
commission rates lie between the worlds' own break-even rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.answers.orders import filled_exits
from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.draws import any_row, breakeven, draws
from backtrader_bench.mcq_builder.hidden import FIRST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized
    from random import Random

    from backtrader_bench.backtest.result import Result
    from backtrader_bench.mcq_builder.hidden import Worlds


def hidden_draws(template: str, hidden: Worlds, rng: Random) -> Iterator[dict[str, Any]]:
    """The parameters that ``template`` can be asked with of these worlds; Skip when it can't be asked at all."""
    drawer = _DRAWERS.get(template)
    return drawer(hidden, rng) if drawer else draws(template, hidden.first(FIRST)[0], rng)


def _row(hidden: Worlds, rng: Random) -> Iterator[dict[str, Any]]:
    return any_row(hidden.first(FIRST)[0], rng)


def _nth(events: Callable[[Result], Sized]) -> Callable[[Worlds, Random], Iterator[dict[str, Any]]]:
    """The nth of some events, such that three worlds in four have as many."""

    def drawer(hidden: Worlds, rng: Random) -> Iterator[dict[str, Any]]:
        counts = sorted(len(events(of.result)) for of in hidden.first(FIRST))
        numbers = list(range(1, counts[FIRST // 4] + 1))
        rng.shuffle(numbers)
        for n in numbers:
            yield {"n": n}

    return drawer


def _rates(hidden: Worlds, rng: Random) -> Iterator[dict[str, Any]]:
    turns = []
    for of in hidden.first(FIRST):
        try:
            turns.append(breakeven(of))
        except Skip:
            continue
    if len(turns) < FIRST // 3:
        raise Skip("too few worlds in which commission turns a profit into a loss")
    turns.sort()
    for _ in range(20):
        # Each rate is the first above a quarter or so of the break-evens, so that each is the answer somewhere.
        places = [(step + rng.uniform(0.6, 0.95)) / 4 * len(turns) for step in range(3)]
        rates = [round(turns[int(place)] * 1.001, 4) for place in places]
        rates.append(round(turns[-1] * rng.uniform(1.02, 1.2), 4))
        if rates[0] > 0 and rates[3] < 0.5 and rates == sorted(set(rates)):
            yield {"rates": rates}


_DRAWERS: dict[str, Callable[[Worlds, Random], Iterator[dict[str, Any]]]] = {
    "position_on_date": _row,
    "signal_state_on_date": _row,
    "strategy_action_on_date": _row,
    "nth_trade_pnl": _nth(lambda result: result.trades),
    "cash_after_nth_order": _nth(lambda result: result.fills),
    "bracket_exit_kind": _nth(filled_exits),
    "atr_stop_exit_date": _nth(filled_exits),
    "stop_trail_level_on_date": _row,
    "commission_breakeven": _rates,
}
