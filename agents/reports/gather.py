"""Runs and question records, joined into one table: a row for every attempt that stands."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from backtrader_bench.agents.reports import questions
from backtrader_bench.agents.runs import read
from backtrader_bench.attempts import ANSWERS
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backtrader_bench.agents.runs.manifest import Manifest
    from backtrader_bench.agents.runs.read import Run
    from backtrader_bench.attempts import Attempt
    from backtrader_bench.mcq_builder.pages.facts import Facts

UNKNOWN = "(unknown)"
"""Tier, template and so on of a question whose record was not found."""


class Series(NamedTuple):
    """What may be pooled: one agent under one condition. Never two modes, nor prices given and not given."""

    agent: str
    mode: str
    data: str
    """``prices``, ``none`` or ``network`` with tools; empty without."""

    @property
    def condition(self) -> str:
        """The mode, and how prices were given where that is not the usual way."""
        return self.mode if self.data in ("", "prices") else f"{self.mode}, data {self.data}"

    @property
    def name(self) -> str:
        """For tables and scripts."""
        return f"{self.agent} ({self.condition})"


@dataclass(frozen=True, slots=True)
class Row:
    """An attempt with its question."""

    attempt: Attempt
    series: Series
    facts: Facts | None
    """None where no record of the question was found."""

    @property
    def answered(self) -> bool:
        """Whether the model answered: everything else is no answer, right or wrong."""
        return self.attempt.status in ANSWERS

    @property
    def right(self) -> bool:
        """Whether the letter is the key."""
        return self.attempt.status == "correct"

    @property
    def strict(self) -> bool:
        """Whether an answer was given in just the form that was asked for."""
        return self.answered and self.attempt.method == "strict"

    @property
    def cluster(self) -> str:
        """Attempts that share it are not independent: the configuration, or the question where that is unknown."""
        return self.facts.item.cluster if self.facts else self.attempt.question_id


class Note(NamedTuple):
    """Something a reader has to know beside the figures."""

    kind: str
    text: str


@dataclass(frozen=True)
class Table:
    """All that a report is made of. Rows are in an order of their own, whatever order runs and attempts came in."""

    manifests: tuple[Manifest, ...]
    rows: tuple[Row, ...]
    facts: Mapping[str, Facts]
    """Records of the questions asked, by id."""
    notes: tuple[Note, ...]

    @property
    def series(self) -> list[Series]:
        """Agents and conditions, sorted."""
        return sorted({row.series for row in self.rows})


def gather(runs: Sequence[str], question_files: Sequence[Path] = ()) -> Table:
    """The attempts of ``runs`` (names, paths, ``last``) with the records of their questions.

    UsageError: no such run, or none of them holds an attempt. Others as :func:`questions.find` and ``read_run``.
    """
    names = [_named(run) for run in runs]
    twice = sorted({name for name in names if names.count(name) > 1})
    notes = [Note("run_twice", f"{name} was named more than once; it counts once") for name in twice]
    return join([read.read_run(name) for name in sorted(set(names))], question_files, notes)


def _named(run: str) -> str:
    try:
        return read.run_named(run)
    except UsageError as error:
        close = difflib.get_close_matches(run.rpartition("/")[2], read.runs(), n=2, cutoff=0.6)
        if not close or "is a mining session" in str(error):
            raise
        raise UsageError(f"there is no run {run!r}; did you mean {' or '.join(close)}?") from error


def join(runs: Sequence[Run], question_files: Sequence[Path] = (), notes: Iterable[Note] = ()) -> Table:
    """The table of runs already read."""
    said = [*notes]
    runs = sorted(runs, key=lambda run: run.manifest.run)
    standing: dict[str, tuple[Attempt, Manifest]] = {}
    for run in runs:
        mine = read.effective(run.attempts)
        said += _run_notes(run.manifest, len(mine))
        said += _pool(standing, mine, run.manifest)
    if not standing:
        named = ", ".join(run.manifest.run for run in runs)
        raise UsageError(f"{named}: no attempt is stored yet; {runs[0].manifest.continued_by}")
    wanted = {attempt.question_id for attempt, _ in standing.values()}
    manifests = tuple(run.manifest for run in runs)
    found = questions.find(manifests, wanted, question_files)
    rows = [
        Row(attempt, series_of(attempt, manifest), found.facts.get(attempt.question_id))
        for attempt, manifest in standing.values()
    ]
    rows.sort(key=lambda row: (row.series, row.attempt.question_id, row.attempt.run, row.attempt.repeat,
                               row.attempt.shift, row.attempt.id))  # fmt: skip
    said += [Note(*one) for one in found.notes]
    said += [*_question_notes(rows), *_condition_notes(manifests)]
    return Table(manifests, tuple(rows), found.facts, tuple(dict.fromkeys(said)))


def series_of(attempt: Attempt, manifest: Manifest) -> Series:
    """Where an attempt belongs."""
    data = manifest.settings.data_access if attempt.mode == "with-tools" else ""
    return Series(attempt.agent, attempt.mode, data)


def _run_notes(manifest: Manifest, stored: int) -> list[Note]:
    if stored == 0:
        return [Note("run_empty", f"{manifest.run} holds no attempt yet")]
    if stored < manifest.planned:
        missing = f"{manifest.planned - stored:,} of {manifest.planned:,} attempts"
        return [Note("run_incomplete", f"{manifest.run}: {missing} were not made yet")]
    return []


def _pool(
    standing: dict[str, tuple[Attempt, Manifest]], mine: Mapping[str, Attempt], manifest: Manifest
) -> list[Note]:
    """Add a run's attempts; those that a copy of the run brought already count once."""
    copies = sum(key in standing for key in mine)
    for key, attempt in mine.items():
        standing.setdefault(key, (attempt, manifest))
    if not copies:
        return []
    return [Note("attempts_twice", f"{manifest.run}: {copies:,} attempts are in another run too; they count once")]


def _question_notes(rows: Sequence[Row]) -> list[Note]:
    missing = [row for row in rows if row.facts is None]
    notes = []
    if missing:
        ids = {row.attempt.question_id for row in missing}
        notes.append(Note(
            "question_missing",
            f"no record was found of {len(ids):,} questions ({len(missing):,} attempts): they count in the totals, "
            "each as a configuration of its own, and in no table by tier, template or strategy; --questions FILE names "
            "them",
        ))  # fmt: skip
    odd = [
        row for row in rows
        if row.facts and row.answered and row.attempt.letter and (row.attempt.letter == row.facts.key) != row.right
    ]  # fmt: skip
    if odd:
        notes.append(Note(
            "key_changed",
            f"{len(odd):,} attempts were graded by another key than their question's record has now; the grades stand "
            "until bench rescore",
        ))  # fmt: skip
    return notes


def _condition_notes(manifests: Sequence[Manifest]) -> list[Note]:
    """What differs between runs of one mode, though it is pooled."""
    notes = []
    for mode in sorted({one.settings.mode for one in manifests}):
        mine = [one for one in manifests if one.settings.mode == mode]
        for name in ("ask_value", "rotate", "timeout"):
            values = sorted({str(getattr(one.settings, name)) for one in mine})
            if len(values) > 1:
                notes.append(Note("settings_differ", f"{mode} runs differ in {name}: {' and '.join(values)}"))
        if len({one.prompts_sha256 for one in mine}) > 1:
            notes.append(Note("settings_differ", f"{mode} runs differ in what agents are told beside the question"))
    return notes
