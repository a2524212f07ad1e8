"""Checking keys."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backtrader_bench import bounds, store
from backtrader_bench.arguments import checked, flag, function, optional, path, paths, text
from backtrader_bench.checker.run import check_files
from backtrader_bench.errors import StoreError, UsageError
from backtrader_bench.market import sources
from backtrader_bench.templates.drift import text_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from backtrader_bench.checker.verdict import Verdict

HELD = 1000
"""Records that don't match, kept in memory: a file of wrong ones must not fill it."""


@dataclass
class Checked:
    """Counts of the verdicts, and the first that are not ``match``."""

    tiers: dict[str, Counter[str]] = field(default_factory=dict)
    """By tier, how often each verdict was given."""
    templates: dict[str, Counter[str]] = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    odd: list[Verdict] = field(default_factory=list)
    """Records that don't match, the first HELD of them."""
    first_unreadable: Verdict | None = None
    """The first line that is no record."""
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        self.verdicts[verdict.verdict] += 1
        self.causes[verdict.cause] += 1
        self.tiers.setdefault(verdict.difficulty, Counter())[verdict.verdict] += 1
        self.templates.setdefault(verdict.type, Counter())[verdict.verdict] += 1
        if verdict.verdict != "match" and len(self.odd) < HELD:
            self.odd.append(verdict)
        if verdict.cause == "unreadable" and self.first_unreadable is None:
            self.first_unreadable = verdict
        if verdict.verdict == "match":
            self.notes.update(verdict.notes)

    @property
    def total(self) -> int:
        """Records seen."""
        return self.verdicts.total()

    @property
    def matches(self) -> int:
        """Records in order."""
        return self.verdicts["match"]

    @property
    def ok(self) -> bool:
        """Whether every record is in order, and there was one."""
        return 0 < self.matches == self.total


@checked(
    files=paths, data=optional(path), jobs=bounds.PROCESSES, cluster=optional(text), network=flag, cache=flag,
    report=optional(path), progress=optional(function),
)  # fmt: skip
def check(
    *files: str | Path, data: str | Path | None = None, jobs: int = 1, cluster: str | None = None,
    network: bool = False, cache: bool = True, report: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Checked:  # fmt: skip
    """Compute every key of question files again, with two engines that share no code.

    ``data``: a CSV file or folder of prices to use instead of the store; published files need it. ``report``: a file
    that gets every verdict, one JSON object a line. ``progress`` is told of records done and in all.

    A key that is wrong, a line that is no record, bars that are missing are verdicts, not errors. StoreError,
    RecordError: a file is missing or empty. UsageError: no file. MissingError: the cluster doesn't answer.
    """
    if not files:
        raise UsageError("name at least one question file; bench build makes one")
    paths, prices = [Path(one) for one in files], None if data is None else Path(data)
    target = None if report is None else Path(report)
    if target is not None:
        store.check_report(target, "list of verdicts", [*paths, *([prices] if prices else [])])
    if prices is not None and not prices.exists():
        raise StoreError(f"{prices}: there is no such file or folder of prices")
    if prices is not None and prices.is_file():
        sources.load(f"csv:{prices}", "")  # refused once, rather than once a record
    found = Checked()
    verdicts = check_files(
        paths, data=prices, jobs=jobs, cluster=cluster, network=network, cache=cache, text_check=text_problems,
        progress=progress,
    )  # fmt: skip
    seen = _counted(verdicts, found)
    if target is not None:
        store.replace_file(target, (msgspec.json.encode(verdict) + b"\n" for verdict in seen))
    else:
        for _ in seen:
            pass
    return found


def _counted(verdicts: Iterable[Verdict], found: Checked) -> Iterator[Verdict]:
    for verdict in verdicts:
        found.add(verdict)
        yield verdict
