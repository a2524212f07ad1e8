"""Sessions with real agents in every role, in which every decision and reason that they can lead to comes up.

A stub plays the models: each case says what the generator writes, what each solver and the second verifier answers, and
how the attempt must end. ``test_real_agents.py`` and ``benchmarks/mine_real.py`` play the same sessions.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from backtrader_bench.attempts import Usage
from backtrader_bench.miner.records import SessionLine
from backtrader_bench.miner.session import Watch
from backtrader_bench.miner.settings import Settings, settings_of
from tests.miner.reasons import Ending
from tests.miner.sessions import TOPICS, lines_of, mine, run_here, verifier
from tests.real_clis import RealCli
from tests.stubs.script import Act, Call, Decline, Drop, Fail, Hang, Say, Script, Tokens, Turn
from tests.stubs.server import StubServer

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
        "quota": Fail(429, message="You exceeded your current quota.", code="insufficient_quota"),
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
    """One a turn, as for the others: what it does before it gives its blocks, or instead."""
    no_tools: tuple[Act | bool, ...] = (False,)
    """An answer, right or wrong, or something else."""
    second_verifier: tuple[Act | bool, ...] = (True,)
    """A program that gives the same answer, or another one, or something else."""
    with_tools: tuple[Act | bool, ...] = (RUN, True)
    gone: str = ""
    """The role whose program has disappeared when it is to be asked."""
    cut_short: str = ""
    """The role whose program is ended after a tool call that was not allowed, before it tells of tokens."""

    @property
    def endings(self) -> set[Ending]:
        """What it reaches."""
        return {(self.decision, reason) for reason in self.reasons or ("",)}

    @property
    def silent(self) -> frozenset[str]:
        """Roles whose program is ended before it can report tokens, so that they are estimated."""
        roles = ("generator", "no_tools", "second_verifier", "with_tools")
        return frozenset(role for role in roles if role == self.cut_short or Hang() in getattr(self, role))

    def source(self, base: int) -> str:
        """The program, which may be about the base seed."""
        return (self.code or sound(self.name)).replace("BASE", str(base))


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

    def given(self, clis: Mapping[str, RealCli]) -> dict[str, Any]:
        """Its settings."""
        writer, solver = (f"{name}:{clis[name].model}" for name in (self.writer, self.solver))
        return {
            "seed": self.seed, "attempts": len(self.cases), "generator_agent": writer, "no_tools_agents": (writer,),
            "with_tools_agent": solver, "retries": 0, "jobs": 4, "generator_timeout": 180, "no_tools_timeout": 180,
            "with_tools_timeout": 180, "code_timeout": 60, **self.more,
            **({"second_verifier": solver} if self.more.get("second_verifier") else {}),
        }  # fmt: skip


def sound(name: str, topic: str = TOPIC) -> str:
    """A program with nothing wrong; solvers' requests are told apart by the name in its question."""
    return asking(f'f"[case {name}] Account {{seed}}, of ${{cash:,}}, trades {{bars}} bars. {topic}"')


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
    text = change if isinstance(change, str) else wrapped(0, change(bare(sound(how))))
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
                 with_tools=_said(name, kind)) for kind in kinds.split()]  # fmt: skip


def seconded(name: str, kinds: str) -> list[Case]:
    """Second verifiers that fail so."""
    return [Case(f"second-{kind.replace('_', '-')}", "unscreened", (f"second_verifier_{kind}",),
                 second_verifier=_said(name, kind)) for kind in kinds.split()]  # fmt: skip


def _said(name: str, kind: str) -> tuple[Act, ...]:
    said: dict[str, tuple[Act, ...]] = {
        "unparsed": (SHRUG,), "refused": (SORRY,), "tool_attempted": (RUN, SHRUG), "no_code_block": (SHRUG,),
        "agent_error": (FAILS[name]["other"],), "failed": (Say("<<<CODE>>>\nraise SystemExit(3)\n<<</CODE>>>"),),
        "unclosed_code_block": (Say("<<<CODE>>>\nprint(1)\n"),),
        "empty_code_block": (Say("<<<CODE>>>\n\n<<</CODE>>>"),),
    }  # fmt: skip
    return (FAILS[name][kind],) if kind in FAILS[name] else said[kind]


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
    Case("accepted", "tool_solver_correct", code=sound("accepted", TOPICS[0]), generator=(RUN,)),
    Case("review", "tool_solver_wrong", code=sound("review", TOPICS[1]), with_tools=(RUN, False)),
    Case("easy", "easy_discarded", ("answered_without_tools",), sound("easy", TOPICS[2]), no_tools=(True,)),
    *screened("claude", "unparsed refused agent_error"),
    replace(*screened("claude", "tool_attempted"), cut_short="no_tools"),
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
    faulty("some seeds", "fails_on_some_seeds", before='if os.environ["MCQ_SEED"] != "BASE": raise ValueError'),
    ill("short", "no_question", question='f"{cash} {bars}?"'),
    ill("lists options", "options_in_stem", question=SEEDED[:-1] + r'\nA) $1.00\nB) $2.00\nC) $3.00\nD) $4.00"'),
    ill("gives a letter", "speaks_to_solver", question=SEEDED[:-1] + ' The answer is B."'),
    ill("tells", "answer_in_stem", question=SEEDED[:-1] + ' It is ${value:,.2f}."'),
    ill("one answer", "seed_has_no_effect", answer='"$12,345.67"'),
    ill("hides its seed, and claims", "stem_ignores_seed", "stem_and_code_differ",
        question='f"An account of {len(str(seed)) // 99} dollars pays 0.37% commission. What is its final value?"'),
)  # fmt: skip
CODEX = (
    Case("agreed", "tool_solver_correct", code=sound("agreed", TOPICS[0])),
    Case("disagreed", "not_well_posed", ("verifiers_disagree",), second_verifier=(False,)),
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
    ill("endless", "question_too_long", question=SEEDED[:-1] + " {bars * 'x' * 4000}\""),
    ill("steers", "question_not_text", question=SEEDED[:-1] + r' \x1b[2J"'),
    ill("francs", "answer_not_usable", answer='f"{value:.0f} or {value + 1:.0f}"'),
    ill("no amount", "answer_not_finite", answer='"nan USD"'),
    ill("two words", "too_few_options", answer='"up" if value > cash else "down"'),
)  # fmt: skip
WAITING = (
    *written("claude", "timeout"),
    *screened("claude", "timeout"),
    *validated("codex", "timeout"),
    *seconded("codex", "timeout"),
    faulty("sleeps", "timed_out", before="import time\ntime.sleep(300)"),
)
GONE = tuple(Case(f"gone-{number}", "generator_failed", ("generator_missing",), gone="generator")
             for number in (1, 2, 3))  # fmt: skip
SECOND_GONE = (Case("second-gone", "unscreened", ("second_verifier_missing",), gone="second_verifier"),)
SAME = (Case("accepted", "duplicate", ("same_id",), sound("accepted", TOPICS[0])),)
SECOND = {"second_verifier": True}
SHORT = {"generator_timeout": 20, "no_tools_timeout": 20, "with_tools_timeout": 5, "code_timeout": 10}
"""Seconds. What is to answer in time needs two of them when the machine is busy; with tools nobody is to."""
SESSIONS: dict[str, tuple[Part, ...]] = {
    "claude": (
        Part("claude", "codex", CLAUDE, 31),
        Part("claude", "codex", SAME, 31),
        Part("claude", "codex", GONE, 32, {"jobs": 1}, "agents_failing"),
    ),
    "codex": (
        Part("codex", "claude", CODEX, 33, SECOND),
        Part("codex", "claude", SECOND_GONE, 34, {**SECOND, "jobs": 1}),
    ),
    "waiting": (Part("claude", "codex", WAITING, 35, {**SECOND, **SHORT, "jobs": len(WAITING)}),),
}
"""Who writes, or what is special, and its sessions one after the other in one store."""
OURS = "a fault of this program's own, which no agent brings about"
BEFORE = "options are made so that it can't be; looked at all the same, whoever made them"
UNREACHABLE: dict[Ending, str] = {
    ("generator_failed", "generator_harness_error"): OURS,
    ("unscreened", "screen_harness_error"): OURS,
    ("unscreened", "validation_harness_error"): OURS,
    ("unscreened", "second_verifier_harness_error"): OURS,
    ("not_well_posed", "not_four_options"): BEFORE,
    ("not_well_posed", "not_one_key"): BEFORE,
    ("not_well_posed", "options_too_close"): BEFORE,
    ("not_well_posed", "option_in_stem"): BEFORE,
    ("not_well_posed", "answer_missing"): "such an answer has failed the verifier before, by the same reason",
}
"""What no session with real agents can reach, and why; ``test_reasons.py`` reaches it in other ways."""


# --- playing


class Models(Script):
    """The models of one session."""

    def __init__(self, part: Part, settings: Settings) -> None:
        super().__init__()
        self.bases = {settings.base_seed(number): number for number in range(1, len(part.cases) + 1)}
        self.cases = dict(enumerate(part.cases, 1))
        self.numbers = {case.name: number for number, case in self.cases.items()}
        self.programs = {number: self.cases[number].source(base) for base, number in self.bases.items()}
        self.keys = {number: _answer(self.programs[number], base) for base, number in self.bases.items()
                     if f"[case {self.cases[number].name}]" in self.programs[number]}  # fmt: skip

    def place(self, turn: Turn) -> tuple[int, str]:
        """Which attempt a request belongs to, and in which role its agent is asked."""
        if "Write one question and its verifier" in turn.text:
            [base] = {int(found) for found in re.findall(r"MCQ_SEED=(\d+)", turn.text)}
            return self.bases[base], "generator"
        marks = {"Tools are not allowed": "no_tools", "that computes the answer to this question": "second_verifier"}
        role = next((role for words, role in marks.items() if words in turn.text), "with_tools")
        return self.numbers[turn.case], role

    def tokens_by_place(self) -> dict[tuple[int, str], Tokens]:
        """What was served, by attempt and role."""
        found: dict[tuple[int, str], Tokens] = {}
        for one in self.served:
            place = self.place(one.turn)
            found[place] = found.get(place, Tokens()) + one.tokens
        return found

    def _decide(self, turn: Turn) -> Act:
        number, role = self.place(turn)
        case = self.cases[number]
        acts: tuple[Act | bool, ...] = getattr(case, role)
        if role == "generator" and (not acts or acts[-1] == RUN):
            acts = (*acts, Say(wrapped(number, bare(self.programs[number]))))
        act = acts[min(len(turn.results), len(acts) - 1)]
        return act if not isinstance(act, bool) else Say(self._answer(number, role, turn.text, act))

    def _answer(self, number: int, role: str, text: str, right: bool) -> str:
        key = self.keys[number]
        if role == "second_verifier":
            answer = key if right else "$1.00"
            return f"Here:\n\n<<<CODE>>>\nprint('ANSWER_VALUE_JSON: \"{answer}\"')\n<<</CODE>>>"
        options = {option: letter for letter, option in re.findall(r"([A-D])\. (\$[\d,.]+\d)", text)}
        wrong = next(letter for letter in "ABCD" if letter != options[key])
        return f"I looked at it.\n<<< {options[key] if right else wrong} >>>"


def _answer(code: str, base: int) -> str:
    [line] = [line for line in run_here(code, base).stdout.splitlines() if line.startswith("ANSWER")]
    return str(json.loads(line.partition(": ")[2]))


@dataclass(frozen=True)
class Played:
    """A session that was played."""

    part: Part
    done: SessionLine
    models: Models

    def differences(self) -> Iterator[str]:
        """What did not end as it should, and what was not counted as it was served."""
        lines = {line.attempt: line for line in lines_of(self.done.run)}
        for number, case in enumerate(self.part.cases, 1):
            line = lines.get(number)
            found = (line.decision, line.reasons) if line else None
            if found != (case.decision, case.reasons):
                yield f"{case.name}: {found}, not {(case.decision, case.reasons)}; {line.detail if line else ''}"
        if self.done.ended_by != self.part.ended_by:
            yield f"ended by {self.done.ended_by}"
        served = self.models.tokens_by_place()
        for line in lines.values():
            for role, one in line.spending.items():
                silent = role in self.part.cases[line.attempt - 1].silent
                told = served.pop((line.attempt, role), Tokens())
                if one.usage.estimated != silent or (not silent and counted(one.usage) != told_of(told)):
                    yield f"attempt {line.attempt}, {role}: {one.usage}, served {told}"
        for place, told in served.items():
            yield f"{place} was served {told}, and nothing says so"

    def by_role(self) -> dict[str, tuple[int, int]]:
        """Tokens by role: as the session's last line sums them up, and as the stub served them.

        What was estimated, for programs that were ended before they could tell, is left out on both sides.
        """
        silent = {(number, role) for number, case in enumerate(self.part.cases, 1) for role in case.silent}
        guessed = Counter[str]()
        for line in lines_of(self.done.run):
            for role, one in line.spending.items():
                guessed[role] += sum(counted(one.usage)) if (line.attempt, role) in silent else 0
        found = {role: (sum(counted(one.usage)) - guessed[role], 0) for role, one in self.done.spending.items()}
        for place, told in self.models.tokens_by_place().items():
            if place not in silent:
                mine, theirs = found[place[1]]
                found[place[1]] = (mine, theirs + sum(told_of(told)))
        return found


def counted(usage: Usage) -> tuple[int, int, int, int]:
    """Tokens as a record has them: fresh, from a cache, into it, and output."""
    return usage.input or 0, usage.cache_read or 0, usage.cache_write or 0, usage.output or 0


def told_of(tokens: Tokens) -> tuple[int, int, int, int]:
    """Tokens as the stub served them, in the same order."""
    return tokens.fresh, tokens.read, tokens.written, tokens.output


def play(part: Part, clis: Mapping[str, RealCli], stub: StubServer, home: Path) -> Played:
    """One session in the store of BENCH_HOME."""
    given = part.given(clis)
    models = Models(part, settings_of(given))
    stub.script = stub._server.script = models
    roles = {"generate": ("generator", part.writer), "second verifier": ("second_verifier", part.solver)}

    def stage(number: int, name: str) -> None:
        role, program = roles.get(name, ("", ""))
        if role and models.cases[number].gone == role:
            (home / program).unlink(missing_ok=True)

    with user(clis, (part.writer, part.solver), stub.url, home):
        done = mine(given, watch=Watch(stage=stage))
    return Played(part, done, models)


@contextmanager
def user(clis: Mapping[str, RealCli], names: Sequence[str], url: str, home: Path) -> Iterator[None]:
    """The environment of a user with these agents, whose programs are links in ``home``."""
    environ: dict[str, str] = {}
    for name in names:
        link = home / name
        link.unlink(missing_ok=True)
        link.symlink_to(clis[name].program)
        environ |= {**clis[name].environ(url, home), f"BENCH_{name.upper()}": str(link)}
    environ.pop("PATH")
    before = dict(os.environ)
    os.environ.update(environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
