"""From the table to the report. Pure: the same attempts give the same report, in whatever order they came."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.agents.reports import between, grouping, items
from backtrader_bench.agents.reports.schema import (
    AgentReport,
    Bounds,
    NoteRow,
    PassAt,
    Position,
    Repeats,
    Report,
    RunFacts,
    Sum,
    Times,
)
from backtrader_bench.agents.reports.shares import LEVEL, mean_of, ratio, share, shown_key
from backtrader_bench.records import LETTERS
from backtrader_bench.stats import proportions, repeats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.agents.reports.gather import Row, Series, Table
    from backtrader_bench.agents.reports.schema import Floor
    from backtrader_bench.agents.runs.manifest import Manifest

TOKENS = ("input", "cache_read", "cache_write", "output", "reasoning")
MODES = {"no-tools": 0, "with-tools": 1}


def report(table: Table, floor: Floor | None = None, seed: int = 42) -> Report:
    """Every figure. ``floor``: what accuracy is held against beside chance. ``seed``: of bootstraps and sign flips."""
    agents = [agent(series, _rows_of(table, series), floor, seed) for series in table.series]
    agents.sort(key=lambda one: (MODES[one.mode], one.data, -(one.accuracy.value or 0.0), one.agent))
    stored = Counter(row.attempt.run for row in table.rows)
    asked = {row.attempt.question_id for row in table.rows}
    return Report(
        level=LEVEL,
        questions=len(asked),
        found=len(table.facts),
        configurations=len({row.cluster for row in table.rows}),
        runs=tuple(_run(manifest, stored[manifest.run]) for manifest in table.manifests),
        notes=tuple(NoteRow(kind=note.kind, text=note.text) for note in table.notes),
        floor=floor,
        agents=tuple(agents),
        pairs=tuple(between.pairs(table, [one.name for one in agents], seed)),
        groups=tuple(grouping.groups(table, [one.name for one in agents], seed)),
        items=items.statistics(table),
    )


def _rows_of(table: Table, series: Series) -> list[Row]:
    return [row for row in table.rows if row.series == series]


def _run(manifest: Manifest, stored: int) -> RunFacts:
    settings = manifest.settings
    return RunFacts(
        run=manifest.run, mode=settings.mode, agents=settings.agents, questions=manifest.questions,
        planned=manifest.planned, stored=stored, started=manifest.started, ended=manifest.ended,
        outcome=manifest.sessions[-1].outcome, files=tuple(one.path for one in manifest.files),
        settings={
            "repeats": str(settings.repeats), "timeout": f"{settings.timeout:g} s",
            "value asked": _yes(settings.ask_value), "options rotated": _yes(settings.rotate),
            "prices": settings.data_access if settings.mode == "with-tools" else "not given",
        },
    )  # fmt: skip


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def agent(series: Series, rows: Sequence[Row], floor: Floor | None, seed: int) -> AgentReport:
    """One agent under one condition, from its rows."""
    answered = [row for row in rows if row.answered]
    asked_value = [row for row in answered if row.attempt.verified is not None]
    accuracy = share(answered, [row.right for row in answered], seed)
    verified = [bool(row.attempt.verified) for row in asked_value]
    return AgentReport(
        name=series.name, agent=series.agent, mode=series.mode, data=series.data,
        runs=tuple(sorted({row.attempt.run for row in rows})),
        models=tuple(sorted({row.attempt.model for row in rows if row.attempt.model})),
        questions=len({row.attempt.question_id for row in rows}),
        attempts=len(rows),
        statuses=dict(sorted(Counter(row.attempt.status for row in rows).items())),
        errors=_errors(rows),
        accuracy=accuracy,
        as_wrong=share(rows, [row.right for row in rows], seed),
        lenient=bounds(sum(row.right for row in rows), len(answered), len(rows)),
        strict=bounds(sum(row.right and row.strict for row in rows), sum(row.strict for row in rows), len(rows)),
        verified=share(asked_value, verified, seed) if asked_value else None,
        letters_where_verified=share(asked_value, [row.right for row in asked_value], seed) if asked_value else None,
        mistakes=dict(sorted(Counter(row.attempt.mistake for row in rows if row.attempt.mistake).items())),
        repeats=_repeats(rows),
        passes=_passes(rows),
        guess_corrected=proportions.guess_corrected(accuracy.value),
        above_floor=proportions.above_floor(accuracy.value, floor.value if floor else None),
        tokens={name: _tokens(rows, name) for name in TOKENS},
        cost=_cost(rows),
        seconds=_times([row.attempt.seconds for row in rows]),
        tries=sum(row.attempt.tries for row in rows),
        confusion=_confusion(answered),
        position=_position(answered, seed),
    )  # fmt: skip


def _errors(rows: Sequence[Row]) -> dict[str, int]:
    failed = [row.attempt for row in rows if row.attempt.status == "agent_error"]
    return dict(sorted(Counter(one.error.kind if one.error else "other" for one in failed).items()))


def bounds(right: int, answered: int, n: int) -> Bounds:
    """Accuracy by what becomes of those without an answer."""
    found = proportions.exclusions(right, answered, n - answered)
    return Bounds(
        answered=answered, excluded=found.left_out, as_wrong=found.as_wrong, as_guess=found.as_guesses,
        as_right=found.as_right,
    )  # fmt: skip


def _repeats(rows: Sequence[Row]) -> Repeats:
    """Accuracy of every (run, repeat), orders of options taken together, and what it would move by."""
    names = sorted({(row.attempt.run, row.attempt.repeat) for row in rows})
    scores: dict[str, dict[tuple[str, int], list[float]]] = {}
    for row in rows:
        if row.answered:
            mine = scores.setdefault(row.attempt.question_id, {})
            mine.setdefault((row.attempt.run, row.attempt.repeat), []).append(float(row.right))
    matrix = [[mean_of(mine.get(name, [])) for name in names] for _, mine in sorted(scores.items())]
    found = repeats.spread(matrix)
    answered = [row for row in rows if row.answered]
    return Repeats(
        accuracies=tuple(
            mean_of([row.right for row in answered if (row.attempt.run, row.attempt.repeat) == name]) for name in names
        ),
        mean=found.mean, sd=found.sd_runs, se_questions=found.se_items,
    )  # fmt: skip


def _passes(rows: Sequence[Row]) -> tuple[PassAt, ...]:
    """pass@k and pass^k, k up to the number of repeats; orders of the options count as questions of their own."""
    trials: dict[tuple[str, int], list[bool]] = {}
    for row in rows:
        tried = trials.setdefault((row.attempt.question_id, row.attempt.shift), [])
        if row.answered:
            tried.append(row.right)
    counts = [(len(tried), sum(tried)) for _, tried in sorted(trials.items())]
    found = [repeats.passes(counts, k) for k in range(1, max((n for n, _ in counts), default=0) + 1)]
    return tuple(PassAt(k=one.k, pass_at=one.at, pass_hat=one.hat, questions=one.items) for one in found)


def _tokens(rows: Sequence[Row], name: str) -> Sum:
    known = [(getattr(row.attempt.usage, name), row.attempt.usage.estimated) for row in rows]
    known = [(count, estimated) for count, estimated in known if count is not None]
    total = sum(count for count, _ in known) if known else None
    return Sum(total=total, known=len(known), n=len(rows), estimated=sum(estimated for _, estimated in known))


def _cost(rows: Sequence[Row]) -> Sum:
    known = sorted((row.attempt.cost.usd, row.attempt.cost.source) for row in rows if row.attempt.cost is not None)
    total = round(sum(usd for usd, _ in known), 6) if known else None
    computed = sum(source == "computed" for _, source in known)
    return Sum(total=total, known=len(known), n=len(rows), estimated=computed)


def _times(seconds: Sequence[float]) -> Times:
    found = np.sort(np.array(seconds))
    return Times(
        n=len(found), total=round(float(found.sum()), 3), mean=round(float(found.mean()), 3),
        median=round(float(np.median(found)), 3), p90=round(float(np.quantile(found, 0.9)), 3),
    )  # fmt: skip


def _confusion(answered: Sequence[Row]) -> tuple[tuple[int, int, int, int], ...]:
    counts = Counter((row.facts.key, row.attempt.letter) for row in answered if row.facts and row.attempt.letter)
    return tuple(
        (counts[key, "A"], counts[key, "B"], counts[key, "C"], counts[key, "D"]) for key in LETTERS
    )


def _position(answered: Sequence[Row], seed: int) -> Position | None:
    """Picks by place, over questions (of one repeat) answered in all four orders: each option stood everywhere."""
    if all(row.attempt.shift == 0 for row in answered):
        return None
    sets: dict[tuple[str, str, int], dict[int, Row]] = {}
    for row in answered:
        if row.attempt.shown and row.attempt.letter:
            one = row.attempt
            sets.setdefault((one.question_id, one.run, one.repeat), {})[one.shift] = row
    whole = [rows for rows in sets.values() if len(rows) == len(LETTERS)]
    rows = [row for four in whole for row in four.values()]
    by_key: dict[str, list[Row]] = {letter: [] for letter in LETTERS}
    for row in rows:
        if row.facts:
            by_key[shown_key(row.facts.key, row.attempt.shift)].append(row)
    return Position(
        questions=len(whole),
        picks=tuple(share(rows, [row.attempt.shown == letter for row in rows], seed) for letter in LETTERS),
        by_key=tuple(share(mine, [row.right for row in mine], seed) for mine in by_key.values()),
        steady=ratio(sum(len({row.attempt.letter for row in four.values()}) == 1 for four in whole), len(whole)),
    )
