"""Which source reads, what it is asked, and what is no source, symbol or window."""

from __future__ import annotations

from pathlib import Path

import pytest

from backtrader_bench.errors import BenchError, DataError, MissingError, UsageError
from backtrader_bench.market import sources, yahoo
from backtrader_bench.market.sources import load
from backtrader_bench.market.tape import Tape

CSV = "Date,Open,High,Low,Close,Volume\n" + "".join(f"2020-01-{day:02},1,2,1,2,5\n" for day in (6, 7, 8, 9, 10))


def test_bundled_window_is_half_open() -> None:
    tape = load("bundled", "IBM", "2006-01-03", "2006-01-06")
    assert tape.dates == ("2006-01-03", "2006-01-04", "2006-01-05")
    assert tape.source == "bundled"


def test_synthetic_spellings() -> None:
    assert load("synthetic", "SYNA").source == "synthetic:calm:0"
    assert load("synthetic:hard", "SYNA").source == "synthetic:hard:0"
    assert load("synthetic:hard:7", "AAPL").source == "synthetic:hard:7"


def test_csv_file_and_folder(tmp_path: Path) -> None:
    (tmp_path / "ABC.csv").write_text(CSV)
    by_file = load(f"csv:{tmp_path / 'ABC.csv'}", "XYZ", "2020-01-07", "2020-01-10")
    assert (by_file.symbol, by_file.source) == ("XYZ", "csv:ABC.csv")
    assert by_file.dates == ("2020-01-07", "2020-01-08", "2020-01-09")
    assert load(f"csv:{tmp_path}", "ABC").dates[0] == "2020-01-06"
    assert load(f"csv:{tmp_path / 'ABC.csv'}", "").symbol == "ABC"
    with pytest.raises(DataError, match="a folder"):
        load(f"csv:{tmp_path}", "")


def test_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(symbol: str, start: str | None, end: str | None) -> Tape:
        raise MissingError(f"asked yfinance for {symbol}")

    monkeypatch.setattr(yahoo, "download", download)
    assert load("auto", "AAPL").source == "bundled"
    assert load("auto", "AAPL", "2005-03-01", "2013-03-02").source == "bundled"
    assert load("auto", "SYNTHX").source == "synthetic:calm:0"
    for symbol, start, end in (("AAPL", "2005-02-28", None), ("AAPL", None, "2013-03-03"), ("NVDA", None, None)):
        with pytest.raises(MissingError, match=f"asked yfinance for {symbol}"):
            load("auto", symbol, start, end)


def test_part_of_the_window_is_said() -> None:
    (warning,) = load("bundled", "IBM", "2001-01-01", "2006-01-01").warnings
    assert "begins on 2005-03-01, after 2001-01-01" in warning
    assert load("bundled", "IBM", "2006-01-01", "2007-01-01").warnings == ()
    (warning,) = load("bundled", "IBM", "2012-01-01", "2014-01-01").warnings
    assert "stops on 2013-03-01" in warning


def test_a_window_without_bars() -> None:
    with pytest.raises(DataError, match="no bars"):
        load("bundled", "IBM", "2014-01-01", "2015-01-01")


@pytest.mark.parametrize(
    "symbol", ["", "../x", "a/b", "a\\b", "a\0b", "a b", "A" * 33, ".A", "-rf", "A..B", "\u0410APL", "AAPL\n", "$A"]
)
def test_no_symbols(symbol: str) -> None:
    for source in ("auto", "bundled", "synthetic", "yfinance"):
        with pytest.raises(UsageError, match="is no symbol"):
            load(source, symbol)


@pytest.mark.parametrize("symbol", ["AAPL", "BRK-B", "BRK.B", "^GSPC", "EURUSD=X", "005930.KS", "BTC-USD"])
def test_symbols(symbol: str) -> None:
    assert load("synthetic", symbol, "2016-01-04", "2016-01-06").symbol == symbol


@pytest.mark.parametrize(
    ("start", "end"),
    [("2020-1-1", None), ("20200101", None), ("2020-02-30", None), (None, "tomorrow"), ("2020-01-01T00:00", None),
     ("2020-01-02", "2020-01-02"), ("2020-01-02", "2020-01-01"), ("", None), ("x" * 10_000, None)],
)  # fmt: skip
def test_no_windows(start: str | None, end: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        load("synthetic", "SYNA", start, end)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "source",
    ["", "bundle", "prices.csv", "bundled:x", "yfinance:x", "auto:1", "csv", "csv:", "csv:a\0b", "synthetic:mild",
     "synthetic:hard:x", "synthetic:hard:-1", "synthetic:hard:1:2", "synthetic:hard:99999999999999999999", "/etc\0"],
)  # fmt: skip
def test_no_sources(source: str) -> None:
    with pytest.raises(UsageError):
        load(source, "SYNA")


def test_a_bare_file_name_is_explained() -> None:
    with pytest.raises(UsageError, match=r"write csv:prices\.csv"):
        load("prices.csv", "ABC")


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="No such file"):
        load(f"csv:{tmp_path / 'none.csv'}", "ABC")


def test_every_source_is_in_the_spelling() -> None:
    assert all(name in sources.SPELLINGS for name in sources.SOURCES)
