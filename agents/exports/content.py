"""What an export is made of: questions as a solver reads them, the key apart, and what may be told about them."""

from __future__ import annotations

import builtins
import hashlib
import keyword
import re
import sys
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.exports import canary as canaries
from backtrader_bench.errors import UsageError
from backtrader_bench.records import LETTERS, MINED, is_published
from backtrader_bench.templates.prompts import OPTION, stem_of_published, user_text
from backtrader_bench.templates.render import INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backtrader_bench.agents.runs.questions import Asking
    from backtrader_bench.records import TapeRef


@dataclass(frozen=True)
class Entry:
    """One question of an export."""

    id: str
    text: str
    """The whole question as ``bench run`` puts it: options and how to reply included."""
    opening: str
    """The same without options and reply form, for tools that add their own."""
    options: Mapping[str, str]
    """By letter."""
    key: str | None
    """The answer's letter; None in a sealed export."""
    record: Mapping[str, Any]
    """The record; in a sealed export nothing but its public part."""
    tape: TapeRef | None
    """None where the record names no bars."""
    where: str
    """``FILE, line N``."""

    @property
    def about(self) -> dict[str, Any]:
        """What a table of results is grouped by: texts, empty where the record doesn't say."""
        config = self.record.get("config")
        symbol = config.get("symbol") if isinstance(config, dict) else None
        named = {name: self.record.get(name) for name in ("difficulty", "type", "strategy_name", "category", "scheme")}
        return {name: str(value or "") for name, value in {**named, "symbol": symbol}.items()}


@dataclass(frozen=True)
class Content:
    """What goes into an export, whatever its format."""

    entries: tuple[Entry, ...]
    name: str
    """Letters, digits and underscores: what tasks are called."""
    canary: str
    sealed: bool
    """Whether the keys are elsewhere."""

    @property
    def title(self) -> str:
        """For people."""
        return self.name.replace("_", " ")


def entry_of(asked: Asking, record: Mapping[str, Any] | None = None) -> Entry:
    """The entry of a question; with ``record``, its public part, one without a key."""
    published = is_published(asked.record)
    opening = stem_of_published(str(asked.record["question"])) if published else _introduced(str(asked.record["stem"]))
    return Entry(
        id=asked.id,
        text=user_text(asked.record, asked.options),
        opening=opening,
        options={letter: asked.options[letter] for letter in LETTERS},
        key=asked.key if record is None else None,
        record=asked.record if record is None else record,
        # What a mined question names as its bars is its program.
        tape=None if asked.record.get("scheme") == MINED else asked.tape,
        where=asked.where,
    )


def _introduced(stem: str) -> str:
    return f"{INTRODUCTION}\n\n{stem}"


def lists_options(entry: Entry) -> bool:
    """Whether the entry's text shows its options just as they are: what every format relies on."""
    return dict(OPTION.findall(entry.text)) == dict(entry.options)


def literal(text: str) -> str:
    """``text`` as a Python literal, a line a line."""
    lines = text.splitlines(keepends=True)
    return "(\n" + "".join(f"    {line!r}\n" for line in lines) + ")"


TAKEN = frozenset((
    "accuracy", "as_asked", "choice", "generate", "grouped", "json_dataset", "multiple", "multiple_choice", "pattern",
    "stderr", "system_message", "task", "utils", "questions", "inspect_ai", "lm_eval", "datasets", "verifiers", "httpx",
))  # fmt: skip
"""What files of exports call something else by, and the tools that load them."""


LONGEST_NAME = 100
"""Characters of a task's name, which parts of files' names are made of."""


def task_name(text: str) -> str:
    """``text`` as tasks, and the files and functions that hold them, can be called: lower case letters, digits and
    underscores; after ``bench_`` where it is no name in Python, or one that means something else there.

    UsageError: it is too long for that.
    """
    if len(text) > LONGEST_NAME:
        raise UsageError(f"--name {text[:20]!r}... has {len(text):,} characters; {LONGEST_NAME} are the most")
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "backtrader_bench"
    other = name in TAKEN or name in dir(builtins) or name in sys.stdlib_module_names or keyword.iskeyword(name)
    return f"bench_{name}" if other or name[0].isdigit() else name


def canary_of(ids: Iterable[str]) -> str:
    """The canary of a bank where none is given: the same questions give the same one, so that exports repeat."""
    digest = hashlib.sha256("\n".join(["canary", *sorted(ids)]).encode()).digest()
    return canaries.text(uuid.UUID(bytes=digest[:16], version=4))
