"""What ``bench agents`` does and prints."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec

from backtrader_bench.agents import registry, survey, trial
from backtrader_bench.attempts import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrader_bench.agents.backend import Reply
    from backtrader_bench.agents.survey import Found

NEEDED = ("missing", "auth", "network", "quota")
"""Errors that say that something outside is not there."""


def listing(*, as_json: bool) -> Iterator[str]:
    """The lines of ``bench agents``."""
    found = survey.look_at_all(os.environ)
    if as_json:
        yield json.dumps({"agents": msgspec.to_builtins(found)}, indent=2)
        return
    width = max(len(one.name) for one in found)
    for one in found:
        yield f"{one.name:<{width}}  {_state(one)}"
        for name, text in _facts(one):
            yield f"{'':<{width}}  {name:<9} {text}"


def _state(one: Found) -> str:
    if not one.found:
        return one.problem or f"{one.title}: not found"
    return ", ".join(text for text in (one.title, one.version, one.program) if text)


def _facts(one: Found) -> Iterator[tuple[str, str]]:
    if not one.found or one.program is None:
        yield "get it", one.install
    if one.login:
        yield "login", one.login
    yield "modes", ", ".join(one.modes)
    yield "no tools", one.no_tools_by
    yield "workspace", one.isolation
    yield "reports", ", ".join(one.reports) or "nothing; tokens are estimated"


def test(name: str, mode: str | None, timeout: float, *, own_config: bool, as_json: bool) -> int:
    """Ask, print, and say by the exit code how it went."""
    agent = registry.parse(name)
    if mode is not None:
        registry.check_mode(agent, mode)  # type: ignore[arg-type]
    modes: list[Mode] = [one for one in get_args(Mode) if one in agent.backend.modes and mode in (None, one)]
    replies = {one: trial.put(agent, one, os.environ, timeout, own_config) for one in modes}
    if as_json:
        forms = {one: {**trial.normal_form(reply), "outcome": _outcome(reply)} for one, reply in replies.items()}
        click.echo(json.dumps({"agent": name, "question": trial.QUESTION, "replies": forms}, indent=2))
    else:
        for one, reply in replies.items():
            click.echo(f"{one}: {_outcome(reply)}")
            for line in _lines(trial.normal_form(reply)):
                click.echo(f"  {line}")
    return _exit_code(list(replies.values()))


def _exit_code(replies: list[Reply]) -> int:
    if any(reply.error is not None and reply.error.kind in NEEDED for reply in replies):
        return 3
    return 0 if all(_outcome(reply) == "right" for reply in replies) else 1


def _outcome(reply: Reply) -> str:
    if reply.error is not None:
        return f"error ({reply.error.kind})"
    if reply.timed_out:
        return "timed out"
    return "right" if f"<<< {trial.KEY} >>>" in reply.text else "not the right answer"


def _lines(form: dict[str, Any]) -> Iterator[str]:
    """The fields that say something, one a line."""
    for name, value in form.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {part}" for key, part in value.items() if part not in (None, False))
        elif isinstance(value, float):
            value = f"{value:.1f}"
        elif name == "tool_calls":
            value = ", ".join(f"{call['name']} {call['arguments']}"[:100] for call in value)
        if value not in (None, False, ""):
            yield f"{name:<11} {' '.join(str(value).split())[:500]}"
