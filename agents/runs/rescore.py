"""Reading stored replies again, offline: what reads differently gets a new record that names the old one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backtrader_bench import store
from backtrader_bench.agents.runs import outcome, read, trying
from backtrader_bench.agents.runs import session as sessions
from backtrader_bench.attempts import attempt_line
from backtrader_bench.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrader_bench.agents.runs.questions import Asking
    from backtrader_bench.attempts import Attempt

READ = frozenset({"correct", "wrong", "unparsed", "refused"})
"""Statuses that come from reading a reply."""


@dataclass(frozen=True)
class Change:
    """An attempt that reads differently now."""

    before: Attempt
    after: Attempt


@dataclass(frozen=True)
class Rescored:
    """What a rescoring found."""

    run: str
    read: int
    """Replies read again."""
    changes: tuple[Change, ...]
    lost: int
    """Replies of which only the cut beginning is left: their attempts stand as they are."""


def rescore(run: str, files: Sequence[Path] = (), *, write: bool = True) -> Rescored:
    """Read every standing reply of ``run`` again; with ``write``, append what changed. The caller holds the run.

    UsageError: no such run, or its question files are not what they were (``files`` says where they are now).
    """
    found = read.read_run(run)
    questions = sessions.questions_of(found.manifest, files).by_id()
    changes, count, lost = [], 0, 0
    for one in read.effective(found.attempts).values():
        if one.status not in READ or trying.declined(one):
            continue
        if one.question_id not in questions:
            raise RecordError(f"{found.manifest.run}: question {one.question_id[:12]} is in none of the run's files")
        text = trying.text_of(one)
        if text is None:
            lost += 1
            continue
        count += 1
        again = _read_again(one, text, questions[one.question_id], ask_value=found.manifest.settings.ask_value)
        if again != one:
            changes.append(Change(one, msgspec.structs.replace(again, replaces=one.id)))
    if write:
        path = read.attempts_path(found.manifest.run)
        for change in changes:
            store.append_line(path, attempt_line(change.after))
    return Rescored(found.manifest.run, count, tuple(changes), lost)


def _read_again(attempt: Attempt, text: str, question: Asking, *, ask_value: bool) -> Attempt:
    return outcome.with_reading(attempt, outcome.read(text, question, attempt.shift, ask_value=ask_value))
