"""Auditing banks and the generator."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from backtrader_bench import bounds, store
from backtrader_bench.arguments import checked, flag, function, instance, optional, path, paths
from backtrader_bench.errors import UsageError
from backtrader_bench.market import sources
from backtrader_bench.mcq_builder.audit import run
from backtrader_bench.mcq_builder.audit.items import read_files
from backtrader_bench.mcq_builder.audit.result import Criteria
from backtrader_bench.mcq_builder.audit.statistics import require_extra
from backtrader_bench.mcq_builder.certificates import fields_problem
from backtrader_bench.mcq_builder.secret import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.mcq_builder.audit.generate import Wish
    from backtrader_bench.mcq_builder.audit.items import Certificates, Item
    from backtrader_bench.mcq_builder.audit.result import Audit


def _wish() -> type:
    from backtrader_bench.mcq_builder.audit.generate import Wish

    return Wish


@checked(
    files=paths, generate=optional(instance("Wish", _wish)), criteria=optional(instance("Criteria", lambda: Criteria)),
    learned=flag, seed=bounds.SMALL_SEED, jobs=bounds.PROCESSES, secret_file=optional(path), html=optional(path),
    progress=function, generated=function,
)  # fmt: skip
def audit(
    *files: str | Path, generate: Wish | None = None, criteria: Criteria | None = None, learned: bool = True,
    seed: int = 42, jobs: int = 1, secret_file: str | Path | None = None, html: str | Path | None = None,
    progress: Callable[[str], None] = lambda what: None, generated: Callable[[int], None] = lambda done: None,
) -> Audit:  # fmt: skip
    """Can a script that runs no backtest guess the keys of ``files``, or of what ``generate`` wishes for?

    ``learned`` off leaves the trained attackers out: quick, but then no bank can pass. ``html``: the report as a page,
    written there. The verdict is ``pass``, ``leak`` or ``too small``, which is not clean. ``progress`` is told what is
    being done, ``generated`` of questions made.

    MissingError: trained attackers without the extra ``audit``. StoreError, RecordError: a file, or a line, that can't
    be read. UsageError: neither or both of ``files`` and ``generate``.
    """
    if bool(generate) == bool(files):
        raise UsageError("give question files to audit, or a wish for the generator (one of the two)")
    if generate and secret_file:
        raise UsageError("secret_file goes with files: what is generated has a secret of its own")
    require_extra(learned=learned)
    page = None if html is None else Path(html)
    if page is not None:
        bars = sources.files(generate.data) if generate and generate.data else []
        store.check_report(page, "page", [*map(Path, files), *([Path(secret_file)] if secret_file else []), *bars])
    items, certificates = _generated(generate, jobs, generated) if generate else _read(files, secret_file)
    found = run.audit(items, certificates, criteria, seed=seed, learned=learned, jobs=jobs, progress=progress)
    if page is not None:
        from backtrader_bench.mcq_builder.audit.page import html as page_of

        store.replace_file(page, page_of(found, _title(files, generate)).encode())
    return found


def _read(files: tuple[str | Path, ...], secret_file: str | Path | None) -> tuple[list[Item], Certificates]:
    secret = read_secret(Path(secret_file)) if secret_file else None
    items, certificates = read_files([Path(one) for one in files], partial(fields_problem, secret=secret))
    certificates.with_secret = secret is not None
    return items, certificates


def _generated(wish: Wish, jobs: int, progress: Callable[[int], None]) -> tuple[list[Item], Certificates]:
    from backtrader_bench.mcq_builder.audit.generate import generate

    return generate(wish, jobs=jobs, verify=fields_problem, progress=progress)


def _title(files: tuple[str | Path, ...], wish: Wish | None) -> str:
    if wish is not None:
        return f"generator, scheme {wish.scheme}"
    first = Path(files[0]).name
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"
