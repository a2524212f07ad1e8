"""Levels that this machine offers."""

from __future__ import annotations

import pytest

from backtrader_bench.sandbox.room import Isolation, Level
from backtrader_bench.sandbox.selftest import holds


@pytest.fixture(params=["L3", "L2"])
def level(request: pytest.FixtureRequest) -> Level:
    """Each level that keeps code in; skipped where the machine doesn't offer it."""
    found = holds(request.param)
    if not isinstance(found, Isolation):
        pytest.skip(found)
    return found.level
