"""A backtest small enough to work out every answer on paper, and records about it."""

from __future__ import annotations

from typing import Any

import msgspec

from backtrader_bench.backtest.result import BacktestSpec, Fill, Result, Signal, Trade
from backtrader_bench.checker.oracles import Case
from backtrader_bench.market.tape import Tape
from backtrader_bench.records import question_id

DAYS = tuple(f"2020-01-{day:02}" for day in range(1, 11))
CLOSES = (10.0, 10.5, 11.0, 12.0, 11.0, 13.0, 12.0, 11.0, 14.0, 13.0)
TAPE = Tape.checked(
    "HAND", "csv:HAND.csv",
    [(day, close, close + 0.25, close - 0.25, close, 1000 + number)
     for number, (day, close) in enumerate(zip(DAYS, CLOSES, strict=True))],
)  # fmt: skip

SPEC = BacktestSpec(
    strategy="sma_crossover", params={"pfast": 1, "pslow": 2, "target_percent": 1.0},
    initial_cash=1000.0, commission_rate=0.01, stake=100,
)  # fmt: skip

# Rows are bars 2 to 9. Bought 50 at 12.00 (bar 3), sold at 13.00 (bar 5): gross 50, fees 6.00 + 6.50, net 37.50.
# Bought 40 at 12.00 (bar 6), sold at 11.00 (bar 7): gross -40, fees 4.80 + 4.40, net -49.20. Bought 30 at 14 (bar 8).
RESULT = Result(
    first_row=2,
    fast=[11.0, 12.0, 11.0, 13.0, 12.0, 11.0, 14.0, 13.0],
    slow=[11.0, 11.5, 11.5, 12.0, 12.5, 11.5, 12.5, 13.5],
    cash=[1000.0, 394.0, 394.0, 1037.5, 552.7, 988.3, 564.1, 564.1],
    value=[1000.0, 994.0, 944.0, 1037.5, 1032.7, 988.3, 984.1, 954.1],
    position=[0, 50, 50, 0, 40, 0, 30, 30],
    fills=[
        Fill(3, "buy", 50, 12.0, 6.0), Fill(5, "sell", 50, 13.0, 6.5), Fill(6, "buy", 40, 12.0, 4.8),
        Fill(7, "sell", 40, 11.0, 4.4), Fill(8, "buy", 30, 14.0, 4.2),
    ],
    trades=[Trade(3, 5, 50, 50.0, 37.5, 12.5), Trade(6, 7, 40, -40.0, -49.2, 9.2)],
    signals=[Signal(2, "buy"), Signal(4, "sell"), Signal(5, "buy"), Signal(6, "sell"), Signal(7, "buy")],
    rejections=[],
)  # fmt: skip


def case(asked: dict[str, Any] | None = None, others: dict[str, Result] | None = None, **changes: Any) -> Case:
    """The hand-made case; ``changes`` are fields of the result, ``others`` results of reruns by ``str`` of a change."""

    def rerun(**wanted: Any) -> Result:
        given = {name: value for name, value in wanted.items() if value is not None}
        return (others or {})[str(next(iter(given.values())))]

    return Case(TAPE, SPEC, msgspec.structs.replace(RESULT, **changes), 252.0, asked or {}, rerun)


def flat(value: float = 1000.0, rows: int = 8) -> Case:
    """A case that never traded."""
    columns: dict[str, Any] = {name: [value] * rows for name in ("cash", "value")}
    return case(**columns, position=[0] * rows, fills=[], trades=[], signals=[])


def ending(net: float) -> Result:
    """The hand-made result with another final value."""
    return msgspec.structs.replace(RESULT, value=[*RESULT.value[:-1], 1000.0 + net])


def record(template: str, options: tuple[str, str, str, str], value: Any, tape: Tape, **changes: Any) -> dict[str, Any]:
    """A record of ours about ``tape`` as decoded JSON, key ``A`` unless changed; its text, id and origins agree."""
    letters = dict(zip("ABCD", options, strict=True))
    strategy = {"pfast": 2, "pslow": 4, "target_percent": 1.0}
    stem = f"- symbol: {tape.symbol}\n\nWhat is {template}?"
    config = {
        "symbol": tape.symbol, "start_date": tape.dates[0], "end_date": "2100-01-01", "initial_cash": 10_000.0,
        "commission_rate": 0.001, "stake": 1000, "sizing": "capped", "periods_per_year": 252,
        "strategy_name": "sma_crossover", "strategy_params": strategy,
    }  # fmt: skip
    made = {
        "answer": "A", "benchmark": "backtrader", "author": "backtrader-bench", "type": template, "difficulty": "easy",
        "strategy_name": "sma_crossover", "strategy_params": dict(strategy), "config": config, "schema_version": 1,
        "stem": stem, "options": letters, "template_params": {}, "value": value,
        "tape": {"sha256": tape.sha256, "source": tape.source, "rows": len(tape), "first": tape.dates[0],
                 "last": tape.dates[-1]},
        "scheme": "ladder", "option_origins": dict.fromkeys("BCD", "ladder") | {"A": "key"}, "seed": 1, "labels": [],
        **changes,
    }  # fmt: skip
    lines = "\n".join(f"{letter}. {text}" for letter, text in letters.items())
    made.setdefault("question", f"Some words.\n\n{stem}\n\n{lines}\n\nAnswer with a letter.")
    made.setdefault("id", question_id(stem, letters))
    return made
