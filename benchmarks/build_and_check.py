"""Building and checking against one backtest a question, in one run: at least 4 and 20 times faster.

    python benchmarks/build_and_check.py [--comparing]

The plain way runs a question's backtests for that question alone. Ours runs each distinct one once, and here with
nothing on disk from before. Templates that compare (COMPARING) bring up to four configurations of their own with every
question, which no cache can save, so the lines with a limit leave them out; the default build with them is printed
beside, and --comparing adds the thousand records with them (several minutes).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.backtest.run import run as backtest
from backtrader_bench.cli.main import run as bench
from backtrader_bench.market import sources
from backtrader_bench.mcq_builder.context import Context
from backtrader_bench.mcq_builder.questions import question
from backtrader_bench.records import Question, parse_json, to_question
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from backtrader_bench.market.tape import Tape

COMPARING = {"sma_comparison", "signal_diff", "best_parameter_set", "commission_breakeven", "delayed_fill_cost"}
SYMBOLS = ("AAPL", "GOOG", "IBM", "MSFT")
WINDOW = ("--start-date", "2009-01-01", "--end-date", "2013-01-01")
BUILD_LIMIT, CHECK_LIMIT = 4, 20


def timed(*arguments: str) -> float:
    """Seconds of one ``bench`` command with one job and no cache on disk; it must end with 0."""
    begun = time.perf_counter()
    with redirect_stdout(StringIO()) as out:
        code = bench([*arguments, "--no-cache"])
    if code:
        raise SystemExit(f"bench {' '.join(arguments)} ended with {code}\n{out.getvalue()}")
    return time.perf_counter() - begun


def records(path: Path) -> list[Question]:
    """The records of a file of ours."""
    lines = path.read_bytes().splitlines()
    return [to_question(parse_json(line, str(path)), str(path)) for line in lines]


def spec_of(record: Question) -> BacktestSpec:
    """The backtest that a record asks about."""
    config = record.config
    return BacktestSpec(
        strategy=record.strategy_name, params=record.strategy_params, initial_cash=config["initial_cash"],
        commission_rate=config["commission_rate"], stake=config["stake"], sizing=config["sizing"],
    )  # fmt: skip


def plain_build(tape: Tape, bank: list[Question]) -> float:
    """Seconds to make the same questions, each with backtests of its own. Drawing parameters costs it nothing."""
    begun = time.perf_counter()
    for record in bank:
        of = Context(tape, spec_of(record), record.config, Backtests(backtest, "plain", None))
        assert of.result
        question(record.type, of, record.template_params, record.scheme, record.seed)
    return time.perf_counter() - begun


def plain_check(tapes: dict[str, Tape], bank: list[Question]) -> float:
    """Seconds for the backtests alone that checking ``bank`` one by one takes in backtrader."""
    begun = time.perf_counter()
    for record in bank:
        for spec in specs_of(record):
            backtest(tapes[record.config["symbol"]], spec)
    return time.perf_counter() - begun


def specs_of(record: Question) -> list[BacktestSpec]:
    """The backtests that one record needs: its own, and those it compares with."""
    own, asked = spec_of(record), record.template_params
    changes: list[dict[str, Any]] = [{}]
    if "alternative" in asked:
        changes.append({"params": {**own.params, **asked["alternative"]}})
    if "sets" in asked:
        changes = [{"params": {**own.params, **varied}} for varied in asked["sets"]]
    if "rates" in asked:
        changes = [{"commission_rate": rate} for rate in asked["rates"]]
    if record.type == "delayed_fill_cost":
        changes.append({"fill_delay": 1})
    return [msgspec.structs.replace(own, **change) for change in changes]


def flags(templates: list[str]) -> list[str]:
    """``--template`` options."""
    return [word for name in templates for word in ("--template", name)]


def thousand(folder: Path, templates: list[str]) -> Path:
    """1,000 records: 50 for each of five strategies on each of four symbols."""
    lines = b""
    for symbol in SYMBOLS:
        part = folder / f"{symbol}.jsonl"
        many = ("--strategy", "all", "-n", "250", *flags(templates))
        timed("build", "--symbol", symbol, *WINDOW, *many, "-o", str(part), "--force")
        lines += part.read_bytes()
    bank = folder / f"bank{len(templates)}.jsonl"
    bank.write_bytes(lines)
    return bank


def build_line(what: str, folder: Path, templates: list[str], limit: float) -> bool:
    """Build 30 questions both ways."""
    target = folder / f"thirty{len(templates)}.jsonl"
    ours = timed("build", *flags(templates), "-o", str(target))
    return report(what, plain_build(sources.load("bundled", "AAPL"), records(target)), ours, limit)


def check_line(what: str, folder: Path, templates: list[str], limit: float) -> bool:
    """Check 1,000 records both ways."""
    tapes = {symbol: sources.load("bundled", symbol, WINDOW[1], WINDOW[3]) for symbol in SYMBOLS}
    bank = thousand(folder, templates)
    return report(what, plain_check(tapes, records(bank)), timed("check", str(bank)), limit)


def report(what: str, plain: float, ours: float, limit: float) -> bool:
    """Print one line; whether the limit, where there is one, is kept."""
    bound = f" (limit {limit:g})" if limit else ""
    print(f"{what:50} plain {plain:7.2f} s, ours {ours:6.2f} s: {plain / ours:5.1f} times{bound}", flush=True)
    return plain / ours >= limit


def main() -> None:
    """Print the ratios; exit 1 when one is below its limit."""
    alone = [name for name in TEMPLATES if name not in COMPARING]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["BENCH_HOME"] = name
        timed("build", "-n", "1", "-o", str(folder / "warm.jsonl"))  # imports are paid for before the clock starts
        timed("check", str(folder / "warm.jsonl"))
        kept = [
            build_line("build 30 questions", folder, alone, BUILD_LIMIT),
            build_line("build 30 questions, comparing ones among them", folder, [], 0),
            check_line("check 1,000 records over 20 configurations", folder, alone, CHECK_LIMIT),
        ]
        if "--comparing" in sys.argv[1:]:
            kept.append(check_line("the same, comparing ones among them", folder, [], 0))
    sys.exit(not all(kept))


if __name__ == "__main__":
    main()
