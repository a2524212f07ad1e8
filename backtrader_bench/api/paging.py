"""Writing a bank as a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backtrader_bench import store
from backtrader_bench.arguments import checked, flag, function, optional, path, paths, text
from backtrader_bench.errors import UsageError
from backtrader_bench.mcq_builder.pages import bank

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Paged:
    """A page on disk."""

    path: Path
    questions: int
    charts: int
    """Distinct backtests drawn."""
    missing: dict[str, str]
    """Question id -> why it has no chart."""
    repeated: int
    """Lines left out because their question came before."""
    size: int
    """Bytes."""


@checked(
    files=paths, html=path, answers=flag, data=optional(path), title=optional(text), progress=function,
)  # fmt: skip
def page(
    *files: str | Path, html: str | Path, answers: bool = True, data: str | Path | None = None,
    title: str | None = None, progress: Callable[[int, int], None] = lambda done, total: None,
) -> Paged:  # fmt: skip
    """Write question files to ``html`` as one self-contained page, see docs/pages.md.

    Without ``answers`` the page holds no key, nor what leads to one. ``data``: where to look for bars instead of the
    store. ``progress`` is told of questions drawn.

    StoreError: a file can't be read, or ``html`` not written. RecordError: a line is no record. UsageError: no file, or
    the page would replace one of them.
    """
    paths, target = [Path(one) for one in files], Path(html)
    if not paths:
        raise UsageError("name at least one question file; bench build makes one")
    bars = None if data is None else Path(data)
    store.check_report(target, "page", [*paths, *([bars] if bars else [])])
    made = bank.page(paths, answers=answers, data=bars, title=title, progress=progress)
    content = made.html.encode(errors="replace")
    store.replace_file(target, content)
    return Paged(target, made.questions, made.charts, made.missing, made.repeated, len(content))
