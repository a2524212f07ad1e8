"""Laws of a bank: same seed same bytes, quotas even, nothing twice, every job count alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from backtrader_bench.agents.exports.sealing import guessable
from backtrader_bench.backtest.strategies import REGISTRY
from backtrader_bench.cli.main import run as bench
from backtrader_bench.errors import RecordError
from backtrader_bench.mcq_builder.answers import ANSWERS
from backtrader_bench.mcq_builder.audit.bank import telling_values
from backtrader_bench.mcq_builder.build import build_bank, fetch
from backtrader_bench.mcq_builder.excluded import excluded
from backtrader_bench.mcq_builder.questions import scope_key
from backtrader_bench.parallel import spread
from backtrader_bench.records import Question, parse_json, public_part, question_id, to_line, to_question
from backtrader_bench.templates.drift import text_problems
from backtrader_bench.templates.registry import TEMPLATES
from tests.helpers import bank, settings, tape_of


def lines(questions: list[Question]) -> bytes:
    return b"".join(to_line(question) for question in questions)


def test_the_lists_of_templates_agree() -> None:
    assert list(TEMPLATES) == list(ANSWERS)
    page = (Path(__file__).parents[2] / "docs" / "templates.md").read_text()
    for name in TEMPLATES:
        assert f"| `{name}` |" in page, name
    assert len(TEMPLATES) == 58


def test_same_seed_same_bytes_for_every_number_of_jobs(tmp_path: Path) -> None:
    given = {"strategy": "all", "num_questions": 60, "seed": 3}
    one = lines(bank(**given).questions)
    assert one == lines(bank(cache=tmp_path, **given).questions)
    assert one == lines(bank(cache=tmp_path, jobs=2, **given).questions)
    assert one != lines(bank(cache=tmp_path, **{**given, "seed": 4}).questions)


def test_counts_are_split_evenly_and_nothing_comes_twice() -> None:
    made = bank(num_questions=200, strategy="all")
    built = made.questions
    assert Counter(q.difficulty for q in built) == {"easy": 67, "medium": 67, "hard": 66}
    assert len({q.id for q in built}) == len({scope_key(q) for q in built}) == 200
    missing = set(TEMPLATES) - {q.type for q in built}
    assert missing <= {template for template, _ in made.skipped} and len(missing) < 12


def test_no_value_stands_in_two_questions_of_a_ladder() -> None:
    made = bank(num_questions=120, strategy="all", scheme="ladder")
    said = Counter(value for question in made.questions for value in telling_values(question))
    assert len(said) > 250 and set(said.values()) == {1}
    assert any("another question" in reason for _, reason in made.skipped)


def test_a_template_not_chosen_moves_no_other() -> None:
    both = [q for q in bank(template="sma,portfolio_value", num_questions=10).questions if q.type == "sma"]
    alone = bank(template="sma", num_questions=len(both)).questions
    assert len(both) >= 5 and both == alone


def test_more_than_possible_gives_what_is_possible_and_says_why() -> None:
    made = bank(template="net_pnl,nth_trade_pnl,first_close", difficulty="easy,medium", num_questions=500)
    trades = sum(1 for q in made.questions if q.type == "nth_trade_pnl")
    assert made.wanted == 500 and len(made.questions) == trades + 2
    assert Counter(q.type for q in made.questions)["first_close"] == 1


def test_what_depends_on_the_bars_alone_is_asked_once() -> None:
    made = bank(template="first_close", strategy="all", num_questions=5)
    assert len(made.questions) == 1
    assert sum(made.skipped.values()) == len(REGISTRY) - 1


def test_exclude_asks_something_else() -> None:
    first = bank(num_questions=9).questions
    second = bank(num_questions=9, exclude=first).questions
    assert len(second) == 9 and not {q.id for q in first} & {q.id for q in second}


def telling(asked: Question) -> set[str]:
    """What attackers who link questions of one backtest go by."""
    return {value for _, value in telling_values(asked)}


def test_exclude_knows_a_question_with_other_options_and_what_its_options_say() -> None:
    first = bank(num_questions=30, seed=1).questions
    again = bank(num_questions=30, seed=2).questions
    same = {q.stem for q in first} & {q.stem for q in again}
    keys = {q.stem: q.options[q.answer] for q in first}
    others = {q.stem: set(q.options.values()) for q in first}
    assert same and all(keys[q.stem] in set(q.options.values()) & others[q.stem] for q in again if q.stem in same)
    other = bank(num_questions=30, seed=2, exclude=first).questions
    assert len(other) == 30 and not {q.stem for q in first} & {q.stem for q in other}
    assert not set().union(*map(telling, first)) & set().union(*map(telling, other))


def test_an_excluded_file_without_a_question_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    new = tmp_path / "new.jsonl"
    assert bench(["build", "-n", "1", "--exclude", str(tmp_path / "empty.jsonl"), "-o", str(new)]) == 2
    assert "no question in it" in capsys.readouterr().err and not new.exists()


def test_bars_are_known_by_another_window_too() -> None:
    first = bank(num_questions=20, seed=1, start_date="2017-01-01").questions  # a Sunday
    other = bank(num_questions=30, seed=2, exclude=first).questions
    assert other and first[0].tape.sha256 == other[0].tape.sha256 and first[0].config != other[0].config
    assert not set().union(*map(telling, first)) & set().union(*map(telling, other))
    again = bank(num_questions=30, seed=2).questions
    shared = set().union(*map(telling, first)) & set().union(*map(telling, again))
    warned = guessable([msgspec.to_builtins(one) for one in (*first, *again)], lambda run: None)
    assert shared and warned.linked


@pytest.mark.parametrize("kind", [[], {}, 5, None])
def test_an_excluded_record_with_a_type_that_is_none_is_one_line(kind: object) -> None:
    fields = {**msgspec.to_builtins(bank(num_questions=1).questions[0]), "type": kind}
    with pytest.raises(RecordError, match=r"x: .*\$\.type"):
        excluded([(fields, "x")])


@pytest.mark.parametrize("place", ["", ".", "/"])
def test_a_bank_needs_a_file_name(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["build", "-n", "1", "--data", "synthetic", "--symbol", "SYNX", "-o", place]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_exclude_needs_no_keys() -> None:
    first = bank(num_questions=12, seed=1).questions
    public = [(public_part(msgspec.to_builtins(one)), one.id) for one in first]
    assert excluded(public) == excluded([(msgspec.to_builtins(one), one.id) for one in first])


def test_exclude_reads_published_records() -> None:
    first = bank(num_questions=12, scheme="published").questions
    records = [({"question": one.question, "answer": one.answer, "config": one.config}, one.id) for one in first]
    chosen = settings(num_questions=12, scheme="published", seed=5)
    other = build_bank(chosen, tape_of(chosen), spread(fetch, 1), exclude=excluded(records)).questions
    assert other and not {" ".join(q.stem.split()) for q in first} & {" ".join(q.stem.split()) for q in other}
    with pytest.raises(RecordError, match="x: no question record"):
        excluded([({"question": "What?", "answer": "A"}, "x")])


def test_all_templates_asks_each_once() -> None:
    made = bank(all_templates=True, strategy="macd_crossover")
    assert max(Counter(q.type for q in made.questions).values()) == 1
    missing = {name for name, words in TEMPLATES.items() if words.fits("macd_crossover")}
    missing -= {q.type for q in made.questions}
    assert missing == {template for template, _ in made.skipped if template in missing}


def test_records_round_trip_and_say_what_their_templates_say() -> None:
    for record in bank(num_questions=90, strategy="all").questions:
        again = to_question(parse_json(to_line(record), "t"), "t")
        assert again == record
        assert text_problems(again) == []
        assert again.id == question_id(again.stem, again.options)
        assert "{" not in again.question


@pytest.mark.parametrize("strategy", REGISTRY)
def test_stems_state_what_a_solver_needs(strategy: str) -> None:
    (record,) = bank(template="portfolio_value", strategy=strategy, num_questions=1, stake=321, initial_cash=12345.5,
                     strategy_params={"rsi_buy_threshold": 45, "rsi_sell_threshold": 55} if "rsi" in strategy else {},
                     ).questions  # fmt: skip
    for needed in ("$12,345.50", "321", "0.001", "next bar's open", "2017-01-02", "2019-01-01", "all indicators",
                   *(str(value) for value in record.strategy_params.values() if value != 1.0)):  # fmt: skip
        assert needed.removesuffix(".0") in record.stem, needed


def test_default_build_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["build", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    written = Path(report["path"]).read_bytes().splitlines()
    assert len(written) == 30 and report["tiers"] == {"easy": 10, "medium": 10, "hard": 10}
    assert Path(report["path"]).parent.parts[-2:] == ("db", "mcq")
    manifest = json.loads(Path(report["manifest"]).read_text())
    assert manifest["built"] == 30 and manifest["tapes"][0]["source"] == "bundled"
    assert bench(["build", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "unchanged"


def test_config_files_and_flags_make_the_same_bank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_text(
        'symbol = "SYNA"\nnum_questions = 6\nseed = 9\nstrategy_name = "macd_crossover"\n'
        'difficulty_levels = ["easy", "hard"]\nstart_date = 2017-01-02\n[strategy_params]\npfast = 10\n'
    )
    (tmp_path / "c.json").write_text(json.dumps({
        "symbol": "SYNA", "num-questions": 6, "seed": 1, "strategy": "macd_crossover", "difficulty": "easy,hard",
        "start_date": "2017-01-02", "strategy_params": {"pfast": 10}}))  # fmt: skip
    flags = ["--symbol", "SYNA", "-n", "6", "--seed", "9", "--strategy", "macd_crossover", "--difficulty", "easy,hard",
             "--start-date", "2017-01-02", "--strategy-params", '{"pfast": 10}']  # fmt: skip
    calls = [["--config", "c.toml"], ["--config", "c.json", "--seed", "9"], flags]
    for number, call in enumerate(calls):
        given = [str(tmp_path / word) if word.startswith("c.") else word for word in call]
        assert bench(["build", *given, "-o", str(tmp_path / f"{number}.jsonl")]) == 0
    banks = {(tmp_path / f"{number}.jsonl").read_bytes() for number in range(3)}
    assert len(banks) == 1


def test_another_bank_is_not_replaced_unless_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "b.jsonl")
    assert bench(["build", "-n", "3", "-o", target]) == 0
    before = Path(target).read_bytes()
    assert bench(["build", "-n", "3", "--seed", "1", "-o", target]) == 2
    assert "--force" in capsys.readouterr().err and Path(target).read_bytes() == before
    assert bench(["build", "-n", "3", "--seed", "1", "-o", target, "--force"]) == 0
    assert Path(target).read_bytes() != before
