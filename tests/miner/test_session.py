"""Sessions: every decision, resuming from every point, caps, the lock, and the arithmetic of screens."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scipy.stats import binom

from backtrader_bench import store
from backtrader_bench.agents.runs.budget import Caps
from backtrader_bench.attempts import Attempt, Status, to_attempt
from backtrader_bench.errors import LockedError, StoreError, UsageError
from backtrader_bench.miner import journal, report, session, verifying
from backtrader_bench.miner.records import AttemptLine, SessionLine
from backtrader_bench.miner.screen import Drawn, confirms, discards
from backtrader_bench.miner.session import Limits
from backtrader_bench.miner.settings import safe_name, settings_of
from tests.miner.sessions import (
    RIGHT,
    USAGE,
    agents,
    blocks,
    here,
    lines_of,
    mine,
    questions_of,
    run_here,
    script,
    verifier,
)

TOOL = {"tool_calls": [{"name": "bash", "arguments": "{}"}]}
FAILS = {"error": {"kind": "other", "message": "it broke"}}
DISAGREES = 'print(\'ANSWER_VALUE_JSON: "$1.00"\')\n'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifiers run in this process: what the sandbox does with them is tested elsewhere."""
    monkeypatch.setattr(verifying, "verify", here)
    monkeypatch.setattr(verifying, "run_program", lambda code, seeds, **_: [run_here(code, seed) for seed in seeds])


def decided(given: dict[str, Any]) -> AttemptLine:
    """The only attempt of a session."""
    return lines_of(mine(given).run)[-1]


CASES: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "accepted": ({}, "tool_solver_correct", ()),
    "review": ({"with_tools": {"text": "<<< {wrong} >>>"}}, "tool_solver_wrong", ()),
    "easy": ({"no_tools": RIGHT}, "easy_discarded", ("answered_without_tools",)),
    "tool attempted": ({"no_tools": TOOL}, "unscreened", ("screen_tool_attempted",)),
    "no letter": ({"no_tools": {"text": "it depends"}}, "unscreened", ("screen_unparsed",)),
    "agent error": ({"no_tools": FAILS}, "unscreened", ("screen_agent_error",)),
    "validation failed": ({"with_tools": FAILS}, "unscreened", ("validation_agent_error",)),
}


@pytest.mark.parametrize("name", CASES)
def test_decisions_of_solvers(name: str, tmp_path: Path) -> None:
    roles, decision, reasons = CASES[name]
    line = decided(agents(tmp_path, verifier(), **roles))
    assert (line.decision, line.reasons) == (decision, reasons)
    [question] = questions_of(line.run)
    assert question.labels == [decision]
    assert journal.Journal(line.run).kept.exists() == (decision.startswith("tool_solver"))
    solved = journal.open_journal(line.run).attempts
    assert {one.question_id for one in solved} == {line.question_id} == {question.id}
    # What gave no answer was asked again, once: as often as the settings say.
    assert len(solved) == {"accepted": 2, "review": 2, "easy": 1, "validation failed": 3}.get(name, 2)


PROGRAMS: dict[str, tuple[str, str, str]] = {
    "crash": (verifier(before="raise ValueError('no')"), "verifier_failed", "exit_code"),
    "nothing printed": ("import os\nprint(os.environ['MCQ_SEED'])\n", "verifier_failed", "question_missing"),
    "nondeterministic": (
        verifier(before="import builtins\nbuiltins.calls = getattr(builtins, 'calls', 0) + 1",
                 answer='f"${value + builtins.calls:,.2f}"'), "verifier_failed", "nondeterministic"),
    "ignores the seed": (
        verifier().replace("random.Random(seed)", "random.Random(1)"), "verifier_failed", "ignores_seed"),
    "not a number": (verifier(answer='"nan"'), "verifier_failed", "answer_not_finite"),
    "no Python": ("print('MCQ_SEED'", "verifier_failed", "syntax"),
    "network": (verifier(before="import requests"), "not_well_posed", "network"),
    "states its answer": (
        verifier(question='f"An account of ${cash:,} ends at ${value:,.2f} after {bars} bars, or not?"'),
        "not_well_posed", "answer_in_stem"),
    "hides its seed": (
        verifier(question='f"An account of {len(str(seed)) // 99} dollars trades. What is the final value of it?"'),
        "not_well_posed", "stem_ignores_seed"),
    "says what it doesn't do": (
        verifier(question='f"An account of ${cash:,} trades {bars} bars at 0.37% commission. What is its value?"'),
        "not_well_posed", "stem_and_code_differ"),
    # All seeds' answers are kept, so what can't be kept is found at every one of them.
    "half a character at some seeds": (
        verifier(answer='f"${value:,.2f}" + ("\\ud800" if seed % 2 else "")'), "not_well_posed", "answer_not_usable"),
    "an endless answer at some seeds": (
        verifier(answer='f"${value:,.2f}" if seed % 2 else "x" * 900000'), "not_well_posed", "answer_not_usable"),
    "an endless blank at some seeds": (
        verifier(answer='f"${value:,.2f}" + " " * 900000 * (seed % 2)'), "not_well_posed", "answer_not_usable"),
    "an endless question at some seeds": (
        verifier(question='f"An account of ${cash:,} trades. What is its value?" + "!" * 70000 * (seed % 2)'),
        "not_well_posed", "question_too_long"),
    "two answers only": (verifier(answer='"up" if value > cash else "down"'), "not_well_posed", "too_few_options"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_decisions_on_programs(name: str, tmp_path: Path) -> None:
    code, decision, reason = PROGRAMS[name]
    line = decided(agents(tmp_path, code))
    assert (line.decision, line.reasons[0]) == (decision, reason)
    assert line.detail
    assert questions_of(line.run) == []


def test_replies_without_blocks_and_generators_without_replies(tmp_path: Path) -> None:
    given = agents(tmp_path, verifier())
    given["generator_agent"] = script(
        tmp_path, {"id": "generator_001", "text": "I can't."}, {"id": "generator_002", **FAILS},
        {"id": "generator_003", "text": blocks(verifier()).replace("<<</CODE>>>", "")},
    )  # fmt: skip
    given["attempts"] = 3
    run = mine(given).run
    assert [(line.decision, line.reasons) for line in lines_of(run)] == [
        ("malformed", ("no_question_block",)),
        ("generator_failed", ("generator_other",)),
        ("malformed", ("unclosed_code_block",)),
    ]


def test_a_generator_that_declined_is_not_said_to_have_been_slow(tmp_path: Path) -> None:
    given = agents(tmp_path, verifier())
    given["generator_agent"] = script(tmp_path, {"refused": True, "text": "no"})
    line = decided(given)
    assert (line.decision, line.reasons) == ("generator_failed", ("generator_refused",))
    assert line.detail == "the model declined"


def test_the_same_words_in_other_numbers_are_a_duplicate(tmp_path: Path) -> None:
    run = mine(agents(tmp_path, verifier(), verifier(1), verifier())).run
    assert [line.decision for line in lines_of(run)] == ["tool_solver_correct", "tool_solver_correct", "duplicate"]
    assert lines_of(run)[2].reasons == ("near_duplicate",)
    # The store remembers across sessions.
    again = mine({**agents(tmp_path, verifier(2), verifier(1)), "seed": 8}).run
    assert [line.decision for line in lines_of(again)] == ["tool_solver_correct", "duplicate"]


def test_a_second_verifier_may_disagree(tmp_path: Path) -> None:
    second = script(tmp_path, {"id": "second_verifier_001", "text": f"<<<CODE>>>\n{DISAGREES}<<</CODE>>>"})
    line = decided({**agents(tmp_path, verifier()), "second_verifier": second})
    assert (line.decision, line.reasons) == ("not_well_posed", ("verifiers_disagree",))
    same = verifier().replace('int(os.environ["MCQ_SEED"])', str(settings_of(agents(tmp_path)).base_seed(1)))
    agrees = script(tmp_path, {"id": "second_verifier_001", "text": f"<<<CODE>>>\n{same}<<</CODE>>>"})
    line = decided({**agents(tmp_path, verifier(1)), "second_verifier": agrees})
    assert line.decision == "tool_solver_correct"
    fails = script(tmp_path, {"id": "second_verifier_001", "text": "<<<CODE>>>\nraise SystemExit(3)\n<<</CODE>>>"})
    line = decided({**agents(tmp_path, verifier(2)), "second_verifier": fails})
    assert (line.decision, line.reasons) == ("unscreened", ("second_verifier_failed",))
    half = "<<<CODE>>>\nprint('ANSWER_VALUE_JSON: \"$1.00\\\\ud800\"')\n<<</CODE>>>"
    half_said = decided({**agents(tmp_path, verifier(2)), "seed": 8,
                         "second_verifier": script(tmp_path, {"id": "second_verifier_001", "text": half})})  # fmt: skip
    assert (half_said.decision, half_said.reasons) == ("unscreened", ("second_verifier_failed",))
    assert "U+D800" in half_said.detail


def test_tokens_by_role_add_up_to_what_was_served(tmp_path: Path) -> None:
    given = {**agents(tmp_path, verifier(), verifier(1)), "no_tools_draws": 3, "holdout_draws": 2}
    done = mine(given)
    calls = {role: one.calls for role, one in done.spending.items()}
    assert calls == {"generator": 2, "no_tools": 6, "with_tools": 2, "holdout": 4}
    for role, one in done.spending.items():
        assert (one.usage.input, one.usage.output) == (100 * calls[role], 10 * calls[role])
        assert one.usage.reasoning is None
        assert one.cost is None
    assert sum(done.models.values()) == 14


def test_unknown_tokens_stay_unknown(tmp_path: Path) -> None:
    given = agents(tmp_path, verifier())
    given["no_tools_agents"] = ("guesser",)
    spending = mine({**given, "seed": 9}).spending
    assert spending["no_tools"].usage.input is None
    assert spending["no_tools"].with_tokens == 0


# --- resuming


class Crash(BaseException):
    """As if the process had been killed here."""


def summary_of(run: str) -> Any:
    """What must be the same however often a session was cut off."""
    files = journal.open_journal(run)
    kept = [(one.id, one.answer, one.labels, one.value, one.options) for one in questions_of(run)]
    decisions = [(line.attempt, line.decision, line.reasons, line.question_id, line.draws) for line in lines_of(run)]
    return kept, decisions, [(one.question_id, one.agent, one.mode, one.repeat, one.letter) for one in files.attempts]


def resumable(folder: Path) -> dict[str, Any]:
    return {**agents(folder, verifier(), "print(1)\n", verifier(1), with_tools={"accuracy": 0.5}), "no_tools_draws": 2}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("part", range(4))
def test_a_session_cut_off_at_any_write_ends_as_if_it_had_not_been(
    part: int, after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "whole"))
    (tmp_path / "whole").mkdir()
    writes = _writes(monkeypatch, None, after)
    given = resumable(tmp_path)
    wanted = summary_of(mine(given).run)
    total = writes[0]
    for stop in range(1 + part, total + 1, 12):
        home = tmp_path / f"cut{stop}"
        home.mkdir()
        monkeypatch.setenv("BENCH_HOME", str(home))
        writes = _writes(monkeypatch, stop, after)
        with pytest.raises(Crash):
            mine(given)
        _writes(monkeypatch, None, after)
        if not journal.sessions():
            continue
        run = journal.sessions()[0]
        mine(given, run=run)
        assert summary_of(run) == wanted
        # Resumed once more: nothing is left to do and nothing is written.
        lines = journal.Journal(run).summary.read_bytes()
        mine(given, run=run)
        assert journal.Journal(run).summary.read_bytes() == lines


_append, _replace = store.append_line, store.replace_file


def _writes(monkeypatch: pytest.MonkeyPatch, stop: int | None, after: bool) -> list[int]:
    """Count writes to the store; crash at number ``stop``, before or after it is done."""
    count = [0]

    def counted(write: Any) -> Any:
        def wrapped(*args: Any, **more: Any) -> Any:
            count[0] += 1
            if count[0] == stop and not after:
                raise Crash
            write(*args, **more)
            if count[0] == stop:
                raise Crash

        return wrapped

    monkeypatch.setattr(store, "append_line", counted(_append))
    monkeypatch.setattr(store, "replace_file", counted(_replace))
    return count


def test_jobs_change_nothing_but_what_attempts_see(tmp_path: Path) -> None:
    given = agents(tmp_path, verifier(), verifier(), verifier(1))
    run = mine({**given, "jobs": 3}).run
    # The two with the same words ran at the same time; the later number is the duplicate.
    assert [line.decision for line in lines_of(run)] == ["tool_solver_correct", "duplicate", "tool_solver_correct"]


# --- caps, names, lock


def test_caps_end_a_session_early_and_it_can_go_on(tmp_path: Path) -> None:
    given = agents(tmp_path, verifier(), verifier(1), verifier(2))
    done = mine(given, Limits(caps=Caps(tokens=500)))
    assert (done.ended_by, session.EXIT[done.ended_by]) == ("max_tokens", 5)
    assert done.attempts < 3
    rest = mine(given, run=done.run)
    assert (rest.ended_by, rest.attempts) == ("attempts", 3)
    last = journal.open_journal(done.run).lines
    assert [type(line) for line in last].count(SessionLine) == 2
    assert isinstance(last[-1], SessionLine)


@pytest.mark.parametrize("role", ["generator_agent", "no_tools_agents"])
def test_a_budget_also_ends_a_session_that_a_provider_keeps_waiting(role: str, tmp_path: Path) -> None:
    given = agents(tmp_path, verifier())
    later = script(tmp_path, {"error": {"kind": "rate_limit", "message": "come back", "retry_after": 3600}})
    began = time.monotonic()
    done = mine({**given, role: later if role == "generator_agent" else (later,)}, Limits(caps=Caps(seconds=2.0)))
    assert (done.ended_by, done.attempts) == ("max_hours", 0)
    assert time.monotonic() - began < 60


def test_enough_accepted_ends_a_session_and_too_few_is_said(tmp_path: Path) -> None:
    given = agents(tmp_path, verifier(), verifier(1), verifier(2))
    done = mine(given, Limits(until_accepted=2))
    assert (done.ended_by, done.attempts) == ("until_accepted", 2)
    poor = mine({**agents(tmp_path, verifier(), no_tools=RIGHT), "seed": 8}, Limits(until_accepted=1))
    assert (poor.ended_by, session.EXIT[poor.ended_by]) == ("goal_missed", 5)


def test_an_agent_without_a_login_ends_the_session(tmp_path: Path) -> None:
    given = agents(tmp_path, *[verifier()] * 6)
    given["generator_agent"] = script(tmp_path, {"error": {"kind": "auth", "message": "log in first"}})
    done = mine(given)
    assert (done.ended_by, session.EXIT[done.ended_by], done.attempts) == ("agents_failing", 3, 3)
    assert {line.decision for line in lines_of(done.run)} == {"generator_failed"}


def test_one_session_at_a_time() -> None:
    with session.only_one("mining_1", lambda text: None):
        with pytest.raises(LockedError) as refused, session.only_one("mining_2", lambda text: None):
            pass
        assert "mining_1" in str(refused.value)
        assert "since" in str(refused.value)
        assert refused.value.exit_code == 4


def test_a_dead_process_s_lock_is_taken_over_with_a_message() -> None:
    folder = store.folder("mcq")
    (folder / ".mining.lock").write_text("process 999999 (mining_1) since 2020-01-01 00:00:00")
    said: list[str] = []
    with session.only_one("mining_2", said.append):
        pass
    assert said == ["took over the lock that process 999999 (mining_1) since 2020-01-01 00:00:00 left behind"]
    assert not (folder / ".mining.lock").exists()


def test_names_of_sessions() -> None:
    from datetime import UTC, datetime

    when = datetime(2026, 11, 30, 8, 7, 6, tzinfo=UTC)
    first = journal.new_run(when, 10, safe_name("../my night's run!"))
    assert first == "mining_20261130_080706_rounds_10_my-night-s-run"
    assert journal.new_run(when, 10, safe_name("../my night's run!")) == f"{first}_2"
    assert journal.new_run(when, 10, "") == "mining_20261130_080706_rounds_10"
    with pytest.raises(UsageError):
        safe_name("///")


@pytest.mark.parametrize(("given", "word"), [
    ({"no_tools_draws": 3, "no_tools_threshold": 4}, "--no-tools-threshold"),
    ({"category": "nonsense"}, "--category"),
    ({"with_tools_agent": "offline"}, "offline"),
    ({"generator_agent": "claude:x", "generator_model": "y"}, "twice"),
    ({"no_tools_models": ("a", "b", "c"), "no_tools_agents": ("claude", "codex")}, "--no-tools-model"),
])  # fmt: skip
def test_settings_that_mean_nothing(given: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError) as refused:
        settings_of({"seed": 1, **given})
    assert word in str(refused.value)


def test_defaults_follow_the_generator() -> None:
    offline = settings_of({"seed": 1})
    assert (offline.no_tools_agents, offline.with_tools_agent) == (("guesser",), "oracle")
    real = settings_of({"seed": 1, "generator_agent": "claude", "generator_model": "m", "no_tools_draws": 5})
    assert (real.generator_agent, real.with_tools_agent) == ("claude:m", "claude:m")
    assert real.no_tools_agents == ("claude:m",)
    assert real.no_tools_threshold == 3
    two = settings_of({"seed": 1, "no_tools_agents": ("claude",), "no_tools_models": ("a", "b")})
    assert two.no_tools_agents == ("claude:a", "claude:b")


# --- arithmetic


def attempt(status: Status) -> Attempt:
    return to_attempt({
        "schema_version": 1, "id": "0" * 32, "run": "r", "question_id": "q", "agent": "a", "backend": "b",
        "mode": "no-tools", "status": status, "started": "2026-01-01T00:00:00+00:00", "seconds": 0.0,
    }, "test")  # fmt: skip


def drawn(right: int, wrong: int, missing: int = 0) -> Drawn:
    return Drawn(tuple([attempt("correct")] * right + [attempt("wrong")] * wrong + [attempt("timeout")] * missing))


@pytest.mark.parametrize(("draws", "threshold"), [(1, 1), (3, 2), (5, 3)])
@pytest.mark.parametrize("skill", [0.25, 0.6])
def test_screens_discard_at_the_rate_of_the_binomial(draws: int, threshold: int, skill: float) -> None:
    rng, items = Random(f"{draws} {skill}"), 4000
    gone = 0
    for _ in range(items):
        right = sum(rng.random() < skill for _ in range(draws))
        gone += bool(discards(drawn(right, draws - right), threshold))
    rate = float(binom.sf(threshold - 1, draws, skill))
    assert abs(gone / items - rate) < 4 * (rate * (1 - rate) / items) ** 0.5
    if skill == 0.25:
        assert rate == pytest.approx({1: 0.25, 3: 0.15625, 5: 0.103515625}[draws])


def test_missing_draws_decide_nothing_that_they_could_change() -> None:
    assert discards(drawn(2, 0, 1), 2) is True
    assert discards(drawn(0, 2, 1), 2) is False
    assert discards(drawn(1, 1, 1), 2) is None
    assert confirms(drawn(2, 1)) is True
    assert confirms(drawn(1, 1)) is False
    assert confirms(drawn(1, 1, 1)) is None
    assert confirms(drawn(0, 0, 1)) is None


def test_survivors_are_measured_by_draws_that_did_not_choose_them() -> None:
    rng, lines = Random(5), []
    for number in range(1, 3001):
        # Every question is guessed right with 40%; the screen keeps those that one draw missed.
        easy = rng.random() < 0.4
        again = "correct" if rng.random() < 0.4 else "wrong"
        lines.append(AttemptLine(
            run="r", attempt=number, decision="easy_discarded" if easy else "tool_solver_correct",
            draws={"correct" if easy else "wrong": 1}, holdout={} if easy else {again: 1},
        ))  # fmt: skip
    done = report.session_line("r", lines, "attempts", 1.0)
    assert done.holdout_answered == done.decisions["tool_solver_correct"]
    assert abs(done.holdout_right / done.holdout_answered - 0.4) < 4 * (0.24 / done.holdout_answered) ** 0.5
    assert (done.holdout_questions, done.holdout_alike) == (done.holdout_answered, False)
    assert done.holdout_low is not None
    assert done.holdout_high is not None
    assert done.holdout_low < 0.4 < done.holdout_high
    assert "holdout" in report.survivors(done)
    assert "not measured" in report.survivors(report.session_line("r", lines[:0], "attempts", 1.0))


@pytest.mark.parametrize(("decisions", "code"), [
    ({"generator_failed": 3}, 3), ({"generator_failed": 2, "duplicate": 1}, 3), ({"unscreened": 2, "malformed": 1}, 3),
    ({"generator_failed": 1, "duplicate": 1}, 0), ({"generator_failed": 9, "tool_solver_correct": 1}, 0),
    ({"unscreened": 9, "tool_solver_wrong": 1}, 0), ({"malformed": 3}, 0), ({}, 0),
])  # fmt: skip
def test_a_session_whose_agents_mostly_did_not_answer_is_no_success(decisions: dict[Any, int], code: int) -> None:
    names = [name for name, count in decisions.items() for _ in range(count)]
    lines = [AttemptLine(run="r", attempt=number, decision=name) for number, name in enumerate(names, 1)]
    assert session.exit_code(report.session_line("r", lines, "attempts", 1.0)) == code


def held(*draws: tuple[int, int], right: int = 0) -> SessionLine:
    """A session whose kept questions have so many right and wrong holdout draws, after a screen of one or more."""
    return report.session_line("r", [
        AttemptLine(run="r", attempt=number, decision="tool_solver_correct", draws={"wrong": 2, "correct": right},
                    holdout={"correct": good, "wrong": bad})
        for number, (good, bad) in enumerate(draws, 1)
    ], "attempts", 1.0)  # fmt: skip


def test_draws_of_one_question_are_no_independent_observations() -> None:
    # One question has no interval, however often it was drawn.
    one = held((0, 40))
    assert (one.holdout_questions, one.holdout_low, one.holdout_high) == (1, None, None)
    assert "40 holdout draws on 1 question (too few questions for an interval)" in report.survivors(one)
    # Four questions that are always or never right: as wide as four draws are, not as forty.
    four = held((10, 0), (0, 10), (0, 10), (0, 10))
    assert (four.holdout_right, four.holdout_answered, four.holdout_questions) == (10, 40, 4)
    assert four.holdout_low == 0.0
    assert four.holdout_high is not None
    assert four.holdout_high > 0.6
    # Nothing but wrong ones: Wilson's upper end for 0 of 3 is z^2 / (3 + z^2).
    z = 1.959963984540054
    assert held((0, 10), (0, 10), (0, 10)).holdout_high == pytest.approx(z * z / (3 + z * z))


def test_draws_that_only_repeat_the_screen_are_said_to_say_nothing() -> None:
    for line, alike in ((held((0, 9), (0, 9)), True), (held((0, 9), (1, 8)), False), (held((0, 9), right=1), False)):
        assert line.holdout_alike is alike
        assert ("says nothing" in report.survivors(line)) is alike
    assert held((0, 0)).holdout_alike is None


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[1] == "unscreened"])
def test_a_question_that_nobody_answered_may_be_asked_again(name: str, tmp_path: Path) -> None:
    assert decided(agents(tmp_path, verifier(), **CASES[name][0])).decision == "unscreened"
    # In a later session, and in a later attempt of the same one (whose seed makes other numbers in the same words).
    again = mine(agents(tmp_path, verifier(), verifier()))
    assert [line.decision for line in lines_of(again.run)] == ["tool_solver_correct", "duplicate"]
    twice = {**agents(tmp_path, verifier(1), verifier(1), **CASES[name][0])}
    assert [line.decision for line in lines_of(mine(twice).run)] == ["unscreened", "unscreened"]


def test_categories_are_counted_where_the_question_is_or_was_wanted() -> None:
    lines = [
        AttemptLine(run="r", attempt=1, decision="tool_solver_correct", category="trail", asked_category="stop"),
        AttemptLine(run="r", attempt=2, decision="malformed", asked_category="stop"),
        AttemptLine(run="r", attempt=3, decision="tool_solver_wrong", category="trail"),
    ]
    assert report.session_line("r", lines, "attempts", 1.0).categories == {
        "trail": {"attempts": 2, "accepted": 1, "review": 1}, "stop": {"attempts": 1, "accepted": 0, "review": 0},
    }  # fmt: skip


def test_the_log_of_an_attempt_has_everything(tmp_path: Path) -> None:
    run = mine(agents(tmp_path, verifier())).run
    folder = journal.Journal(run).folder(1)
    for name in ("generator/try1/prompt.txt", "generator/try1/reply.txt", "verifier.py", "runs.jsonl", "question.txt",
                 "no_tools_1/try1/prompt.txt", "with_tools_1/try1/reply.txt", "state.json"):  # fmt: skip
        assert (folder / name).is_file(), name
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    base = settings_of({"seed": 7}).base_seed(1)
    assert [one["seed"] for one in runs] == [base, base, *(base + 1009 * k for k in range(1, 9))]
    # No solver is shown the key or the program.
    for prompt in folder.rglob("prompt.txt"):
        if prompt.parts[-3] != "generator":
            assert "ANSWER_VALUE" not in prompt.read_text()
    assert USAGE["input"] == 100


def test_a_session_that_could_not_be_begun_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StoreError("cannot write: No space left on device")

    monkeypatch.setattr(store, "replace_file", full)
    with pytest.raises(StoreError):
        session.begin(settings_of({"seed": 1}), "")
    assert list((store.home() / "logs").iterdir()) == []


def test_who_is_kept_waiting_is_told_of_the_session() -> None:
    with session.only_one("mining", print):
        opened = session.begin(settings_of({"seed": 1}), "")
        session.tell_waiting(opened.run)
        with pytest.raises(LockedError, match=rf"\({opened.run}\) since"), session.only_one("mining", print):
            pass
