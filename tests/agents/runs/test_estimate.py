"""Estimates before anyone is asked: sums that can be worked out by hand."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from backtrader_bench.agents.oracle import ORACLE
from backtrader_bench.agents.registry import Agent
from backtrader_bench.agents.runs import session
from backtrader_bench.agents.runs.estimate import ASSUMED, estimates, prompts
from backtrader_bench.agents.usage import Prices, count_tokens
from backtrader_bench.templates.prompts import system_text
from tests.agents.runs.made import published, write_bank

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("mode", ["no-tools", "with-tools"])
def test_tokens_and_dollars_add_up(tmp_path: Path, mode: str) -> None:
    bank = write_bank(tmp_path / "bank.jsonl", [published(number) for number in range(3)])
    given = {"agents": ("paid:m", "unknown", "oracle"), "mode": mode, "repeats": 2, "rotate": True}
    work = session.begin([bank], given)
    paid = dataclasses.replace(ORACLE, offline=False)
    agents = {
        "paid:m": Agent("paid:m", paid, "m"), "unknown": Agent("unknown", paid), "oracle": Agent("oracle", ORACLE)
    }  # fmt: skip
    found = estimates(work, agents, Prices({"m": {"input": 2.0, "output": 10.0}}))
    settings = work.manifest.settings
    said = [count_tokens(text) for _, _, text in prompts(work)]
    assert len(said) == 12
    rounds, output = ASSUMED[settings.mode]
    sent = rounds * 2 * (sum(said) + 12 * count_tokens(system_text(settings.mode, settings.data_access)))
    assert [(one.attempts, one.input, one.output) for one in found] == [(24, sent, 24 * output)] * 3
    assert found[0].usd == pytest.approx((2.0 * sent + 10.0 * 24 * output) / 1e6)
    assert found[1].usd is None and found[2].usd == 0.0
