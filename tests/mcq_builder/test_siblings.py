"""Laws of hidden worlds: everything visible is the same under all four keys, and certificates hold what they say."""

from __future__ import annotations

import gc
import json
import weakref
from collections import Counter, OrderedDict
from itertools import islice
from random import Random
from typing import Any

import msgspec
import pytest

from backtrader_bench.errors import UsageError
from backtrader_bench.market.worlds import worlds
from backtrader_bench.mcq_builder import askers, certificates
from backtrader_bench.mcq_builder.askers import HiddenAsker, hidden_asker
from backtrader_bench.mcq_builder.build import build_bank, contexts, fetch
from backtrader_bench.mcq_builder.certificates import certificate_problem
from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.hidden import Worlds
from backtrader_bench.mcq_builder.options import guards, siblings
from backtrader_bench.mcq_builder.options.guards import apart
from backtrader_bench.mcq_builder.secret import prf
from backtrader_bench.parallel import spread
from backtrader_bench.records import LETTERS, PRIVATE_FIELDS, Question, public_part, question_id, to_line
from backtrader_bench.templates.kinds import (
    DATE,
    INTEGER,
    LABEL,
    MONEY,
    NUMBER2,
    PERCENT,
    SHARES,
    SIGNED_MONEY,
    VOLUME,
    Kind,
)
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.render import question_text
from tests.helpers import bank, settings, tape_of

SECRET = b"0123456789abcdef0123456789abcdef"


def asker(seed: int = 1, strategy: str = "macd_crossover", secret: bytes = SECRET, **changes: Any) -> HiddenAsker:
    chosen = settings(strategy=strategy, scheme="siblings", **changes)
    of = contexts(chosen, tape_of(chosen), None)[strategy]
    return hidden_asker(of.spec, of.tape, of.config, resampled=bool(chosen.worlds), seed=seed, secret=secret)


def asked(one: HiddenAsker, template: str, most: int = 3) -> list[Question]:
    return [q for q in islice(one.questions(template), most) if isinstance(q, Question)]


@pytest.fixture(scope="module")
def sample() -> list[Question]:
    """A question of every template on one strategy, and of some on another."""
    chosen = {"macd_crossover": list(TEMPLATES), "sma_crossover": list(TEMPLATES)[::5]}
    return [
        question
        for strategy, templates in chosen.items()
        for one in (asker(strategy=strategy),)
        for template in templates
        for question in asked(one, template, 1)
    ]


def visible(record: Question) -> str:
    """What a solver may see, less the hash of the bars, which says nothing to whoever lacks the worlds."""
    public = public_part(msgspec.to_builtins(record))
    public["tape"] = {**public["tape"], "sha256": ""}
    return json.dumps(public, sort_keys=True)


def test_all_that_is_visible_is_equal_under_all_four_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    templates = Random(5).sample(list(TEMPLATES), 10)
    seen: dict[tuple[str, str], set[str]] = {}
    answers: dict[tuple[str, str], set[str]] = {}
    for key in range(4):
        monkeypatch.setattr(siblings, "draw_key", lambda secret, identity, key=key: key)
        monkeypatch.setattr(askers, "_asked", OrderedDict())
        for strategy in ("macd_crossover", "exponential_weighted_moving_average"):
            for template in templates:
                for record in asked(asker(strategy=strategy), template, 1):
                    seen.setdefault((strategy, template), set()).add(visible(record))
                    answers.setdefault((strategy, template), set()).add(record.answer)
    assert len(seen) > 12
    assert all(len(texts) == 1 for texts in seen.values())
    assert all(letters == set(LETTERS) for letters in answers.values())


def test_permuting_the_worlds_permutes_nothing_visible() -> None:
    """The options are a set chosen from the set of worlds: which world comes first in it leaves no trace."""
    words = TEMPLATES["net_pnl"]
    answers = {place: {"value": 100.0 * 1.02**place} for place in range(24)}
    drawn: Counter[int] = Counter()
    for seed in range(300):
        order = list(answers)
        Random(seed).shuffle(order)
        shuffled = {place: answers[place] for place in order}
        one = siblings.chain_of_four(words, answers, Random(seed))
        assert one is not None and siblings.chain_of_four(words, shuffled, Random(seed)) == one
        drawn.update(one)
    assert len(drawn) > 8


def test_the_key_is_drawn_by_the_secret_and_uniformly(sample: list[Question]) -> None:
    places: Counter[int] = Counter()
    for number in range(4000):
        places[siblings.draw_key(SECRET, str(number))] += 1
    assert max(abs(count - 1000) for count in places.values()) < 110  # four standard deviations
    for record in sample:
        assert record.private is not None
        assert record.private.order[siblings.draw_key(SECRET, record.id)] == record.answer


def test_options_are_apart_in_ascending_order_and_one_is_the_key(sample: list[Question]) -> None:
    assert len({record.type for record in sample}) >= len(TEMPLATES) - 8  # the order mechanics of other strategies
    for record in sample:
        assert len(set(record.options.values())) == 4
        assert TEMPLATES[record.type].option_text(
            {"value": record.value} if not isinstance(record.value, dict) or record.type == "best_parameter_set"
            else record.value
        ) == record.options[record.answer] or record.type == "commission_breakeven"  # fmt: skip
        assert sorted(record.options.values()) != [] and record.private is not None
        assert sorted(record.private.order) == list(LETTERS)


def test_chains_are_apart() -> None:
    words = TEMPLATES["portfolio_value"]
    rng = Random(3)
    for _ in range(50):
        answers = {place: {"value": rng.uniform(40_000, 60_000)} for place in range(32)}
        chain = siblings.chain_of_four(words, answers, rng)
        assert chain is not None
        for place, one in enumerate(chain):
            for other in chain[place + 1 :]:
                assert apart(words, answers[one], answers[other])
    assert siblings.chain_of_four(words, {p: {"value": 50_000.0 + p} for p in range(32)}, rng) is None


def test_certificates_hold_and_tampering_breaks_them(sample: list[Question]) -> None:
    for record in sample[::6]:
        assert certificate_problem(record, SECRET) is None
        assert record.private is not None and record.certificate is not None
        other = next(letter for letter in LETTERS if letter != record.answer)
        swapped = {**record.private.option_worlds, record.answer: record.private.option_worlds[other]}
        replaced = msgspec.structs.replace
        for bad in (
            replaced(record, certificate=None),
            replaced(record, stem=record.stem + " "),
            replaced(record, options={**record.options, other: "$1.00"}),
            replaced(record, answer=other),
            replaced(record, private=replaced(record.private, seeds=record.private.seeds[::-1])),
            replaced(record, private=replaced(record.private, option_worlds=swapped)),
            replaced(record, certificate=replaced(record.certificate, valid=3)),
        ):
            assert certificate_problem(bad, SECRET) is not None
    assert sum(certificate_problem(record, b"another secret, long enough") is not None for record in sample[:20]) > 8


def test_the_public_part_holds_nothing_private(sample: list[Question]) -> None:
    for record in sample:
        fields = json.loads(to_line(record))
        public = public_part(fields)
        assert not set(public) & set(PRIVATE_FIELDS) and public["tape"]["source"] == "hidden"
        text = json.dumps(public)
        assert record.private is not None
        assert not any(seed in text for seed in record.private.seeds)


def test_another_secret_makes_another_bank_and_the_same_makes_the_same() -> None:
    one, same, other = (asked(asker(secret=s), "turnover")[0] for s in (SECRET, SECRET, SECRET[::-1]))
    assert to_line(one) == to_line(same)
    assert one.options != other.options


def test_a_world_is_a_function_of_its_seed_and_calendar_alone() -> None:
    days = tape_of(settings()).dates
    seeds = [prf(SECRET, n)[:16].hex() for n in range(5)]
    base = tape_of(settings(symbol="IBM", data="bundled", start_date="2008-01-02"))
    for kind in ("world:calm", "world:extreme", f"resampled:{base.sha256}"):
        many = worlds(kind, seeds, "SYN-1", days, base)
        alone = worlds(kind, seeds[3:4], "SYN-1", days, base)[0]
        assert alone.sha256 == many[3].sha256
        assert len({tape.sha256 for tape in many}) == 5 and {tape.dates for tape in many} == {tuple(days)}


def test_resampled_worlds_hide_the_symbol_and_its_dates() -> None:
    one = asker(worlds="resampled", symbol="IBM", data="bundled", start_date="2008-01-02", end_date="2010-01-04")
    record = asked(one, "max_drawdown", 1)[0]
    assert "IBM" not in record.question and "2008" not in record.question and "2009" not in record.question


def test_a_bank_of_hidden_worlds_pins_every_keys_bars() -> None:
    from backtrader_bench.mcq_builder.build import build_bank, fetch
    from backtrader_bench.parallel import spread

    chosen = settings(scheme="siblings", num_questions=12, strategy="sma_crossover")
    made = build_bank(chosen, tape_of(chosen), spread(fetch), secret=SECRET)
    assert {q.tape.sha256 for q in made.questions} == set(made.tapes)
    assert len(made.tapes) > 6
    assert bank(num_questions=3).tapes.keys() == {bank(num_questions=3).questions[0].tape.sha256}


def test_no_two_questions_share_their_bars() -> None:
    """Were worlds shared, the option that two questions with equal bars have in common would be both keys."""
    made = asked(asker(), "position_on_date", 12)
    assert len(made) == 12 and len({record.tape.sha256 for record in made}) == 12
    seeds = [set(record.private.seeds) for record in made if record.private]
    assert not set.intersection(*seeds) and len(set.union(*seeds)) == sum(map(len, seeds))


def test_a_question_is_the_same_whatever_bank_it_is_in() -> None:
    one, other = (asked(asker(seed=seed), "turnover")[0] for seed in (1, 2))
    assert msgspec.structs.replace(one, seed=2) == other


def test_a_key_chosen_by_hand_is_found_out(sample: list[Question]) -> None:
    """Another option's world made the key's, bars, value and order of the draw to match: only the order tells."""
    replaced = msgspec.structs.replace
    looked = 0
    for record in sample[:40:4]:
        private = record.private
        assert private is not None
        other = next(letter for letter in LETTERS if letter != record.answer)
        order = [{other: record.answer, record.answer: other}.get(letter, letter) for letter in private.order]
        seed = private.seeds[private.option_worlds[other]]
        one = next(a for a in (asker(strategy=record.strategy_name),))
        tape = worlds(private.kind, [seed], record.config["symbol"], one.setup.days)[0]
        origins = {**record.option_origins, record.answer: "another world", other: "key"}
        forged = replaced(
            record, answer=other, option_origins=origins, private=replaced(private, order=order),
            tape=replaced(record.tape, sha256=tape.sha256, source=tape.source),
        )  # fmt: skip
        assert "order of the draw" in str(certificate_problem(forged))
        honest = replaced(forged, private=private)
        assert certificate_problem(honest, SECRET) is not None
        looked += 1
    assert looked >= 8


def test_what_the_secret_would_not_have_made_is_found_out(sample: list[Question]) -> None:
    replaced = msgspec.structs.replace
    record = next(one for one in sample if one.tolerance)
    private, certificate = record.private, record.certificate
    assert private is not None and certificate is not None
    assert certificate_problem(record, SECRET) is None
    for bad in (
        replaced(record, tolerance=1e9),
        replaced(record, private=replaced(private, fingerprints={"no_commission": 1.0})),
        replaced(record, certificate=replaced(certificate, valid=certificate.valid - 1)),
        replaced(record, bundle="0" * 64),
        replaced(record, private=None),
    ):
        assert certificate_problem(bad, SECRET) is not None
    for bad in (
        replaced(record, id="0" * 64),
        replaced(record, question=record.question + " It is D."),
        replaced(record, scheme="ladder"),
        replaced(record, private=replaced(private, asked='["sma", {}]')),
    ):
        assert certificate_problem(bad) is not None


def test_bundles_hold_to_the_secret_too() -> None:
    one = asker()
    made = next(found for found in one.bundles(["net_pnl", "turnover", "sma"], 3) if not isinstance(found, Skip))
    assert len({record.tape.sha256 for record in made}) == 1
    assert [certificate_problem(record, SECRET) for record in made] == [None] * 3
    assert certificate_problem(made[0], SECRET[::-1]) is not None


@pytest.mark.parametrize("kind", [MONEY, SIGNED_MONEY, PERCENT, NUMBER2, INTEGER, SHARES, VOLUME, DATE, LABEL])
def test_nothing_is_apart_from_itself(kind: Kind) -> None:
    values = ["2010-01-04", "stop"] if kind in (DATE, LABEL) else [0, 1, 500, 10**9]
    assert not any(guards._apart(kind, value, value) for value in values)


@pytest.mark.parametrize(("scheme", "changes"), [
    ("siblings", {"template": ["position_on_date", "net_pnl"], "bundle": 2, "strategy": ["trailing_stop"]}),
    ("diagnostic", {"template": ["position_on_date", "max_shares", "win_rate"], "strategy": ["trailing_stop"]}),
])  # fmt: skip
def test_worlds_that_hold_nothing_on_a_day_are_no_different_answers(scheme: str, changes: dict[str, Any]) -> None:
    chosen = settings(scheme=scheme, num_questions=8, end_date="2018-02-01", **changes)
    made = build_bank(chosen, tape_of(chosen), spread(fetch, 1), secret=SECRET).questions
    assert made and all(len(set(record.options.values())) == 4 for record in made)
    one = made[0]
    texts = {letter: one.options["A"] if letter == "B" else text for letter, text in one.options.items()}
    assert one.certificate is not None
    forged = msgspec.structs.replace(
        one, options=texts, id=question_id(one.stem, texts), question=question_text(one.stem, texts),
        certificate=msgspec.structs.replace(one.certificate, text_sha256=siblings.text_digest(one.stem, texts)),
    )  # fmt: skip
    assert certificate_problem(forged) == "two options are equal"


def test_a_bundle_needs_as_many_templates_as_it_asks() -> None:
    with pytest.raises(UsageError, match="--bundle 3 asks 3 different templates"):
        chosen = settings(scheme="siblings", bundle=3, template=["win_rate", "sma"], num_questions=3)
        build_bank(chosen, tape_of(chosen), spread(fetch, 1), secret=SECRET)


def test_a_window_without_end_is_found_before_worlds_are_made(
    sample: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "worlds", lambda *given: pytest.fail("worlds were made"))
    record = msgspec.structs.replace(sample[0], config={**sample[0].config, "end_date": "2500-01-01"})
    assert certificate_problem(record) == "the window is not that of the record's bars"


def test_what_could_not_be_asked_keeps_no_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A raised Skip holds the frames that it came through, and they hold dozens of tapes."""
    tried = []

    def never(template: str, hidden: Worlds, params: dict[str, Any], seed: int) -> Question:
        own = hidden.about(template, params)
        tried.append(weakref.ref(own))
        raise Skip("never")

    monkeypatch.setitem(askers._ASKED, "siblings", never)
    assert all(isinstance(one, Skip) for one in islice(asker().questions("net_pnl"), 3))
    gc.collect()
    assert tried and all(reference() is None for reference in tried)


def test_what_the_scouts_can_not_be_asked_costs_no_worlds_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A template whose answers lie too close together in all worlds is given up after many draws."""
    made = []
    real = askers._ASKED["siblings"]

    def counted(template: str, hidden: Worlds, params: dict[str, Any], seed: int) -> Question:
        made.append(params)
        return real(template, hidden, params, seed)

    monkeypatch.setitem(askers._ASKED, "siblings", counted)
    monkeypatch.setattr(siblings, "apart", lambda *_: False)
    found = list(asker().questions("position_on_date"))
    assert len(found) > 100 and all(isinstance(one, Skip) for one in found)
    assert len(made) == 1
