"""One record, changed in every way that ends in another verdict."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.checker.engine import simulate
from backtrader_bench.checker.verdict import VERDICTS
from backtrader_bench.checker.verify import Checker, Settings, decode
from backtrader_bench.market import pins
from tests.checker.hand import record
from tests.checker.worlds import tape as random_tape

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.checker.verdict import Verdict
    from backtrader_bench.market.tape import Tape

Record = dict[str, Any]
TAPE = random_tape(Random(5), 120)
SPEC = BacktestSpec(
    strategy="sma_crossover", params={"pfast": 2, "pslow": 4, "target_percent": 1.0}, initial_cash=10_000.0,
    commission_rate=0.001, stake=1000,
)  # fmt: skip
RESULT = simulate(TAPE, SPEC)
CLOSE = TAPE.close[0]


def money(amount: float) -> str:
    """As options show it."""
    return f"{'-' if amount < 0 else ''}${abs(amount):,.2f}"


@pytest.fixture
def checker() -> Checker:
    """A checker whose store holds the tape."""
    pins.save(TAPE)
    return Checker(Settings())


def check(checker: Checker, made: Record) -> Verdict:
    """The verdict on one record."""
    return checker.check(decode("bank", 1, json.dumps(made).encode()))


def first_close(**changes: Any) -> Record:
    """A record in order: the first close, key A."""
    options = tuple(money(CLOSE * factor) for factor in (1, 1.1, 1.2, 1.3))
    return record("first_close", options, round(CLOSE, 2), TAPE, **changes)  # type: ignore[arg-type]


def test_a_record_in_order_matches(checker: Checker) -> None:
    verdict = check(checker, first_close())
    assert verdict.verdict == "match", verdict
    assert verdict.right == (verdict.key,) == ("A",)
    assert set(verdict.values) == {"backtrader", "second"}
    assert verdict.reason == "" and verdict.notes == ()


def test_a_composite_matches(checker: Checker) -> None:
    buys = sum(signal.side == "buy" for signal in RESULT.signals)
    sells = len(RESULT.signals) - buys
    options = tuple(f"{buys + n} buys and {sells + n} sells" for n in range(4))
    made = record("buy_sell_signals", options, {"buys": buys, "sells": sells}, TAPE)  # type: ignore[arg-type]
    assert check(checker, made).verdict == "match"
    for value in (
        {"buys": buys},
        {"buys": buys, "sells": sells, "all": 1},
        [buys, sells],
        {"buys": buys, "sells": True},
    ):
        assert check(checker, made | {"value": value}).verdict == "wrong_key", value


def put(path: str, value: Any) -> Callable[[Record], None]:
    """A change of one field; ``a.b`` goes down."""

    def change(made: Record) -> None:
        *above, last = path.split(".")
        for name in above:
            made = made[name]
        made[last] = value

    return change


def drop(path: str) -> Callable[[Record], None]:
    """A field left out."""

    def change(made: Record) -> None:
        *above, last = path.split(".")
        for name in above:
            made = made[name]
        del made[last]

    return change


def option(letter: str, text: str) -> Callable[[Record], None]:
    """Another option, wherever it stands, with the id that goes with it."""

    def change(made: Record) -> None:
        fresh = {**made["options"], letter: text}
        made.update({name: v for name, v in record("first_close", tuple(fresh.values()), made["value"], TAPE).items()  # type: ignore[arg-type]
                     if name in ("options", "question", "id")})  # fmt: skip

    return change


CHANGES: list[tuple[str, Callable[[Record], None], str, str]] = [
    ("other letter", put("answer", "B"), "wrong_key", "A is right"),
    ("value of another", put("value", CLOSE + 1), "wrong_key", "value"),
    ("value as text", put("value", str(CLOSE)), "wrong_key", "value"),
    ("value absent", put("value", None), "wrong_key", "value"),
    ("value huge", put("value", 10**400), "wrong_key", "value"),
    ("true option gone", option("A", "$0.01"), "no_option_right", "the answer is"),
    ("too few decimals", option("A", money(CLOSE)[:-1]), "no_option_right", "the answer is"),
    ("true option twice", option("B", money(CLOSE)), "ambiguous", "A and B"),
    ("true option nearly twice", option("C", money(round(CLOSE, 2) + 0.01)), "ambiguous", "one unit"),
    ("wrong options alike", option("C", money(CLOSE * 1.3)), "ambiguous", "say the same"),
    ("same text twice", option("C", "nonsense"), "match", ""),
    ("option text only in the field", put("options.C", "$7.77"), "text_drift", "options"),
    ("stem not in the text", put("stem", "Another stem?"), "text_drift", "stem"),
    ("empty stem", put("stem", ""), "text_drift", "stem"),
    ("text without options", put("question", "- symbol: RND\n\nWhat is first_close?"), "text_drift", "options"),
    ("other id", put("id", "0" * 64), "text_drift", "hash"),
    ("key elsewhere in the origins", put("option_origins", {"B": "key"}), "text_drift", "B the key"),
    ("other difficulty", put("difficulty", "hard"), "text_drift", "difficulty"),
    ("other strategy outside", put("strategy_name", "rsi_strategy"), "text_drift", "strategy_name"),
    ("other parameters outside", put("strategy_params.pfast", 3), "text_drift", "strategy_params"),
    ("window before the tape's end", put("config.end_date", TAPE.dates[50]), "text_drift", "outside"),
    ("other tape", put("tape.sha256", "0" * 64), "unverifiable", "not pinned"),
    ("tape rows", put("tape.rows", 119), "data_drift", "120 bars"),
    ("tape start", put("tape.first", "2010-01-05"), "data_drift", "2010-01-05"),
    ("no hash", put("tape.sha256", "x"), "unverifiable", "hash"),
    ("unknown template", put("type", "moon"), "unverifiable", "moon"),
    ("unknown strategy", put("config.strategy_name", "moon"), "unverifiable", "moon"),
    ("strategy of another kind", put("config.strategy_name", ["moon"]), "unverifiable", "strategy_name"),
    ("unknown field", put("config.leverage", 2), "unverifiable", "leverage"),
    ("missing field", drop("config.sizing"), "unverifiable", "sizing"),
    ("unknown template parameter", put("template_params.n", 2), "unverifiable", "n"),
    ("text for a number", put("config.initial_cash", "lots"), "unverifiable", "initial_cash"),
    ("negative", put("config.commission_rate", -0.1), "unverifiable", "commission_rate"),
    ("huge", put("config.stake", 10**30), "unverifiable", "stake"),
    ("huge period", put("config.strategy_params.pslow", 10**9), "unverifiable", "bars"),
    ("boolean", put("config.periods_per_year", True), "unverifiable", "periods_per_year"),
    ("parameters as list", put("config.strategy_params", []), "unverifiable", "strategy_params"),
    ("path for a symbol", put("config.symbol", "../x"), "unverifiable", "symbol"),
    ("no options", put("options", {}), "unverifiable", "options"),
    ("version", put("schema_version", 99), "unverifiable", "schema_version"),
    ("missing record field", drop("seed"), "unverifiable", "seed"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "verdict", "word"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_every_change_has_its_verdict(
    change: Callable[[Record], None], verdict: str, word: str, checker: Checker
) -> None:
    made = json.loads(json.dumps(first_close()))
    change(made)
    found = check(checker, made)
    assert found.verdict == verdict and word in found.reason, found
    assert "\n" not in found.reason
    msgspec.json.encode(found)


def test_the_worse_finding_names_the_verdict_and_the_others_are_noted(checker: Checker) -> None:
    made = first_close(answer="B", id="0" * 64, difficulty="hard")
    found = check(checker, made)
    assert found.verdict == "text_drift"
    assert any("A is right" in note for note in found.notes) and any("hash" in note for note in found.notes)


def test_changed_words_are_told_by_the_injected_check(checker: Checker) -> None:
    judged: list[str] = []

    def text_check(question: Any) -> list[str]:
        judged.append(question.type)
        return ["a word differs"]

    found = check(Checker(Settings(text_check=text_check)), first_close())
    assert (found.verdict, found.reason, judged) == ("text_drift", "a word differs", ["first_close"])
    assert any("the key A is right" in note for note in found.notes)


def test_parameters_that_cannot_be_asked_are_drift_when_the_words_differ(checker: Checker) -> None:
    made = record("volume", ("1", "2", "3", "4"), 1, TAPE, template_params={"date": "2009-01-01"})
    assert check(checker, made).verdict == "unverifiable"
    found = check(Checker(Settings(text_check=lambda question: ["the date differs"])), made)
    assert (found.verdict, found.reason) == ("text_drift", "the date differs")
    assert any("no bar" in note for note in found.notes)


def test_a_damaged_tape_is_drift_and_no_wrong_answer(checker: Checker) -> None:
    path = pins.save(TAPE)
    path.write_bytes(pins.save(random_tape(Random(6), 120)).read_bytes())
    found = check(Checker(Settings()), first_close())
    assert found.verdict == "data_drift" and found.right == ()


def test_other_data_is_drift(tmp_path: Any) -> None:
    other: Tape = random_tape(Random(6), 120)
    path = tmp_path / "RND.csv"
    path.write_bytes(other.canonical())
    assert check(Checker(Settings(data=path)), first_close()).verdict == "data_drift"
    path.write_bytes(TAPE.canonical())
    assert check(Checker(Settings(data=path)), first_close()).verdict == "match"


def test_engines_that_disagree_are_reported(checker: Checker) -> None:
    def richer(tape: Tape, spec: BacktestSpec) -> Any:
        result = simulate(tape, spec)
        return msgspec.structs.replace(result, value=[value + 1 for value in result.value])

    def lazier(tape: Tape, spec: BacktestSpec) -> Any:
        return msgspec.structs.replace(simulate(tape, spec), fills=[])

    net = RESULT.value[-1] - 10_000
    options = tuple(money(net + step) for step in (0, 10, 20, 30))
    made = record("net_pnl", options, round(net, 2), TAPE, difficulty="medium")  # type: ignore[arg-type]
    assert check(checker, made).verdict == "match"
    checker.engines["second"].engine = richer
    checker.engines["second"]._held.clear()
    found = check(checker, made)
    assert found.verdict == "engines_disagree" and "the value differs by 1" in found.reason
    checker.engines["second"].engine = lazier
    checker.engines["second"]._held.clear()
    found = check(checker, made)
    assert found.verdict == "engines_disagree" and "fills" in found.reason


def test_an_undefined_metric_has_no_right_option(checker: Checker) -> None:
    options = ("3", "4", "5", "6")
    made = record("nth_trade_pnl", tuple(f"${n}.00" for n in options), 3.0, TAPE, difficulty="medium",  # type: ignore[arg-type]
                  template_params={"n": 5000})  # fmt: skip
    found = check(checker, made)
    assert found.verdict == "no_option_right" and "undefined" in found.reason


def test_a_thousand_small_changes_never_raise(checker: Checker) -> None:
    random = Random(11)
    odd: list[Any] = [
        None, True, -1, 0, 2.5, 1e308, 10**400, "", "x" * 300, "\ud800", "2020-13-01", [], [1], {}, {"a": 1}, "A", "#",
        "$1,234.5", [[]], {"pfast": 10**400}, {"pfast": True}, "\x00", "../../etc/passwd", [0.1, 10**400], "nan",
    ]  # fmt: skip
    for number in range(1000):
        made = first_close()
        inside = random.choice([made, made, made["config"], made["tape"], made["options"], made["strategy_params"]])
        inside[random.choice(list(inside))] = random.choice(odd)
        made["type"] = random.choice(["first_close", "sma_comparison", "best_parameter_set", "sma", made["type"]])
        line = json.dumps(made).encode()
        if number % 10 == 0:
            line = line[: random.randrange(len(line))]
        found = checker.check(decode("bank", number, line))
        assert found.verdict in VERDICTS and "\n" not in found.reason
        msgspec.json.encode(found)


def test_half_a_character_is_no_record(checker: Checker) -> None:
    found = checker.check(decode("bank", 3, json.dumps(first_close(author="\ud800")).encode()))
    assert (found.verdict, found.cause) == ("unverifiable", "unreadable")


def test_the_verdicts_are_the_ones_we_promise() -> None:
    assert {row[2] for row in CHANGES} | {"engines_disagree"} == set(VERDICTS)
