"""Order mechanics over random configurations: ``python benchmarks/orders.py [--configurations N] [--questions N]``.

Builds questions of the order-mechanics templates from backtrader's runs, then checks every one as ``bench check`` does:
both engines, order logs, stop levels, text. Prints the largest difference of any number, the events that were compared,
the verdicts, and how long each engine took; ends with 1 when anything differs or the second engine isn't 10 times
faster.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.backtest.run import run
from backtrader_bench.backtest.strategies import REGISTRY
from backtrader_bench.checker.engine import simulate
from backtrader_bench.checker.run import check_files
from backtrader_bench.market import pins, sources
from backtrader_bench.mcq_builder.build import record_config
from backtrader_bench.mcq_builder.context import Context
from backtrader_bench.mcq_builder.questions import questions
from backtrader_bench.mcq_builder.settings import Settings
from backtrader_bench.records import Question, to_line
from backtrader_bench.templates.drift import text_problems
from backtrader_bench.templates.registry import TEMPLATES
from tests.checker.order_worlds import NAMES, events, params
from tests.checker.order_worlds import tape as wide_tape
from tests.checker.worlds import gap

if TYPE_CHECKING:
    from backtrader_bench.market.tape import Tape


def configuration(number: int) -> tuple[Tape, BacktestSpec]:
    """A tape (synthetic in one of three regimes, or with wide bars) and a strategy with random parameters on it."""
    rng = Random(f"order mechanics {number}")
    # Slippage has two templates with one question each, so it comes up less often than the others.
    name = NAMES[number % 3] if number % 5 else "slippage_cross"
    regime = rng.choice(("calm", "hard", "extreme", "wide"))
    if regime == "wide":
        tape = wide_tape(rng, 1000)
    else:
        end = f"{rng.randrange(2018, 2021)}-01-01"
        tape = sources.load(f"synthetic:{regime}:{number}", f"SYN{number}", "2015-01-01", end)
    chosen = REGISTRY[name].defaults if rng.random() < 0.2 else params(rng, name, rng.choice((5, 20)))
    chosen = REGISTRY[name].complete({**chosen, "target_percent": min(1.0, chosen["target_percent"])})
    cash = rng.choice((5_000.0, 50_000.0))
    sizing = rng.choice(("capped", "fixed"))
    stake = 10**6 if sizing == "capped" else max(1, int(cash * rng.uniform(0.6, 1.0) / tape.close[len(tape) // 2]))
    return tape, BacktestSpec(
        strategy=name, params=chosen, initial_cash=cash, commission_rate=rng.choice((0.0, 0.0005, 0.001, 0.003)),
        stake=stake, sizing=sizing,  # type: ignore[arg-type]
    )  # fmt: skip


def asked(tape: Tape, spec: BacktestSpec, number: int, most: int) -> list[Question]:
    """Up to ``most`` order-mechanics questions on one configuration, the templates in turn."""
    settings = Settings.of({"symbol": tape.symbol, "data": "synthetic", "strategy": spec.strategy})
    of = Context(tape, spec, record_config(settings, tape, spec), Backtests(run, "build", None))
    streams = [
        (item for item in questions(name, of, "ladder", number) if isinstance(item, Question))
        for name, words in TEMPLATES.items()
        if spec.strategy in words.needs
    ]
    found: list[Question] = []
    while streams and len(found) < most:
        for stream in list(streams):
            new = list(islice(stream, 1))
            found += new
            if not new:
                streams.remove(stream)
    return found[:most]


def main() -> int:
    """Build, compare, check, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configurations", type=int, default=300)
    parser.add_argument("--questions", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    os.environ["BENCH_HOME"] = tempfile.mkdtemp()
    bank = Path(os.environ["BENCH_HOME"]) / "orders.jsonl"
    seen: Counter[str] = Counter()
    types: Counter[str] = Counter()
    apart: list[int] = []
    largest = slow = fast = 0.0
    with bank.open("wb") as file:
        for number in range(given.configurations):
            tape, spec = configuration(number)
            pins.save(tape)
            started = time.process_time()
            theirs = run(tape, spec)
            between = time.process_time()
            ours = simulate(tape, spec)
            fast += time.process_time() - between
            slow += between - started
            found = gap(theirs, ours)
            apart += [] if found.events else [number]
            largest = max(largest, found.largest)
            seen += events(tape, spec, theirs)
            # Three times what is missing a configuration that is left, since some have few.
            share = 3 * (given.questions - sum(types.values())) // (given.configurations - number) + 1
            for record in asked(tape, spec, number, min(share, given.questions - sum(types.values()))):
                types[record.type] += 1
                file.write(to_line(record))
    verdicts = Counter(verdict.verdict for verdict in check_files([bank], jobs=given.jobs, text_check=text_problems))
    print(f"{given.configurations} configurations; events and levels differ in {len(apart)} {apart[:20]}")
    print(f"largest difference of a price, level, cash, value or average: {largest:.1e} (relative above 1)")
    for name, times in sorted(seen.items()):
        print(f"  {name:32} {times:8,}")
    print(f"{sum(types.values())} questions: " + ", ".join(f"{name} {times}" for name, times in types.most_common()))
    print(f"verdicts: {dict(verdicts)}")
    print(f"backtrader {slow:.1f} s, second engine {fast:.1f} s: {slow / fast:.0f} times faster (CPU)")
    return int(bool(apart) or set(verdicts) != {"match"} or slow < 10 * fast)


if __name__ == "__main__":
    sys.exit(main())
