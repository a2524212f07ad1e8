"""Counting tokens and dollars."""

from __future__ import annotations

from pathlib import Path

import pytest

from backtrader_bench.agents.usage import Prices, count_tokens, estimate, is_known, read_prices
from backtrader_bench.attempts import Cost, Usage
from backtrader_bench.errors import BenchError, StoreError, UsageError

SONNET = {"input": 3.0, "cache_read": 0.3, "cache_write": 3.75, "output": 15.0}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("word", 2), ("two words", 3), ("a, b.", 5), ("SMA(10) >= 3.5%", 13), ("naïve 株価", 3), (" \n ", 0)],
)
def test_chunks_times_one_and_a_quarter(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_an_estimate_says_so() -> None:
    assert estimate("one two", "three") == Usage(input=3, output=2, estimated=True)


def test_unknown_is_not_zero() -> None:
    assert not is_known(Usage())
    assert is_known(Usage(output=0))
    assert is_known(Usage(reasoning=1))


def test_cost_by_parts() -> None:
    prices = Prices({"sonnet": SONNET})
    used = Usage(input=1_000_000, cache_read=2_000_000, cache_write=100_000, output=10_000, reasoning=9_000)
    # 3 + 0.6 + 0.375 + 0.15; reasoning is part of the output.
    assert prices.cost(used, ["sonnet"]) == Cost(usd=pytest.approx(4.125), source="computed")
    assert prices.cost(used, [None, "other", "sonnet"]) is not None


def test_no_cost_where_something_is_unknown() -> None:
    prices = Prices({"sonnet": SONNET, "bare": {"input": 1.0, "output": 2.0}})
    assert prices.cost(Usage(input=5, output=5), ["opus", None]) is None
    assert prices.cost(Usage(input=5), ["sonnet"]) is None
    assert prices.cost(Usage(input=5, output=5, cache_read=1), ["bare"]) is None
    assert prices.cost(Usage(input=5, output=5, cache_read=0), ["bare"]) == Cost(usd=15e-6, source="computed")


def test_files_of_both_kinds(tmp_path: Path) -> None:
    toml, json = tmp_path / "prices.toml", tmp_path / "prices.json"
    toml.write_text('["gpt-5.5"]\ninput = 2\noutput = 8.5\n')
    json.write_text('{"gpt-5.5": {"input": 2, "output": 8.5}}')
    assert read_prices(toml) == read_prices(json) == Prices({"gpt-5.5": {"input": 2.0, "output": 8.5}})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "x = [", "not TOML"),
        ("a.toml", "", "expected a table of models"),
        ("a.toml", "input = 3", "expected prices such as"),
        ("a.toml", "[gpt-5.5]\ninput = 2", "'5' is none of|'5.5'|none of input"),
        ("a.toml", "[m]\ninput = -1", "input is '-1'"),
        ("a.toml", "[m]\ninput = nan", "input is 'nan'"),
        ("a.toml", "[m]\ninput = true", "US dollars per million"),
        ("a.json", '{"m": {"input": 1, "input": 2}}', "duplicate key"),
        ("a.json", '{"m": {"reasoning": 1}}', "'reasoning' is none of"),
        ("a.json", "[]", "expected a table of models"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BenchError, match=message) as caught:
        read_prices(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot read"):
        read_prices(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not TOML"):
        read_prices(tmp_path / "b.toml")
