"""The verbs of ``bench`` as functions with typed results; docs/python.md walks through them.

    from backtrader_bench import api

    built = api.build("bank.jsonl", num_questions=12)
    assert api.check(built.path).ok

Files go where the commands put them: under ``$BENCH_HOME``, or the current folder. What a command refuses with one
line, a function raises as a class of ``backtrader_bench.errors``, all of them BenchError. Nothing is printed. A verb's
module is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backtrader_bench.api.auditing import audit as audit
    from backtrader_bench.api.building import Built as Built
    from backtrader_bench.api.building import build as build
    from backtrader_bench.api.checking import Checked as Checked
    from backtrader_bench.api.checking import check as check
    from backtrader_bench.api.mining import Mined as Mined
    from backtrader_bench.api.mining import mine as mine
    from backtrader_bench.api.paging import Paged as Paged
    from backtrader_bench.api.paging import page as page
    from backtrader_bench.api.reporting import compare as compare
    from backtrader_bench.api.reporting import report as report
    from backtrader_bench.api.running import Ran as Ran
    from backtrader_bench.api.running import run as run
    from backtrader_bench.api.showing import Shown as Shown
    from backtrader_bench.api.showing import show as show

_HOMES = {
    "build": "building", "Built": "building", "check": "checking", "Checked": "checking", "audit": "auditing",
    "run": "running", "Ran": "running", "report": "reporting", "compare": "reporting", "mine": "mining",
    "Mined": "mining", "show": "showing", "Shown": "showing", "page": "paging", "Paged": "paging",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
