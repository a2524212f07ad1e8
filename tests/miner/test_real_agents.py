"""A session with the real claude and codex programs in every role; a stub plays their models."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from backtrader_bench.agents.runs.budget import tokens_of
from backtrader_bench.miner import verifying
from backtrader_bench.miner.settings import settings_of
from tests.miner.sessions import blocks, here, lines_of, mine, questions_of, run_here, verifier
from tests.real_clis import RealCli
from tests.stubs.script import Act, Call, Say, Script, Turn
from tests.stubs.server import StubServer

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]
SEED = 31
CHATTER = "Sure, here it is.\n\n```text\n{}```\n\nTell me if the verifier should change."


class Miners(Script):
    """Writes a verifier for each attempt, guesses without tools, runs a shell with them."""

    codes = (verifier(), verifier(1), verifier(2), "print('no seed')\n")

    def _decide(self, turn: Turn) -> Act:
        text = turn.text.encode().decode("unicode_escape", "replace")
        if "Write one question and its verifier" in text:
            base = int(re.findall(r"MCQ_SEED=(\d+)", text)[0])
            settings = settings_of({"seed": SEED})
            number = next(n for n in range(1, 9) if settings.base_seed(n) == base)
            code = self.codes[number - 1]
            return Say(CHATTER.format(blocks(code.replace("\n<<<", "\n\n<<<")))) if number < 4 else Say("I give up.")
        number, key = self.question(text)
        wrong = next(letter for letter in "ABCD" if letter != key)
        if "Tools are not allowed" in text:
            # The second question is easy.
            return Say(f"<<< {key if number == 2 else wrong} >>>")
        if not turn.results:
            return Call("python3 -c 'print(6*7)'")
        # The third is answered wrong.
        return Say(f"I computed it.\n<<< {wrong if number == 3 else key} >>>")

    def question(self, text: str) -> tuple[int, str]:
        """Which of the questions a prompt shows, and under which letter its key stands."""
        settings = settings_of({"seed": SEED})
        for number, code in enumerate(self.codes[:3], 1):
            lines = run_here(code, settings.base_seed(number)).stdout.splitlines()
            stem, answer = (json.loads(line.partition(": ")[2]) for line in lines)
            if stem in text:
                [letter] = [letter for letter, option in re.findall(r"([A-D])\. (\S+)", text) if option == answer][:1]
                return number, letter
        raise AssertionError("no question in the prompt")


@pytest.mark.parametrize(("writer", "solver"), [("claude", "codex"), ("codex", "claude")])
def test_a_session_of_real_agents(
    writer: str, solver: str, real_clis: Mapping[str, RealCli], own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "verify", here)
    with StubServer() as stub:
        stub.script = stub._server.script = Miners()
        for name in (writer, solver):
            for variable, value in real_clis[name].environ(stub.url, own_home).items():
                monkeypatch.setenv(variable, value)
        monkeypatch.setenv("PATH", os.environ["PATH"])
        done = mine({
            "seed": SEED, "attempts": 4, "generator_agent": writer, "no_tools_agents": (writer,),
            "with_tools_agent": solver, "generator_model": real_clis[writer].model,
            "no_tools_models": (real_clis[writer].model,), "with_tools_model": real_clis[solver].model, "retries": 0,
        })  # fmt: skip
        served = list(stub.script.served)
    found = [(line.decision, line.reasons) for line in lines_of(done.run)]
    assert found == [
        ("tool_solver_correct", ()), ("easy_discarded", ("answered_without_tools",)), ("tool_solver_wrong", ()),
        ("malformed", ("no_question_block",)),
    ]  # fmt: skip
    assert len(questions_of(done.run)) == 3
    # What the roles used is what was served, and nothing else was asked.
    used = Counter({role: tokens_of(one.usage) or 0 for role, one in done.spending.items()})
    told = Counter[str]()
    for one in served:
        role = "generator" if "Write one question" in one.turn.text else (
            "no_tools" if "Tools are not allowed" in one.turn.text else "with_tools")  # fmt: skip
        told[role] += one.tokens.prompt + one.tokens.output
    assert used == told
    assert {role: one.calls for role, one in done.spending.items()} == {"generator": 4, "no_tools": 3, "with_tools": 2}
