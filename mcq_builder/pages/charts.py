"""The backtests behind questions as compact series for charts: each distinct one once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.checker.claim import own_claim
from backtrader_bench.checker.engine import simulate, strategy_named
from backtrader_bench.checker.indicators import Closes, placed, rsi, smoothed
from backtrader_bench.checker.published import published_claim
from backtrader_bench.errors import BenchError, DataError, RecordError
from backtrader_bench.market import pins
from backtrader_bench.records import MINED, is_published, to_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from backtrader_bench.backtest.result import BacktestSpec, Result
    from backtrader_bench.checker.claim import Claim
    from backtrader_bench.checker.indicators import Floats
    from backtrader_bench.market.tape import Tape
    from backtrader_bench.mcq_builder.pages.facts import Facts

    Progress = Callable[[int, int], None]

FINE, COARSE = 2000, 400
"""A series is rounded to decimals that tell at least so many steps of its range apart: finer than a screen
and, ``COARSE``, than the lower panes."""


@dataclass(frozen=True)
class Own:
    """Indicators that are not on the scale of prices, below them."""

    title: str
    bounds: tuple[float, ...]
    """Levels that the strategy compares with."""
    lines: tuple[tuple[str, int, tuple[int, ...], int], ...]
    """Name, bar of the first value, values times ``10 ** decimals``, decimals."""


@dataclass(frozen=True)
class Chart:
    """One backtest to draw."""

    days: tuple[int, ...]
    """Days since 1970-01-01, one a bar."""
    close: tuple[int, ...]
    """One a bar, times ``10 ** close_decimals``."""
    close_decimals: int
    first_row: int
    """The bar of the first value."""
    value: tuple[int, ...]
    """Portfolio value from ``first_row`` on, times ``10 ** value_decimals``."""
    value_decimals: int
    fills: tuple[tuple[int, str, int, float], ...]
    """Bar, ``B`` or ``S``, shares, price."""
    cash: float
    """At the start."""
    title: str
    lines: tuple[tuple[str, int], ...] = ()
    """Averages of the closes that are drawn over them, ``sma`` or ``ema`` and bars: the page computes them."""
    stops: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Where a stop stood: the first bar of each stretch and its levels, scaled as the closes."""
    own: Own | None = None


@dataclass
class Charts:
    """Which question has which chart, and why a question has none."""

    of: dict[str, int]
    """Question id -> what ``add`` gave for its chart."""
    missing: dict[str, str]


def add_charts(
    facts: Iterable[Facts], add: Callable[[Chart], int], data: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> Charts:
    """Hand the chart of every question to ``add``, each distinct backtest once.

    Backtests run in the checker's engine, whose results equal backtrader's. Bars come from the store; ``data`` is where
    to look instead (published records name no bars). A question whose backtest can't be run gets a reason.
    """
    found = Charts({}, {})
    known: dict[tuple[str, str], int] = {}
    bars = Bars(data)
    # Questions of one tape follow each other, so that no more than one has to be held.
    todo = sorted(facts, key=lambda one: (str(one.record.get("tape")), one.id))
    for done, one in enumerate(todo, 1):
        try:
            claim = claim_of(one)
            tape = bars.of(claim)
            key = (tape.sha256, claim.spec.key)
            if key not in known:
                known[key] = add(chart(tape, claim.spec, simulate(tape, claim.spec)))
            found.of[one.id] = known[key]
        except BenchError as error:
            found.missing[one.id] = " ".join(str(error).split())[:200]
        progress(done, len(todo))
    return found


def claim_of(facts: Facts) -> Claim:
    """What a record claims; a BenchError says why it can't be read."""
    if is_published(facts.record):
        return published_claim(facts.record)
    if facts.record.get("scheme") == MINED:
        raise RecordError("a program of its own, the verifier, makes bars and trades of a mined question")
    return own_claim(to_question(facts.record, facts.file))


class Bars:
    """Finds the bars of records, and holds the last."""

    def __init__(self, data: Path | None) -> None:
        self.data = data
        self._key: tuple[object, ...] | None = None
        self._tape: Tape | None = None

    def of(self, claim: Claim) -> Tape:
        """The bars of a question; a BenchError says why they are not here."""
        key = (claim.tape and claim.tape.sha256, claim.symbol, claim.start, claim.end)
        if self._tape is None or key != self._key:
            self._tape = self._read(claim)
            self._key = key
        return self._tape

    def _read(self, claim: Claim) -> Tape:
        if claim.tape is not None:
            return pins.find(claim.tape, claim.symbol, claim.start, claim.end, self.data)
        if self.data is None:
            raise DataError(f"a published record names no bars; --data says where prices of {claim.symbol} are")
        return pins.read_window(self.data, claim.symbol, claim.start, claim.end)


def chart(tape: Tape, spec: BacktestSpec, result: Result) -> Chart:
    """What to draw of a finished backtest."""
    sides = {"buy": "B", "sell": "S"}
    close, close_decimals = scaled(tape.close)
    value, value_decimals = scaled(result.value)
    epoch = date(1970, 1, 1).toordinal()
    return Chart(
        days=tuple(date.fromisoformat(day).toordinal() - epoch for day in tape.dates),
        close=close, close_decimals=close_decimals, first_row=result.first_row, value=value,
        value_decimals=value_decimals,
        fills=tuple((one.bar, sides[one.side], one.size, round(one.price, 6)) for one in result.fills),
        cash=spec.initial_cash,
        title=f"{tape.symbol}, {spec.strategy}",
        lines=averages(spec), stops=stretches(result, close_decimals), own=own_pane(tape, spec),
    )  # fmt: skip


def averages(spec: BacktestSpec) -> tuple[tuple[str, int], ...]:
    """The averages that are recorded beside every strategy, and those that it trades by where they are others."""
    recorded = [("sma", int(spec.params[name])) for name in strategy_named(spec.strategy).recorded]
    if spec.strategy == "exponential_weighted_moving_average":
        recorded += [("ema", int(spec.params[name])) for name in ("pfast", "pslow")]
    return tuple(one for one in dict.fromkeys(recorded) if one[1] > 1)


def stretches(result: Result, decimals: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The stop's levels, one stretch a position."""
    found: list[tuple[int, list[int]]] = []
    before: float | None = None
    for row, level in enumerate(result.stops):
        if level is not None:
            if before is None:
                found.append((result.first_row + row, []))
            found[-1][1].append(round(level * 10.0**decimals))
        before = level
    return tuple((first, tuple(levels)) for first, levels in found)


def own_pane(tape: Tape, spec: BacktestSpec) -> Own | None:
    """The indicator of strategies whose indicator is no price."""
    closes, params = Closes(tape.close, np.array(tape.close)), spec.params
    if spec.strategy == "rsi_strategy":
        period = int(params["rsi_period"])
        bounds = (float(params["rsi_buy_threshold"]), float(params["rsi_sell_threshold"]))
        return Own(f"RSI({period})", bounds, (_line("RSI", rsi(closes, period)),))
    if spec.strategy == "macd_crossover":
        fast, slow, period = (int(params[name]) for name in ("pfast", "pslow", "psignal"))
        macd = closes.ema(fast) - closes.ema(slow)
        known = tuple(macd[~np.isnan(macd)].tolist())
        signal = placed(smoothed(known, period, 2.0 / (1.0 + period)), len(macd))
        title = f"MACD({fast}, {slow}) and its signal({period})"
        return Own(title, (0.0,), (_line("MACD", macd), _line("signal", signal)))
    return None


def _line(name: str, values: Floats) -> tuple[str, int, tuple[int, ...], int]:
    first = int(np.isnan(values).sum())
    return (name, first, *scaled(values[first:].tolist(), COARSE))


def scaled(series: Sequence[float], steps: int = FINE) -> tuple[tuple[int, ...], int]:
    """``series`` as whole numbers and the decimals that they have: the fewest (from -3) that tell ``steps`` apart."""
    spread = max(series) - min(series) or abs(series[0]) or 1.0
    decimals = next((place for place in range(-3, 8) if spread * 10.0**place >= steps), 8)
    return tuple(round(one * 10.0**decimals) for one in series), decimals
