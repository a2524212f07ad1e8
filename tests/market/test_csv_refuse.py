"""What would need a guess, or breaks a rule, is refused in one line that says where and what to do."""

from __future__ import annotations

import gzip
import os
import random
import zipfile
from pathlib import Path

import pytest

from backtrader_bench.errors import BenchError, DataError, StoreError
from backtrader_bench.market import csv_text
from backtrader_bench.market.csv_reader import find_file, read_csv

HEADER = "Date,Open,High,Low,Close,Volume\n"
GOOD = HEADER + "".join(f"2024-01-{day:02},10.5,11.5,9.5,10.0,1000\n" for day in range(8, 13))


def bad_row(row: str, header: str = HEADER) -> str:
    """A good file whose fourth data row (line 5) is ``row``."""
    rows = [f"2024-01-{day:02},10.5,11.5,9.5,10.0,1000" for day in range(8, 13)]
    rows[3] = row
    return header + "\n".join(rows) + "\n"


ROWS = {
    "null": ("2024-01-11,null,null,null,null,null", "missing (null)"),
    "empty price": ("2024-01-11,10.5,,9.5,10.0,1000", "High is missing (empty)"),
    "NaN": ("2024-01-11,10.5,11.5,9.5,NaN,1000", "Close is missing (NaN)"),
    "spreadsheet error": ("2024-01-11,10.5,11.5,9.5,#DIV/0!,1000", "Close is '#DIV/0!', which is not a number"),
    "infinity": ("2024-01-11,10.5,Infinity,9.5,10.0,1000", "finite"),
    "overflow": ("2024-01-11,10.5,1e999,9.5,10.0,1000", "finite"),
    "zero": ("2024-01-11,0.00,11.5,9.5,10.0,1000", "positive, not zero"),
    "negative": ("2024-01-11,10.5,11.5,-9.5,10.0,1000", "positive, not negative"),
    "typographic minus": ("2024-01-11,10.5,11.5,\u22129.5,10.0,1000", "positive, not negative"),
    "accountant's negative": ("2024-01-11,10.5,11.5,(9.5),10.0,1000", "not a number"),
    "high below body": ("2024-01-11,10.5,10.4,9.5,10.0,1000", "High 10.4 is below"),
    "low above body": ("2024-01-11,10.5,11.5,10.1,10.0,1000", "Low 10.1 is above"),
    "high off by a tenth of a permille": ("2024-01-11,10.5,10.499,9.5,10.0,1000", "High 10.499 is below"),
    "duplicate": ("2024-01-10,10.5,11.5,9.5,10.0,1000", "duplicate date 2024-01-10: line 4 has the same row"),
    "duplicate with other prices": ("2024-01-10,10.5,11.5,9.5,10.1,1000", "line 4 has another bar"),
    "out of order": ("2024-01-09,10.5,11.5,9.5,10.0,1000", "duplicate date"),
    "into the past": ("2023-01-11,10.5,11.5,9.5,10.0,1000", "out of order"),
    "no calendar day": ("2024-02-30,10.5,11.5,9.5,10.0,1000", "no day of the calendar"),
    "missing date": (",10.5,11.5,9.5,10.0,1000", "the date is missing"),
    "another date format": ("11/01/2024,10.5,11.5,9.5,10.0,1000", "written in another way"),
    "another separator in the date": ("2024/01/11,10.5,11.5,9.5,10.0,1000", "written in another way"),
    "spreadsheet day number": ("45302,10.5,11.5,9.5,10.0,1000", "day number"),
    "hash marks": ("########,10.5,11.5,9.5,10.0,1000", "too narrow"),
    "too few": ("2024-01-11,10.5,11.5", "3 field(s) instead of 6"),
    "too many": ("2024-01-11,10,5,11,5,9,5,10,0,1000", "10 fields instead of 6"),
    "one more, filled": ("2024-01-11,10.5,11.5,9.5,10.0,1000,7", "7 fields instead of 6"),
    "header again": (HEADER.strip(), "the header again"),
    "comment": ("# a remark", "1 field(s) instead of 6"),
    "dividend": ("2024-01-11,0.52 Dividend", "2 field(s) instead of 6"),
    "decimal comma among points": ('2024-01-11,"10,5",11.5,9.5,10.0,1000', "mixed"),
    "two currencies": ("2024-01-11,10.5,11.5,\u20ac9.5,$10.0,1000", "two currencies"),
    "one price with a currency": ("2024-01-11,10.5,\u20ac11.5,9.5,10.0,1000", "High is marked \u20ac, others are bare"),
    "a thousand beside ten": ('2024-01-11,10.5,"1,150",9.5,10.0,1000', "'1,150' would be 1150 beside 9.5"),
    "negative volume": ("2024-01-11,10.5,11.5,9.5,10.0,-5", "must not be negative"),
    "no volume": ("2024-01-11,10.5,11.5,9.5,10.0,-", "Volume is missing (-)"),
    "huge volume": ("2024-01-11,10.5,11.5,9.5,10.0,1e30", "beyond any volume"),
    "text volume": ("2024-01-11,10.5,11.5,9.5,10.0,many", "not a number"),
    "underscores": ("2024-01-11,1_0.5,11.5,9.5,10.0,1000", "not a number"),
    "hexadecimal": ("2024-01-11,0x1F,11.5,9.5,10.0,1000", "not a number"),
    "open quote": ('2024-01-11,10.5,11.5,9.5,10.0,"1000', "quote"),
    "several lines in quotes": ('2024-01-11,10.5,11.5,9.5,10.0,"10\n00"', "several lines"),
    "far future": ("2999-01-11,10.5,11.5,9.5,10.0,1000", "far in the future"),
    "long ago": ("0204-01-11,10.5,11.5,9.5,10.0,1000", "before 1900"),
}


@pytest.mark.parametrize(("row", "problem"), ROWS.values(), ids=ROWS)
def test_row(row: str, problem: str, tmp_path: Path) -> None:
    message = refusal(tmp_path, bad_row(row))
    assert problem in message
    assert "ABC.csv, line 5" in message
    assert "row 4" in message or "quotes" in problem or "quote" in message


FILES = {
    "ambiguous slashes": (HEADER + "02/01/2024,1,1,1,1,1\n03/01/2024,1,1,1,1,1\n", "ambiguous (day/month"),
    "ambiguous hyphens, two digits": (HEADER + "02-01-24,1,1,1,1,1\n03-01-24,1,1,1,1,1\n", "ambiguous"),
    "both orders": (HEADER + "13/02/2024,1,1,1,1,1\n02/14/2024,1,1,1,1,1\n", "neither day-first nor "
    "month-first"),
    "day and month swapped ISO": (HEADER + "2024-12-01,1,1,1,1,1\n2024-13-01,1,1,1,1,1\n", "no day of "
    "the calendar"),
    "seconds and milliseconds": (HEADER + "1705017600,1,1,1,1,1\n1705276800000,1,1,1,1,1\n", "another way"),
    "stamps damaged by a spreadsheet": (HEADER + "1.70502E+12,1,1,1,1,1\n", "lost digits"),
    "no day in dates": (HEADER + "2024-01,1,1,1,1,1\n", "no date"),
    "ambiguous commas": (
        "Date;Open;High;Low;Close;Volume\n2024-01-11;1,234;1,235;1,233;1,234;5\n", "ambiguous: decimals "
        "or thousands"),
    "ambiguous points": (
        "Date;Open;High;Low;Close;Volume\n2024-01-11;1.234;1.235;1.233;1.234;5\n", "ambiguous: decimals "
        "or thousands"),
    "intraday": (HEADER + "2024-01-11 09:30,1,1,1,1,1\n2024-01-11 09:35,1,1,1,1,1\n", "intraday"),
    "intraday with a clock column": (
        "Date,Time,Open,High,Low,Close,Volume\n20240111,093000,1,1,1,1,1\n20240111,093500,1,1,1,1,1\n", "intraday"),
    "intraday, one a day": (
        HEADER + "".join(f"2024-01-{d:02} {d}:30,1,1,1,1,1\n" for d in range(8, 20)), "not daily"),
    "weekly": (HEADER + "".join(f"2024-01-{d:02},1,1,1,1,1\n" for d in (1, 8, 15, 22, 29)), "weekly"),
    "monthly": (HEADER + "".join(f"2024-{m:02}-01,1,1,1,1,1\n" for m in range(1, 13)), "monthly"),
    "period column": (
        "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>\nABC,W,20240112,0,1,1,1,1,1\n", "period 'W'"),
    "another weekday": (
        HEADER + '"Mon, 08 Jan 2024",1,1,1,1,1\n"Tue, 10 Jan 2024",1,1,1,1,1\n',
        "line 3 (row 2, Tue, 10 Jan 2024): 'Tue, 10 Jan 2024' names another weekday than Wednesday"),
    "another weekday, month first": (
        HEADER + '"Tuesday, January 8, 2024",1,1,1,1,1\n', "names another weekday than Monday, which 2024-01-08"),
    "another weekday in a column": (
        "Weekday,Date,Open,High,Low,Close,Volume\nMon,2024-01-08,1,1,1,1,1\nTue,2024-01-10,1,1,1,1,1\n",
        "line 3 (row 2, 2024-01-10): Weekday says Tue, and 2024-01-10 is a Wednesday"),
    "decimal commas below one after points": (
        "Date;Open;High;Low;Close;Volume\n2024-01-11;0.995;1;0.9;1;5\n2024-01-12;0,995;1;0,9;1;5\n", "line 3"),
    "thousands or decimals beside decimals below one": (
        "Date;Open;High;Low;Close;Volume\n2024-01-11;0.995;0.999;0.9;0.95;5\n2024-01-12;1,011;1,012;1,010;1,011;5\n",
        "line 3 (row 2, 2024-01-12): '1,011' would be 1011 beside 0.9"),
    "volumes of three decimals or thousands": (
        "Date;Open;High;Low;Close;Volume\n" + "".join(f"2024-01-{d};0,5;0,5;0,5;0,5;1,2{d}\n" for d in (10, 11, 12)),
        "Volume '1,210' is ambiguous"),
    "only one price without a currency": (
        HEADER + "".join(f"2024-01-{d:02},{'' if d == 10 else '$'}1,1,1,1,1\n" for d in range(8, 13)),
        "line 4 (row 3, 2024-01-10): Open is bare, others are marked $"),
    "fixed-point prices": (
        "ts_event,open,high,low,close,volume\n1705017600000000000" + ",10000000000" * 4 + ",5\n", "fixed point"),
    "shifted by the zone": (
        HEADER + "".join(f"2024-01-{d:02}T23:00:00Z,1,1,1,1,1\n" for d in (7, 8, 9, 10, 11, 14, 15, 16)), "Sundays"),
    "two symbols": (
        "symbol,date,open,high,low,close,volume\nABC,2024-01-11,1,1,1,1,1\nXYZ,2024-01-11,1,1,1,1,1\n",
        "line 3 (row 2, 2024-01-11): the symbol changes from ABC to XYZ"),
    "two symbols in columns": (
        "Price,Close,Close,High,High,Low,Low,Open,Open,Volume,Volume\nTicker,A,B,A,B,A,B,A,B,A,B\n"
        "Date,,,,,,,,,,\n2024-01-11,1,1,1,1,1,1,1,1,1,1\n", "several symbols (A and B)"),
    "two symbols in names": (
        "Date,A.Open,A.High,A.Low,A.Close,A.Volume,B.Open,B.High,B.Low,B.Close,B.Volume\n2024-01-11,"
        + ",".join("1" * 10) + "\n", "several symbols (A and B)"),
    "two close columns": ("Date,Open,High,Low,Close,Close,Volume\n2024-01-11,1,1,1,1,2,1\n", "two "
    "columns are named Close"),
    "two close columns as pandas names them": (
        "Date,Open,High,Low,Close,Close.1,Volume\n2024-01-11,1,1,1,1,2,1\n", "two columns are named Close"),
    "no close": ("Date,Open,High,Low,Volume\n2024-01-11,1,1,1,1\n", "no column Close"),
    "only a close": ("Date,Close\n2024-01-11,1\n", "no columns Open, High, Low, Volume"),
    "only an adjusted close": ("Date,Open,High,Low,Adj Close,Volume\n2024-01-11,1,1,1,1,1\n", "only an "
    "adjusted close"),
    "only adjusted prices": (
        "date,adjOpen,adjHigh,adjLow,adjClose,adjVolume\n2024-01-11,1,1,1,1,1\n", "only adjusted prices"),
    "no volume": ("Date,Open,High,Low,Close\n2024-01-11,1,1,1,1\n", "no column Volume"),
    "empty volumes": (HEADER + "2024-01-11,1,1,1,1,-\n2024-01-12,1,1,1,1,\n", "column Volume is empty"),
    "only adjusted prices, in words": (
        "Date,Adj Open,Adj High,Adj Low,Adj Close,Adj Volume\n2024-01-11,1,1,1,1,1\n", "only adjusted prices"),
    "two currencies in a column": (
        "Date,Currency,Open,High,Low,Close,Volume\n2024-01-11,GBX,1,1,1,1,1\n2024-01-12,GBP,1,1,1,1,1\n",
        "the currency changes from GBX to GBP"),
    "separated by spaces": ("Date Open High Low Close Volume\n2024-01-11 1 1 1 1 1\n", "separated by spaces"),
    "hourly klines": (
        "".join(f"{1697760000000 + i * 3600000},1,1,1,1,1,{1697763599999 + i * 3600000},1,1,1,1,0\n" for i in (0, 1)),
        "intraday"),
    "an endless line": (HEADER + "1," * 100_000, "a line of 200,000 characters"),
    "a very long cell": (HEADER + "2024-01-11,1" + " " * 90_000 + "1,1,1,1,1\n", "not a number"),
    "a very long date": (HEADER + "2024-01-11" + " 0" * 40_000 + ",1,1,1,1,1\n", "no date"),
    "no header": ("2024-01-11,1,1,1,1,1\n2024-01-12,1,1,1,1,1\n", "no header line"),
    "figures before the header": ("2024-01-10,1,1,1,1,1\n" + GOOD, "figures stand before the header"),
    "header only": (HEADER, "no rows of data"),
    "empty": ("", "empty"),
    "blank": (" \n\n\t\n", "empty"),
    "web page": ("\n<!DOCTYPE html><html><body>Not found</body></html>", "web page"),
    "page without declaration": ("<div class='e'>\n<p>Date,Open</p></div>", "web page"),
    "JSON": ('{"chart": {"result": null}}', "JSON"),
    "JSON list": ('[{"date": "2024-01-11", "open": 1}]', "JSON"),
    "XML": ("<?xml version='1.0'?><Workbook/>", "XML"),
    "large file pointer": ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "vendor's excuse": ("Exceeded the daily hits limit", "no header line"),
    "cut in the last row": (GOOD + "2024-01-15,10.5,11.5", "cut off"),
    "cut in the last number": (
        "Date,Volume,Open,High,Low,Close\n"
        + "".join(f"2024-01-{d:02},1,10.50,11.50,9.50,10.25\n" for d in range(8, 13))
        + "2024-01-15,1,10.50,11.50,9.50,10.", "cut off"),
    "cut in a textual date": (
        HEADER + "".join(f'"Jan {d}, 2024",1,1,1,1,1\n' for d in (8, 9, 10)) + '"Jan 1', "quote"),
    "NUL byte": (GOOD.replace("9.5", "9\x005", 1), "line 2: a NUL byte"),
    "control character": (GOOD.replace("9.5", "9\x07", 1), "line 2: control character"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), FILES.values(), ids=FILES)
def test_file(text: str, problem: str, tmp_path: Path) -> None:
    assert problem in refusal(tmp_path, text)


BYTES = {
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "Excel workbook"),
    "Parquet": (b"PAR1" + bytes(50), "Parquet"),
    "Feather": (b"ARROW1\0\0", "Feather"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "HDF5"),
    "PDF": (b"%PDF-1.7\n", "PDF"),
    "xz": (b"\xfd7zXZ\0", "unpack"),
    "random": (bytes(random.Random(1).randrange(256) for _ in range(500)), "ABC.csv"),
    "Japanese, not UTF-8": ("日付,始値,高値,安値,終値,出来高\n2024-01-11,1,1,1,1,1\n".encode("shift-jis"), "ABC.csv"),
    "gzip cut off": (gzip.compress(GOOD.encode())[:-9], "damaged"),
    "gzip with a tail": (gzip.compress(GOOD.encode()) + b"rest", "damaged"),
    "gzip of a workbook": (gzip.compress(b"PK\x03\x04[Content_Types].xml"), "Excel workbook"),
    "half a UTF-16 file": (b"\xff\xfe" + GOOD.encode("utf-16-le")[:-1], "damaged utf-16"),
}


@pytest.mark.parametrize(("data", "problem"), BYTES.values(), ids=BYTES)
def test_bytes(data: bytes, problem: str, tmp_path: Path) -> None:
    assert problem in refusal(tmp_path, data)


INSTRUMENTS = {
    "PERMNO": ("10001", "10002"),
    "gvkey": ("001690", "012141"),
    "company": ("Apple", "IBM"),
    "assetCode": ("AAPL.O", "IBM.N"),
    "Company Name": ("Apple", "IBM"),
    "fund_id": ("7", "8"),
    "Unit": ("USD", "EUR"),
}


@pytest.mark.parametrize(("name", "values"), INSTRUMENTS.items(), ids=INSTRUMENTS)
def test_two_instruments(name: str, values: tuple[str, str], tmp_path: Path) -> None:
    rows = "".join(f"{values[day > 9]},2024-01-{day:02},10,11,9,10,1000\n" for day in range(8, 13))
    message = refusal(tmp_path, f"{name},{HEADER}{rows}")
    assert f"line 4 (row 3, 2024-01-10): {name} changes from {values[0]} to {values[1]}" in message


def test_zip_and_workbook(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    for member, problem in (("ABC.csv", "a zip archive"), ("xl/workbook.xml", "an Excel workbook")):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, GOOD)
        with pytest.raises(DataError, match=problem):
            read_csv(path)


def test_size_is_capped_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ABC.csv"
    with path.open("wb") as file:
        file.truncate(5 * 2**30)
    with pytest.raises(DataError, match=r"5,120 MB, and the limit is 16 MB"):
        read_csv(path)
    monkeypatch.setattr(csv_text, "MAX_BYTES", 10_000)
    path.write_bytes(gzip.compress(b"\n" * 1_000_000))
    with pytest.raises(DataError, match="unpacks to more"):
        read_csv(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a folder"):
        read_csv(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="device or pipe"):
        read_csv(tmp_path / "pipe.csv")
    with pytest.raises(StoreError, match="No such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(StoreError):
        read_csv(tmp_path / ("x" * 300))
    with pytest.raises(StoreError):
        read_csv(Path("a\0b"))


def test_find_file(tmp_path: Path) -> None:
    for name in ("ABC.csv", "xyz.TXT", "notes.md"):
        (tmp_path / name).write_text("")
    assert find_file(tmp_path / "notes.md", "ABC") == tmp_path / "notes.md"
    assert find_file(tmp_path, "ABC").name == "ABC.csv"
    assert find_file(tmp_path, "XYZ").name == "xyz.TXT"
    with pytest.raises(DataError, match=r"without QQQ.csv; it holds ABC.csv"):
        find_file(tmp_path, "QQQ")


WARNINGS = {
    "hundredfold drop": ([(1000.0, 5), (1001.0, 5), (10.02, 5), (10.0, 5)], "2024-01-10"),
    "tenfold rise": ([(10.0, 5), (10.1, 5), (101.0, 5), (100.0, 5)], "2024-01-10"),
    "a split": ([(10.0, 5), (10.1, 5), (5.05, 5), (5.0, 5)], "2024-01-10 opens at 0.5 times"),
    "no volume at all": ([(10.0, 0), (10.1, 0), (10.2, 0)], "Volume is 0 on every bar"),
    "one silent bar": ([(10.0, 5), (10.1, 0), (10.2, 5)], "volume 0, first 2024-01-09"),
    "the same bar again": ([(10.0, 5), (10.0, 5), (10.2, 5)], "repeat the one before"),
}


@pytest.mark.parametrize(("bars", "words"), WARNINGS.values(), ids=WARNINGS)
def test_legal_but_odd(bars: list[tuple[float, int]], words: str, tmp_path: Path) -> None:
    rows = [f"2024-01-{day:02},{p},{p},{p},{p},{v}\n" for day, (p, v) in enumerate(bars, 8)]
    (tmp_path / "ABC.csv").write_text(HEADER + "".join(rows))
    warnings = read_csv(tmp_path / "ABC.csv").warnings
    assert any(words in text for text in warnings), warnings
    assert all(text.startswith("ABC.csv") for text in warnings)


def test_many_missing_days_are_said(tmp_path: Path) -> None:
    rows = "".join(f"2024-{m:02}-{d:02},1,1,1,1,{m * d}\n" for m in (1, 2, 3) for d in range(1, 29, 3))
    (tmp_path / "ABC.csv").write_text(HEADER + rows)
    assert any("of the weekdays" in text for text in read_csv(tmp_path / "ABC.csv").warnings)


def test_a_name_that_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "A\nB\x1b[31m.csv"
    path.write_text(HEADER)
    with pytest.raises(DataError) as caught:
        read_csv(path)
    assert str(caught.value).isprintable()


def test_one_price_in_another_unit_is_said(tmp_path: Path) -> None:
    (tmp_path / "ABC.csv").write_text(bad_row("2024-01-11,10.5,1150,9.5,10.0,1000"))
    assert any("times Low on 2024-01-11" in text for text in read_csv(tmp_path / "ABC.csv").warnings)


def test_damage_anywhere_is_one_line(tmp_path: Path) -> None:
    """Random damage gives a tape or one line, never a traceback."""
    draw = random.Random(7)
    path = tmp_path / "ABC.csv"
    for _ in range(400):
        data = bytearray(GOOD.encode())
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(len(data))
            data[at : at + draw.choice((0, 1, 1, 5))] = draw.choice(
                (b"", b",", b'"', b"\n", b"\0", b"\xff", b"9", b"-", b";")
            )
        path.write_bytes(bytes(data))
        try:
            read_csv(path)
        except BenchError as error:
            assert "\n" not in str(error)
            assert "ABC.csv" in str(error)


def refusal(tmp_path: Path, content: str | bytes) -> str:
    """The message with which ``content`` is refused."""
    path = tmp_path / "ABC.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read_csv(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("ABC.csv")
    return message
