"""Whole files of records: in chunks, in any number of processes, flat in memory."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import store
from backtrader_bench.checker.verify import Checker, Line, Settings, decode
from backtrader_bench.errors import RecordError, StoreError
from backtrader_bench.parallel import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from backtrader_bench.checker.verdict import Verdict
    from backtrader_bench.checker.verify import TextCheck

    Raw = tuple[str, int, bytes]

CHUNK = 256
"""Most records a task: enough work to pay for sending it, little enough to keep memory flat."""
SHARES = 8
"""Tasks a process, at least: for an even end, and for progress that moves."""
CHUNK_BYTES = 4 * 2**20
CLUSTER_JOBS = 16
"""Processes that a cluster is taken to have."""

# One checker a process: its tapes and results serve every chunk that comes by.
_checkers: dict[Settings, Checker] = {}


def check_files(
    paths: Sequence[Path],
    *,
    data: Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    text_check: TextCheck | None = None,
    network: bool = False,
    cache: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Verdict]:
    """A verdict a record of ``paths``, in order, the same for every ``jobs``; each backtest runs once.

    ``data``: prices to use instead of the store. ``text_check``: see :class:`Settings`. ``progress`` is
    called with records done and in all. A line that is no record gets a verdict like any other (``cause``
    ``unreadable``); when there is one, no result is kept on disk. StoreError, RecordError, at once: a file
    that is missing or holds nothing. MissingError: the cluster doesn't answer.
    """
    total, readable = survey(paths)
    if data is not None and not data.exists():
        raise StoreError(f"{data}: no such file or folder; give prices as SYMBOL.csv")
    settings = Settings(data and data.absolute(), _cache_folder() if cache and readable else None, network, text_check)
    return _verdicts(paths, settings, jobs, cluster, progress, total)


def _cache_folder() -> Path | None:
    """Where results stay between runs, apart from the builder's; None where nothing can be written."""
    try:
        return store.folder("cache") / "check"
    except StoreError:
        return None


def _verdicts(
    paths: Sequence[Path],
    settings: Settings,
    jobs: int,
    cluster: str | None,
    progress: Callable[[int, int], None] | None,
    total: int,
) -> Iterator[Verdict]:
    lines = chain.from_iterable(_lines(path) for path in paths)
    run = spread(check_chunk, jobs, cluster)
    most = max(1, min(CHUNK, total // (SHARES * (CLUSTER_JOBS if cluster else jobs))))
    done = 0
    report = progress or (lambda done, total: None)
    report(done, total)
    for verdicts in run((chunk, settings) for chunk in chunks(lines, most)):
        done += len(verdicts)
        report(done, total)
        yield from verdicts


def survey(paths: Iterable[Path]) -> tuple[int, bool]:
    """How many lines there are, and whether each is a JSON object.

    StoreError for a file that can't be read, RecordError for one without a line. A cheap first pass, so
    that a wrong name at the end of the list is told before hours of work, not after.
    """
    count, readable = 0, True
    for path in paths:
        before = count
        for _, line in store.read_lines(path):
            count += 1
            readable = readable and _is_object(line)
        if count == before:
            raise RecordError(f"{path}: empty; there is no record to check")
    return count, readable


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(path: Path) -> Iterator[Raw]:
    for number, line in store.read_lines(path):
        yield str(path), number, line


def chunks(lines: Iterable[Raw], most: int = CHUNK) -> Iterator[list[Raw]]:
    """Groups of at most ``most`` lines and about CHUNK_BYTES bytes, in order."""
    group: list[Raw] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line[2])
        if len(group) == most or size >= CHUNK_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def check_chunk(chunk: Sequence[Raw], settings: Settings) -> list[Verdict]:
    """The verdicts of some lines, in their order; what a worker runs."""
    checker = _checkers.get(settings)
    if checker is None:
        _checkers.clear()
        checker = _checkers[settings] = Checker(settings)
    decoded = [decode(*line) for line in chunk]
    # Neighbours share a backtest, so that it is still at hand however the file is ordered.
    order = sorted(range(len(decoded)), key=lambda place: _group(decoded[place]))
    found = {place: checker.check(decoded[place]) for place in order}
    return [found[place] for place in range(len(decoded))]


def _group(line: Line) -> tuple[Any, ...]:
    if line.claim is None:
        return ("", "", "", "", "")
    claim = line.claim
    bars = claim.tape.sha256 if claim.tape else ""
    return (bars, claim.symbol, claim.start or "", claim.end or "", claim.spec.key)
