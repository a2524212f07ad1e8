"""One try, from the empty workspace to the line in the run's file."""

from __future__ import annotations

import json
import shutil
import threading
import time
import traceback
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from backtrader_bench import store
from backtrader_bench.agents import transcripts
from backtrader_bench.agents.answers import rotated
from backtrader_bench.agents.ask import AskCancelled, ask
from backtrader_bench.agents.backend import Ask
from backtrader_bench.agents.runs import names, outcome, read
from backtrader_bench.agents.runs.conduct import Tried
from backtrader_bench.agents.runs.outcome import Frame
from backtrader_bench.agents.runs.plan import seed_of
from backtrader_bench.agents.runs.session import utc_now
from backtrader_bench.agents.transcripts import FAULT, NORMAL, PROMPT, REPLY, SYSTEM
from backtrader_bench.agents.workspace import tape_for
from backtrader_bench.attempts import FINAL, attempt_line
from backtrader_bench.errors import HarnessError, MissingError, StoreError, UsageError
from backtrader_bench.templates.prompts import access_for, system_text, user_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from backtrader_bench.agents.backend import Reply
    from backtrader_bench.agents.registry import Agent
    from backtrader_bench.agents.runs.questions import Asking
    from backtrader_bench.agents.runs.schedule import Schedule, Ticket
    from backtrader_bench.agents.runs.session import Work
    from backtrader_bench.agents.usage import Prices
    from backtrader_bench.agents.workspace import Workspaces
    from backtrader_bench.attempts import Attempt
    from backtrader_bench.market.tape import Tape

STOPPING = (StoreError, MissingError, UsageError)
"""Errors that the next try would meet as well: they end the session, and are no attempt's outcome."""


class Trier:
    """Makes the tries of one session; any number of threads may use one."""

    def __init__(
        self, work: Work, agents: Mapping[str, Agent], schedule: Schedule, workspaces: Workspaces, *,
        mark: str, environ: Mapping[str, str], prices: Prices | None = None, data: Path | None = None,
        fsync: bool = True,
    ) -> None:  # fmt: skip
        self._work, self._agents, self._schedule, self._workspaces = work, agents, schedule, workspaces
        self._mark, self._environ, self._prices, self._fsync = mark, environ, prices, fsync
        self._settings = work.manifest.settings
        self._file = read.attempts_path(work.manifest.run)
        self._home = store.home()
        self._writing = threading.Lock()
        # Questions over the same bars come by often; a thousand tapes would fill the memory.
        self._tape = lru_cache(maxsize=32)(lambda question: tape_of(work.questions[question], data))

    def __call__(self, ticket: Ticket, stop: threading.Event) -> Tried:
        """Try once. What is worth keeping is on disk on return.

        AskCancelled: ``stop`` was set first. StoreError, MissingError, UsageError: no try can succeed.
        """
        asked = ticket.asked
        agent, question = self._agents[asked.agent], self._work.questions[asked.question]
        folder = transcripts.new_folder(names.logs_path(self._work.manifest.run) / self._work.id_of(asked))
        frame = Frame(
            run=self._work.manifest.run, asked=asked, backend=agent.backend.name, settings=self._settings,
            started=utc_now(), tries=ticket.tries, transcript=str(folder.relative_to(self._home)),
        )  # fmt: skip
        began = time.monotonic()
        try:
            reply = self._ask(frame, agent, question, folder, stop)
            attempt = outcome.attempt_of(frame, reply, question)
            line = attempt_line(attempt)
        except (AskCancelled, *STOPPING):
            with suppress(OSError):
                shutil.rmtree(folder)
            raise
        except Exception as error:  # noqa: BLE001 - a fault of ours is an outcome of its own, with its traceback kept
            attempt = outcome.harness_error(frame, error, time.monotonic() - began)
            line = attempt_line(attempt)
            transcripts.write(folder, {FAULT: traceback.format_exc()})
        kept = self._schedule.keeps(ticket, attempt) and (attempt.status in FINAL or not stop.is_set())
        if kept:
            with self._writing:
                store.append_line(self._file, line, self._fsync)
        return Tried(attempt, kept)

    def _ask(self, frame: Frame, agent: Agent, question: Asking, folder: Path, stop: threading.Event) -> Reply:
        asked, settings = frame.asked, self._settings
        options = rotated(question.options, asked.shift)
        prompt = user_text(question.record, options, ask_value=settings.ask_value)
        access = access_for(question.record, settings.data_access)
        system = system_text(settings.mode, access)
        transcripts.write(folder, {SYSTEM: system, PROMPT: prompt})
        tape = self._tape(asked.question) if access == "prices" else None
        with self._workspaces.place(prompt, tape) as place:
            request = Ask(
                prompt=prompt, system=system, mode=settings.mode, model=agent.model,
                workspace=place.work, private=place.private, output=place.output, timeout=settings.timeout,
                environ=self._environ, own_config=settings.own_config, seed=seed_of(asked, settings.seed),
                repeat=asked.repeat,
                # The agents of this package alone: the others' code has no use for a key.
                record={"id": question.id, **question.record} if agent.backend.offline else None,
            )  # fmt: skip
            try:
                reply = ask(agent.backend, request, cancel=stop, prices=self._prices, mark=self._mark)
            except HarnessError:
                # What the program wrote shows why.
                transcripts.copy({path.name: path for path in place.output.iterdir()}, folder)
                raise
            transcripts.write(folder, {REPLY: reply.text, NORMAL: transcripts.normal_form(reply)})
            transcripts.copy(reply.raw, folder)
        return reply


def tape_of(question: Asking, data: Path | None) -> Tape:
    """The bars that go with a question; errors as :func:`tape_for`."""
    return tape_for(question.record, "prices", data)


def check_tapes(questions: Iterable[Asking], data: Path | None) -> None:
    """Raise what handing out the bars of any question would raise, before anything is asked."""
    seen: set[str] = set()
    for one in questions:
        if access_for(one.record, "prices") != "prices":
            continue
        name = one.tape.sha256 if one.tape is not None else str(one.record.get("config"))
        if name not in seen:
            tape_of(one, data)
            seen.add(name)


def text_of(attempt: Attempt) -> str | None:
    """The whole reply of an attempt, from its transcript, or from the record where that was not cut; None: lost."""
    if attempt.transcript is not None:
        with suppress(OSError, UnicodeDecodeError):
            return (store.home() / attempt.transcript / REPLY).read_text(encoding="utf-8", errors="surrogatepass")
    return attempt.reply if len(attempt.reply) < outcome.LONGEST_REPLY else None


def declined(attempt: Attempt) -> bool:
    """Whether the provider said that the model declined; False where the transcript doesn't say."""
    if attempt.status != "refused" or attempt.transcript is None:
        return False
    try:
        fields = json.loads((store.home() / attempt.transcript / NORMAL).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(fields, dict) and fields.get("refused") is True
