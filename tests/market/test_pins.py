"""Tapes kept by hash, found again, and told apart from others."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from backtrader_bench import store
from backtrader_bench.errors import BenchError, DataError, MissingError, UsageError
from backtrader_bench.market import pins, sources, stored
from backtrader_bench.market.tape import Tape
from backtrader_bench.records import TapeRef

WINDOW = ("2016-01-04", "2017-01-01")


@pytest.fixture
def tape() -> Tape:
    return sources.load("synthetic:hard:3", "SYNA", *WINDOW)


def ref(tape: Tape, **changes: object) -> TapeRef:
    fields = {
        "sha256": tape.sha256, "source": tape.source, "rows": len(tape), "first": tape.dates[0], "last": tape.dates[-1],
    }  # fmt: skip
    return TapeRef(**{**fields, **changes})  # type: ignore[arg-type]


def write_csv(path: Path, tape: Tape, change: tuple[str, str] = ("", "")) -> Path:
    path.write_text(tape.canonical().decode().replace(*change))
    return path


def test_round_trip(tape: Tape) -> None:
    path = pins.save(tape)
    assert path == store.home() / "db" / "tapes" / f"{tape.sha256}.csv.gz"
    again = pins.load_pin(tape.sha256, "SYNA", tape.source)
    assert again.canonical() == tape.canonical()
    assert pins.read_pin(path).symbol == "SYNA"
    assert [found.name for found in pins.pinned()] == [path.name]


def test_adjusted_prices_are_kept_but_name_nothing() -> None:
    aapl = sources.load("bundled", "AAPL")
    again = pins.read_pin(pins.save(aapl))
    assert again.adj_close == aapl.adj_close
    assert again.sha256 == aapl.sha256


def test_saving_twice_leaves_the_file(tape: Tape) -> None:
    path = pins.save(tape)
    before = path.stat().st_mtime_ns, path.read_bytes()
    pins.save(tape)
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


def test_saving_mends_a_damaged_file(tape: Tape) -> None:
    path = pins.save(tape)
    path.write_bytes(path.read_bytes()[:100])
    pins.save(tape)
    assert pins.read_pin(path).sha256 == tape.sha256


def test_stored_bytes_hold_no_time(tape: Tape) -> None:
    assert stored.encode(tape) == stored.encode(tape)
    assert stored.encode(tape)[4:8] == b"\0\0\0\0"


@pytest.mark.parametrize("sha", ["", "abc", "../../etc/passwd", "A" * 64, "a" * 63 + "/", "a" * 64 + "\n"])
def test_no_hashes(sha: str, tape: Tape) -> None:
    with pytest.raises(DataError, match="no tape hash"):
        pins.load_pin(sha, "SYNA", "bundled")
    with pytest.raises(DataError, match="no tape hash"):
        pins.find(ref(tape, sha256=sha), "SYNA", None, None)


def test_found_in_the_store(tape: Tape) -> None:
    pins.save(tape)
    gone = ref(tape, source="csv:gone.csv")
    assert pins.find(gone, "SYNA", *WINDOW).sha256 == tape.sha256


def test_derived_again(tape: Tape) -> None:
    assert pins.find(ref(tape), "SYNA", *WINDOW).sha256 == tape.sha256
    assert pins.find(ref(tape), "SYNA", None, None).sha256 == tape.sha256
    ibm = sources.load("bundled", "IBM", "2008-01-01", "2010-01-01")
    assert pins.find(ref(ibm), "IBM", None, None).sha256 == ibm.sha256


def test_derived_from_a_file_in_the_current_folder(tape: Tape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "prices.csv", tape)
    assert pins.find(ref(tape, source="csv:prices.csv"), "SYNA", *WINDOW).sha256 == tape.sha256
    write_csv(tmp_path / "prices.csv", tape, ("2016-01-05", "2016-01-06"))
    with pytest.raises(BenchError):
        pins.find(ref(tape, source="csv:prices.csv"), "SYNA", *WINDOW)


@pytest.mark.parametrize("name", ["../prices.csv", "/etc/passwd", "..", "", "a/b.csv", "a\\b.csv", "a\0b"])
def test_no_paths_from_records(name: str, tape: Tape) -> None:
    with pytest.raises(MissingError, match="no plain file name"):
        pins.find(ref(tape, source=f"csv:{name}"), "SYNA", *WINDOW)


def test_missing_says_where_it_looked(tape: Tape) -> None:
    with pytest.raises(MissingError, match=r"not pinned in .*db/tapes.*no gone\.csv in"):
        pins.find(ref(tape, source="csv:gone.csv"), "SYNA", *WINDOW)
    with pytest.raises(MissingError, match="--network"):
        pins.find(ref(tape, source="yfinance"), "SYNA", *WINDOW)
    with pytest.raises(MissingError, match="unknown"):
        pins.find(ref(tape, source="oracle"), "SYNA", *WINDOW)


def test_drift_of_a_source(tape: Tape) -> None:
    with pytest.raises(pins.DataDrift, match="is not the data of the record"):
        pins.find(ref(tape, source="synthetic:hard:4"), "SYNA", *WINDOW)


def test_a_tampered_pin(tape: Tape) -> None:
    path = pins.save(tape)
    other = tape.canonical().replace(b"2016-01-04,", b"2016-01-03,", 1)
    path.write_bytes(gzip.compress(other))
    with pytest.raises(pins.DataDrift, match="changed since it was pinned"):
        pins.load_pin(tape.sha256, "SYNA", tape.source)
    # The source could still give the right bars, but an edited store is said, not papered over.
    for source in (tape.source, "yfinance"):
        with pytest.raises(pins.DataDrift, match="changed since it was pinned"):
            pins.find(ref(tape, source=source), "SYNA", *WINDOW)


@pytest.mark.parametrize(
    "data",
    [b"", b"x", b"\x1f\x8b\x08", gzip.compress(b"Date\n1\n"), gzip.compress(b"\xff" * 9)],
    ids=["empty", "short", "torn", "table", "noise"],
)
def test_damaged_pins(data: bytes, tape: Tape) -> None:
    path = pins.save(tape)
    path.write_bytes(data)
    with pytest.raises(pins.DataDrift):
        pins.load_pin(tape.sha256, "SYNA", tape.source)


def test_stored_form_is_read_strictly(tape: Tape) -> None:
    text = tape.canonical().decode()
    for bad in (
        text.replace(",", ";"),
        text + "2017-01-02,1\n",
        text.replace("2016-01-05", "2016-01-04"),
        text * 2,
        text + "\n",
        text.replace("\n", "\r\n"),
        text.replace(",1", ",01", 1),
    ):
        with pytest.raises(DataError):
            stored.decode(gzip.compress(bad.encode()), "SYNA", "x", "here")


def test_given_data(tape: Tape, tmp_path: Path) -> None:
    longer = sources.load("synthetic:hard:3", "SYNA", "2016-01-04", "2018-01-01")
    path = write_csv(tmp_path / "SYNA.csv", longer)
    assert pins.find(ref(tape), "SYNA", *WINDOW, data=path).sha256 == tape.sha256
    assert pins.find(ref(tape), "SYNA", *WINDOW, data=tmp_path).sha256 == tape.sha256
    assert pins.read_window(path, "SYNA", *WINDOW).sha256 == tape.sha256
    pinned = pins.save(tape)
    assert pins.find(ref(tape), "SYNA", *WINDOW, data=pinned.parent).sha256 == tape.sha256
    with pytest.raises(MissingError, match="no such file or folder"):
        pins.find(ref(tape), "SYNA", *WINDOW, data=tmp_path / "none")


def test_given_data_that_differ_say_how(tape: Tape, tmp_path: Path) -> None:
    lines = tape.canonical().decode().splitlines()
    fields = lines[3].split(",")
    fields[5] = str(int(fields[5]) + 1)
    path = tmp_path / "SYNA.csv"
    path.write_text("\n".join([*lines[:3], ",".join(fields), *lines[5:]]) + "\n")
    with pytest.raises(pins.DataDrift) as caught:
        pins.find(ref(tape), "SYNA", *WINDOW, data=path)
    message = str(caught.value)
    assert f"1 of {len(tape)} bars differ, first {fields[0]} (volume" in message
    assert "1 missing, first 2016-01-07" in message


def test_given_data_that_differ_from_a_tape_that_is_gone(tape: Tape, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "SYNA.csv", tape.window("2016-02-01", None))
    with pytest.raises(pins.DataDrift, match=f"the record says {len(tape)} bars 2016-01-04"):
        pins.find(ref(tape, source="csv:gone.csv"), "SYNA", *WINDOW, data=path)


def test_what_a_record_may_not_say(tape: Tape) -> None:
    with pytest.raises(UsageError):
        pins.find(ref(tape), "../x", *WINDOW)
    with pytest.raises(UsageError):
        pins.find(ref(tape), "SYNA", "yesterday", None)
    with pytest.raises(DataError, match="no date"):
        pins.find(ref(tape, last="x"), "SYNA", None, None)


def test_complete_a_hash(tape: Tape) -> None:
    pins.save(tape)
    assert pins.complete(tape.sha256[:8]) == tape.sha256
    with pytest.raises(MissingError, match="is pinned in"):
        pins.complete("0" * 20)
