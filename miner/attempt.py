"""One attempt: generate, verify, make the question, screen, validate, decide.

The generator's and the verifier's results are kept in the attempt's ``state.json`` as each is done, solvers' answers in
``db/attempts``; everything between is computed from them, the same every time. So an attempt that was cut short goes
on from its last finished stage.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import store
from backtrader_bench.attempts import ANSWERS, Attempt
from backtrader_bench.miner import ledger, screen
from backtrader_bench.miner.categories import CATEGORIES
from backtrader_bench.miner.decisions import ACCEPTED, KEPT, REVIEW, Outcome
from backtrader_bench.miner.ledger import Call, call_fields, call_of
from backtrader_bench.miner.offline import generate
from backtrader_bench.miner.protocol import Blocks, Malformed, read_blocks, read_code
from backtrader_bench.miner.question import Origin, ask_line, labelled, question_of
from backtrader_bench.miner.records import AttemptLine, Role
from backtrader_bench.miner.screen import Drawn
from backtrader_bench.miner.settings import OFFLINE
from backtrader_bench.miner.verifying import Verified, answer_at, same_answer, verified
from backtrader_bench.records import Question, to_line
from backtrader_bench.templates.prompts import mining as words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backtrader_bench.miner.asking import Asker
    from backtrader_bench.miner.journal import Journal
    from backtrader_bench.miner.settings import Settings
    from backtrader_bench.miner.similar import Known
    from backtrader_bench.miner.verifying import Sandbox

STAGES = ("generate", "verify", "question", "no tools", "second verifier", "with tools", "holdout", "done")


@dataclass(frozen=True)
class View:
    """What an attempt sees of the session: the same for all of one wave, whatever ends first."""

    history: tuple[str, ...]
    """A line an earlier attempt."""
    category: str | None
    """What the generator is told to try."""
    known: Known
    """Questions of the store and of earlier attempts."""


@dataclass(frozen=True)
class Tools:
    """What attempts share."""

    settings: Settings
    journal: Journal
    asker: Asker
    sandbox: Sandbox
    stage: Callable[[int, str], None]
    """Told at the beginning of each stage, for the screen."""
    go_on: Callable[[], None]
    """Raises where a budget or a person ends the session; called between stages."""


@dataclass(frozen=True)
class Ended:
    """An attempt that has been decided, before it is written down."""

    line: AttemptLine
    question: Question | None
    hopeless: bool = False
    """It ended because an agent can't be asked at all: login, quota, a program that is missing."""


def run_attempt(tools: Tools, number: int, view: View) -> Ended:
    """Bring an attempt to its decision. What was asked and run on the way is on disk; the decision is not yet."""
    return _Run(tools, number, view).run()


class _Run:
    """One attempt on its way."""

    def __init__(self, tools: Tools, number: int, view: View) -> None:
        self.tools, self.number, self.view = tools, number, view
        self.settings, self.journal, self.asker = tools.settings, tools.journal, tools.asker
        self.state: dict[str, Any] = self.journal.state(number)
        self.began = time.monotonic()
        self.before = float(self.state.get("seconds", 0.0))
        self.question: Question | None = None
        self.marks: tuple[str, ...] = ()
        self.draws: dict[Role, list[list[Attempt]]] = {}
        self.second: str | None = None
        self.hopeless = False

    def run(self) -> Ended:
        """All stages, as far as it gets."""
        outcome = self._judged()
        if self.question is not None and outcome.decision in KEPT:
            self._holdout(self.question)
        self._enter("done")
        return Ended(self._line(outcome), self._record(outcome), self.hopeless)

    def _judged(self) -> Outcome:
        blocks = self._generate()
        if isinstance(blocks, Outcome):
            return blocks
        found = self._verify(blocks.code)
        if found.outcome is not None:
            return found.outcome
        made = self._question(blocks.code, found)
        if isinstance(made, Outcome):
            return made
        for stage in (self._no_tools, self._second_verifier, self._with_tools):
            outcome = stage(made)
            if outcome is not None:
                return outcome
        raise AssertionError("validation always decides")

    def _enter(self, stage: str) -> None:
        self.tools.stage(self.number, stage)

    def _keep(self, stage: str, found: Any) -> None:
        """A stage is finished."""
        self.state[stage] = found
        self.state["seconds"] = self._seconds()
        self.journal.write_state(self.number, self.state)

    def _seconds(self) -> float:
        return round(self.before + time.monotonic() - self.began, 3)

    # generate

    def _generate(self) -> Blocks | Outcome:
        if "generate" not in self.state:
            self.tools.go_on()
            self._enter("generate")
            self._keep("generate", self._generated())
        found = self.state["generate"]
        if found["problem"]:
            self.hopeless = found["problem"] in ("auth", "missing", "quota")
            return Outcome("generator_failed", (f"generator_{found['problem']}",), found["message"])
        blocks = read_blocks(found["text"])
        if isinstance(blocks, Malformed):
            return Outcome("malformed", (blocks.reason,), blocks.detail)
        self._write({"question.txt": blocks.question, "verifier.py": blocks.code, "rationale.txt": blocks.rationale})
        return blocks

    def _generated(self) -> dict[str, Any]:
        settings, number = self.settings, self.number
        category, base = self.view.category, settings.base_seed(number)
        if settings.generator_agent == OFFLINE:
            text = generate.reply(settings.seed, number, base, category)
            self._write({"generator_reply.txt": text})
            return {"text": text, "problem": None, "message": "", "calls": [], "category": category}
        prompt = words.generator_text(
            base, settings.choice_perturbations, category, CATEGORIES, self.view.history,
            tools=self.asker.has_tools(settings.generator_agent),
        )  # fmt: skip
        said = self.asker.program(
            number, "generator", settings.generator_agent, prompt, words.GENERATOR_SYSTEM, settings.generator_timeout
        )  # fmt: skip
        return {
            "text": said.text, "problem": said.problem, "message": said.message, "category": category,
            "calls": [call_fields(call) for call in said.calls],
        }  # fmt: skip

    # verify

    def _verify(self, code: str) -> Verified:
        if "verify" not in self.state:
            self.tools.go_on()
            self._enter("verify")
            base = self.settings.base_seed(self.number)
            found, files = verified(
                code, base, self.settings.other_seeds(self.number), self.tools.sandbox, self.settings.code_timeout
            )  # fmt: skip
            self._write(files)
            self._keep("verify", found.fields())
        return Verified.of(self.state["verify"])

    # question

    def _question(self, code: str, found: Verified) -> Question | Outcome:
        self._enter("question")
        origin = Origin(
            f"{self.journal.run}/attempt_{self.number:03d}", self.settings.generator_agent, self.settings.seed,
            self.number,
        )  # fmt: skip
        made = question_of(code, found.base, found.others, origin, found.isolation)
        if isinstance(made, Outcome):
            return made
        if (same := duplicate_of(made, self.view.known)) is not None:
            return same
        self.question = made
        self.marks = screen.free_screen(msgspec.to_builtins(made))
        return made

    # screens

    def _no_tools(self, made: Question) -> Outcome | None:
        drawn = self._drawn("no_tools", made, self.settings.no_tools_draws)
        easy = screen.discards(drawn, self.settings.no_tools_threshold)
        if easy is None:
            return self._unscreened("screen", drawn)
        if not easy:
            return None
        of = len(drawn.attempts)
        return Outcome("easy_discarded", ("answered_without_tools",), f"{drawn.right} of {of} no-tools draws are right")

    def _second_verifier(self, made: Question) -> Outcome | None:
        agent = self.settings.second_verifier
        if agent is None:
            return None
        if "second" not in self.state:
            self.tools.go_on()
            self._enter("second verifier")
            self._keep("second", self._asked_second(agent, made))
        found = self.state["second"]
        if found["problem"]:
            return Outcome("unscreened", (f"second_verifier_{found['problem']}",), found["message"])
        self.second = found["answer"]
        assert made.verification is not None
        if same_answer(made, found["answer"]):
            return None
        said = found["answer"][:60]
        return Outcome("not_well_posed", ("verifiers_disagree",),
                       f"another program answers {said}, not {made.options[made.answer]}")  # fmt: skip

    def _asked_second(self, agent: str, made: Question) -> dict[str, Any]:
        """Ask for a second program and run it; once more where it doesn't run."""
        calls: list[Call] = []
        problem, message = "", ""
        for _ in range(1 + self.settings.retries):
            said = self.asker.program(
                self.number, "second_verifier", agent,
                words.second_text(made.stem, tools=self.asker.has_tools(agent)), words.SECOND_SYSTEM,
                self.settings.generator_timeout,
            )  # fmt: skip
            calls += said.calls
            fields = [call_fields(call) for call in calls]
            if said.problem is not None:
                self.hopeless = said.problem in ("auth", "missing", "quota")
                return {"problem": said.problem, "message": said.message, "answer": None, "calls": fields}
            code = read_code(said.text)
            if isinstance(code, Malformed):
                problem, message = code.reason, code.detail
                continue
            answer = answer_at(code, made.seed, self.tools.sandbox, self.settings.code_timeout)
            if not isinstance(answer, Outcome):
                self._write({"second_verifier.py": code})
                return {"problem": None, "message": "", "answer": answer.value, "calls": fields}
            problem, message = "failed", answer.detail
        return {"problem": problem, "message": message, "answer": None, "calls": [call_fields(one) for one in calls]}

    def _with_tools(self, made: Question) -> Outcome:
        drawn = self._drawn("with_tools", made, self.settings.with_tools_runs)
        right = screen.confirms(drawn)
        if right is None:
            return self._unscreened("validation", drawn)
        if right:
            return Outcome(ACCEPTED)
        letters = sorted({str(one.letter) for one in drawn.attempts if one.status == "wrong"})
        return Outcome(REVIEW, (), f"with tools the answer was {', '.join(letters)}, the key is {made.answer}")

    def _holdout(self, made: Question) -> None:
        """Draws that screen nothing, so that they say how hard the question is without having chosen it."""
        self._drawn("holdout", made, self.settings.holdout_draws)

    def _drawn(self, role: Role, made: Question, draws: int) -> Drawn:
        """So many draws, each repeated while it gives no answer."""
        found: list[list[Attempt]] = []
        self.draws[role] = found
        for draw in range(draws):
            found.append([])
            for again in range(1 + self.settings.retries):
                self.tools.go_on()
                self._enter(role.replace("_", " "))
                repeat = self._repeat(role, draws, draw, again)
                one = self.asker.solve(self.number, role, self._solver(role, draw), made, repeat, found[-1])
                found[-1].append(one)
                if one.status in ANSWERS:
                    break
        return screen.last_answers(found)

    def _solver(self, role: Role, draw: int) -> str:
        if role == "with_tools":
            return self.settings.with_tools_agent
        agents = self.settings.no_tools_agents
        return agents[draw % len(agents)]

    def _repeat(self, role: Role, draws: int, draw: int, again: int) -> int:
        """A number of its own for every try: holdout draws come after all that the screen may need."""
        before = self.settings.no_tools_draws * (1 + self.settings.retries) if role == "holdout" else 0
        return before + again * draws + draw

    def _unscreened(self, stage: str, drawn: Drawn) -> Outcome:
        kinds = {one.error.kind for one in drawn.attempts if one.error is not None}
        self.hopeless = bool(kinds & {"auth", "missing", "quota"})
        message = next((one.error.message for one in drawn.attempts if one.error is not None), "")
        tried = f"after {1 + self.settings.retries} tries each"
        return Outcome("unscreened", tuple(f"{stage}_{status}" for status in drawn.missing),
                       f"no answer {tried}: {', '.join(drawn.missing)}{f'; {message}' if message else ''}")  # fmt: skip

    # the end

    def _line(self, outcome: Outcome) -> AttemptLine:
        calls = list(self._calls())
        question = self.question
        generated = self.state.get("generate", {})
        return AttemptLine(
            run=self.journal.run,
            attempt=self.number,
            decision=outcome.decision,
            reasons=outcome.reasons,
            detail=_one_line(outcome.detail),
            asked_category=generated.get("category"),
            category=question.category if question else None,
            question_id=question.id if question else None,
            ask=ask_line(question.stem) if question else "",
            marks=self.marks,
            draws=self._counts("no_tools"),
            holdout=self._counts("holdout"),
            spending=ledger.by_role(calls),
            models=ledger.models(calls),
            isolation=dict(self.state.get("verify", {}).get("isolation", {})),
            seconds=self._seconds(),
        )

    def _counts(self, role: Role) -> dict[str, int]:
        return screen.last_answers(self.draws[role]).counts if self.draws.get(role) else {}

    def _calls(self) -> Sequence[Call]:
        """Every call of the attempt, those of sessions before included."""
        calls = [call_of(fields) for stage in ("generate", "second")
                 for fields in self.state.get(stage, {}).get("calls", [])]  # fmt: skip
        solved = [ledger.of_attempt(role, one) for role, draws in self.draws.items() for draw in draws for one in draw]
        return [*calls, *solved]

    def _record(self, outcome: Outcome) -> Question | None:
        if self.question is None:
            return None
        return labelled(self.question, outcome.decision, self.marks, self.second)

    def _write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            store.replace_file(self.journal.folder(self.number) / name, text.encode(errors="backslashreplace"))


def _one_line(detail: str) -> str:
    """A detail as a record holds it: it may quote a program, half characters included."""
    return " ".join(detail.encode(errors="backslashreplace").decode().split())[:500]


def duplicate_of(made: Question, known: Known) -> Outcome | None:
    """``duplicate`` where the question, or its wording in other numbers, was asked before."""
    if made.id in known:
        return Outcome("duplicate", ("same_id",), f"question {made.id[:12]} is in the store")
    near = known.nearest(made.stem)
    if near is None:
        return None
    return Outcome("duplicate", ("near_duplicate",), f"{near[1]:.0%} the words of question {near[0][:12]}")


def record_line(question: Question) -> bytes:
    """The question as a line of the store."""
    return to_line(question)
