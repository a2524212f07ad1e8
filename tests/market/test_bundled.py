"""The data in the wheel: the released bytes, and facts of their years."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from backtrader_bench.errors import DataError, UsageError
from backtrader_bench.market import bundled as module
from backtrader_bench.market import facts
from backtrader_bench.market.bundled import FIRST, HASHES, LAST, bundled

FOLDER = Path(module.__file__).parent / "bundled"


@pytest.mark.parametrize("symbol", HASHES)
def test_released_bytes(symbol: str) -> None:
    tape = bundled(symbol)
    assert tape.sha256 == HASHES[symbol]
    assert (tape.dates[0], tape.dates[-1], len(tape)) == (FIRST, LAST, 2015)
    assert tape.adj_close is not None
    assert tape.warnings == ()


def test_prices_as_they_were_traded() -> None:
    aapl = bundled("AAPL")
    assert aapl.close[0] == 44.5
    assert aapl.volume[0] == 16721000
    assert bundled("GOOG").close[0] == 186.06
    assert max(aapl.high) == 705.07


@pytest.mark.parametrize("symbol", HASHES)
def test_no_split_within(symbol: str) -> None:
    assert facts.jumps(bundled(symbol)) == []


def test_size_in_the_wheel() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000


def test_a_changed_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(FOLDER / "IBM.csv.gz", tmp_path / "AAPL.csv.gz")
    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    with pytest.raises(DataError, match="as released"):
        bundled("AAPL")
    with pytest.raises(UsageError, match="AAPL, GOOG, IBM, MSFT"):
        bundled("TSLA")


@pytest.mark.skipif(not shutil.which("zcat"), reason="no zcat here")
def test_the_hash_can_be_had_without_this_program() -> None:
    text = subprocess.run(["zcat", str(FOLDER / "AAPL.csv.gz")], capture_output=True, check=True).stdout
    cut = b"".join(b",".join(line.split(b",")[:6]) + b"\n" for line in text.splitlines())
    assert hashlib.sha256(cut).hexdigest() == HASHES["AAPL"]
