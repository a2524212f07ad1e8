"""Small worlds for tests: a tape, a context, a bank."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from backtrader_bench.market import sources
from backtrader_bench.market.tape import Tape
from backtrader_bench.mcq_builder.build import Bank, build_bank, contexts, fetch
from backtrader_bench.mcq_builder.context import Context
from backtrader_bench.mcq_builder.excluded import excluded
from backtrader_bench.mcq_builder.settings import Settings
from backtrader_bench.parallel import spread
from backtrader_bench.records import Question

# Two years of bars: enough for every template, quick in backtrader.
WINDOW = {"symbol": "SYNT", "data": "synthetic:hard:11", "start_date": "2017-01-02", "end_date": "2019-01-01"}


def settings(**changes: Any) -> Settings:
    """Settings on the small window."""
    return Settings.of({**WINDOW, "scheme": "ladder", **changes})


def tape_of(chosen: Settings) -> Tape:
    """Their bars."""
    return sources.load(chosen.data, chosen.symbol, chosen.start_date, chosen.end_date)


def context(cache: Path | None = None, **changes: Any) -> Context:
    """The context of the first strategy of some settings."""
    chosen = settings(**changes)
    return contexts(chosen, tape_of(chosen), cache)[chosen.strategy[0]]


def bank(cache: Path | None = None, jobs: int = 1, exclude: Iterable[Question] = (), **changes: Any) -> Bank:
    """A bank on the small window."""
    chosen = settings(**changes)
    records = [(msgspec.to_builtins(question), question.id) for question in exclude]
    return build_bank(chosen, tape_of(chosen), spread(fetch, jobs), cache=cache, exclude=excluded(records))
