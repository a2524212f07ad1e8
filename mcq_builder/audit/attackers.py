"""All attackers: importing the modules that hold them fills the registry."""

from __future__ import annotations

from backtrader_bench.mcq_builder.audit import shape, visible
from backtrader_bench.mcq_builder.audit.registry import HABITS, RULES

__all__ = ["HABITS", "MODULES", "RULES"]

MODULES = (shape, visible)
