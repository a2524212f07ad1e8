"""Asking the agents of a session: the generator, solvers, the second verifier.

Everything that was asked is kept in the attempt's folder; what solvers answered is in ``db/attempts`` before anything
follows from it, so that a session that was killed never asks for the same answer twice.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from backtrader_bench import store
from backtrader_bench.agents import registry, transcripts
from backtrader_bench.agents.ask import AskCancelled, ask
from backtrader_bench.agents.backend import Ask, Reply
from backtrader_bench.agents.runs import outcome
from backtrader_bench.agents.runs.manifest import Settings as RunSettings
from backtrader_bench.agents.runs.outcome import Frame
from backtrader_bench.agents.runs.pacing import wait_before
from backtrader_bench.agents.runs.plan import Asked
from backtrader_bench.agents.runs.questions import Asking
from backtrader_bench.agents.runs.session import utc_now
from backtrader_bench.attempts import PASSING, ErrorKind, attempt_id, attempt_line
from backtrader_bench.errors import HarnessError, MissingError, UsageError
from backtrader_bench.mcq_builder.seeds import stream
from backtrader_bench.miner.ledger import Call, added, of_attempt, summed
from backtrader_bench.miner.records import Spending
from backtrader_bench.miner.settings import OFFLINE, Settings
from backtrader_bench.templates.prompts import system_text, user_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.agents.usage import Prices
    from backtrader_bench.agents.workspace import Workspaces
    from backtrader_bench.attempts import Attempt, Mode
    from backtrader_bench.miner.journal import Journal
    from backtrader_bench.miner.records import Role
    from backtrader_bench.records import Question

MODES: dict[Role, Mode] = {
    "generator": "with-tools", "no_tools": "no-tools", "holdout": "no-tools", "second_verifier": "with-tools",
    "with_tools": "with-tools",
}  # fmt: skip


Problem = Literal["timeout", "refused", "harness_error"] | ErrorKind
"""What keeps an agent from replying."""
WRITERS: frozenset[Role] = frozenset({"generator", "second_verifier"})
"""Roles that may have tools and need none."""


@dataclass(frozen=True)
class Said:
    """What an agent that was asked for a program replied."""

    text: str
    calls: tuple[Call, ...]
    problem: Problem | None = None
    """Why there is no reply."""
    message: str = ""


def agents_of(settings: Settings) -> dict[str, Agent]:
    """The agents by the names that the settings give them, the offline generator left out.

    UsageError: no such agent, or not in the mode that its role needs.
    """
    roles: list[tuple[Role, str]] = [
        ("generator", settings.generator_agent), ("with_tools", settings.with_tools_agent),
        *(("no_tools", name) for name in settings.no_tools_agents),
    ]  # fmt: skip
    if settings.second_verifier is not None:
        roles.append(("second_verifier", settings.second_verifier))
    found: dict[str, Agent] = {}
    for role, name in roles:
        if name != OFFLINE:
            found[name] = registry.parse(name)
            if role not in WRITERS:
                registry.check_mode(found[name], MODES[role])
            elif name.partition(":")[0] in ("oracle", "guesser"):
                raise UsageError(f"{name} answers questions and writes no programs; it can't be the {role}")
    return found


def check_installed(
    agents: Mapping[str, Agent], environ: Mapping[str, str], *, need_cost: bool, prices: Prices | None
) -> None:
    """MissingError: an agent's program is not here. UsageError: ``--max-cost`` for an agent whose cost is not known."""
    for name, agent in agents.items():
        backend = agent.backend
        if backend.find is not None and backend.find(environ) is None:
            raise MissingError(f"{name}: {backend.title} is not installed; {backend.install}")
        priced = prices is not None and (agent.model is None or agent.model in prices.models)
        if need_cost and not (backend.offline or "cost" in backend.reports or priced):
            raise UsageError(f"--max-cost: {name} reports no cost; give a table with its model's prices by --prices")


@dataclass
class Asker:
    """Asks for one process's part of a session; any number of threads may use one."""

    settings: Settings
    journal: Journal
    agents: Mapping[str, Agent]
    workspaces: Workspaces
    mark: str
    environ: Mapping[str, str]
    prices: Prices | None = None
    cancel: threading.Event = field(default_factory=threading.Event)
    go_on: Callable[[], None] = lambda: None
    """Raises where the session is to end; called while a provider has us wait, which may be for hours."""
    used: Spending = field(default_factory=Spending)
    """What all calls of the session used so far, those of unfinished attempts included."""
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def program(self, attempt: int, role: Role, agent: str, prompt: str, system: str, timeout: float) -> Said:
        """Ask for a program; asked again after errors that pass. AskCancelled: the session is to end."""
        calls: list[Call] = []
        chosen = self.agents[agent]
        mode: Mode = "with-tools" if self.has_tools(agent) else "no-tools"
        for tries in range(1, self.settings.retries + 2):
            folder = transcripts.new_folder(self.journal.folder(attempt) / role)
            seed = self._seed(attempt, role, tries)
            # The offline agents look themselves up by a record, and there is no question yet.
            stand_in = {"id": f"{role}_{attempt:03d}", "answer": "A", "question": "", "options": {}}
            try:
                reply = self._ask(chosen, folder, prompt, system, mode, timeout, seed, tries - 1, stand_in)
            except HarnessError as error:
                return Said("", tuple(calls), "harness_error", str(error))
            calls.append(Call(role, agent, reply.model, reply.usage, reply.cost, reply.seconds))
            self._count(calls[-1])
            problem = _problem(reply)
            if problem is None:
                return Said(reply.text, tuple(calls))
            quiet = f"no reply within {timeout:g} s" if reply.timed_out else "the model declined"
            message = reply.error.message if reply.error else quiet
            if reply.error is None or reply.error.kind not in PASSING or tries > self.settings.retries:
                break
            self._wait(tries, reply.error.retry_after)
        return Said("", tuple(calls), problem, message)

    def has_tools(self, agent: str) -> bool:
        """Whether an agent that writes programs can run them."""
        return "with-tools" in self.agents[agent].backend.modes

    def solve(
        self, attempt: int, role: Role, agent: str, question: Question, repeat: int, after: Sequence[Attempt] = ()
    ) -> Attempt:
        """One solver's attempt on a question, from the store where it was made before. AskCancelled.

        ``after``: earlier tries of the same draw; where the last failed by an error that passes, it waits first.
        """
        mode = MODES[role]
        identity = attempt_id(self.journal.run, question.id, agent, mode, repeat, 0)
        before = next((one for one in self.journal.attempts if one.id == identity), None)
        if before is not None:
            return before
        if after and after[-1].error is not None and after[-1].error.kind in PASSING:
            self._wait(len(after), after[-1].error.retry_after)
        made = self._solve(attempt, role, agent, question, repeat)
        with self._writing:
            store.append_line(self.journal.solved, attempt_line(made), self.journal.fsync)
            self.journal.attempts.append(made)
        self._count(of_attempt(role, made))
        return made

    def _count(self, call: Call) -> None:
        with self._writing:
            self.used = added(self.used, summed([call]))

    def _solve(self, attempt: int, role: Role, agent: str, question: Question, repeat: int) -> Attempt:
        import msgspec

        chosen, mode = self.agents[agent], MODES[role]
        fields: dict[str, Any] = msgspec.to_builtins(question)
        asking = Asking(question.id, fields, question.options, question.tape, f"attempt {attempt}")
        ask_value = mode == "with-tools"
        timeout = self.settings.with_tools_timeout if ask_value else self.settings.no_tools_timeout
        settings = RunSettings(agents=(agent,), mode=mode, timeout=timeout, ask_value=ask_value, data_access="none")
        folder = transcripts.new_folder(self.journal.folder(attempt) / f"{role}_{repeat + 1}")
        frame = Frame(
            run=self.journal.run, asked=Asked(question.id, agent, repeat, 0), backend=chosen.backend.name,
            settings=settings, started=utc_now(), transcript=str(folder.relative_to(store.home())),
        )  # fmt: skip
        prompt = user_text(fields, question.options, ask_value=ask_value)
        system = system_text(mode, "stated")
        seed = self._seed(attempt, mode, repeat)
        began = time.monotonic()
        try:
            reply = self._ask(chosen, folder, prompt, system, mode, timeout, seed, repeat, fields)
            return outcome.attempt_of(frame, reply, asking)
        except HarnessError as error:
            return outcome.harness_error(frame, error, time.monotonic() - began)

    def _ask(
        self, agent: Agent, folder: Path, prompt: str, system: str, mode: Mode, timeout: float, seed: int, repeat: int,
        record: Mapping[str, Any],
    ) -> Reply:  # fmt: skip
        transcripts.write(folder, {transcripts.SYSTEM: system, transcripts.PROMPT: prompt})
        with self.workspaces.place(prompt) as place:
            request = Ask(
                prompt=prompt, system=system, mode=mode, model=agent.model, workspace=place.work,
                private=place.private, output=place.output, timeout=timeout, environ=self.environ,
                own_config=self.settings.own_config, seed=seed, repeat=repeat,
                record=record if agent.backend.offline else None,
            )  # fmt: skip
            reply = ask(agent.backend, request, cancel=self.cancel, prices=self.prices, mark=self.mark)
            texts = {transcripts.REPLY: reply.text, transcripts.NORMAL: transcripts.normal_form(reply)}
            transcripts.write(folder, texts)
            transcripts.copy(reply.raw, folder)
        return reply

    def _seed(self, attempt: int, role: str, number: int) -> int:
        return stream(self.settings.seed, "ask", attempt, role, number).getrandbits(63)

    def _wait(self, tries: int, retry_after: float | None) -> None:
        until = time.monotonic() + wait_before(tries, Random(), retry_after)
        while (left := until - time.monotonic()) > 0:
            if self.cancel.wait(min(left, 1.0)):
                raise AskCancelled("waiting")
            self.go_on()


def _problem(reply: Reply) -> Problem | None:
    if reply.timed_out:
        return "timeout"
    if reply.error is not None:
        return reply.error.kind
    return "refused" if reply.refused else None
