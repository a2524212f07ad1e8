"""Asking: one question put to one agent, and the reply in its one normal form.

An agent's failure, of whatever kind, is a reply with an ``error``; only a fault of this program's raises.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

from backtrader_bench.agents import isolation, leftovers, process, streams, usage
from backtrader_bench.agents.backend import Raw, Reply
from backtrader_bench.attempts import ToolCall
from backtrader_bench.errors import HarnessError, MissingError, UsageError

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping

    from backtrader_bench.agents.backend import Ask, Backend, Command
    from backtrader_bench.agents.process import Ended
    from backtrader_bench.attempts import ErrorKind, Failure

CAPS = process.Caps()


class AskCancelled(Exception):
    """The caller's event was set before the agent had answered: there is no outcome to record."""


def ask(
    backend: Backend,
    ask: Ask,
    *,
    cancel: threading.Event | None = None,
    prices: usage.Prices | None = None,
    mark: str = "",
) -> Reply:
    """Ask once, and wait for the end.

    ``mark`` names the run (8 characters or more, unique): what a killed session leaves behind is found by it, see
    :func:`backtrader_bench.agents.process.sweep`. UsageError: the backend can't be asked so. AskCancelled: ``cancel``
    was set. HarnessError: a fault of this program's.
    """
    began = time.monotonic()
    try:
        if backend.answer is not None:
            reply = backend.answer(ask)
            return dataclasses.replace(reply, seconds=time.monotonic() - began)
        return _priced(_program(backend, ask, cancel, mark), ask, prices)
    except (AskCancelled, UsageError, HarnessError):
        raise
    except Exception as error:  # the boundary: whatever it is, it is no answer
        raise HarnessError(f"{backend.name}: {type(error).__name__}: {error}") from error


def _program(backend: Backend, ask: Ask, cancel: threading.Event | None, mark: str) -> Reply:
    assert backend.command is not None, backend.name
    try:
        program = backend.find(ask.environ) if backend.find is not None else Path()
    except UsageError as error:
        # It was there when the session began (whoever begins one looks), and is gone.
        return _failed("missing", str(error))
    if program is None:
        return _failed("missing", f"{backend.title} is not installed; {backend.install}")
    try:
        command = backend.command(ask, program)
    except MissingError as error:
        return _failed("missing", str(error))
    ended, facts = _run(backend, ask, command, cancel, mark)
    if ended.why == "cancel":
        raise AskCancelled(backend.name)
    left = {name: path for name, path in command.collect.items() if leftovers.is_there(path, ask.private)}
    files = {name: content for name, path in left.items() if (content := leftovers.read(path, CAPS.memory)) is not None}
    reply = _reply(backend, ended, command, files)
    return dataclasses.replace(reply, seconds=ended.seconds, raw={**ended.files, **left}, isolation=facts)


def output_folder(ask: Ask) -> Path:
    """Where the streams are kept: not in ``private``, where the program could lay something else in their place."""
    return ask.output or ask.private.with_name(f"{ask.private.name}-output")


def _run(
    backend: Backend, ask: Ask, command: Command, cancel: threading.Event | None, mark: str
) -> tuple[Ended, Mapping[str, object]]:
    unique = f"{mark or secrets.token_hex(8)}-{secrets.token_hex(8)}"
    watch = backend.is_tool_call if ask.mode == "no-tools" else None
    folder = output_folder(ask)
    folder.mkdir(mode=0o700, exist_ok=True)
    entered = isolation.enter(command, ask, unique)
    with contextlib.closing(entered):
        ended = process.run(
            entered.start, folder, ask.timeout, unique, watch=watch, cancel=cancel, caps=CAPS
        )
    return ended, entered.facts


def _reply(backend: Backend, ended: Ended, command: Command, files: Mapping[str, bytes]) -> Reply:
    """What the parser makes of the output, and what it can't know: how the program ended."""
    if ended.problem is not None:
        return _not_started(backend, command, ended.problem)
    raw = dataclasses.replace(ended.raw, files=files)
    assert backend.parse is not None
    reply = backend.parse(raw)
    if ended.why == "output":
        error = streams.failure(f"more than {CAPS.disk >> 20} MiB of output", kind="other")
        return dataclasses.replace(reply, error=error)
    if raw.timed_out:
        return dataclasses.replace(reply, timed_out=True, error=None)
    if raw.cancelled:
        calls = reply.tool_calls or (ToolCall(name="unknown"),)
        return dataclasses.replace(reply, tool_calls=calls, error=None)
    # Claude Code ends with 1 after its model has declined: that is what it said, not how it failed.
    if reply.error is None and not reply.refused and raw.code != 0:
        return dataclasses.replace(reply, error=_exit_failure(raw, backend))
    return reply


def _exit_failure(raw: Raw, backend: Backend) -> Failure:
    """The failure of a program that ended badly without saying why in its stream."""
    if raw.stderr.startswith(b"bwrap: execvp"):
        return streams.failure(f"{backend.title} can't be started; {backend.install}", kind="missing")
    return streams.unended(raw, backend.title)


def _failed(kind: ErrorKind, message: str) -> Reply:
    return Reply(error=streams.failure(message, kind=kind))


def _not_started(backend: Backend, command: Command, problem: OSError | ValueError) -> Reply:
    if isinstance(problem, ValueError):
        return _failed("other", f"{backend.title} can't be started: {problem}")
    if problem.errno in (errno.ENOENT, errno.EACCES, errno.ENOEXEC):
        return _failed("missing", f"{command.argv[0]} can't be started: {problem.strerror}; {backend.install}")
    if problem.errno == errno.E2BIG:
        return _failed("other", f"{backend.title} can't be started: its arguments and environment are too long")
    # No memory, no descriptors, no processes left: this machine's fault, not the agent's.
    raise HarnessError(f"{backend.name} can't be started: {problem}") from problem


def _priced(reply: Reply, ask: Ask, prices: usage.Prices | None) -> Reply:
    """Usage counted from the texts where a reply, be it empty, came without, and a cost where there are prices."""
    counted, cost = reply.usage, reply.cost
    if not usage.is_known(counted) and reply.error is None:
        counted = usage.estimate(f"{ask.system}\n{ask.prompt}", reply.text)
    if cost is None and prices is not None:
        cost = prices.cost(counted, (reply.model, ask.model))
    return dataclasses.replace(reply, usage=counted, cost=cost)
