"""Every reason is reached somewhere: by sessions with real agents, or here where those can't reach it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from backtrader_bench.checker.programs import judge, static, static_outside, static_random
from backtrader_bench.errors import HarnessError
from backtrader_bench.miner import asking, verifying
from backtrader_bench.miner.convert import Converted, Unusable, convert
from backtrader_bench.miner.wellposed import option_flaws
from tests.miner.real_sessions import SESSIONS, UNREACHABLE
from tests.miner.reasons import ENDINGS, Ending
from tests.miner.sessions import agents, here, lines_of, mine, script, verifier

STEM = "Cash is $10,000. A position is bought above SMA(20). What is the final value?"


def test_every_reason_comes_up_with_real_agents_or_can_t() -> None:
    parts = [part for parts in SESSIONS.values() for part in parts]
    reached = {ending for part in parts for case in part.cases for ending in case.endings}
    assert reached | UNREACHABLE.keys() == ENDINGS
    assert not reached & UNREACHABLE.keys()
    # Requests are told apart by the case's name, and a session ends after three hopeless attempts.
    for part in parts:
        assert max(Counter(case.name for case in part.cases).values()) == 1
    assert {part.writer for part in parts} == {"claude", "codex"}


def made(**options: str) -> Converted:
    """Options of a sound question, some of them replaced."""
    found = convert(STEM, "$10,500.00", [(seed, f"${10_000 + 300 * seed}.00") for seed in (3, 5, 7, 9)], Random(1))
    assert isinstance(found, Converted)
    wrong = next(letter for letter in found.options if letter != found.answer)
    named = {"wrong": wrong, "key": found.answer}
    return replace(found, options={**found.options, **{named[name]: text for name, text in options.items()}})


def unread(answer: str) -> str:
    """Why there are no options."""
    found = convert(STEM, answer, [], Random(1))
    assert isinstance(found, Unusable)
    return found.reason


OTHERWISE: dict[Ending, Callable[[], str]] = {
    ("not_well_posed", "answer_missing"): lambda: unread("None"),
    ("not_well_posed", "not_four_options"): lambda: option_flaws(STEM, made(wrong="$10,500.00"))[0].reason,
    ("not_well_posed", "not_one_key"): lambda: option_flaws(STEM, made(key="$99,999.00"))[0].reason,
    ("not_well_posed", "options_too_close"): lambda: option_flaws(STEM, made(wrong="$10,500.01"))[0].reason,
    ("not_well_posed", "option_in_stem"): lambda: option_flaws(f"{STEM} Not $77,777.00.",
                                                               made(wrong="$77,777.00"))[0].reason,
}  # fmt: skip
OURS = {"generator": "generator", "no_tools": "screen", "with_tools": "validation",
        "second_verifier": "second_verifier"}  # fmt: skip


@pytest.mark.parametrize("ending", sorted(OTHERWISE), ids="-".join)
def test_what_options_of_our_making_never_have_is_found_in_others(ending: Ending) -> None:
    assert OTHERWISE[ending]() == ending[1]


@pytest.mark.parametrize("role", OURS)
def test_a_fault_of_this_program_is_no_answer(role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "verify", here)
    given = agents(tmp_path, verifier())
    given["second_verifier"] = script(tmp_path, {"text": "no program"}) if role == "second_verifier" else None
    agent = {"no_tools": given["no_tools_agents"][0]}.get(role) or given.get(f"{role}_agent") or given[role]
    ask = asking.ask

    def fails(backend: Any, request: Any, **more: Any) -> Any:
        if f"scripted:{request.model}" == agent:
            raise HarnessError("no more processes")
        return ask(backend, request, **more)

    monkeypatch.setattr(asking, "ask", fails)
    [line] = lines_of(mine(given).run)
    ending = ("generator_failed" if role == "generator" else "unscreened", f"{OURS[role]}_harness_error")
    assert (line.decision, line.reasons) == (ending[0], (ending[1],))
    assert "no more processes" in line.detail


def test_all_that_real_agents_can_t_reach_is_reached_here() -> None:
    ours = {ending for ending in UNREACHABLE if ending[1].endswith("_harness_error")}
    assert OTHERWISE.keys() | ours == UNREACHABLE.keys()
    assert {reason for _, reason in ours} == {f"{name}_harness_error" for name in OURS.values()}


def test_rules_and_reasons_of_the_checker_are_all_that_its_code_gives() -> None:
    given: dict[str, set[str]] = {}
    for module in (static, static_outside, static_random):
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
            if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
                name, _, _, severity = node.value.elts
                if isinstance(name, ast.Constant):
                    given.setdefault(str(name.value), set()).add(
                        str(severity.value) if isinstance(severity, ast.Constant) else "either")  # fmt: skip
    assert given.keys() | {"syntax", "too_long"} == static.RULES.keys()
    assert {name for name, severities in given.items() if severities == {"warn"}} == static.DOUBTS
    said = re.findall(r'Reason\(f?"([a-z_{}]+)"', Path(str(judge.__file__)).read_text())
    named = {one.replace("{name}", part) for one in said for part in ("question", "answer")}
    assert named == judge.REASONS.keys()


DOCS = Path(__file__).parents[2] / "docs" / "mining.md"
PLAIN = ("verifier_failed", "not_well_posed", "duplicate", "easy_discarded")


@pytest.mark.parametrize("decision", PLAIN)
def test_the_page_on_mining_lists_every_reason_and_no_other(decision: str) -> None:
    [row] = re.findall(rf"^\| `{decision}` \| (.*) \|$", DOCS.read_text().partition("\n## Reasons\n")[2], re.M)
    listed = set(re.findall(r"`([a-z_]+)`", row))
    assert listed == {reason for chosen, reason in ENDINGS if chosen == decision}
