"""What generators and second verifiers are told."""

from __future__ import annotations

from backtrader_bench.miner.categories import CATEGORIES
from backtrader_bench.miner.decisions import DECISIONS
from backtrader_bench.miner.records import AttemptLine
from backtrader_bench.miner.report import history_line
from backtrader_bench.templates.prompts.mining import MEANINGS, generator_text, second_text


def test_the_generator_is_told_seed_category_and_history() -> None:
    line = AttemptLine(run="r", attempt=3, decision="easy_discarded", category="trail", ask="How much is left?",
                       reasons=("answered_without_tools",))  # fmt: skip
    text = generator_text(1234567, 8, "trail", CATEGORIES, [history_line(line, MEANINGS[line.decision])])
    for words in ("MCQ_SEED=1234567", "answers of 8 other seeds", CATEGORIES["trail"], "attempt 3", "too easy",
                  "How much is left?", "<<<QUESTION>>>", "<<</CODE>>>", "ANSWER_VALUE_JSON:", "python"):  # fmt: skip
        assert words in text
    assert "What came of" not in generator_text(1, 8, None, CATEGORIES, [])
    assert all(about in generator_text(1, 8, None, CATEGORIES, []) for about in CATEGORIES.values())


def test_every_decision_means_something_to_a_generator() -> None:
    assert set(MEANINGS) == set(DECISIONS)


def test_an_agent_without_tools_is_not_told_of_any() -> None:
    assert "tools" not in generator_text(1, 8, "stop", CATEGORIES, [], tools=False).replace("without tools", "")
    stem = "An account of {braces} ..."
    assert stem in second_text(stem)
    assert "your tools" not in second_text(stem, tools=False)
