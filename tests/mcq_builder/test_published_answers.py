"""The builder's answers are the published ones: 102 keys that someone else computed.

Numbers and dates are compared in their order in the option's text. Left out: phrases (what happened on a date), and
what the published files define otherwise where a backtest never trades.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.backtest.run import run
from backtrader_bench.checker.published import published_claim
from backtrader_bench.market import sources
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.context import Context, Skip
from backtrader_bench.templates.registry import TEMPLATES

TOKEN = re.compile(r"\d{4}-\d\d-\d\d|-?\$?-?\d[\d,]*(?:\.\d+)?")


def tokens(text: str) -> list[str]:
    """Dates and numbers of a text, written one way."""
    return [token.replace("$", "").replace(",", "") for token in TOKEN.findall(text)]


@pytest.mark.shared
def test_answers_are_the_published_ones(shared: Path) -> None:
    tape = sources.load(f"csv:{shared / 'data' / 'AAPL.csv'}", "AAPL", "2020-01-01", "2024-01-01")
    backtests = Backtests(run, "t", None, keep=200)
    compared, skipped = 0, []
    for line in (shared / "data" / "published" / "pool_part.jsonl").read_text().splitlines():
        fields = json.loads(line)
        template, claim = TEMPLATES[fields["type"]], published_claim(fields)
        if template.phrases:
            continue
        of = Context(tape, claim.spec, {"periods_per_year": 365}, backtests)
        asked = msgspec.to_builtins(dict(claim.asked))
        try:
            answer = ANSWERS[template.name](of, asked)
        except Skip as reason:
            skipped.append((fields["strategy_name"], template.name, str(reason)))
            continue
        expected = tokens(claim.texts[fields["answer"]])
        given = tokens(template.option_text(answer))
        if template.name == "drawdown_recovery_days":
            expected = [expected[0], expected[2]]  # the published option repeats the trough's date
        if template.name == "calmar_ratio":
            given = [f"{answer['value']:.2f}"]
        if template.name == "sma_comparison":
            expected, given = expected[-1:], given[-1:]
        assert given == expected, (template.name, claim.texts)
        compared += 1
    assert all(strategy == "rsi_strategy" for strategy, _, _ in skipped), skipped
    assert (compared, len(skipped)) == (95, 5)
