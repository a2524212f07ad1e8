"""Reporting on runs, and comparing two."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from backtrader_bench import bounds, store
from backtrader_bench.agents.reports import compare as comparisons
from backtrader_bench.agents.reports import floor as floors
from backtrader_bench.agents.reports import gather, measure, rows
from backtrader_bench.agents.reports.schema import Floor
from backtrader_bench.agents.runs import read
from backtrader_bench.arguments import checked, function, optional, path, paths, several, text
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from backtrader_bench.agents.reports.compare import Comparison
    from backtrader_bench.agents.reports.gather import Table
    from backtrader_bench.agents.reports.schema import Report


def run_name(name: str, value: Any) -> str:
    """A check for a run's name, or the path of its attempts."""
    return text(name, str(value) if isinstance(value, Path) else value)


@checked(
    runs=several(run_name), questions=paths, floor=optional(bounds.FLOOR), seed=bounds.ANY_SEED, html=optional(path),
    csv=optional(path), data=optional(path), progress=function,
)  # fmt: skip
def report(
    *runs: str, questions: Iterable[str | Path] = (), floor: float | None = None, seed: int = 42,
    html: str | Path | None = None, csv: str | Path | None = None, data: str | Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:  # fmt: skip
    """What ``runs`` (names, paths of attempts, ``last``) show; every figure is explained in docs/reports.md.

    ``questions``: where their questions are, before the files that the runs name. ``floor``: what a score is held
    against, instead of the best shortcut. ``html`` and ``csv`` are written beside; ``data`` is where the page's charts
    take bars from instead of the store, and ``progress`` is told of charts drawn.

    UsageError: no such run, or none holds an attempt. StoreError, RecordError: a file that can't be read or written.
    """
    if not runs:
        raise UsageError("name at least one run, or last")
    given = [Path(one) for one in questions]
    page, table_file, bars = (None if one is None else Path(one) for one in (html, csv, data))
    outputs = [(one, kind) for one, kind in ((page, "page"), (table_file, "table of attempts")) if one is not None]
    # Twice: what needs no run to be read is said before, and the runs' own files are named as such.
    for one, _ in outputs:
        store.check_target(one, [*given, *([bars] if bars and bars.is_file() else [])])
    table = gather.gather(runs, given)
    _check_outputs(outputs, [one for manifest in table.manifests for one in read.files_of(manifest)])
    found = measure.report(table, _floor(table, floor, seed), seed)
    if table_file is not None:
        store.replace_file(table_file, rows.csv_bytes(table))
    if page is not None:
        _write_page(page, found, table, bars, progress)
    return found


@checked(first=run_name, second=run_name, questions=paths, seed=bounds.ANY_SEED)
def compare(first: str, second: str, *, questions: Iterable[str | Path] = (), seed: int = 42) -> Comparison:
    """Two runs on their common questions; differences are the first less the second.

    UsageError: no such run, no attempt in it, or both are the same.
    """
    given = [Path(one) for one in questions]
    sides = [comparisons.one_run(gather.gather([run], given)) for run in (first, second)]
    if sides[0].manifests[0].run == sides[1].manifests[0].run:
        raise UsageError(f"both are {sides[0].manifests[0].run}; name two runs")
    return comparisons.compare(sides[0], sides[1], seed)


def _check_outputs(outputs: Sequence[tuple[Path, str]], inputs: Sequence[Path]) -> None:
    """Refuse, before the work, outputs that would replace what is no such report, what is read, or one another."""
    if len(outputs) > 1 and store.same_file(outputs[0][0], outputs[1][0]):
        raise UsageError(f"page and table would both be {outputs[0][0]}; give one of them another name")
    for one, kind in outputs:
        store.check_report(one, kind, inputs)


def _floor(table: Table, given: float | None, seed: int) -> Floor | None:
    if given is not None:
        return Floor(value=given, source="--floor", about="given", questions=len(table.facts), chance_p=None)
    return floors.best_shortcut([facts.item for facts in table.facts.values()], seed)


def _write_page(
    path: Path, found: Report, table: Table, data: Path | None, progress: Callable[[int, int], None]
) -> None:
    from backtrader_bench.agents.reports import page
    from backtrader_bench.mcq_builder.pages import charts
    from backtrader_bench.mcq_builder.pages.pack import ChartPack

    pack = ChartPack()
    added = charts.add_charts(table.facts.values(), pack.add, data, progress)
    store.replace_file(path, page.html(found, table, added, pack, links_from(path)).encode(errors="replace"))


def links_from(page: Path) -> Callable[[str], str | None]:
    """Turns a transcript's folder, relative to the home folder, into an address relative to ``page``."""
    home, folder = store.home(), page.absolute().parent

    def link(transcript: str) -> str | None:
        target = Path(os.path.normpath(home / transcript))
        if not target.is_relative_to(home / "logs"):
            return None  # records may come from anyone: no link leads outside the logs
        return "./" + quote(Path(os.path.relpath(target, folder)).as_posix())

    return link
