"""``oracle``: answers right, offline. It computes each key with the checker's second engine and looks it up in the
record only where there is nothing to compute from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents import letters
from backtrader_bench.agents.backend import Ask, Backend, Reply
from backtrader_bench.errors import BenchError, HarnessError, UsageError
from backtrader_bench.records import is_published, to_question

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "oracle"
COMPUTED, LOOKED_UP = "oracle: computed", "oracle: looked up"


def answer(ask: Ask) -> Reply:
    """The right letter, and the value where the prompt asks for it; ``model`` says whether it was computed."""
    if ask.record is None:
        raise HarnessError("oracle needs the question's record")
    found = computed(ask.record)
    letter = found or str(ask.record["answer"])
    text = letters.REPLY.format(letters.shown(ask.record, letter, ask.prompt))
    if "VALUE:" in ask.prompt and ask.record.get("value") is not None:
        text = f"VALUE: {stated(ask.record['value'])}\n{text}"
    return Reply(text=text, model=COMPUTED if found else LOOKED_UP)


def computed(record: Mapping[str, Any]) -> str | None:
    """The letter that the second engine finds right; None where there is nothing to run: a published record, a type
    without an oracle, bars that are not here, or no single option that is right."""
    from backtrader_bench.checker.verify import right_letters

    if is_published(record):
        return None
    try:
        found = right_letters(to_question(record, "the question"))
    except BenchError:
        return None
    return found[0] if len(found) == 1 else None


def stated(value: Any) -> str:
    """A record's value in words that read back as it: numbers as they are, parts in their order."""
    if isinstance(value, dict):
        return ", ".join(stated(part) for part in value.values())
    return value if isinstance(value, str) else json.dumps(value)


def _check(model: str | None) -> None:
    if model is not None:
        raise UsageError(f"oracle has no models; write oracle, not oracle:{model[:40]}")


ORACLE = Backend(
    name=NAME,
    title="Oracle",
    install="ships with this package",
    no_tools_by="runs in this process and has no tools",
    reports=frozenset({"model"}),
    offline=True,
    check=_check,
    answer=answer,
)
