"""Every template's answer, computed from docs/templates.md; nothing here is shared with the builder."""

from __future__ import annotations

from backtrader_bench.checker.oracles.case import Case, Oracle
from backtrader_bench.checker.oracles.easy import EASY
from backtrader_bench.checker.oracles.hard import HARD
from backtrader_bench.checker.oracles.medium import MEDIUM
from backtrader_bench.checker.oracles.orders import ORDERS

ORACLES: dict[str, Oracle] = {**EASY, **MEDIUM, **HARD, **ORDERS}
"""Template name to oracle."""

__all__ = ["ORACLES", "Case", "Oracle"]
