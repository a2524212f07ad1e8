"""yfinance against a server of our own on the loopback address: the good answer and every way to get none."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest

from backtrader_bench.cli.main import run
from backtrader_bench.errors import DataError, MissingError
from backtrader_bench.market import pins, sources, yahoo
from backtrader_bench.records import TapeRef

pytestmark = pytest.mark.slow  # importing yfinance alone takes about a second

WINDOW = ("2024-01-02", "2024-01-05")


class ChartServer(http.server.BaseHTTPRequestHandler):
    """Answers as the chart interface does, by symbol."""

    asked: ClassVar[list[str]] = []
    change: ClassVar[float] = 0.0

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        symbol = self.path.split("/")[-1].split("?")[0]
        self.asked.append(symbol)
        if symbol == "SLOW":
            time.sleep(5)
        status, body = (200, chart(symbol, self.change)) if symbol != "GONE" else (404, not_found())
        data = b"<html>busy</html>" if symbol == "HTML" else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Quiet(http.server.ThreadingHTTPServer):
    """Says nothing of a client that was killed while it waited: another test may be listening to stderr by then."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing."""


def not_found() -> dict[str, Any]:
    error = {"code": "Not Found", "description": "No data found, symbol may be delisted"}
    return {"chart": {"result": None, "error": error}}


def chart(symbol: str, change: float) -> dict[str, Any]:
    """Four bars from 2 January 2024, New York; volumes whole, Close not adjusted for dividends."""
    if symbol == "NONE":
        return {"chart": {"result": [], "error": None}}
    opened = int(datetime(2024, 1, 2, 14, 30, tzinfo=UTC).timestamp())
    stamps = [int((datetime.fromtimestamp(opened, UTC) + timedelta(days=day)).timestamp()) for day in range(4)]
    high = [12.0, 13.0, 14.0, 15.0] if symbol != "BENT" else [12.0, 1.0, 14.0, 15.0]
    quote = {
        "open": [10.25, 11.25, 12.25, 13.25], "high": high, "low": [10.0, 11.0, 12.0, 13.0],
        "close": [10.5, 11.5 + change, 12.5, 13.5], "volume": [100, 200, 0, 400],
    }  # fmt: skip
    period = {"timezone": "EST", "start": opened, "end": opened + 23_400, "gmtoffset": -18_000}
    meta = {
        "currency": "USD", "symbol": symbol, "exchangeName": "NMS", "instrumentType": "EQUITY", "priceHint": 2,
        "firstTradeDate": 345_479_400, "regularMarketTime": opened, "gmtoffset": -18_000, "timezone": "EST",
        "exchangeTimezoneName": "America/New_York", "regularMarketPrice": 13.5, "chartPreviousClose": 10.0,
        "currentTradingPeriod": dict.fromkeys(("pre", "regular", "post"), period), "dataGranularity": "1d",
        "range": "", "validRanges": ["1d", "max"],
    }  # fmt: skip
    indicators = {"quote": [quote], "adjclose": [{"adjclose": [5.0, 5.5, 6.0, 6.5]}]}
    return {"chart": {"result": [{"meta": meta, "timestamp": stamps, "indicators": indicators}], "error": None}}


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    base = pytest.importorskip("yfinance.base")
    history = pytest.importorskip("yfinance.scrapers.history")
    httpd = Quiet(("127.0.0.1", 0), ChartServer)
    httpd.daemon_threads = True
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    for module in (base, history):
        monkeypatch.setattr(module, "_BASE_URL_", f"http://127.0.0.1:{httpd.server_port}")
    monkeypatch.setattr(ChartServer, "asked", [])
    yield
    httpd.shutdown()
    httpd.server_close()


def test_prices_as_quoted_and_end_exclusive() -> None:
    tape = sources.load("yfinance", "ABC", *WINDOW)
    assert tape.dates == ("2024-01-02", "2024-01-03", "2024-01-04")
    assert tape.close == (10.5, 11.5, 12.5)
    assert tape.adj_close == (5.0, 5.5, 6.0)
    assert tape.volume == (100, 200, 0)
    assert (tape.symbol, tape.source, tape.warnings) == ("ABC", "yfinance", ())


@pytest.mark.parametrize("symbol", ["GONE", "NONE", "HTML"])
def test_no_answer_names_the_other_sources(symbol: str) -> None:
    with pytest.raises(MissingError, match=rf"no bars of {symbol} from 2024-01-02 .*--data bundled") as caught:
        sources.load("yfinance", symbol, *WINDOW)
    assert "\n" not in str(caught.value)


def test_no_server() -> None:
    import yfinance.base
    import yfinance.scrapers.history

    for module in (yfinance.base, yfinance.scrapers.history):
        module._BASE_URL_ = "http://127.0.0.1:9"
    with pytest.raises(MissingError):
        sources.load("yfinance", "ABC", *WINDOW)


def test_a_hanging_download_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yahoo, "DEADLINE", 1.0)
    begun = time.monotonic()
    with pytest.raises(MissingError, match="no answer within 1 seconds"):
        sources.load("yfinance", "SLOW", *WINDOW)
    assert time.monotonic() - begun < 4


def test_bars_against_the_rules_are_refused() -> None:
    with pytest.raises(DataError, match=r"bar 2 \(2024-01-03\): High 1\.0 is below"):
        sources.load("yfinance", "BENT", *WINDOW)


def test_a_second_download_that_differs_is_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = sources.load("yfinance", "ABC", *WINDOW)
    ref = TapeRef(sha256=tape.sha256, source="yfinance", rows=3, first=tape.dates[0], last=tape.dates[-1])
    for path in pins.pinned():
        path.unlink()
    assert pins.find(ref, "ABC", *WINDOW, allow_network=True).sha256 == tape.sha256
    monkeypatch.setattr(ChartServer, "change", 0.25)
    with pytest.raises(pins.DataDrift, match="some prices or volumes differ"):
        pins.find(ref, "ABC", *WINDOW, allow_network=True)
    pins.save(tape)
    assert pins.find(ref, "ABC", *WINDOW, allow_network=True).close == tape.close


def test_a_window_is_downloaded_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    first = sources.load("yfinance", "ABC", *WINDOW)
    monkeypatch.setattr(ChartServer, "change", 0.25)
    assert sources.load("yfinance", "ABC", *WINDOW).sha256 == first.sha256
    assert run(["data", "fetch", "ABC", "--start-date", WINDOW[0], "--end-date", WINDOW[1], "--data", "yfinance"]) == 0
    assert "drifted since it was downloaded: 1 of 3 bars differ" in capsys.readouterr().err
    assert sources.load("yfinance", "ABC", *WINDOW).sha256 != first.sha256


def test_fetch_pins_and_goes_on_after_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    window = ["--start-date", WINDOW[0], "--end-date", WINDOW[1], "--data", "yfinance"]
    assert run(["data", "fetch", "GONE", "ABC", *window]) == 3
    out, err = capsys.readouterr()
    assert "ABC  2024-01-02 to 2024-01-04  3 bars from yfinance" in out
    assert err.startswith("error: yfinance gave no bars of GONE")
    assert len(list(pins.pinned())) == 1
