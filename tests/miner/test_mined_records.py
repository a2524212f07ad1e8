"""Mined records where others read them: check, show, audit, run; and verdicts of people on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backtrader_bench import store
from backtrader_bench.agents.backend import Ask
from backtrader_bench.agents.oracle import ORACLE
from backtrader_bench.checker import mined
from backtrader_bench.checker.run import check_files
from backtrader_bench.cli.main import run as bench
from backtrader_bench.miner import journal, review, verifying
from backtrader_bench.miner.categories import CATEGORIES
from backtrader_bench.miner.decisions import DECISIONS
from backtrader_bench.records import MINED_CATEGORIES, MINED_LABELS, Question, public_part, question_id, to_line
from tests.miner.sessions import agents, here, mine, questions_of, run_here, verifier

DAY = "str(__import__('datetime').datetime(2021, 6, 10) + __import__('datetime').timedelta(seed % 997))"
"""A verifier's answer: a day as libraries print it."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifiers run in this process."""
    monkeypatch.setattr(verifying, "verify", here)
    monkeypatch.setattr(mined, "sandbox_level", lambda: "L1")
    monkeypatch.setattr(mined, "verify", here)
    monkeypatch.setattr(mined, "run_program", lambda code, seeds, **_: [run_here(code, seed) for seed in seeds])


@pytest.fixture
def made(tmp_path: Path) -> Question:
    """A question of a session, accepted."""
    [question] = questions_of(mine(agents(tmp_path, verifier())).run)
    return question


def checked(question: Question, tmp_path: Path) -> tuple[str, str, str]:
    file = tmp_path / "bank.jsonl"
    file.write_bytes(to_line(question))
    [verdict] = check_files([file], cache=False)
    return verdict.verdict, verdict.reason, verdict.cause


def test_a_kept_question_matches(made: Question, tmp_path: Path) -> None:
    assert checked(made, tmp_path) == ("match", "", "")


def changed(question: Question, **fields: Any) -> Question:
    """Another record, with an id and a text that go with it."""
    new = msgspec.structs.replace(question, **fields)
    text = new.question
    for letter, option in question.options.items():
        text = text.replace(f"{letter}. {option}", f"{letter}. {new.options[letter]}")
    return msgspec.structs.replace(new, id=question_id(new.stem, new.options), question=text)


def other(question: Question) -> str:
    return next(letter for letter in question.options if letter != question.answer)


def program(question: Question, code: str) -> Question:
    """The record with another verifier, named as its own."""
    import hashlib

    digest = hashlib.sha256(code.encode()).hexdigest()
    return msgspec.structs.replace(
        question, verifier=code, tape=msgspec.structs.replace(question.tape, sha256=digest),
        config={"verifier_sha256": digest},
    )


def test_damage_has_its_verdict(made: Question, tmp_path: Path) -> None:
    assert made.verifier is not None
    letter = other(made)
    origins = {**made.option_origins, letter: "key", made.answer: "seed 1"}
    cases: dict[str, Question] = {
        "wrong_key": msgspec.structs.replace(made, answer=letter, option_origins=origins),
        "no_option_right": changed(made, options={**made.options, made.answer: "$1.00"}),
        "ambiguous": changed(made, options={**made.options, letter: made.options[made.answer].replace(",", "")}),
        "text_drift": program(made, made.verifier.replace("trades", "traded")),
        "engines_disagree": program(made, verifier(
            before="import builtins\nbuiltins.drift = getattr(builtins, 'drift', 0) + 1",
            answer='f"${value + builtins.drift:,.2f}"')),
        "unverifiable": msgspec.structs.replace(made, verifier=made.verifier + "\n"),
    }  # fmt: skip
    found = {name: checked(record, tmp_path)[0] for name, record in cases.items()}
    assert found == {name: name for name in cases}
    assert checked(msgspec.structs.replace(made, value=1.0), tmp_path)[0] == "wrong_key"
    assert checked(program(made, made.verifier + "raise SystemExit(1)\n"), tmp_path)[0] == "unverifiable"
    assert "network" in checked(program(made, "import socket\n" + made.verifier), tmp_path)[1]


def test_the_names_of_records_are_those_of_mining() -> None:
    assert tuple(CATEGORIES) == MINED_CATEGORIES
    assert set(MINED_LABELS) <= set(DECISIONS)


def verified_as(question: Question, **fields: Any) -> Question:
    assert question.verification is not None
    return msgspec.structs.replace(question, verification=msgspec.structs.replace(question.verification, **fields))


def damaged(made: Question) -> dict[str, Question]:
    """Records whose question, key, value and verifier are right, and which say something wrong beside."""
    from msgspec.structs import replace

    ran = made.verification
    assert ran is not None
    letter = next(one for one in made.options if made.option_origins[one].startswith("seed "))
    origin = made.option_origins[letter]
    first, *_ = (seed for seed in ran.others if f"seed {seed}" not in made.option_origins.values())
    return {
        "isolation emptied": verified_as(made, isolation={}),
        "isolation made up": verified_as(made, isolation={**ran.isolation, "moon": "blocked"}),
        "isolation unknown": verified_as(made, isolation={**ran.isolation, "net": "absent"}),
        "isolation of another type": verified_as(made, isolation={**ran.isolation, "level": 3}),
        "others edited": verified_as(made, others={**ran.others, first: "$1.00"}),
        "others added": verified_as(made, others={**ran.others, "5": "$1.00"}),
        "others' seed": verified_as(made, others={**ran.others, "-5": "$1.00"}),
        "others taken away": verified_as(made, others={}),
        "option edited": changed(made, options={**made.options, letter: "$77,777.77"}),
        "origin edited": replace(made, option_origins={**made.option_origins, letter: f"seed {first}"}),
        "origin unknown": replace(made, option_origins={**made.option_origins, letter: "thin air"}),
        "origin missing": replace(made, option_origins={made.answer: "key"}),
        "origin twice the key": replace(made, option_origins={**made.option_origins, letter: "key"}),
        "key from a seed": replace(made, option_origins={**made.option_origins, made.answer: origin}),
        "program's hash": replace(made, config={"verifier_sha256": "0" * 64}),
        "config": replace(made, config={**made.config, "symbol": "X"}),
        "tape": replace(made, tape=replace(made.tape, rows=5)),
        "seed": replace(made, seed=made.seed + 1),
        "tolerance": replace(made, tolerance=99999.0),
        "no tolerance": replace(made, tolerance=None),
        "below no tolerance": replace(made, tolerance=-1.0),
        "two labels": replace(made, labels=["tool_solver_correct", "tool_solver_wrong"]),
        "unknown label": replace(made, labels=["splendid"]),
        "unknown category": replace(made, category="astrology", type="astrology"),
        "two categories": replace(made, category="trail", type="stop"),
        "no category": replace(made, category=None),
        "difficulty": replace(made, difficulty="easy"),
        "strategy": replace(made, strategy_name="sma"),
        "parameters": replace(made, template_params={"day": "2020-01-02"}),
        "marks": verified_as(made, marks=("hard",)),
    }  # fmt: skip


def test_damage_beside_the_key_is_drift(made: Question, tmp_path: Path) -> None:
    found = {name: checked(record, tmp_path) for name, record in damaged(made).items()}
    assert {name: verdict for name, (verdict, _, _) in found.items()} == dict.fromkeys(found, "text_drift")
    assert all(reason for _, reason, _ in found.values())


def test_tolerance_of_days(tmp_path: Path) -> None:
    [question] = questions_of(mine(agents(tmp_path, verifier(answer=DAY))).run)
    assert checked(question, tmp_path)[0] == "match"
    assert checked(msgspec.structs.replace(question, tolerance=99999.0), tmp_path)[0] == "text_drift"


def test_without_a_sandbox_it_is_missing(made: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrader_bench.errors import SandboxError

    def none() -> None:
        raise SandboxError("nothing holds here")

    monkeypatch.setattr(mined, "sandbox_level", none)
    assert checked(made, tmp_path) == ("unverifiable", "nothing holds here", "missing")


@pytest.mark.parametrize(("option", "answer", "alike"), [
    ("$1,234.50", "$1234.50", True), ("$1,234.50", "$1,234.504", True), ("$1,234.50", "$1,234.51", False),
    ("$1,234.50", "1234.50", False), ("3.20%", "3.2%", True), ("3.20%", "3.2", False), ("-$5.00", "$-5", True),
    ("$5.00", "-$5.00", False), ("7", "7", True), ("7", "7.4", True), ("7", "8", False), ("7 trades", "7 trades", True),
    ("2020-01-02", "2020-01-02", True), ("2020-01-02", "2020-01-03", False), ("Buy", "buy", True),
    ("2020-01-02", "2020-01-02 00:00:00", True), ("2020-01-02", "2020-01-02T00:00:00.000000000", True),
    ("2020-01-02", "2020-01-02 00:00", True), ("2020-01-02", "2020-01-02 15:30:00", False),
    ("2020-01-02", "2020-01-03 00:00:00", False),
])  # fmt: skip
def test_an_option_says_an_answer(option: str, answer: str, alike: bool) -> None:
    assert mined.same(option, answer) == alike


def test_a_day_printed_at_midnight_matches(tmp_path: Path) -> None:
    [question] = questions_of(mine(agents(tmp_path, verifier(answer=DAY))).run)
    assert question.verification is not None
    assert question.verification.answer.endswith(" 00:00:00")
    assert question.value == question.options[question.answer] == question.verification.answer[:10]
    assert checked(question, tmp_path) == ("match", "", "")


def test_the_public_part_leads_to_no_key(made: Question) -> None:
    public = json.dumps(public_part(msgspec.to_builtins(made)))
    assert made.verifier is not None
    for secret in ("\"verifier\":", "verification", made.verifier[:40], "option_origins", "seed "):
        assert secret not in public


def test_the_oracle_runs_the_verifier(made: Question, tmp_path: Path) -> None:
    fields = msgspec.to_builtins(made)
    assert ORACLE.answer is not None

    def asked(record: dict[str, Any]) -> tuple[str, str | None]:
        reply = ORACLE.answer(Ask(  # type: ignore[misc]
            prompt=made.question, system="", mode="with-tools", model=None, workspace=tmp_path, private=tmp_path,
            timeout=1, environ={}, record=record))  # fmt: skip
        return reply.text, reply.model

    text, model = asked(fields)
    assert (f"<<< {made.answer} >>>" in text, model) == (True, "oracle: computed")
    # Not by looking the key up: a wrong one doesn't mislead it.
    assert f"<<< {made.answer} >>>" in asked({**fields, "answer": other(made)})[0]


def test_show_and_run_read_them(made: Question, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [session] = journal.sessions()
    file = str(journal.Journal(session).kept)
    assert bench(["show", file, "1"]) == 0
    shown = capsys.readouterr().out
    assert made.verifier is not None
    assert made.verifier in shown
    assert "scripted:" in shown
    assert bench(["show", file, "1", "--no-key"]) == 0
    assert "MCQ_SEED" not in capsys.readouterr().out
    assert bench(["run", file, "--agent", "guesser", "--mode", "with-tools", "--json", "--no-fsync"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["agents"]["guesser"]["answered"] == 1
    [system] = store.home().glob("logs/run_*/*/try1/system.txt")
    assert "prices.csv" not in system.read_text()


def test_audit_reads_them(made: Question) -> None:
    from backtrader_bench.mcq_builder.audit.items import item_of

    found = item_of(msgspec.to_builtins(made), "test")
    assert (found.letter, found.type, found.scheme) == (made.answer, made.category, "mined")


# --- review


@pytest.fixture
def flagged(tmp_path: Path) -> review.Flagged:
    """A question that its with-tools solver got wrong, three times the same way."""
    given = agents(tmp_path, verifier(), verifier(1), with_tools={"text": "VALUE: $1.00\n<<< {wrong} >>>"})
    run = mine({**given, "with_tools_runs": 3}).run
    return review.flagged(run)[0]


def test_review_shows_what_a_verdict_needs(flagged: review.Flagged, capsys: pytest.CaptureFixture[str]) -> None:
    assert sum(flagged.against.values()) == 3
    assert flagged.values == {"$1.00": 3}
    assert bench(["review", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first["question_id"] == flagged.question.id
    assert first["key"] not in first["against_the_key"]
    assert first["values"] == {"$1.00": 3}
    assert first["verdict"] is second["verdict"] is None
    assert len(first["answers"]) == 4


def test_verdicts_are_appended_and_the_last_stands(
    flagged: review.Flagged, capsys: pytest.CaptureFixture[str]
) -> None:
    which = ["review", "last", "--question", flagged.question.id[:10]]
    before = journal.Journal(flagged.run).kept.read_bytes()
    assert bench([*which, "--verdict", "reject"]) == 2
    assert "--reason" in capsys.readouterr().err
    assert bench([*which, "--verdict", "reject", "--reason", "unclear fill", "--reviewer", "me"]) == 0
    assert bench([*which, "--verdict", "accept"]) == 0
    lines = review.read_reviews(review.reviews_path(flagged.run))
    assert [(line.verdict, line.replaces) for line in lines] == [("reject", False), ("accept", True)]
    capsys.readouterr()
    assert bench(["review", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1
    # The question's own record is never rewritten.
    assert journal.Journal(flagged.run).kept.read_bytes() == before


def test_review_walks_through_them(
    flagged: review.Flagged, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["s", "f", "say when it fills"])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    assert bench(["review", flagged.run]) == 0
    out = capsys.readouterr().out
    assert "1 verdicts given, 1 questions left" in out
    assert "3 with-tools answers give the value $1.00" in out
    assert f"> {flagged.question.answer}. " in out
    [line] = review.read_reviews(review.reviews_path(flagged.run))
    assert (line.verdict, line.reason) == ("fix-needed", "say when it fills")


def test_a_question_that_is_not_for_review(flagged: review.Flagged, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["review", "--question", "zzz", "--verdict", "accept"]) == 2
    assert "no question zzz is for review" in capsys.readouterr().err
    assert bench(["review", "mining_x"]) == 2
    assert bench(["review", "--verdict", "accept"]) == 2
