"""The daily bars that ship with the package; see bundled/README.md for where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backtrader_bench.errors import DataError, StoreError, UsageError
from backtrader_bench.market.stored import decode

if TYPE_CHECKING:
    from backtrader_bench.market.tape import Tape

FIRST, LAST = "2005-03-01", "2013-03-01"
"""First and last bar of every bundled tape."""
END = "2013-03-02"
"""The exclusive end of the window that holds the whole tape."""
HASHES = {
    "AAPL": "bd109b6c96e4e80a9fa9f1cf4409d7e6fceea25ceac2a3a1d93ae763229a7240",
    "GOOG": "6317e4a1f8349c8885b05e23215d3d77c0c93e1716b8bbdc57412b39206a9bd3",
    "IBM": "cec39d2be1defdc0917270c9ec1128036c3c1a133c75dd62461e62a3a1cb73fa",
    "MSFT": "85c316dded3aa0df480dd020346ff4a450e9f89cab7cdcf8ac4da9f6e71ff798",
}
"""SHA-256 of each whole tape, as released."""
_FOLDER = Path(__file__).parent / "bundled"


def bundled(symbol: str) -> Tape:
    """The whole tape of ``symbol``: unadjusted prices, 2005-03-01 to 2013-03-01.

    UsageError for another symbol, DataError when the installed file is not the released one.
    """
    if symbol not in HASHES:
        raise UsageError(f"no bundled data for {symbol}; there is {', '.join(HASHES)}")
    path = _FOLDER / f"{symbol}.csv.gz"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; install the package again") from None
    tape = decode(data, symbol, "bundled", str(path))
    if tape.sha256 != HASHES[symbol]:
        raise DataError(
            f"{path}: hashes to {tape.sha256[:12]}, not to {HASHES[symbol][:12]} as released; install the package again"
        )
    return tape
