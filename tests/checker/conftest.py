"""Tapes and records that the checker's tests share."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from backtrader_bench.market.tape import Tape

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def aapl(shared: Path) -> Tape:
    """The window that published questions are about."""
    with (shared / "data" / "AAPL.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if "2020-01-01" <= row["Date"] < "2024-01-01"]
    prices = ("Open", "High", "Low", "Close")
    bars = [(row["Date"], *(float(row[name]) for name in prices), int(row["Volume"])) for row in rows]
    return Tape.checked("AAPL", "csv:AAPL.csv", bars)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def published_lines(shared: Path) -> list[bytes]:
    """Published records, one a line."""
    return (shared / "data" / "published" / "pool_part.jsonl").read_bytes().splitlines()
