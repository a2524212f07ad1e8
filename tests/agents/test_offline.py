"""The agents that ship in the package."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench import store
from backtrader_bench.agents import letters, registry
from backtrader_bench.agents.ask import ask
from backtrader_bench.agents.backend import Reply
from backtrader_bench.attempts import Usage
from backtrader_bench.errors import HarnessError, UsageError
from backtrader_bench.grading import value_matches
from backtrader_bench.records import LETTERS, to_line
from backtrader_bench.templates.render import question_text
from tests.agents.asking import RECORD, alive, asking
from tests.helpers import bank


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    """A question of every template on the small window, with keys on all letters."""
    return [json.loads(to_line(one)) for one in bank(num_questions=24).questions]


def say(tmp_path: Path, agent: str, **changes: Any) -> Reply:
    chosen = registry.parse(agent)
    return ask(chosen.backend, asking(tmp_path, model=chosen.model, **changes))


def about(record: dict[str, Any], shift: int = 0, ask_value: bool = False) -> dict[str, Any]:
    """The ask for a record, its options moved on by some places."""
    moved = {LETTERS[(place + shift) % 4]: record["options"][letter] for place, letter in enumerate(LETTERS)}
    return {"record": record, "prompt": question_text(record["stem"], moved, ask_value=ask_value)}


def script(tmp_path: Path, *lines: dict[str, Any]) -> str:
    file = tmp_path / "script.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return f"scripted:{file}"


# --- letters ------------------------------------------------------------------------------------------------------


def test_shown_letters_follow_the_prompt() -> None:
    moved = "A. 9.00\nB. 1.00\nC. 2.00\nD. 3.00"
    assert letters.shown(RECORD, "C", RECORD["question"]) == "C"
    assert letters.shown(RECORD, "C", f"A. not the list\n{moved}") == "D"
    assert letters.shown(RECORD, "C", "no options") == "C"
    assert letters.shown(RECORD, "C", "A. 3.00\nB. 3.00\nC. 1\nD. 2") == "C"


# --- oracle -------------------------------------------------------------------------------------------------------


def test_oracle_computes_every_key(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    for record in records:
        # A record that lies about its key: what is computed doesn't come from there.
        lying = {**record, "answer": LETTERS[(LETTERS.index(record["answer"]) + 1) % 4]}
        reply = say(tmp_path, "oracle", **about(lying))
        assert (reply.text, reply.model) == (f"<<< {record['answer']} >>>", "oracle: computed")
    assert len({record["answer"] for record in records}) == 4


def test_oracle_answers_rotated_options(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    for shift in range(4):
        shown = LETTERS[(LETTERS.index(records[0]["answer"]) + shift) % 4]
        assert say(tmp_path, "oracle", **about(records[0], shift)).text == f"<<< {shown} >>>"


def test_oracle_states_values_that_read_back(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    for record in records:
        first, _, second = say(tmp_path, "oracle", **about(record, ask_value=True)).text.partition("\n")
        assert second == f"<<< {record['answer']} >>>"
        assert value_matches(first.removeprefix("VALUE: "), record["value"], record.get("tolerance")), record["type"]


def test_oracle_looks_up_what_it_cant_compute(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    reply = say(tmp_path, "oracle")
    assert (reply.text, reply.model) == ("<<< C >>>", "oracle: looked up")
    strange = {**records[0], "type": "mined"}
    reply = say(tmp_path, "oracle", **about(strange))
    assert (reply.text, reply.model) == (f"<<< {strange['answer']} >>>", "oracle: looked up")


# --- guesser ------------------------------------------------------------------------------------------------------


def test_guesses_are_uniform_and_belong_to_the_seed(tmp_path: Path) -> None:
    texts = [say(tmp_path, "guesser", seed=seed).text for seed in range(400)]
    counts = Counter(texts)
    assert set(counts) == {f"<<< {letter} >>>" for letter in LETTERS}
    # Chi-square of 3 degrees of freedom: 16.3 is exceeded once in a thousand.
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 16.3
    assert texts[:20] == [say(tmp_path, "guesser", seed=seed).text for seed in range(20)]


def test_guesser_by_a_rule_of_the_audit(tmp_path: Path) -> None:
    # Values 1, 2, 3, 9 have the mean 3.75: 3.00 is closest, 9.00 farthest.
    assert say(tmp_path, "guesser:closest_to_mean").text == "<<< C >>>"
    assert say(tmp_path, "guesser:farthest_from_mean").text == "<<< D >>>"
    middle = {say(tmp_path, "guesser:middle", seed=seed).text for seed in range(20)}
    assert middle == {"<<< B >>>", "<<< C >>>"}
    moved = "A. 9.00\nB. 1.00\nC. 2.00\nD. 3.00"
    assert say(tmp_path, "guesser:closest_to_mean", prompt=moved).text == "<<< D >>>"


def test_a_rule_without_opinion_guesses(tmp_path: Path) -> None:
    texts = {say(tmp_path, "guesser:earliest_date", seed=seed).text for seed in range(40)}
    assert len(texts) == 4


# --- scripted -----------------------------------------------------------------------------------------------------


def test_scripted_replies_by_question_repeat_and_mode(tmp_path: Path) -> None:
    agent = script(
        tmp_path,
        {"id": "abab", "repeat": 1, "text": "second <<< {wrong} >>>"},
        {"id": "abab", "mode": "with-tools", "text": "tools <<< {key} >>>", "tool_calls": [
            {"name": "Bash", "arguments": "{}", "executed": True}]},
        {"text": "any <<< {key} >>>", "usage": {"input": 3, "output": 4}, "cost": 0.5, "session_id": "s1",
         "model": "m"},
    )  # fmt: skip
    reply = say(tmp_path, agent)
    assert (reply.text, reply.usage, reply.session_id, reply.model) == (
        "any <<< C >>>", Usage(input=3, output=4), "s1", "m"
    )  # fmt: skip
    assert reply.cost is not None and (reply.cost.usd, reply.cost.source) == (0.5, "reported")
    assert say(tmp_path, agent, repeat=1).text in {f"second <<< {letter} >>>" for letter in "ABD"}
    reply = say(tmp_path, agent, mode="with-tools")
    assert (reply.text, reply.error, [call.executed for call in reply.tool_calls]) == ("tools <<< C >>>", None, [True])


def test_scripted_fails_once_then_answers(tmp_path: Path) -> None:
    error = {"kind": "rate_limit", "message": "slow down", "http_status": 429, "retry_after": 2.5}
    agent = script(tmp_path, {"steps": [{"error": error, "exit": 1}, {"text": "<<< {key} >>>"}]})
    first, second, third = (say(tmp_path, agent) for _ in range(3))
    assert first.error is not None
    assert (first.error.kind, first.error.http_status, first.error.retry_after) == ("rate_limit", 429, 2.5)
    assert (second.error, second.text, third.text) == (None, "<<< C >>>", "<<< C >>>")


def test_scripted_accuracy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrader_bench.agents import scripted

    agent = script(tmp_path, {"accuracy": 0.75}).partition(":")[2]
    steps = [asking(tmp_path, model=agent, seed=seed) for seed in range(400)]
    right = sum(scripted._spoken(scripted.step_for(one), one) == "<<< C >>>" for one in steps)
    # Five standard deviations of a binomial with 400 draws.
    assert abs(right - 300) < 44


def test_the_program_never_learns_the_key(tmp_path: Path) -> None:
    say(tmp_path, script(tmp_path, {"text": "no letter"}))
    written = (tmp_path / "private" / "step.json").read_text()
    assert "answer" not in written
    assert "no letter" in written


@pytest.mark.parametrize(
    ("step", "kind", "message"),
    [
        ({"exit": 3}, "other", "exit code 3"),
        ({"truncated": True}, "other", "no final event"),
        ({"truncated": True, "stderr": "HTTP 529: overloaded\n", "exit": 1}, "overloaded", "overloaded"),
        ({"error": {"kind": "auth", "message": "log in"}}, "auth", "log in"),
    ],
)
def test_scripted_failures(tmp_path: Path, step: dict[str, Any], kind: str, message: str) -> None:
    reply = say(tmp_path, script(tmp_path, step))
    assert reply.error is not None
    assert reply.error.kind == kind
    assert message in reply.error.message


def test_scripted_hangs_and_orphans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backtrader_bench.agents.process.GRACE", 0.2)
    agent = script(tmp_path, {"hang": True, "ignore_term": True, "orphan": 60, "text": "never"})
    chosen = registry.parse(agent)
    reply = ask(chosen.backend, asking(tmp_path, model=chosen.model, timeout=1.0), mark="scripted-test-mark")
    assert (reply.timed_out, reply.error, reply.text) == (True, None, "")
    assert not alive("scripted-test-mark")


def test_a_tool_call_without_tools_ends_the_attempt(tmp_path: Path) -> None:
    agent = script(tmp_path, {"tool_calls": [{"name": "Bash", "arguments": '{"command": "ls"}'}], "hang": True})
    reply = say(tmp_path, agent)
    assert [call.name for call in reply.tool_calls] == ["Bash"]
    assert (reply.error, reply.timed_out) == (None, False)
    assert reply.seconds < 10


def test_a_refusal(tmp_path: Path) -> None:
    assert say(tmp_path, script(tmp_path, {"refused": True, "text": "no"})).refused


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no line"), ('{"txt": 1}', "line 1: .*txt"), ('{}\n{"exit": "x"}', "line 2: .*exit"), ("{", "line 1")],
)
def test_a_bad_script_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        registry.parse(f"scripted:{file}")


def test_no_line_for_a_question_is_our_fault(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="no line"):
        say(tmp_path, script(tmp_path, {"id": "ffff"}))


# --- command ------------------------------------------------------------------------------------------------------


def test_a_command_gets_the_prompt_and_its_workspace(tmp_path: Path) -> None:
    reply = say(tmp_path, "command:sh -c 'cat; pwd; echo {workspace}'")
    work = str(tmp_path / "work")
    assert reply.text == f"Be brief.\n\n{RECORD['question']}{work}\n{work}"
    assert (reply.error, reply.usage.estimated) == (None, True)


def test_a_named_model(tmp_path: Path) -> None:
    assert say(tmp_path, "command:llama/3:8b=echo '{model}'").text == "llama/3:8b"


def test_files_of_the_users_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent.py").write_text("import helper; print(helper.TEXT)")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "helper.py").write_text("TEXT = 'found'")
    monkeypatch.chdir(tmp_path)
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "more"),
               "BENCH_COMMAND_ENV": "PYTHONPATH", "BENCH_COMMAND_READ": "more"}  # fmt: skip
    assert say(tmp_path, "command:python3 agent.py", environ=environ).text == "found"


def test_a_command_is_shown_no_key(tmp_path: Path) -> None:
    bank_file = store.folder("mcq") / "bank.jsonl"
    bank_file.write_text("the key")
    for agent, read in ((f"command:cat {bank_file}", ""), ("command:cat", str(bank_file.parent)),
                        ("command:cat", str(store.home()))):  # fmt: skip
        with pytest.raises(UsageError, match="the keys are in"):
            say(tmp_path, agent, environ={"PATH": "/usr/bin:/bin", "BENCH_COMMAND_READ": read})


def test_a_command_that_fails(tmp_path: Path) -> None:
    reply = say(tmp_path, "command:sh -c 'echo partial; echo HTTP 429 too many requests >&2; exit 1'")
    assert reply.error is not None
    assert (reply.error.kind, reply.error.http_status) == ("rate_limit", 429)
    reply = say(tmp_path, "command:no-such-program x")
    assert reply.error is not None
    assert reply.error.kind == "missing"


@pytest.mark.parametrize("text", ["command", "command:'x", "command: ", "command:x {model}"])
def test_a_bad_template_is_one_line(text: str) -> None:
    with pytest.raises(UsageError):
        registry.parse(text)
