"""Fixtures of the agents' tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backtrader_bench.agents import isolation


@pytest.fixture
def fresh_room() -> Iterator[None]:
    """Find out anew what this machine enforces, before and after the test."""
    isolation.held.cache_clear()
    yield
    isolation.held.cache_clear()
