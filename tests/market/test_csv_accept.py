"""Spellings of the same three bars that have one reading, each of which must give these bars."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from backtrader_bench.market.csv_reader import read_csv

BARS = [
    ("2024-01-12", 1010.5, 1020.25, 1005.0, 1015.75, 1200),
    ("2024-01-15", 1016.0, 1030.0, 1012.5, 1025.0, 2300000),
    ("2024-01-16", 1024.5, 1026.0, 1001.25, 1002.0, 800),
]

CASES = {
    "plain": """Date,Open,High,Low,Close,Volume
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "any case, other order, unknown columns": """VOLUME,close,Note,LOW,hIGh,open,date
1200,1015.75,"a, b",1005,1020.25,1010.5,2024-01-12
2300000,1025,,1012.5,1030,1016,2024-01-15
800,1002,x,1001.25,1026,1024.5,2024-01-16
""",
    "sep= line, semicolons, decimal commas": """sep=;
Date;Open;High;Low;Close;Volume
12.01.2024;1010,5;1020,25;1005;1015,75;1200
15.01.2024;1016;1030;1012,5;1025;2300000
16.01.2024;1024,5;1026;1001,25;1002;800
""",
    "German names, thousands with dots": """Datum;Er\u00f6ffnung;Hoch;Tief;Schlusskurs;Volumen
16.01.2024;1.024,50;1.026,00;1.001,25;1.002,00;800
15.01.2024;1.016,00;1.030,00;1.012,50;1.025,00;2.300.000
12.01.2024;1.010,50;1.020,25;1.005,00;1.015,75;1.200
""",
    "pieces beside turnover": """Datum;Erster;Hoch;Tief;Schlusskurs;Stuecke;Volumen
2024-01-12;1010,50;1020,25;1005,00;1015,75;1200;1218900
2024-01-15;1016,00;1030,00;1012,50;1025,00;2300000;99
2024-01-16;1024,50;1026,00;1001,25;1002,00;800;99
""",
    "French with narrow spaces": """Date;Ouv.;Plus Haut;Plus Bas;Dernier;Vol.
12/01/2024;1\u202f010,50;1\u202f020,25;1\u202f005,00;1\u202f015,75;1\u00a0200
15/01/2024;1\u202f016,00;1\u202f030,00;1\u202f012,50;1\u202f025,00;2\u00a0300\u00a0000
16/01/2024;1\u202f024,50;1\u202f026,00;1\u202f001,25;1\u202f002,00;800
""",
    "Swiss apostrophes": """Date;Open;High;Low;Close;Volume
12.01.2024;1'010.50;1'020.25;1'005.00;1'015.75;1'200
15.01.2024;1'016.00;1'030.00;1'012.50;1'025.00;2'300'000
16.01.2024;1'024.50;1'026.00;1'001.25;1'002.00;800
""",
    "tabs, quoted US thousands": """Date\tOpen\tHigh\tLow\tClose\tVolume
01/12/2024\t"1,010.50"\t"1,020.25"\t"1,005.00"\t"1,015.75"\t"1,200"
01/15/2024\t"1,016.00"\t"1,030.00"\t"1,012.50"\t"1,025.00"\t"2,300,000"
01/16/2024\t"1,024.50"\t"1,026.00"\t"1,001.25"\t"1,002.00"\t800
""",
    "Indian grouping is Western below a lakh": """Date ,series ,OPEN ,HIGH ,LOW ,PREV. CLOSE ,ltp ,close ,vwap ,VOLUME
12-Jan-2024,EQ,"1,010.50","1,020.25","1,005.00",1,1,"1,015.75",1,"1,200"
15-Jan-2024,EQ,"1,016.00","1,030.00","1,012.50",1,1,"1,025.00",1,"23,00,000"
16-Jan-2024,EQ,"1,024.50","1,026.00","1,001.25",1,1,"1,002.00",1,800
""",
    "dollars, M and K, newest first": """Date,Close/Last,Volume,Open,High,Low
"Jan 16, 2024",$1002.00,0.8K,$1024.50,$1026.00,$1001.25
"Jan 15, 2024",$1025.00,2.3M,$1016.00,$1030.00,$1012.50
"Jan 12, 2024",$1015.75,1.2K,$1010.50,$1020.25,$1005.00
""",
    "euro signs behind, decimal commas": """Date;Open;High;Low;Close;Volume
12-01-2024;1010,50 \u20ac;1020,25 \u20ac;1005,00 \u20ac;1015,75 \u20ac;1200
15-01-2024;1016,00 \u20ac;1030,00 \u20ac;1012,50 \u20ac;1025,00 \u20ac;2300000
16-01-2024;1024,50 \u20ac;1026,00 \u20ac;1001,25 \u20ac;1002,00 \u20ac;800
""",
    "named by symbol": """"Index","BRK.B.Open","BRK.B.High","BRK.B.Low","BRK.B.Close","BRK.B.Volume","BRK.B.Adjusted"
2024-01-12,1010.5,1020.25,1005,1015.75,1200,1
2024-01-15,1016,1030,1012.5,1025,2300000,1
2024-01-16,1024.5,1026,1001.25,1002,800,1
""",
    "flattened column tuples": """\
Date,"('Close', 'ABC')","('High', 'ABC')","('Low', 'ABC')","('Open', 'ABC')","('Volume', 'ABC')"
2024-01-12,1015.75,1020.25,1005,1010.5,1200
2024-01-15,1025,1030,1012.5,1016,2300000
2024-01-16,1002,1026,1001.25,1024.5,800
""",
    "Close_ABC": """Date,Open_ABC,High_ABC,Low_ABC,Close_ABC,Volume_ABC
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "grouped by ticker, three header rows": """Ticker,ABC,ABC,ABC,ABC,ABC
Price,Open,High,Low,Close,Volume
Date,,,,,
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "datareader's three header rows": """Attributes,Adj Close,Close,High,Low,Open,Volume
Symbols,ABC,ABC,ABC,ABC,ABC,ABC
Date,,,,,,
2024-01-12,1,1015.75,1020.25,1005,1010.5,1200
2024-01-15,1,1025,1030,1012.5,1016,2300000
2024-01-16,1,1002,1026,1001.25,1024.5,800
""",
    "unnamed date column": """,Open,High,Low,Close,Volume
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "row numbers before the date": """,Date,Open,High,Low,Close,Volume
0,2024-01-12,1010.5,1020.25,1005,1015.75,1200
1,2024-01-15,1016,1030,1012.5,1025,2300000
2,2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "numbered names": """timestamp,1. open,2. high,3. low,4. close,5. volume
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "epoch seconds and one letter": """t,o,h,l,c,v
1705017600,1010.5,1020.25,1005,1015.75,1200
1705276800,1016,1030,1012.5,1025,2300000
1705363200,1024.5,1026,1001.25,1002,800
""",
    "epoch microseconds": """open_time,open,high,low,close,volume
1705017600000000,1010.5,1020.25,1005,1015.75,1200
1705276800000000,1016,1030,1012.5,1025,2300000
1705363200000000,1024.5,1026,1001.25,1002,800
""",
    "ISO with zone": """Date,Open,High,Low,Close,Volume
2024-01-12T00:00:00.000Z,1010.5,1020.25,1005,1015.75,1200
2024-01-15T00:00:00.000Z,1016,1030,1012.5,1025,2300000
2024-01-16T00:00:00.000Z,1024.5,1026,1001.25,1002,800
""",
    "one time of day": """Date,Open,High,Low,Close,Volume
1/12/2024 16:00:00,1010.5,1020.25,1005,1015.75,1200
1/15/2024 16:00:00,1016,1030,1012.5,1025,2300000
1/16/2024 16:00:00,1024.5,1026,1001.25,1002,800
""",
    "midnight in twelve hours": """Date,Open,High,Low,Close,Volume
1/12/2024 12:00:00 AM,1010.5,1020.25,1005,1015.75,1200
1/15/2024 12:00:00 AM,1016,1030,1012.5,1025,2300000
1/16/2024 12:00:00 AM,1024.5,1026,1001.25,1002,800
""",
    "terminal export with a clock column": """<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>
2024.01.12\t00:00:00\t1010.5\t1020.25\t1005\t1015.75\t9\t1200\t1
2024.01.15\t00:00:00\t1016\t1030\t1012.5\t1025\t9\t2300000\t1
2024.01.16\t00:00:00\t1024.5\t1026\t1001.25\t1002\t9\t800\t1
""",
    "compact dates": """<TICKER>;<PER>;<DATE>;<TIME>;<OPEN>;<HIGH>;<LOW>;<CLOSE>;<VOL>
ABC;D;20240112;000000;1010.5;1020.25;1005;1015.75;1200
ABC;D;20240115;000000;1016;1030;1012.5;1025;2300000
ABC;D;20240116;000000;1024.5;1026;1001.25;1002;800
""",
    "a comma after the last name": """Date,Open,High,Low,Close,Volume,
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000,
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "preamble": """Price history of ABC (USD)
Exported on 17 January 2024

Date,Open,High,Low,Close,Volume
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "footer": """Date,Open,High,Low,Close*,Adj Close**,Volume
2024-01-12,1010.5,1020.25,1005,1015.75,1,1200
2024-01-15,1016,1030,1012.5,1025,1,2300000
2024-01-16,1024.5,1026,1001.25,1002,1,800
*Close price adjusted for splits.
"Source: a vendor, all rights reserved"
""",
    "two-digit years of English months": """Date,Open,High,Low,Close,Volume
12-Jan-24,1010.5,1020.25,1005,1015.75,1200
15-Jan-24,1016,1030,1012.5,1025,2300000
16-Jan-24,1024.5,1026,1001.25,1002,800
""",
    "long month names": """Date,Open,High,Low,Close,Volume
"January 12, 2024",1010.5,1020.25,1005,1015.75,1200
"January 15, 2024",1016,1030,1012.5,1025,2300000
"January 16, 2024",1024.5,1026,1001.25,1002,800
""",
    "weekday and month": """Date,Open,High,Low,Close,Volume
"Fri, 12 Jan 2024",1010.5,1020.25,1005,1015.75,1200
"Mon, 15 Jan 2024",1016,1030,1012.5,1025,2300000
"Tue, 16 Jan 2024",1024.5,1026,1001.25,1002,800
""",
    "year first with slashes": """Date,Open,High,Low,Close,Volume
2024/1/12,1010.5,1020.25,1005,1015.75,1200
2024/1/15,1016,1030,1012.5,1025,2300000
2024/1/16,1024.5,1026,1001.25,1002,800
""",
    "units in names": """Date,Open (USD),High (USD),Low (USD),Close (USD),Volume (shares)
2024-01-12,1010.5,1020.25,1005,1015.75,1200
2024-01-15,1016,1030,1012.5,1025,2300000
2024-01-16,1024.5,1026,1001.25,1002,800
""",
    "coins beside turnover": """https://www.example.com/
unix,date,symbol,open,high,low,close,Volume ABC,Volume USDT
1705017600,2024-01-12 00:00:00,ABC/USDT,1010.5,1020.25,1005,1015.75,1200,9
1705276800,2024-01-15 00:00:00,ABC/USDT,1016,1030,1012.5,1025,2300000,9
1705363200,2024-01-16 00:00:00,ABC/USDT,1024.5,1026,1001.25,1002,800,9
""",
    "scientific and signed": """Date,Open,High,Low,Close,Volume
2024-01-12,+1.0105E3,1020.25,1005.,1015.75,1.2e3
2024-01-15,1016,1.03e+03,1012.5,1025.0,2.3E+06
2024-01-16,1024.5,1026,1001.25,1002,800.0
""",
    "Excel's text cells": """Date,Open,High,Low,Close,Volume
2024-01-12,="1010.5",="1020.25",="1005",="1015.75",1200
2024-01-15,="1016",="1030",="1012.5",="1025",2300000
2024-01-16,="1024.5",="1026",="1001.25",="1002",800
""",
    "MetaStock's date": """<TICKER>,<DTYYYYMMDD>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>
ABC,20240112,1010.5,1020.25,1005,1015.75,1200
ABC,20240115,1016,1030,1012.5,1025,2300000
ABC,20240116,1024.5,1026,1001.25,1002,800
""",
    "Databento in ISO": """ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol
2024-01-12T00:00:00.000000000Z,35,2,32,1010.5,1020.25,1005,1015.75,1200,ABC
2024-01-15T00:00:00.000000000Z,35,2,32,1016,1030,1012.5,1025,2300000,ABC
2024-01-16T00:00:00.000000000Z,35,2,32,1024.5,1026,1001.25,1002,800,ABC
""",
    "Databento in nanoseconds": """ts_event,open,high,low,close,volume
1705017600000000000,1010.5,1020.25,1005,1015.75,1200
1705276800000000000,1016,1030,1012.5,1025,2300000
1705363200000000000,1024.5,1026,1001.25,1002,800
""",
    "Refinitiv's date": """Exchange Date,Close,Net,%Chg,Open,Low,High,Volume
16-Jan-2024,1002,1,+1%,1024.5,1001.25,1026,800
15-Jan-2024,1025,1,+1%,1016,1012.5,1030,2300000
12-Jan-2024,1015.75,1,+1%,1010.5,1005,1020.25,1200
""",
    "year, month and day apart": """Year,Month,Day,Open,High,Low,Close,Volume
2024,1,12,1010.5,1020.25,1005,1015.75,1200
2024,01,15,1016,1030,1012.5,1025,2300000
2024,1,16,1024.5,1026,1001.25,1002,800
""",
    "a ticker column": """Ticker,Date,Open,High,Low,Close,Volume
ABC,2024-01-12,1010.5,1020.25,1005,1015.75,1200
ABC,2024-01-15,1016,1030,1012.5,1025,2300000
ABC,2024-01-16,1024.5,1026,1001.25,1002,800
""",
}


def assert_bars(path: Path) -> None:
    tape = read_csv(path)
    assert list(zip(tape.dates, tape.open, tape.high, tape.low, tape.close, tape.volume, strict=True)) == BARS


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_spelling(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert_bars(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii"])
def test_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_bytes(CASES["tabs, quoted US thousands"].encode(encoding))
    assert_bars(path)


def test_windows_text_is_read_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_bytes(CASES["German names, thousands with dots"].encode("cp1252"))
    assert_bars(path)
    assert any("Windows-1252" in text for text in read_csv(path).warnings)


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n\n", " \n", ",,\r\n"])
def test_line_ends(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(CASES["plain"].replace("\n", ending), newline="")
    assert_bars(path)


def test_no_last_line_end(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(CASES["plain"].rstrip("\n"))
    assert_bars(path)


def test_end_of_file_mark_of_old_systems(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(CASES["plain"] + "\x1a")
    assert_bars(path)


@pytest.mark.parametrize("name", ["ABC.csv.gz", "ABC.csv"])
def test_gzip_whatever_its_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    half = len(CASES["plain"]) // 2
    path.write_bytes(b"".join(gzip.compress(part.encode()) for part in (CASES["plain"][:half], CASES["plain"][half:])))
    assert_bars(path)
    assert read_csv(path).symbol == "ABC"


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("dollars, M and K, newest first", "reversed"),
        ("dollars, M and K, newest first", "rounded by the vendor"),
        ("footer", "notes after the last bar"),
    ],
)
def test_what_was_done_is_said(kind: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(CASES[kind])
    assert any(word in text for text in read_csv(path).warnings)


@pytest.mark.parametrize("kind", ["plain", "sep= line, semicolons, decimal commas", "ISO with zone", "preamble"])
def test_nothing_to_say_about_plain_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(CASES[kind])
    assert read_csv(path).warnings == ()


def test_headerless_klines(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    stamps = [1705017600000 + 86_400_000 * day for day in range(3)]
    path.write_text("".join(f"{t},10,12,9,11,{100.25 + i},{t + 86_399_999},1,2,3,4,0\n" for i, t in enumerate(stamps)))
    tape = read_csv(path)
    assert tape.dates == ("2024-01-12", "2024-01-13", "2024-01-14")
    assert tape.volume == (100, 101, 102)
    assert any("no header" in text for text in tape.warnings)
    assert any("rounded to whole units" in text for text in tape.warnings)


def test_day_first_by_dots_alone_is_said(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    rows = "".join(f"0{day}.02.2024;1,5;2,5;1,5;2,5;10\n" for day in (5, 6, 7))
    path.write_text("Date;Open;High;Low;Close;Volume\n" + rows)
    tape = read_csv(path)
    assert tape.dates[0] == "2024-02-05"
    assert any("day first" in text for text in tape.warnings)


def test_bad_adjusted_prices_only_cost_their_column(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text("Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-12,1,2,1,2,-0.1,5\n2024-01-15,1,2,1,2,1,6\n")
    tape = read_csv(path)
    assert tape.adj_close is None
    assert any("Adj Close" in text for text in tape.warnings)


def test_noise_is_lifted_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "ABC.csv"
    path.write_text(
        "Date,Open,High,Low,Close,Volume\n2024-01-12,10,11,9.000000000001,9,5\n2024-01-15,1e1,9.99999999999,9,10,6\n"
    )
    tape = read_csv(path)
    assert tape.high == (11.0, 10.0)
    assert tape.low == (9.0, 9.0)
    assert any("2 bar(s)" in text for text in tape.warnings)


def test_another_symbol_in_the_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(CASES["a ticker column"])
    assert read_csv(path, "ABC").warnings == ()
    assert any("names its symbol ABC" in text for text in read_csv(path, "XYZ").warnings)


BELOW_ONE = {
    "semicolons": "Date;Open;High;Low;Close;Volume\n02.01.2023;0,995;0,999;0,975;0,986;869949\n"
    "13.01.2023;0,986;0,999;0,975;0,995;869949\n",
    "quoted": 'Date,Open,High,Low,Close,Volume\n2023-01-02,"0,995","0,999","0,975","0,986",869949\n'
    '2023-01-13,"0,986","0,999","0,975","0,995",869949\n',
    "volumes in thousands": "Date;Open;High;Low;Close;Volume\n02.01.2023;0,995;0,999;0,975;0,986;869.949\n"
    "13.01.2023;0,986;0,999;0,975;0,995;869.949\n",
    "two zeros": "Date;Open;High;Low;Close;Volume\n02.01.2023;00,995;00,999;00,975;00,986;869949\n"
    "13.01.2023;00,986;00,999;00,975;00,995;869949\n",
    "points": "Date;Open;High;Low;Close;Volume\n02.01.2023;0.995;0.999;0.975;0.986;869949\n"
    "13.01.2023;0.986;0.999;0.975;0.995;869949\n",
    "points, volumes in thousands": "Date;Open;High;Low;Close;Volume\n02.01.2023;0.995;0.999;0.975;0.986;869,949\n"
    "13.01.2023;0.986;0.999;0.975;0.995;869,949\n",
}


@pytest.mark.parametrize("text", BELOW_ONE.values(), ids=BELOW_ONE)
def test_no_group_of_thousands_begins_with_zero(text: str, tmp_path: Path) -> None:
    (tmp_path / "ABC.csv").write_text(text)
    tape = read_csv(tmp_path / "ABC.csv")
    assert (tape.open, tape.close, tape.volume) == ((0.995, 0.986), (0.986, 0.995), (869949, 869949))


@pytest.mark.parametrize(("decimal", "group"), [(",", "."), (".", ",")])
def test_one_cell_below_one_settles_the_whole_file(decimal: str, group: str, tmp_path: Path) -> None:
    rows = "2023-01-13;1d011;1d014;1d000;1d001;1g200\n2023-01-16;1d002;1d014;0d997;1d000;1g300\n"
    text = "Date;Open;High;Low;Close;Volume\n" + rows.replace("d", decimal).replace("g", group)
    (tmp_path / "ABC.csv").write_text(text)
    tape = read_csv(tmp_path / "ABC.csv")
    assert (tape.open, tape.low, tape.volume) == ((1.011, 1.002), (1.0, 0.997), (1200, 1300))
