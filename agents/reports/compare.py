"""Two runs, question by question: what changed, whether it shows, and which settings differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.agents.reports import between
from backtrader_bench.agents.reports.gather import UNKNOWN
from backtrader_bench.agents.reports.schema import NoteRow, Pair
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backtrader_bench.agents.reports.between import Scored
    from backtrader_bench.agents.reports.gather import Row, Table
    from backtrader_bench.agents.runs.manifest import Manifest

COMPARE_VERSION = 1
ABSENT = "-"


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """A question that one run has right more often than the other."""

    question: str
    tier: str
    template: str
    first: float
    """Share of right answers in the first run."""
    second: float
    key: str | None
    first_letters: str
    """The letters picked, in the order of repeats and of the options' orders."""
    second_letters: str


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that the runs don't share."""

    name: str
    first: str
    second: str


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One agent of the first run against one of the second."""

    first_agent: str
    second_agent: str
    pair: Pair
    first_accuracy: float | None
    """On the common questions, each question weighing the same."""
    second_accuracy: float | None
    same: int
    """Questions with the same share of right answers."""
    only_in_first: int
    """Questions answered in the first run alone."""
    only_in_second: int
    lost: tuple[Flip, ...]
    """Right more often in the first run."""
    won: tuple[Flip, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The whole comparison."""

    schema_version: int = COMPARE_VERSION
    first: str
    second: str
    settings: tuple[Difference, ...]
    notes: tuple[NoteRow, ...]
    agents: tuple[Compared, ...]


def compare(first: Table, second: Table, seed: int = 42) -> Comparison:
    """Compare two runs, each in a table of its own.

    Agents of the same name are compared; where no name is in both, every agent with every other. Holm's adjustment is
    over all that is compared.
    """
    sides = tuple(_by_agent(table) for table in (first, second))
    names = [table.manifests[0].run for table in (first, second)]
    chosen = _pairing(list(sides[0]), list(sides[1]))
    found = [_compared(one, sides[0][one[0]], sides[1][one[1]], names, seed) for one in chosen]
    pairs = between.adjusted([one.pair for one in found])
    found = [msgspec.structs.replace(one, pair=pair) for one, pair in zip(found, pairs, strict=True)]
    notes = dict.fromkeys((*first.notes, *second.notes))
    return Comparison(
        first=names[0], second=names[1], settings=tuple(differences(first.manifests[0], second.manifests[0])),
        notes=tuple(NoteRow(kind=note.kind, text=note.text) for note in notes), agents=tuple(found),
    )  # fmt: skip


def _by_agent(table: Table) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in table.rows:
        found.setdefault(row.series.agent, []).append(row)
    return found


def _pairing(first: Sequence[str], second: Sequence[str]) -> list[tuple[str, str]]:
    both = [name for name in first if name in second]
    return [(name, name) for name in both] or [(one, other) for one in first for other in second]


def _compared(
    agents: tuple[str, str], ours: Sequence[Row], theirs: Sequence[Row], runs: Sequence[str], seed: int
) -> Compared:
    first, second = between.scores(ours), between.scores(theirs)
    common = sorted(first.keys() & second.keys())
    labels = [f"{agent} in {run}" for agent, run in zip(agents, runs, strict=True)]
    flips = [_flip(question, ours, theirs, first, second) for question in common]
    return Compared(
        first_agent=agents[0], second_agent=agents[1],
        pair=between.pair((labels[0], labels[1]), "runs", (first, second), seed),
        first_accuracy=_mean(first, common), second_accuracy=_mean(second, common),
        same=sum(one.first == one.second for one in flips),
        only_in_first=len(first.keys() - second.keys()), only_in_second=len(second.keys() - first.keys()),
        lost=tuple(one for one in flips if one.first > one.second),
        won=tuple(one for one in flips if one.first < one.second),
    )  # fmt: skip


def _mean(scored: Mapping[str, Scored], questions: Sequence[str]) -> float | None:
    return sum(scored[question].score for question in questions) / len(questions) if questions else None


def _flip(
    question: str, ours: Sequence[Row], theirs: Sequence[Row], first: Mapping[str, Scored], second: Mapping[str, Scored]
) -> Flip:
    rows = [[row for row in side if row.attempt.question_id == question] for side in (ours, theirs)]
    facts = rows[0][0].facts
    letters = ["".join(row.attempt.letter or "?" for row in side if row.answered) for side in rows]
    return Flip(
        question=question, tier=facts.item.difficulty if facts else UNKNOWN,
        template=facts.item.type if facts else UNKNOWN, first=first[question].score, second=second[question].score,
        key=facts.key if facts else None, first_letters=letters[0], second_letters=letters[1],
    )  # fmt: skip


def differences(first: Manifest, second: Manifest) -> list[Difference]:
    """Settings, files, prompts, programs and versions that differ."""
    ours, theirs = settings_of(first), settings_of(second)
    found = []
    for name in dict.fromkeys((*ours, *theirs)):
        pair = (ours.get(name, ABSENT), theirs.get(name, ABSENT))
        if pair[0] != pair[1]:
            found.append(Difference(name=name, first=pair[0], second=pair[1]))
    return found


def settings_of(manifest: Manifest) -> dict[str, str]:
    """Everything of a run that could matter to its outcome, as text by name."""
    last = manifest.sessions[-1]
    found = {name: _text(value) for name, value in msgspec.to_builtins(manifest.settings).items()}
    found["question files"] = ", ".join(one.sha256[:12] for one in manifest.files) or ABSENT
    found["questions"] = manifest.questions_sha256[:12] or ABSENT
    found["prompts"] = manifest.prompts_sha256[:12] or ABSENT
    for agent in last.agents:
        found[f"{agent.agent}: version"] = agent.version or ABSENT
        found[f"{agent.agent}: tools kept away by"] = agent.no_tools_by or ABSENT
    for name, version in sorted(last.versions.items()):
        found[f"version of {name}"] = version
    return found


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ABSENT if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def one_run(table: Table) -> Table:
    """The table, if it is of one run under one condition; UsageError when modes are mixed in it."""
    conditions = sorted({series.condition for series in table.series})
    if len(conditions) > 1:
        raise UsageError(f"{table.manifests[0].run} mixes {' and '.join(conditions)}; bench report keeps them apart")
    return table
