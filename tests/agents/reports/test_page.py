"""The page: self-contained, escaped, complete; and, where there is a Chromium, silent and working."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backtrader_bench.agents.reports import gather, measure, page
from backtrader_bench.api.reporting import links_from
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.backtest.run import run as run_backtest
from backtrader_bench.mcq_builder.pages import charts
from backtrader_bench.mcq_builder.pages.pack import ChartPack, deltas, packed, unpacked
from backtrader_bench.records import to_line
from tests import helpers
from tests.agents.reports import chromium, hand, simulated

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror=\"hacked=1\"> <!-- {{ 7*7 }} javascript:alert(1) "
    "\u2028\u0000"
)
CHROMIUM = chromium.program()


class Parsed(HTMLParser):
    """Elements with their attributes, and the text of scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self._script = dict(attrs).get("id") or ""

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Twelve questions of two configurations, their bars in a store of their own."""
    home = tmp_path_factory.mktemp("bank")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(home))
        made = helpers.bank(home / "cache", num_questions=12, strategy=("sma_crossover", "macd_crossover"))
        from backtrader_bench.market import pins

        for tape in made.tapes.values():
            pins.save(tape)
    path = home / "bank.jsonl"
    path.write_bytes(b"".join(to_line(one) for one in made.questions))
    yield path


def build(bank: Path, reply: str = "", home: Path | None = None, target: Path | None = None) -> str:
    """The page of a run of three agents over the bank."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(home or bank.parent))
        agents = {"claude:opus<b>": 0.8, "codex": 0.6, "guesser": 0.25}
        simulated.simulate("run_20260101_000000", bank, agents, repeats=2, ask_value=True, reply=reply)
        simulated.simulate("run_20260102_000000", bank, {"codex": 0.9}, shifts=(0, 1, 2, 3), mode="with-tools")
        table = gather.gather(["run_20260101_000000", "run_20260102_000000"])
        pack = ChartPack()
        drawn = charts.add_charts(table.facts.values(), pack.add)
        links = links_from(target or bank.parent / "report.html")
        return page.html(measure.report(table), table, drawn, pack, links)


@pytest.fixture(scope="module")
def text(bank: Path) -> str:
    return build(bank, HOSTILE)


@pytest.fixture(scope="module")
def parsed(text: str) -> Parsed:
    return Parsed(text)


def test_nothing_in_it_refers_to_anything_outside(parsed: Parsed, text: str) -> None:
    for tag, attributes in parsed.elements:
        assert tag not in ("img", "iframe", "object", "embed", "audio", "video", "base", "form[action]")
        for name in ("src", "srcset", "action", "poster", "background", "xlink:href", "style"):
            assert name not in attributes, (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        target = attributes.get("href")
        assert target is None or target.startswith("#") or target == "data:,", target
    assert "@import" not in text and "url(" not in text


def test_the_policy_forbids_requests_and_allows_the_one_script_by_its_hash(parsed: Parsed) -> None:
    [policy] = [one["content"] or "" for tag, one in parsed.elements
                if tag == "meta" and one.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    digest = base64.b64encode(hashlib.sha256(parsed.scripts[""].encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    code = [one for tag, one in parsed.elements if tag == "script" and one.get("type") != "text/plain"]
    assert code == [{}]


def test_the_script_makes_no_markup_and_no_request(parsed: Parsed) -> None:
    banned = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(|XMLHttpRequest|WebSocket"
        r"|import\("
    )
    assert not re.findall(banned, parsed.scripts[""])


def test_what_models_wrote_can_only_be_data(parsed: Parsed, text: str) -> None:
    assert "hacked" not in text
    assert "<b>" in text and "claude:opus<b>" not in text  # ours, never an agent's
    blocks = [one for name, one in parsed.scripts.items() if name]
    assert all(re.fullmatch(r"[A-Za-z0-9+/=]+", one) for one in blocks)


def test_every_question_has_its_text_options_key_and_all_answers(parsed: Parsed, bank: Path) -> None:
    index = unpacked(parsed.scripts["index"])
    found = [one for name, block in parsed.scripts.items() if name.startswith("chunk-") for one in unpacked(block)]
    records = {one["id"]: one for one in simulated.records(bank)}
    assert {one["id"] for one in found} == set(records)
    assert [row[0] for row in index["rows"]] == [one["id"][:12] for one in found]
    for one in found:
        record = records[one["id"]]
        assert (one["stem"], one["key"], one["options"]) == (record["stem"], record["answer"], record["options"])
        assert len(one["attempts"]) == 3 * 2 + 4
        assert {attempt["agent"] for attempt in one["attempts"]} == {0, 1, 2, 3}
        for attempt in one["attempts"]:
            assert attempt["transcript"].startswith(f"./logs/{attempt['run']}/")
    replies = [a["reply"] for one in found for a in one["attempts"] if a["run"] == "run_20260101_000000"]
    assert all("onerror" in reply for reply in replies)


def test_charts_are_the_backtests_each_once(parsed: Parsed, bank: Path) -> None:
    found = [one for name, block in parsed.scripts.items() if name.startswith("chunk-") for one in unpacked(block)]
    places = {one["strategy"]: one["chart"] for one in found}
    assert sorted(places.values()) == [0, 1]
    assert sum(name.startswith("chart-") for name in parsed.scripts) == 2
    assert sum(name.startswith("calendar-") for name in parsed.scripts) == 1
    record = next(one for one in simulated.records(bank) if one["strategy_name"] == "sma_crossover")
    config = record["config"]
    tape = helpers.tape_of(helpers.settings())
    result = run_backtest(tape, BacktestSpec(
        strategy="sma_crossover", params=record["strategy_params"], initial_cash=config["initial_cash"],
        commission_rate=config["commission_rate"], stake=config["stake"], sizing=config["sizing"],
    ))  # fmt: skip
    chart = unpacked(parsed.scripts[f"chart-{places['sma_crossover']}"])
    assert chart["fills"] == [[f.bar, "B" if f.side == "buy" else "S", f.size, round(f.price, 6)] for f in result.fills]
    assert chart["first"] == result.first_row
    for name, series in (("close", tape.close), ("value", result.value)):
        scale, at, drawn = 10 ** chart[f"{name}Decimals"], 0, []
        for delta in chart[name]:
            at += delta
            drawn.append(at / scale)
        assert drawn == pytest.approx(series, abs=(max(series) - min(series)) / 2000)


def test_a_question_without_bars_says_why(tmp_path: Path) -> None:
    table = hand.table(tmp_path)
    pack = ChartPack()
    drawn = charts.add_charts(table.facts.values(), pack.add)
    assert drawn.of == {} and len(drawn.missing) == 8
    parsed = Parsed(page.html(measure.report(table), table, drawn, pack))
    first = unpacked(parsed.scripts["chunk-0"])[0]
    assert first["chart"] is None and "none.csv" in first["noChart"]


def test_a_question_without_record_has_a_page(tmp_path: Path) -> None:
    made = [simulated.attempt(hand.RUN, "f" * 64, "a", "B", "B"), *hand.attempts()]
    table = hand.table(tmp_path, made)
    parsed = Parsed(page.html(measure.report(table), table, charts.Charts({}, {}), ChartPack()))
    last = unpacked(parsed.scripts["chunk-0"])[-1]
    assert (last["id"], last["tier"]) == ("f" * 64, "(unknown)")


def test_links_lead_into_the_logs_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    link = links_from(tmp_path / "home" / "out" / "report.html")
    assert link("logs/run_1/abc") == "./../logs/run_1/abc"
    assert link("logs/run 1/a#b?c") == "./../logs/run%201/a%23b%3Fc"
    for odd in ("../../etc/passwd", "/etc/passwd", "logs/../../x", "javascript:alert(1)", "db/mcq/bank.jsonl"):
        assert link(odd) is None


@pytest.mark.parametrize("value", [{"a": [1, None, "ü\u2028</script>"]}, [], "x" * 100_000])
def test_packing_is_undone(value: Any) -> None:
    assert unpacked(packed(value)) == value


def test_deltas() -> None:
    assert deltas([5, 7, 7, 1]) == [5, 2, 0, -6]


@pytest.mark.parametrize(("series", "expected"), [
    ([10.0, 12.5], ((10000, 12500), 3)), ([100.0, 3100.0], ((100, 3100), 0)),
    ([0.0, 5e6], ((0, 5000), -3)), ([7.0, 7.0], ((7000, 7000), 3)), ([0.0, 0.0], ((0, 0), 4)),
])  # fmt: skip
def test_series_keep_what_a_screen_can_show(series: list[float], expected: tuple[tuple[int, ...], int]) -> None:
    assert charts.scaled(series) == expected


@pytest.mark.shared
def test_published_records_are_drawn_from_given_prices(shared: Path) -> None:
    path = shared / "data/published/pool_part.jsonl"
    simulated.simulate(hand.RUN, path, {"x": 0.5}, transcripts=False)
    facts = gather.gather([hand.RUN]).facts
    pack = ChartPack()
    drawn = charts.add_charts(facts.values(), pack.add, shared / "data/AAPL.csv")
    assert set(drawn.of) == set(facts) and drawn.missing == {}
    assert 1 < len(pack.charts) < len(facts)
    assert all("--data says where" in why for why in charts.add_charts(facts.values(), pack.add).missing.values())


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_page_works_in_a_browser_without_network(text: str, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    file = tmp_path / "report.html"
    file.write_text(text)
    with chromium.Page(CHROMIUM) as tab:
        for width, dark in ((1280, False), (400, True)):
            tab.size(width, dark=dark)
            for place in ("#report", "#questions"):
                tab.open(file, place)
                assert tab.run("document.documentElement.scrollWidth") <= width
        tab.wait("document.querySelectorAll('#list li').length === 12")
        _filter(tab, "tier", "hard", 4)
        tab.run("document.querySelector('#list a').click()")
        tab.wait("document.querySelector('.chart svg path.close')")
        shown = json.loads(tab.run(QUESTION))
        assert shown == {"options": 4, "keys": 1, "answers": 10, "links": 10, "fills": True, "order": "1 of 4 chosen"}
        assert tab.run("document.querySelector('article pre').textContent").startswith("</script><script>window.hacked")
        tab.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
        tab.wait("document.querySelector('.steps .dim').textContent === '2 of 4 chosen'")
        assert tab.run("window.hacked") is None
        tab.settle()
        assert set(tab.requests) == {file.as_uri()}
        assert tab.complaints == []


QUESTION = """JSON.stringify({
  options: document.querySelectorAll('ol.options li').length, keys: document.querySelectorAll('li.key').length,
  answers: document.querySelectorAll('article').length, links: document.querySelectorAll('article a').length,
  fills: document.querySelectorAll('.chart .buy').length > 0, order: document.querySelector('.steps .dim').textContent,
})"""


def _filter(tab: chromium.Page, name: str, choice: str, expected: int) -> None:
    tab.run(f"""(() => {{
      const select = document.querySelector('select[name={name}]');
      select.value = [...select.options].find((one) => one.textContent === '{choice}').value;
      select.dispatchEvent(new Event('input', {{ bubbles: true }}));
    }})()""")
    tab.wait(f"document.querySelectorAll('#list li').length === {expected}")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_filters_and_search_find_what_they_should(bank: Path, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    file = tmp_path / "report.html"
    file.write_text(build(bank))
    wrong = {one.question_id for one in _attempts(bank) if one.agent == "codex" and one.status == "wrong"}
    with chromium.Page(CHROMIUM) as tab:
        tab.open(file, "#questions")
        tab.wait("document.querySelectorAll('#list li').length === 12")
        _filter(tab, "agent", "codex (no-tools)", 12)
        _filter(tab, "status", "wrong", len(wrong))
        ids = tab.run("[...document.querySelectorAll('#list a')].map((one) => one.hash.slice(3))")
        assert set(ids) == {one[:12] for one in wrong}
        record = simulated.records(bank)[3]
        tab.open(file, "#questions?text=" + record["options"]["C"].replace("$", "%24").replace(" ", "+"))
        tab.run("route()")
        tab.wait("document.querySelectorAll('#list li').length < 12")
        assert record["id"][:12] in tab.run("[...document.querySelectorAll('#list a')].map((one) => one.hash.slice(3))")
        tab.open(file, "#q/" + record["id"])
        tab.wait("document.querySelector('.stem')")
        assert tab.run("document.querySelector('.stem').textContent") == record["stem"]
        assert tab.complaints == []


def _attempts(bank: Path) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(bank.parent))
        return [row.attempt for row in gather.gather(["run_20260101_000000"]).rows]


def test_the_page_is_the_same_for_the_same_runs(bank: Path, text: str) -> None:
    assert build(bank, HOSTILE) == text


def test_agents_beyond_the_colours_begin_again(tmp_path: Path) -> None:
    made = [simulated.attempt(hand.RUN, id, f"agent{n}", "B", "B") for id in hand.IDS for n in range(10)]
    table = hand.table(tmp_path, made)
    found = Parsed(page.html(measure.report(table), table, charts.Charts({}, {}), ChartPack()))
    assert {one["class"] for tag, one in found.elements if str(one.get("class")).startswith("agent c")} == {
        f"agent c{place}" for place in range(8)
    }  # fmt: skip
    assert msgspec.json.encode(unpacked(found.scripts["index"])["agents"]).count(b"agent") == 10
