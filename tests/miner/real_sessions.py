"""Sessions with real agents in every role, in which every decision and reason that they can lead to comes up.

A stub plays the models: each case says what the generator writes, what each solver and the second verifier answers, and
how the attempt must end. ``test_real_agents.py`` and ``benchmarks/mine_real.py`` play the same sessions.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from backtrader_bench.miner.settings import Settings, settings_of
from tests.miner.reasons import ENDINGS, Ending
from tests.miner.sessions import TOPICS, run_here, verifier
from tests.real_clis import RealCli
from tests.stubs.script import Act, Call, Decline, Drop, Fail, Hang, Say, Script, Tokens, Turn

RUN = Call("python3 -c 'print(6*7)'")
SHRUG, SORRY = Say("It depends on many things."), Say("I'm sorry, but I can't help with that request.")
TOPIC = "How far below its highest value, in dollars, was the account at its lowest point after that high?"
FAILS: dict[str, dict[str, Act]] = {
    "claude": {
        "auth": Fail(401, message="invalid x-api-key"),
        "rate_limit": Fail(429, message="This request would exceed your account's rate limit."),
        "overloaded": Fail(529, message="Overloaded"),
        "quota": Fail(400, message="Your credit balance is too low to access the Anthropic API."),
        "context": Fail(400, message="prompt is too long: 213462 tokens > 200000 maximum"),
        "network": Drop(),
        "other": Fail(400, message="messages: field required"),
        "refused": Decline(),
        "timeout": Hang(),
    },
    "codex": {
        "auth": Fail(401, message="Incorrect API key provided."),
        "rate_limit": Fail(429, message="Rate limit reached for requests."),
        "overloaded": Fail(500, message="The server had an error while processing your request."),
        "quota": Fail(429, message="You exceeded your current quota, please check your plan.", code="insufficient_quota"),
        "context": Fail(400, message="Your input exceeds the context window of this model.",
                        code="context_length_exceeded"),
        "network": Drop(),
        "other": Fail(400, message="Unknown parameter: 'input[0]'."),
        "timeout": Hang(),
    },
}  # fmt: skip
"""What vendors say, by the kind of error that it is."""


@dataclass(frozen=True)
class Case:
    """One attempt: what its agents say, and how it ends."""

    name: str
    decision: str
    reasons: tuple[str, ...] = ()
    code: str = ""
    """What the generator writes; empty for a question that is fine."""
    generator: tuple[Act, ...] = ()
    """Instead of blocks with that code; one a turn, as for the others."""
    no_tools: Act | bool = False
    """An answer, right or wrong, or something else."""
    second: Act | bool = True
    """A program that gives the same answer, or another one, or something else."""
    with_tools: tuple[Act | bool, ...] = (RUN, True)
    gone: str = ""
    """The role whose program has disappeared when it is to be asked."""
    silent: frozenset[str] = frozenset()
    """Roles whose program ends before it can report tokens, so that they are estimated."""

    @property
    def endings(self) -> set[Ending]:
        """What it reaches."""
        return {(self.decision, reason) for reason in self.reasons or ("",)}

    @property
    def source(self) -> str:
        """The program."""
        return self.code or sound(self.name)


@dataclass(frozen=True)
class Part:
    """One session."""

    writer: str
    """Generates and answers without tools."""
    solver: str
    """Answers with tools, and is the second verifier where there is one."""
    cases: tuple[Case, ...]
    seed: int
    more: Mapping[str, Any] = field(default_factory=dict)
    ended_by: str = "attempts"
    again: bool = False
    """Whether the store has the questions of a session with this seed already."""

    def given(self, clis: Mapping[str, RealCli]) -> dict[str, Any]:
        """Its settings."""
        writer, solver = (f"{name}:{clis[name].model}" for name in (self.writer, self.solver))
        return {
            "seed": self.seed, "attempts": len(self.cases), "generator_agent": writer, "no_tools_agents": (writer,),
            "with_tools_agent": solver, "retries": 0, "jobs": 4, "generator_timeout": 180, "no_tools_timeout": 180,
            "code_timeout": 60, **self.more,
            **({"second_verifier": solver} if self.more.get("second_verifier") else {}),
        }  # fmt: skip


def sound(name: str, topic: str = TOPIC) -> str:
    """A program with nothing wrong; solvers' requests are told apart by the name in its question."""
    return asking(f'f"[case {name}] An account of ${{cash:,}} trades {{bars}} bars. {topic}"')


def asking(question: str, answer: str = "", before: str = "") -> str:
    """A program with this Python expression as question, and this one as answer."""
    return verifier(question=question, answer=answer, before=before)


def faulty(how: str, *reasons: str, code: str = "", **more: str) -> Case:
    """A program that can't be used, or a question that can't be asked."""
    program = code or asking(more.get("question") or f'f"{how}: {{cash:,}} dollars, {{bars}} bars. {TOPIC}"',
                             more.get("answer", ""), more.get("before", ""))  # fmt: skip
    return Case(how, more.get("decision", "verifier_failed"), reasons, program)


def ill(how: str, *reasons: str, **more: str) -> Case:
    """A question that can't be asked."""
    return faulty(how, *reasons, decision="not_well_posed", **more)


def malformed(how: str, change: Callable[[str], str] | str) -> Case:
    """A reply whose blocks, wrapped as ever, were changed so, or a reply that has none."""
    text = change if isinstance(change, str) else wrapped(2, change(bare(sound(how))))
    return Case(how, "malformed", (how,), generator=(Say(text),))


def written(name: str, kinds: str) -> list[Case]:
    """Generators that don't reply, for these reasons."""
    return [Case(f"generator-{kind.replace('_', '-')}", "generator_failed", (f"generator_{kind}",),
                 generator=(FAILS[name][kind],)) for kind in kinds.split()]  # fmt: skip


def screened(name: str, kinds: str) -> list[Case]:
    """Solvers without tools that fail so."""
    return [Case(f"screen-{kind.replace('_', '-')}", "unscreened", (f"screen_{kind}",), no_tools=_said(name, kind))
            for kind in kinds.split()]  # fmt: skip


def validated(name: str, kinds: str) -> list[Case]:
    """Solvers with tools that fail so."""
    return [Case(f"validation-{kind.replace('_', '-')}", "unscreened", (f"validation_{kind}",),
                 with_tools=(_said(name, kind),)) for kind in kinds.split()]  # fmt: skip


def seconded(name: str, kinds: str) -> list[Case]:
    """Second verifiers that fail so."""
    return [Case(f"second-{kind.replace('_', '-')}", "unscreened", (f"second_verifier_{kind}",),
                 second=_said(name, kind)) for kind in kinds.split()]  # fmt: skip


def _said(name: str, kind: str) -> Act:
    said: dict[str, Act] = {
        "unparsed": SHRUG, "refused": SORRY, "tool_attempted": RUN, "agent_error": FAILS[name]["other"],
        "failed": Say("<<<CODE>>>\nraise SystemExit(3)\n<<</CODE>>>"), "no_code_block": SHRUG,
        "unclosed_code_block": Say("<<<CODE>>>\nprint(1)\n"), "empty_code_block": Say("<<<CODE>>>\n\n<<</CODE>>>"),
    }  # fmt: skip
    # As a model declines in its own words; where the protocol has a word for it, that is used for programs.
    return said[kind] if kind in said else FAILS[name][kind]


# --- wrapping


def bare(code: str) -> str:
    """The three blocks."""
    return (f"<<<QUESTION>>>\nas printed\n<<</QUESTION>>>\n<<<CODE>>>\n{code}<<</CODE>>>\n"
            "<<<RATIONALE>>>\nIt has to be run.\n<<</RATIONALE>>>\n")  # fmt: skip


def wrapped(number: int, blocks: str) -> str:
    """Blocks as agents give them: behind talk, drafts, in fences, quoted, emphasised."""
    draft = "<<<CODE>>>\nprint('a first draft')\n<<</CODE>>>"
    fenced = re.sub(r"<<<CODE>>>\n(.*?)<<</CODE>>>", r"<<<CODE>>>\n```python\n\1```\n<<</CODE>>>", blocks, flags=re.S)
    return [
        f"Sure, here it is.\n\n```text\n{blocks}```\n\nTell me if the verifier should change.",
        f"First I thought of this:\n\n{draft}\n\nThat was too easy. The final version:\n\n{fenced}\nDone!",
        f"The <<<CODE>>> block holds the verifier.\n\n{textwrap.indent(blocks, '> ', lambda line: True)}\nGood luck.",
        re.sub(r"^(<<</?[A-Z]+>>>)$", r"**\1**", fenced, flags=re.M).replace("\n", "\r\n"),
    ][number % 4]


# --- the cases

STATIC = """import json, random, time
value = random.random()
value += time.time()
value += hash("x")
value += eval("1" + "1")
try:
    value += 1
except Exception:
    value = 0
print("QUESTION_JSON:", json.dumps("What is the value of all this in dollars?"))
print("ANSWER_VALUE_JSON:", json.dumps(f"${value:.2f}"))
"""
OUTSIDE = """import json, os
import requests
import subprocess
import ctypes
import backtrader_bench
seed = int(os.environ["MCQ_SEED"])
rate = open("/etc/hostname").read()
user = os.environ["HOME"]
print("QUESTION_JSON:", json.dumps("What is the value of all this in dollars?"))
print("ANSWER_VALUE_JSON:", json.dumps(f"${seed:.2f}"))
"""
LOUD = """import json, multiprocessing, os, sys, time
seed = int(os.environ["MCQ_SEED"])
multiprocessing.get_context("fork").Process(target=time.sleep, args=(300,)).start()
sys.stdout.write("x" * 1_500_000)
sys.stdout.flush()
os._exit(3)
"""
FILLS = """import os, time
seed = int(os.environ["MCQ_SEED"])
for number in range(24):
    with open(f"file-{number}", "wb") as file:
        file.write(bytes(1 << 20))
time.sleep(300)
"""
TWICE = '\nprint("QUESTION_JSON:", json.dumps("Again?"))\nprint("ANSWER_VALUE_JSON:", json.dumps("$1.00"))\n'
PRINTS = 'import json, os\nseed = int(os.environ["MCQ_SEED"])\n'
DRAWS = "import random as other\nfirst = other.random()\nother.seed(1)\n"
SEEDED = 'f"Seed of {cash:,} dollars and {bars} bars. What is the value of the account at the end?"'

CLAUDE = (
    Case("accepted", "tool_solver_correct", code=sound("accepted", TOPICS[0]), generator=()),
    Case("review", "tool_solver_wrong", code=sound("review", TOPICS[1]), with_tools=(RUN, False)),
    Case("easy", "easy_discarded", ("answered_without_tools",), sound("easy", TOPICS[2]), no_tools=True),
    *screened("claude", "unparsed refused agent_error"),
    replace(*screened("claude", "tool_attempted"), silent=frozenset({"no_tools"})),
    *validated("codex", "unparsed refused agent_error"),
    Case("near-duplicate", "duplicate", ("near_duplicate",), sound("accepted", TOPICS[0])),
    *written("claude", "auth rate_limit overloaded"),
    malformed("no_question_block", "I could not think of anything."),
    malformed("unclosed_code_block", lambda text: text.replace("<<</CODE>>>", "")),
    malformed("empty_question_block", lambda text: text.replace("as printed", " ")),
    *written("claude", "network refused other"),
    faulty("no Python", "syntax", code="import os\nprint('MCQ_SEED'\n"),
    faulty("rules", "no_seed", "unseeded_random", "clock", "hash_order", "dynamic_code", "broad_except", code=STATIC),
    faulty("loud", "output_too_long", "exit_code", "left_processes", code=LOUD),
    faulty("nothing printed", "question_missing", "answer_missing", code=PRINTS),
    faulty("printed twice", "question_repeated", "answer_repeated", code=asking(SEEDED) + TWICE),
    faulty("not a number", "answer_not_finite", answer='"nan"'),
    faulty("some seeds", "fails_on_some_seeds", before='if int(os.environ["MCQ_SEED"]) % 7 == 3: raise ValueError'),
    ill("short", "no_question", question='f"{cash} {bars}?"'),
    ill("lists options", "options_in_stem", question=SEEDED[:-1] + r'\nA) $1.00\nB) $2.00\nC) $3.00\nD) $4.00"'),
    ill("tells", "answer_in_stem", question=SEEDED[:-1] + ' It is ${value:,.2f}."'),
    ill("one answer", "seed_has_no_effect", answer='"$12,345.67"'),
    ill("hides its seed, and claims", "stem_ignores_seed", "stem_and_code_differ",
        question='f"An account of {len(str(seed)) // 99} dollars pays 0.37% commission. What is its final value?"'),
)  # fmt: skip
CODEX = (
    Case("agreed", "tool_solver_correct", code=sound("agreed", TOPICS[0])),
    Case("disagreed", "not_well_posed", ("verifiers_disagree",), second=False),
    *seconded("claude", "refused auth rate_limit overloaded quota"),
    *written("codex", "quota"),
    *seconded("claude", "context network other failed no_code_block unclosed_code_block empty_code_block"),
    *written("codex", "context auth"),
    *screened("codex", "tool_attempted refused"),
    *written("codex", "network other overloaded"),
    malformed("empty_reply", ""),
    malformed("no_code_block", lambda text: re.sub("<<<CODE>>>.*<<</CODE>>>", "", text, flags=re.S)),
    malformed("unclosed_question_block", lambda text: text.replace("<<</QUESTION>>>", "")),
    malformed("empty_code_block", lambda text: re.sub("<<<CODE>>>.*<<</CODE>>>", "<<<CODE>>>\n<<</CODE>>>", text,
                                                      flags=re.S)),
    faulty("long", "too_long", code=f"# {'x' * 200_000}\n"),
    faulty("fills the disk", "killed", code=FILLS),
    faulty("no text", "question_malformed", "answer_malformed",
           code=f"{PRINTS}print('QUESTION_JSON: What?')\nprint('ANSWER_VALUE_JSON:', seed)\n"),
    faulty("empty", "question_empty", "answer_empty",
           code=f"{PRINTS}print('QUESTION_JSON: \"\"')\nprint('ANSWER_VALUE_JSON: \" \"')\n"),
    faulty("draws first", "nondeterministic", before=DRAWS, answer='f"${value + 100 * first:,.2f}"'),
    faulty("deaf", "ignores_seed", code=verifier().replace("random.Random(seed)", "random.Random(1)")),
    faulty("no Python", "syntax", code="import os\nprint('MCQ_SEED'\n"),
    ill("reaches out", "network", "processes", "native_code", "project_import", "file_read", "environment",
        code=OUTSIDE),
    ill("endless", "question_too_long", question=SEEDED[:-1] + ' {bars * "x" * 4000}"'),
    ill("steers", "question_not_text", question=SEEDED[:-1] + r' \x1b[2J"'),
    ill("francs", "answer_not_usable", answer='f"{value:.0f} or {value + 1:.0f}"'),
    ill("no amount", "answer_not_finite", answer='"nan USD"'),
    ill("up or down", "too_few_options", answer='"up" if value > cash else "down"'),
)  # fmt: skip
WAITING = (
    *written("claude", "timeout"),
    replace(*screened("claude", "timeout"), silent=frozenset({"no_tools"})),
    replace(*validated("codex", "timeout"), silent=frozenset({"with_tools"})),
    *seconded("codex", "timeout"),
    faulty("sleeps", "timed_out", before="import time\ntime.sleep(300)"),
)
