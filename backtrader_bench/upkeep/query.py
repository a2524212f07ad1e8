"""SQL over a store, by DuckDB reading the JSONL itself: nothing is imported, nothing can be written.

Columns are named here rather than guessed from the first lines, so that a query means the same on every store. Lines
that can't be read, and records of another schema version, are in no view; how many of them is told. DuckDB works in
a thread of its own, for Ctrl-C and a time limit to reach it: while it computes, no Python code runs.
"""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from backtrader_bench.arguments import text
from backtrader_bench.attempts import ATTEMPT_VERSION
from backtrader_bench.errors import MissingError, UsageError
from backtrader_bench.records import SCHEMA_VERSION
from backtrader_bench.store import LONGEST_LINE
from backtrader_bench.upkeep import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from backtrader_bench.upkeep.places import Kind

T = TypeVar("T")
TEXT, WHOLE, REAL, BOOL, JSON, TEXTS = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "JSON", "VARCHAR[]"
_USAGE = ("STRUCT(input BIGINT, cache_read BIGINT, cache_write BIGINT, output BIGINT, reasoning BIGINT, "
          "estimated BOOLEAN)")  # fmt: skip
COLUMNS: dict[Kind, dict[str, str]] = {
    "questions": {
        "id": TEXT, "type": TEXT, "difficulty": TEXT, "strategy_name": TEXT, "strategy_params": JSON, "config": JSON,
        "schema_version": WHOLE, "question": TEXT, "stem": TEXT, "options": "MAP(VARCHAR, VARCHAR)", "answer": TEXT,
        "value": JSON, "tolerance": REAL, "template_params": JSON,
        "tape": 'STRUCT(sha256 VARCHAR, source VARCHAR, "rows" BIGINT, "first" VARCHAR, "last" VARCHAR)',
        "scheme": TEXT, "option_origins": "MAP(VARCHAR, VARCHAR)", "seed": WHOLE, "labels": TEXTS, "bundle": TEXT,
        "certificate": JSON, "private": JSON, "category": TEXT, "verifier": TEXT, "verification": JSON,
    },
    "attempts": {
        "id": TEXT, "run": TEXT, "question_id": TEXT, "agent": TEXT, "backend": TEXT, "mode": TEXT, "repeat": WHOLE,
        "shift": WHOLE, "tries": WHOLE, "status": TEXT, "shown": TEXT, "letter": TEXT, "method": TEXT,
        "given_value": TEXT, "value_right": BOOL, "verified": BOOL, "mistake": TEXT, "model": TEXT,
        "session_id": TEXT, "started": TEXT, "seconds": REAL, "transcript": TEXT, "reply": TEXT, "replaces": TEXT,
        "error": "STRUCT(kind VARCHAR, message VARCHAR, http_status BIGINT, retry_after DOUBLE)", "usage": _USAGE,
        "cost": "STRUCT(usd DOUBLE, source VARCHAR)", "tool_calls": JSON, "isolation": JSON, "schema_version": WHOLE,
    },
    "summary": {
        "kind": TEXT, "run": TEXT, "attempt": WHOLE, "decision": TEXT, "reasons": TEXTS, "detail": TEXT,
        "asked_category": TEXT, "category": TEXT, "question_id": TEXT, "ask": TEXT, "marks": TEXTS, "draws": JSON,
        "holdout": JSON, "spending": JSON, "models": JSON, "isolation": JSON, "seconds": REAL, "ended_by": TEXT,
        "attempts": WHOLE, "decisions": JSON, "categories": JSON, "holdout_right": WHOLE, "holdout_answered": WHOLE,
        "holdout_questions": WHOLE, "holdout_low": REAL, "holdout_high": REAL, "holdout_alike": BOOL,
        "schema_version": WHOLE,
    },
    "reviews": {
        "kind": TEXT, "run": TEXT, "question_id": TEXT, "verdict": TEXT, "reason": TEXT, "reviewer": TEXT, "at": TEXT,
        "replaces": BOOL, "schema_version": WHOLE,
    },
}  # fmt: skip
"""Of each view, with DuckDB's types; ``file`` comes last in each."""
MEMORY = "1GB"
PATIENCE = 5.0
"""Seconds that an interrupted query may take to end; after that it is left to end with the process."""


@dataclass(frozen=True)
class Answer:
    """What a query gives."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]
    left_out: tuple[str, ...]
    """Of the views that the query names: how many lines are in none, and why."""


def query(home: Path, sql: str, versions: Mapping[Kind, int], seconds: float | None = None) -> Answer:
    """Run one SELECT over the views ``questions``, ``attempts``, ``summary`` and ``reviews``.

    ``versions``: the schema of summaries and reviews. Rows come as they are taken. MissingError: the extra ``db`` is
    not installed. UsageError: the SQL is wrong, or something else than one SELECT. TimeoutError: ``seconds`` are over,
    here or while rows are taken.
    """
    until = None if seconds is None else time.monotonic() + seconds
    try:
        import duckdb
    except ImportError:
        raise MissingError("bench db query needs the extra: pip install 'backtrader-bench[db]'") from None
    known = {"questions": SCHEMA_VERSION, "attempts": ATTEMPT_VERSION, **versions}
    database = duckdb.connect(":memory:")
    try:
        _only_a_select(duckdb, sql)
        database.execute(f"set memory_limit = '{MEMORY}'")
        database.execute("set temp_directory = ''")
        for kind in places.KINDS:
            database.execute(_view(kind, places.files(home, kind), known[kind]))
        missed: list[str] = []
        for kind in (one for one in places.KINDS if re.search(rf"\b{one}\b", sql, re.IGNORECASE)):
            counting = _counts(kind, places.files(home, kind), known[kind])
            missed += _missed(kind, known[kind], apart(database, partial(_pair, database, counting), until))
        # From here on it reads files of the store and no others, and nothing can lift that again.
        allowed = ", ".join(_quoted(f"{home / 'db' / folder}/") for folder in places.FOLDERS.values())
        database.execute(f"set allowed_directories = [{allowed}]")
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        found = apart(database, lambda: database.execute(sql), until)
    except duckdb.Error as error:
        raise UsageError(f"DuckDB: {str(error).strip()}") from None
    columns = tuple(column[0] for column in found.description or ())
    return Answer(columns, _rows(database, found, duckdb, until), tuple(missed))


def apart(database: Any, work: Callable[[], T], until: float | None) -> T:
    """What ``work`` returns, done in another thread. TimeoutError past ``until``; then, and on Ctrl-C, DuckDB is
    interrupted."""
    outcome: Future[T] = Future()

    def perform() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller gets it
            outcome.set_exception(error)

    threading.Thread(target=perform, daemon=True).start()
    try:
        return outcome.result(None if until is None else max(0.0, until - time.monotonic()))
    except BaseException:
        if not outcome.done():
            database.interrupt()
            with suppress(Exception):
                outcome.exception(PATIENCE)
        raise


def _only_a_select(duckdb: Any, sql: str) -> None:
    statements = duckdb.extract_statements(text("the query", sql))
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("give one SELECT: the store is read only (tables: questions, attempts, summary, reviews)")


def _rows(database: Any, found: Any, duckdb: Any, until: float | None) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := apart(database, lambda: found.fetchmany(1000), until):
            yield from rows
    except duckdb.Error as error:
        raise UsageError(f"DuckDB: {str(error).strip()}") from None


def _view(kind: Kind, files: list[Path], version: int) -> str:
    columns = COLUMNS[kind]
    names = ", ".join(f'"{name}"' for name in columns)
    if not files:
        empty = ", ".join(f'null::{type_} as "{name}"' for name, type_ in {**columns, "file": TEXT}.items())
        return f"create view {kind} as select {empty} where false"
    wanted = _wanted(kind, version)
    return f"create view {kind} as select {names}, filename as file from {_read(kind, files)} where {wanted}"


def _wanted(kind: Kind, version: int) -> str:
    # Published questions have no schema_version; a line that can't be read comes as a row of nulls.
    if kind == "questions":
        return f"question is not null and coalesce(schema_version, {version}) = {version}"
    return f"schema_version = {version}"


def _read(kind: Kind, files: list[Path]) -> str:
    listed = ", ".join(_quoted(str(path)) for path in files)
    typed = ", ".join(f"{_quoted(name)}: {_quoted(type_)}" for name, type_ in COLUMNS[kind].items())
    return (
        f"read_json([{listed}], columns = {{{typed}}}, format = 'newline_delimited', ignore_errors = true, "
        f"filename = true, maximum_object_size = {LONGEST_LINE})"
    )


def _counts(kind: Kind, files: list[Path], version: int) -> str:
    """A query for two numbers: lines in no view, and those of them that are of another version."""
    if not files:
        return "select 0, 0"
    return (
        f"select count(*) filter (not coalesce({_wanted(kind, version)}, false)), "
        f"count(*) filter (schema_version <> {version}) from {_read(kind, files)}"
    )


def _pair(database: Any, sql: str) -> tuple[int, int]:
    first, second = database.execute(sql).fetchone()
    return int(first), int(second)


def _missed(kind: Kind, version: int, counts: tuple[int, int]) -> Iterator[str]:
    missed, other = counts
    if other:
        yield f"{other:,} {kind} are of another schema_version than {version}, which this bench reads, and are left out"
    if missed > other:
        yield f"{missed - other:,} lines of {kind} can't be read and are left out; bench db check names them"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
