"""Settings: defaults, checks, aliases, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.cli.build import build
from backtrader_bench.errors import BenchError, UsageError
from backtrader_bench.market import sources
from backtrader_bench.mcq_builder.output import default_name
from backtrader_bench.mcq_builder.settings import SETTINGS, Settings, read_config
from tests.helpers import tape_of


def test_defaults_are_the_documented_ones() -> None:
    given = Settings.of({})
    assert (given.symbol, given.data, given.num_questions, given.seed) == ("AAPL", "auto", 30, 42)
    assert given.difficulty == ("easy", "medium", "hard")
    assert given.strategy_params == {"sma_crossover": {"pfast": 10, "pslow": 30, "target_percent": 1.0}}


def test_every_setting_is_a_flag_with_help() -> None:
    flags = {option.name: option for option in build.params}
    assert set(SETTINGS) <= set(flags)
    assert all(getattr(option, "help", None) for option in flags.values())


@pytest.mark.parametrize(
    ("data", "symbol"),
    [("csv:x/ACME.csv", "ACME"), ("csv:ACME.L.csv.gz", "ACME.L"), ("synthetic:hard:3", "SYN"), ("bundled", "AAPL")],
)
def test_a_price_file_is_never_called_apple(
    data: str, symbol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    for name in ("x/ACME.csv", "ACME.L.csv.gz"):
        (tmp_path / name).touch()
    assert Settings.of({"data": data}).symbol == symbol
    assert Settings.of({"data": data, "symbol": "IBM"}).symbol == "IBM"


def test_tickers_in_small_letters_are_not_sent_to_the_network() -> None:
    for symbol in ("aapl", "synx", "Ibm"):
        chosen = Settings.of({"symbol": symbol})
        assert chosen.scheme == "ladder"
        with pytest.raises(UsageError, match="capitals"):
            sources.load(chosen.data, chosen.symbol)


@pytest.mark.parametrize(
    "bad",
    [
        {"symbol": ""}, {"symbol": "../../etc/passwd"}, {"symbol": 5}, {"data": "ftp:x"}, {"data": "synthetic:mild"},
        {"data": "csv:my prices 2020.csv"}, {"start_date": "2020-02-30"}, {"start_date": "20200101"}, {"start_date": 5},
        {"start_date": "2020-01-02", "end_date": "2020-01-02"}, {"initial_cash": 0}, {"initial_cash": float("nan")},
        {"initial_cash": "50000"}, {"commission_rate": 2}, {"commission_rate": -0.1}, {"stake": 0}, {"stake": 1.5},
        {"stake": True}, {"sizing": "all"}, {"strategy": "buy_and_hold"}, {"strategy": []}, {"strategy": [5]},
        {"strategy_params": "{"}, {"strategy_params": "[1]"}, {"strategy_params": '{"pfast": 1, "pfast": 2}'},
        {"strategy_params": {"pfats": 3}}, {"strategy_params": {"pfast": 0}}, {"strategy_params": {"pfast": 1e999}},
        {"strategy": "all", "strategy_params": {"pfast": 3}}, {"strategy_params": {"macd_crossover": {}}},
        {"num_questions": 0}, {"num_questions": 10**9}, {"num_questions": 3.0}, {"seed": -1}, {"seed": "x"},
        {"seed": 2**63}, {"difficulty": "extreme"}, {"difficulty": ""}, {"template": "nope"},
        {"template": "first_close", "difficulty": "hard"}, {"all_templates": "yes"}, {"scheme": "siblings"},
        {"cash": 5}, {"strategy": "all", "strategy_name": "macd_crossover"},
    ],
)  # fmt: skip
def test_bad_settings_are_refused_in_one_line(bad: dict[str, Any]) -> None:
    with pytest.raises(BenchError) as error:
        Settings.of(bad)
    assert error.value.exit_code == 2
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("c.json", b'{"seed": 1, "seed": 2}'), ("c.json", b'{"seed": NaN}'), ("c.json", b"[1]"), ("c.json", b"\xff\xfe{}"),
     ("c.json", b""), ("c.toml", b"seed = \n"), ("c.toml", b"seed = 1\nseed = 2\n"), ("c.json", b"[" * 100_000)],
)  # fmt: skip
def test_bad_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"c\.json|c\.toml"):
        read_config(path)
    with pytest.raises(BenchError):
        read_config(tmp_path)
    with pytest.raises(BenchError):
        read_config(tmp_path / "absent.json")


def test_a_random_seed_is_drawn_and_stays_out_of_the_name() -> None:
    one, other = Settings.of({"seed": "random"}), Settings.of({"seed": "random"})
    assert one.seed != other.seed and 2**62 <= one.seed < 2**63
    assert Settings.of({"seed": one.seed}).seed == one.seed
    name = default_name(one, tape_of(one))
    assert str(one.seed) not in name and "_seed-random_" in name
    assert "_seed42_" in default_name(Settings.of({}), tape_of(one))
