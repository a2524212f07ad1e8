"""What can be said about a verifier from its source alone.

``reject`` is for what makes an answer untrustworthy or can't work in the sandbox; ``warn`` for what often does but has
innocent uses, and shows in the runs where it matters. A false alarm loses a good question, so doubt is a warning.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from backtrader_bench.checker.programs import static_outside, static_random
from backtrader_bench.checker.programs.names import Source

SOURCE_BYTES = 200_000
RULES: dict[str, str] = {
    "syntax": "is no Python program",
    "too_long": f"is longer than {SOURCE_BYTES:,} bytes",
    "no_seed": "never reads MCQ_SEED",
    "project_import": "imports this project",
    "network": "uses the network",
    "file_read": "reads a file that it didn't write",
    "environment": "reads more of its environment than MCQ_SEED",
    "processes": "starts or signals processes",
    "native_code": "loads native code",
    "dynamic_code": "runs text as code or imports by a computed name",
    "unseeded_random": "draws random numbers without a seed",
    "clock": "reads the clock",
    "hash_order": "depends on the order of hashes or on addresses",
    "uninitialised_memory": "may read memory that it didn't write",
    "broad_except": "hides faults in a broad except",
}
"""Each reason, and what the program does."""
DOUBTS = frozenset({"uninitialised_memory"})
"""Rules that only ever warn."""
_EXITS = ("sys.exit", "exit", "quit", "os._exit", "os.abort")
Severity = Literal["reject", "warn"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the source."""

    name: str
    """A key of ``RULES``."""
    line: int
    detail: str
    severity: Severity


Found = tuple[str, int, str, Severity]


def check_source(code: str) -> tuple[Finding, ...]:
    """Findings in the order of their lines. Never runs the code."""
    if len(code.encode("utf-8", "surrogatepass")) > SOURCE_BYTES:
        return (Finding(name="too_long", line=1, detail=f"{len(code):,} characters", severity="reject"),)
    try:
        source = Source(code)
    except SyntaxError as error:
        return (Finding(name="syntax", line=error.lineno or 1, detail=error.msg, severity="reject"),)
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, or nested beyond what the parser takes
        return (Finding(name="syntax", line=1, detail=str(error)[:200], severity="reject"),)
    found: dict[tuple[str, int], Finding] = {}
    for check in CHECKS:
        for name, line, detail, severity in check(source):
            before = found.get((name, line))
            if before is None or before.severity == "warn":
                found[name, line] = Finding(name=name, line=line, detail=detail, severity=severity)
    return tuple(sorted(found.values(), key=lambda finding: (finding.line, finding.name)))


def rejections(code: str) -> tuple[Finding, ...]:
    """The findings of ``check_source`` that a program can't be used with."""
    return tuple(finding for finding in check_source(code) if finding.severity == "reject")


def broad_excepts(source: Source) -> Iterator[Found]:
    """``except Exception`` and wider without ``raise`` or an exit: a defect turns into an answer."""
    for node in source.nodes:
        if not isinstance(node, ast.Try) or all(isinstance(part, ast.Import | ast.ImportFrom) for part in node.body):
            continue
        for handler in node.handlers:
            if _is_broad(source, handler.type) and not _gives_up(source, handler):
                calls = [part for part in ast.walk(handler) if isinstance(part, ast.Call)]
                other_way = any(source.dotted(call.func) != "print" for call in calls)
                yield "broad_except", handler.lineno, "goes on after any error", "warn" if other_way else "reject"


def _is_broad(source: Source, kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(source.dotted(one) in ("Exception", "BaseException") for one in kinds)


def _gives_up(source: Source, handler: ast.ExceptHandler) -> bool:
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Call) and source.dotted(node.func) in _EXITS:
            return True
    return False


def seed_read(source: Source) -> Iterator[Found]:
    """The seed must be read: its name stands somewhere in the source."""
    if not any(isinstance(node, ast.Constant) and node.value == "MCQ_SEED" for node in source.nodes):
        yield "no_seed", 1, "MCQ_SEED does not stand in it", "reject"


CHECKS: tuple[Callable[[Source], Iterator[Found]], ...] = (
    seed_read,
    broad_excepts,
    static_outside.imports,
    static_outside.processes_and_code,
    static_outside.environment,
    static_outside.files,
    static_outside.downloads,
    static_random.generators,
    static_random.clocks,
    static_random.hashes,
    static_random.sets,
    static_random.empty_arrays,
)
