"""The page of a bank: complete, escaped, self-contained; without answers nothing in it tells a key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.checker.engine import simulate
from backtrader_bench.checker.indicators import Closes, rsi
from backtrader_bench.cli.main import run
from backtrader_bench.errors import RecordError
from backtrader_bench.market import pins, sources
from backtrader_bench.mcq_builder.build import build_bank, fetch
from backtrader_bench.mcq_builder.excluded import excluded
from backtrader_bench.mcq_builder.pages import bank as pages
from backtrader_bench.mcq_builder.pages import charts
from backtrader_bench.mcq_builder.pages.pack import ChartPack, unpacked
from backtrader_bench.mcq_builder.settings import Settings
from backtrader_bench.parallel import spread
from backtrader_bench.records import MINED, question_id, to_line
from tests import helpers
from tests.agents.exports.made import records as make_records
from tests.agents.reports import chromium
from tests.agents.reports.test_page import HOSTILE, Parsed
from tests.agents.runs.made import published

CHROMIUM = chromium.program()
ORDERED = ("sma_crossover", "macd_crossover", "rsi_strategy", "trailing_stop")
VERIFIER = "print('the program ' + 'that gives it away')"


def mined(**changes: Any) -> dict[str, Any]:
    """A mined record as the miner writes it."""
    options = {"A": "0.125", "B": "0.250", "C": "7.531", "D": "0.500"}
    stem = "Prices are what bars() returns:\n\n```python\ndef bars():\n    return []\n```\n\nWhat does it earn?"
    return {
        "question": stem, "answer": "C", "type": "trail", "difficulty": "mined", "strategy_name": "",
        "strategy_params": {}, "config": {}, "schema_version": 1, "id": "e" * 64, "stem": stem, "options": options,
        "template_params": {}, "value": 7.531, "scheme": "mined", "seed": 77001,
        "tape": {"sha256": "5" * 64, "source": "verifier", "rows": 0, "first": "", "last": ""},
        "option_origins": {"A": "seed 78010", "B": "seed 79019", "C": "key", "D": "ladder"},
        "labels": ["tool_solver_correct"], "category": "trail", "verifier": VERIFIER, "tolerance": 0.0009,
        "verification": {"base_seed": 77001, "answer": "7.531", "others": {"78010": "0.125"},
                         "isolation": {"level": "L3"}, "attempt": "run/attempt_001", "generator": "offline"},
        **changes,
    }  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with the bars of three banks: ``ladder.jsonl``, ``siblings.jsonl`` and ``mined.jsonl``."""
    home = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(home))
        ladder = helpers.bank(num_questions=12, strategy=ORDERED)
        hidden = Settings.of({**helpers.WINDOW, "num_questions": 3, "strategy": ("sma_crossover",)})
        tape = sources.load(hidden.data, hidden.symbol, hidden.start_date, hidden.end_date)
        siblings = build_bank(hidden, tape, spread(fetch, 1), cache=None, exclude=excluded([]), secret=b"s" * 32)
        for name, bank in (("ladder", ladder), ("siblings", siblings)):
            for one in bank.tapes.values():
                pins.save(one)
            (home / f"{name}.jsonl").write_bytes(b"".join(map(to_line, bank.questions)))
        (home / "mined.jsonl").write_text(json.dumps(mined()) + "\n")
    yield home


def made(home: Path, *names: str, **more: Any) -> pages.Page:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(home))
        return pages.page([home / f"{name}.jsonl" for name in names], **more)


def records(home: Path, *names: str) -> dict[str, dict[str, Any]]:
    lines = [line for name in names for line in (home / f"{name}.jsonl").read_text().splitlines()]
    return {one["id"]: one for one in map(json.loads, lines)}


def blocks(text: str) -> dict[str, Any]:
    """Every packed part of a page, unpacked, by its id."""
    return {name: unpacked(block) for name, block in Parsed(text).scripts.items() if name}


def questions(text: str) -> list[dict[str, Any]]:
    return [one for name, block in blocks(text).items() if name.startswith("chunk-") for one in block]


ALL = ("ladder", "siblings", "mined")


def test_every_question_is_there_with_its_key_origins_and_provenance(home: Path) -> None:
    page = made(home, *ALL)
    known, shown = records(home, *ALL), questions(page.html)
    assert {one["id"] for one in shown} == set(known) and page.questions == len(known) == 16
    assert [row[0] for row in blocks(page.html)["index"]["rows"]] == [one["id"][:12] for one in shown]
    for one in shown:
        record, facts = known[one["id"]], dict(one["facts"])
        assert (one["stem"], one["key"]) == (record["stem"], record["answer"])
        assert one["options"] == {letter: " ".join(text.split()) for letter, text in record["options"].items()}
        assert one["origins"] == record["option_origins"]
        if record["scheme"] == MINED:
            assert "sha256" not in facts and dict(one["secret"])["verifier, sha256"] == record["tape"]["sha256"]
        else:
            assert facts["sha256"] == record["tape"]["sha256"]
        assert facts["scheme"].startswith(record["scheme"])
        assert dict(one["secret"])["seed"] == str(record["seed"])
        assert (one["chart"] is None) == (record["scheme"] == "mined")
    certified = [one for one in shown if one["scheme"] == "siblings"]
    assert all("hidden worlds" in dict(one["facts"])["certificate"] for one in certified) and len(certified) == 3
    [program] = [one for one in shown if one["scheme"] == "mined"]
    assert program["verifier"] == VERIFIER and dict(program["secret"])["verifier, seed 78010"] == "0.125"
    assert [*page.missing] == ["e" * 64]


def test_without_answers_nothing_holds_a_key_packed_or_not(home: Path) -> None:
    page = made(home, *ALL, answers=False)
    known = records(home, *ALL)
    found = blocks(page.html)
    assert page.charts == 0 and not [name for name in found if name.startswith(("chart-", "calendar-"))]
    for one in questions(page.html):
        record = known[one["id"]]
        assert set(one) == {"id", "tier", "template", "strategy", "category", "scheme", "stem", "ask", "options",
                            "where", "facts", "noChart"}  # fmt: skip
        text = json.dumps(one, ensure_ascii=False)
        # Whatever a key can be read from; options and stem, which everyone sees, are looked through as they are.
        rest = json.dumps({name: value for name, value in one.items() if name not in ("options", "stem", "ask")})
        for origin in set(record["option_origins"].values()) - {"ladder", "key"}:
            assert origin not in text
        if len(value := json.dumps(record["value"])) > 4:  # shorter ones stand in hashes
            assert value not in rest
        if record["scheme"] != "ladder":
            assert record["tape"]["source"] not in rest or record["scheme"] == "mined"
        private = record.get("private") or {}
        for seed in private.get("seeds", []):
            assert str(seed) not in text
    whole = page.html.replace(Parsed(page.html).scripts[""], "") + json.dumps(found)
    for secret in ("gives it away", "77001", "78010", "attempt_001", '"key"', '"answer"', "option_worlds"):
        assert secret not in whole


def test_the_order_of_questions_and_their_options_is_the_same_whatever_the_keys(home: Path, tmp_path: Path) -> None:
    before = made(home, *ALL, answers=False).html
    for name in ALL:
        moved = {"A": "B", "B": "C", "C": "D", "D": "A"}
        lines = [{**one, "answer": moved[one["answer"]]} for one in records(home, name).values()]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert made(tmp_path, *ALL, answers=False).html == before


def test_the_page_of_an_export_is_that_of_the_bank_in_the_order_of_ids(home: Path, tmp_path: Path) -> None:
    assert run(["export", "csv", str(home / "ladder.jsonl"), "-o", str(tmp_path / "out"), "--no-answers"]) == 0
    lines = sorted((home / "ladder.jsonl").read_text().splitlines(True), key=lambda line: json.loads(line)["id"])
    (tmp_path / "questions.public.jsonl").write_text("".join(lines))
    exported, own = (made(folder, "questions.public", answers=False) for folder in (tmp_path / "out", tmp_path))
    assert exported.questions == len(lines) and exported.html == own.html


def test_labels_and_fields_that_nobody_knows_are_no_more_public_on_a_page_than_in_an_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of mined, of built and of published records, with a category that stands in a label alone."""
    made_up = [
        {**mined(), "id": question_id(mined()["stem"], mined()["options"]), "labels": ["tool_solver_correct"]},
        {**make_records(1)[0], "labels": ["zebra", "category:zebra"], "note": "zebra"},
        {**published(1), "labels": ["zebra"], "note": {"key": "zebra"}},
    ]
    (tmp_path / "bank.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made_up))
    assert run(["export", "csv", str(tmp_path / "bank.jsonl"), "-o", str(tmp_path / "out"), "--no-answers"]) == 0
    ids = [json.loads(line).get("id") for line in (tmp_path / "out" / "questions.public.jsonl").open()]
    ordered = sorted(made_up, key=lambda one: ids.index(one.get("id")))
    (tmp_path / "questions.public.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ordered))
    exported, own = (made(folder, "questions.public", answers=False) for folder in (tmp_path / "out", tmp_path))
    assert exported.questions == 3 and exported.html == own.html
    whole = own.html + json.dumps(blocks(own.html))
    assert "zebra" not in whole and "tool_solver_correct" not in whole
    assert "zebra" in json.dumps(questions(made(tmp_path, "bank").html))
    capsys.readouterr()
    for line in ("1", "2", "3"):
        assert run(["show", str(tmp_path / "bank.jsonl"), line, "--no-key", "--json"]) == 0
    said = capsys.readouterr().out
    assert "zebra" not in said and "labels" not in said and "verifier" not in said.replace('"source": "verifier"', "")


def test_a_bank_exported_without_answers_makes_the_same_page_and_no_other(home: Path, tmp_path: Path) -> None:
    from backtrader_bench.records import public_part

    for name in ALL:
        lines = [json.dumps(public_part(one)) + "\n" for one in records(home, name).values()]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    assert made(tmp_path, *ALL, answers=False).html == made(home, *ALL, answers=False).html
    with pytest.raises(RecordError, match=r"ladder.jsonl, line 1: no answer; give --no-answers"):
        made(tmp_path, "ladder")


def test_what_records_say_is_data_and_nothing_refers_outside(home: Path, tmp_path: Path) -> None:
    odd = mined(stem=HOSTILE, category=HOSTILE, verifier=HOSTILE, labels=[HOSTILE], type="<b>x</b>")
    (tmp_path / "<i>odd.jsonl").write_text(json.dumps(odd) + "\n")
    text = made(tmp_path, "<i>odd", title="<b>title</b>").html
    parsed = Parsed(text)
    assert "hacked" not in text and "<b>title" not in text and "<i>odd" not in text and "&lt;b&gt;title" in text
    assert all(re.fullmatch(r"[A-Za-z0-9+/=]+", block) for name, block in parsed.scripts.items() if name)
    code = [one for tag, one in parsed.elements if tag == "script" and one.get("type") != "text/plain"]
    assert code == [{}]
    for tag, attributes in parsed.elements:
        assert tag not in ("img", "iframe", "object", "embed", "base")
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style", "action")]
        assert attributes.get("href") in (None, "data:,") or str(attributes["href"]).startswith("#")
    assert "@import" not in text and "url(" not in text and "http" not in text.replace("http-equiv", "").replace(
        "http://www.w3.org/2000/svg", "")  # fmt: skip
    assert questions(text)[0]["stem"] == HOSTILE


def test_a_question_that_comes_again_is_shown_once(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "twice.jsonl"
    path.write_bytes((home / "ladder.jsonl").read_bytes() * 2)
    found = pages.page([path, path])
    assert (found.questions, found.repeated) == (12, 36)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(RecordError, match="empty"):
        pages.page([tmp_path / "empty.jsonl"])


@pytest.mark.shared
def test_published_files_have_pages(shared: Path) -> None:
    pool = shared / "data/published/pool_part.jsonl"
    found = pages.page([pool], data=shared / "data/AAPL.csv")
    assert (found.questions, found.missing) == (102, {}) and 1 < found.charts < 102
    plain = pages.page([pool])
    assert len(plain.missing) == 102 and "--data says where" in next(iter(plain.missing.values()))


def spec(strategy: str, **params: float) -> BacktestSpec:
    settings = helpers.settings(strategy=(strategy,))
    return BacktestSpec(strategy=strategy, params={**settings.strategy_params[strategy], **params},
                        initial_cash=50_000.0, commission_rate=0.001, stake=1000)  # fmt: skip


def test_indicators_and_stops_are_the_engines() -> None:
    tape = helpers.tape_of(helpers.settings())
    closes = Closes(tape.close, np.array(tape.close))
    assert charts.averages(spec("sma_crossover")) == (("sma", 10), ("sma", 30))
    assert charts.averages(spec("exponential_weighted_moving_average", pfast=5, pslow=9)) == (
        ("sma", 5), ("sma", 9), ("ema", 5), ("ema", 9))  # fmt: skip
    own = charts.own_pane(tape, spec("rsi_strategy", rsi_period=14))
    assert own is not None and own.bounds == (10.0, 90.0)
    [(name, first, values, decimals)] = own.lines
    expected = rsi(closes, 14)
    assert (name, first) == ("RSI", 14) and np.array(values) / 10**decimals == pytest.approx(expected[14:], abs=0.3)
    own = charts.own_pane(tape, spec("macd_crossover"))
    assert own is not None and [line[0] for line in own.lines] == ["MACD", "signal"]
    found = simulate(tape, spec("trailing_stop"))
    levels = {first + at: level for first, run in charts.stretches(found, 2) for at, level in enumerate(run)}
    stops = {found.first_row + row: level for row, level in enumerate(found.stops) if level is not None}
    assert len(stops) > 10 and levels == {bar: round(level * 100) for bar, level in stops.items()}


READ = """JSON.stringify({
  keys: document.querySelectorAll('li.key').length, options: document.querySelectorAll('ol.options li').length,
  button: document.querySelector('.secret button')?.textContent ?? null,
  lines: document.querySelectorAll('.chart path.line').length,
  fills: document.querySelectorAll('.chart .buy').length > 0,
})"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_it_works_in_a_browser_without_network(home: Path, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    file, public = tmp_path / "bank.html", tmp_path / "public.html"
    file.write_text(made(home, *ALL).html)
    public.write_text(made(home, *ALL, answers=False).html)
    known = records(home, *ALL)
    average = next(one["id"] for one in known.values() if one["strategy_name"] == "sma_crossover")
    with chromium.Page(CHROMIUM) as tab:
        for width, dark in ((1280, False), (400, True)):
            tab.size(width, dark=dark)
            for place in ("", "#q/" + average):
                tab.open(file, place)
                assert tab.run("document.documentElement.scrollWidth") <= width
        tab.open(file, "#questions")
        tab.wait("document.querySelectorAll('#list li').length === 16")
        choose(tab, "strategy", "sma_crossover")
        count = sum(one["strategy_name"] == "sma_crossover" for one in known.values())
        tab.wait(f"document.querySelectorAll('#list li').length === {count}")
        tab.open(file, "#questions?text=" + average)
        tab.run("route()")
        tab.wait("document.querySelectorAll('#list li').length === 1")
        tab.run("document.querySelector('#list a').click()")
        tab.wait("document.querySelector('.chart p')")
        # What the chart says (so many buys, the portfolio's last value) is what some questions ask for.
        assert tab.run("document.querySelector('.chart').innerText").startswith("The chart is shown with the key")
        found = json.loads(tab.run(READ))
        assert found == {"keys": 0, "options": 4, "button": "Show the key", "lines": 0, "fills": False}
        tab.run("document.querySelector('.secret button').click()")
        tab.wait("document.querySelector('.chart svg path.close')")
        found = json.loads(tab.run(READ))
        assert found == {"keys": 1, "options": 4, "button": "Hide the key", "lines": 2, "fills": True}
        tab.run("document.querySelector('.secret button').click()")
        assert json.loads(tab.run(READ))["lines"] == 0
        tab.run("document.querySelector('.secret button').click()")
        assert tab.run("document.querySelector('li.key b').textContent") == known[average]["answer"]
        computed = "chartOf(0).then(({ close }) => JSON.stringify([close, ema(close, 9), sma(close, 9)]))"
        close, ema, sma = json.loads(tab.run(computed))
        closes = Closes(tuple(close), np.array(close))
        assert ema[:8] == [None] * 8 and ema[8:] == pytest.approx(closes.ema(9)[8:])
        assert sma[:8] == [None] * 8 and sma[8:] == pytest.approx(closes.sma(9)[8:])
        tab.open(file, "#q/" + "e" * 64)
        tab.wait("document.querySelector('.stem pre')")
        assert VERIFIER not in tab.run("document.body.innerText")
        tab.run("document.querySelector('#all').click()")
        tab.wait("document.querySelector('.secret details')")
        assert tab.run("document.querySelector('.secret pre').textContent") == VERIFIER
        tab.open(public, "#q/" + average)
        tab.wait("document.querySelector('.stem')")
        assert json.loads(tab.run(READ)) == {"keys": 0, "options": 4, "button": None, "lines": 0, "fills": False}
        tab.settle()
        assert set(tab.requests) == {file.as_uri(), public.as_uri()}
        assert tab.complaints == []


def choose(tab: chromium.Page, name: str, choice: str) -> None:
    tab.run(f"""(() => {{
      const select = document.querySelector('select[name={name}]');
      select.value = [...select.options].find((one) => one.textContent === '{choice}').value;
      select.dispatchEvent(new Event('input', {{ bubbles: true }}));
    }})()""")


def test_a_pack_of_nothing_is_nothing() -> None:
    assert (ChartPack().charts, ChartPack().calendars) == ([], [])
