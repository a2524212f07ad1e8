"""``bench run`` with the real programs, answered by stubs: statuses, retries and tokens as attempts record them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from backtrader_bench.attempts import to_attempt
from backtrader_bench.cli.main import run
from tests.real_clis import RealCli
from tests.stubs.server import StubServer

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]
NAMES = ("claude", "codex", "copilot", "cursor")
WITHOUT = ("plain", "forced", "refuse-401", "refuse-429", "refuse-500", "hang")


def bank(path: Path, cases: tuple[str, ...]) -> Path:
    """Published records whose text tells the stub's model what to do."""
    records = [
        {
            "question": f"Which? [case {case}]\n\nA. $1.00\nB. $2.00\nC. $3.00\nD. $4.00\n",
            "answer": "B", "type": "sma",
            "difficulty": "easy", "strategy_name": "sma_crossover", "strategy_params": {"pfast": 10, "pslow": 30},
            "config": {"symbol": "AAPL", "start_date": "2020-01-01", "end_date": "2021-01-01", "initial_cash": 50000.0,
                       "commission_rate": 0.001, "stake": 1000, "strategy_name": "sma_crossover"},
        }
        for case in cases
    ]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_clis: Mapping[str, RealCli], url: str,
    cases: tuple[str, ...], *more: str,
) -> dict[tuple[str, str], dict[str, object]]:
    """What was recorded, by agent and case."""
    home = tmp_path / "home"
    home.mkdir()
    for name in NAMES:
        for variable, value in real_clis[name].environ(url, home).items():
            monkeypatch.setenv(variable, value)
    store = tmp_path / "store"
    monkeypatch.setenv("BENCH_HOME", str(store))
    file = bank(tmp_path / "bank.jsonl", cases)
    agents = [word for name in NAMES for word in ("--agent", f"{name}:{real_clis[name].model}")]
    assert run(["run", str(file), *agents, "--retries", "1", "--jobs", "8", "--run-name", "real", *more]) == 0
    found = {}
    for path in (store / "db" / "attempts").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            fields = json.loads(line)
            to_attempt(fields, "an attempt")
            prompt = next((store / fields["transcript"]).rglob("prompt.txt")).read_text()
            case = prompt.split("[case ")[1].split("]")[0]
            found[fields["backend"], case] = fields
    return found


def test_statuses_retries_and_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_clis: Mapping[str, RealCli],
    stubs: Callable[[Mapping[str, str]], StubServer],
) -> None:
    stub = stubs({})
    found = attempts(
        tmp_path, monkeypatch, real_clis, stub.url, WITHOUT, "--mode", "no-tools", "--timeout", "90",
    )  # fmt: skip
    assert len(found) == len(NAMES) * len(WITHOUT)
    kinds = {"refuse-401": "auth", "refuse-429": "rate_limit", "refuse-500": "overloaded"}
    for (agent, case), one in found.items():
        error = one["error"]
        told = (agent, case, one["status"], error)
        if case == "plain":
            assert one["status"] in ("correct", "wrong") and one["method"] == "strict", told
            assert one["usage"]["output"] and not one["usage"]["estimated"], told  # type: ignore[index]
        elif case == "forced":
            assert one["status"] == "tool_attempted" and one["tool_calls"], told
        elif (agent, case) == ("cursor", "refuse-401"):
            continue  # its backend would refuse every question, by the key alone
        elif case == "hang":
            assert one["status"] == "timeout", told
        else:
            assert one["status"] == "agent_error" and isinstance(error, dict) and error["kind"] == kinds[case], told
            assert one["tries"] == (1 if case == "refuse-401" else 2), told


def test_tools_are_used_where_they_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_clis: Mapping[str, RealCli],
    stubs: Callable[[Mapping[str, str]], StubServer],
) -> None:
    more = ("--mode", "with-tools", "--data-access", "none", "--timeout", "120")
    found = attempts(tmp_path, monkeypatch, real_clis, stubs({}).url, ("shell",), *more)
    assert set(found) == {(name, "shell") for name in NAMES}
    for one in found.values():
        assert one["status"] == "correct" and one["tool_calls"] and one["isolation"], one
