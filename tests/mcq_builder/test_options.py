"""Laws of the ladder: ranks uniform, lattices kept, composites consistent, options apart."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random

import pytest

from backtrader_bench.mcq_builder.context import Context, Skip
from backtrader_bench.mcq_builder.options.guards import rounds_on_an_edge
from backtrader_bench.mcq_builder.options.steps import decimal_steps, index_steps, integer_steps
from backtrader_bench.mcq_builder.questions import questions
from backtrader_bench.records import Question
from backtrader_bench.templates.kinds import INTEGER, MONEY, NUMBER2, SIGNED_MONEY
from backtrader_bench.templates.registry import TEMPLATES
from tests.helpers import context

# 99.99% points of chi-square with 1 to 3 degrees of freedom (tables).
CHI_9999 = {3: 21.11}


@pytest.fixture(scope="module")
def of() -> Context:
    return context(stake=10**6)


def asked(of: Context, template: str, most: int = 400, seed: int = 5) -> list[Question]:
    return [q for q in islice(questions(template, of, "ladder", seed), most) if isinstance(q, Question)]


def amount(text: str) -> float:
    return float(text.translate(str.maketrans("", "", "$,%")))


def chi_square(counts: Counter[int], classes: int = 4) -> float:
    total = sum(counts.values())
    return sum((counts[c] - total / classes) ** 2 / (total / classes) for c in range(classes))


@pytest.mark.parametrize("template", ["portfolio_value", "broker_cash", "sma", "volume", "position_on_date"])
def test_key_rank_is_uniform(of: Context, template: str) -> None:
    ranks: Counter[int] = Counter()
    for record in [q for seed in range(4) for q in asked(of, template, 300, seed)]:
        values = sorted(amount(text) for text in record.options.values())
        ranks[values.index(amount(record.options[record.answer]))] += 1
    assert sum(ranks.values()) > 400
    assert chi_square(ranks) < CHI_9999[3], ranks


@pytest.mark.parametrize("template", ["strategy_action_on_date", "signal_state_on_date"])
def test_no_state_is_a_good_guess(of: Context, template: str) -> None:
    words = list(TEMPLATES[template].phrases)
    found = Counter(words.index(q.value) for seed in range(30) for q in asked(of, template, 12, seed))
    assert chi_square(found) < CHI_9999[3], found


def test_letters_are_uniform_and_not_tied_to_templates(of: Context) -> None:
    letters: Counter[int] = Counter()
    for template in ("net_pnl", "sharpe_ratio", "commission", "turnover", "avg_holding_period"):
        for seed in range(80):
            letters.update("ABCD".index(q.answer) for q in asked(of, template, 1, seed))
    assert chi_square(letters) < CHI_9999[3], letters


def test_every_question_has_four_different_options_and_its_key_among_them(of: Context) -> None:
    for template in TEMPLATES:
        for record in asked(of, template, 10):
            assert len(set(record.options.values())) == 4
            assert record.option_origins[record.answer] == "key"
            assert sum(origin == "key" for origin in record.option_origins.values()) == 1


def test_win_rates_keep_the_number_of_trades() -> None:
    for seed in range(12):
        for record in asked(context(data=f"synthetic:calm:{seed}", strategy="macd_crossover"), "win_rate"):
            texts = set(record.options.values())
            trades = next(n for n in range(1, 200) if texts <= {f"{100 * k / n:.2f}%" for k in range(n + 1)})
            assert trades < 60


def test_composites_add_up(of: Context) -> None:
    for record in asked(of, "days_in_position"):
        for text in record.options.values():
            inside, outside, total = (int(word) for word in text.replace(",", "").split() if word.isdigit())
            assert inside + outside == total == of.result.rows
    for record in asked(of, "total_shares_traded"):
        left = {int(w[0]) - int(w[2]) for w in (t.replace(",", "").split() for t in record.options.values())}
        assert left == {of.result.position[-1]}
    for record in asked(of, "first_buy"):
        for text in record.options.values():
            close, day = amount(text.split()[4]), text.split()[-1]
            assert close == round(of.tape.close[of.tape.dates.index(day)], 2)


def test_dates_are_trading_days(of: Context) -> None:
    for template in ("peak_portfolio_date", "best_trade_day", "largest_loss_trade", "max_drawdown_window"):
        for record in asked(of, template):
            for text in record.options.values():
                days = [word for word in text.replace(":", "").split() if word[:2] in ("20", "19") and "-" in word]
                assert days and set(days) <= set(of.tape.dates)


def test_volumes_keep_their_lots() -> None:
    bundled = context(symbol="IBM", data="bundled", start_date="2010-01-04", end_date="2012-01-03")
    for record in asked(bundled, "volume", 100):
        assert len({int(text) % 100 == 0 for text in record.options.values()}) == 1


def test_steps_refuse_what_has_no_room() -> None:
    rng = Random(1)
    for rank in range(4):
        with pytest.raises(Skip):
            integer_steps(2, rank, rng)
        with pytest.raises(Skip):
            integer_steps(9, rank, rng, high=11)
        with pytest.raises(Skip):
            decimal_steps(0.0, rank, MONEY, rng)
        with pytest.raises(Skip):
            index_steps(2, rank, rng, 100, 10)


@pytest.mark.parametrize("rank", range(4))
def test_steps_keep_order_rank_and_bounds(rank: int) -> None:
    rng = Random(rank)
    for _ in range(500):
        key = rng.randrange(3, 60)
        values = integer_steps(key, rank, rng, high=key + 3)
        assert values == sorted(set(values)) and values[rank] == key and values[0] >= 0 and values[-1] <= key + 3
        money = round(rng.uniform(-5000, 5000), 2)
        steps = decimal_steps(money, rank, SIGNED_MONEY, rng)
        assert steps == sorted(set(steps)) and steps[rank] == money
        assert index_steps(50, rank, rng, 100, 12)[rank] == 50


@pytest.mark.parametrize(
    ("value", "edge"),
    [(1.005, True), (2.675, True), (-2.675, True), (1.0049, False), (1.0, False), (1e9 + 0.125, True)],
)
def test_rounding_edges(value: float, edge: bool) -> None:
    assert rounds_on_an_edge(value, NUMBER2) is edge
    assert INTEGER.decimals is None
