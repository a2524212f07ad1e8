"""SQL over a store, by DuckDB reading the JSONL itself: nothing is imported, nothing can be written.

Columns are named here rather than guessed from the first lines, so that a query means the same on every store. Lines
that can't be read, and records of another schema version, are in no view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.attempts import ATTEMPT_VERSION
from backtrader_bench.errors import MissingError, UsageError
from backtrader_bench.records import SCHEMA_VERSION
from backtrader_bench.store import LONGEST_LINE
from backtrader_bench.upkeep import places

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from backtrader_bench.upkeep.places import Kind

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


@dataclass(frozen=True)
class Answer:
    """What a query gives."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def query(home: Path, sql: str, versions: Mapping[Kind, int]) -> Answer:
    """Run one SELECT over the views ``questions``, ``attempts``, ``summary`` and ``reviews``.

    ``versions``: the schema of summaries and reviews. Rows come as they are taken. MissingError: the extra ``db`` is
    not installed. UsageError: the SQL is wrong, or something else than one SELECT.
    """
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
        # From here on it reads files of the store and no others, and nothing can lift that again.
        allowed = ", ".join(_quoted(f"{home / 'db' / folder}/") for folder in places.FOLDERS.values())
        database.execute(f"set allowed_directories = [{allowed}]")
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        found = database.execute(sql)
    except duckdb.Error as error:
        raise UsageError(f"DuckDB: {str(error).strip()}") from None
    columns = tuple(column[0] for column in found.description or ())
    return Answer(columns, _rows(found, duckdb))


def _only_a_select(duckdb: Any, sql: str) -> None:
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("give one SELECT: the store is read only (tables: questions, attempts, summary, reviews)")


def _rows(found: Any, duckdb: Any) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := found.fetchmany(1000):
            yield from rows
    except duckdb.Error as error:
        raise UsageError(f"DuckDB: {str(error).strip()}") from None


def _view(kind: Kind, files: list[Path], version: int) -> str:
    columns = COLUMNS[kind]
    names = ", ".join(f'"{name}"' for name in columns)
    if not files:
        empty = ", ".join(f'null::{type_} as "{name}"' for name, type_ in {**columns, "file": TEXT}.items())
        return f"create view {kind} as select {empty} where false"
    listed = ", ".join(_quoted(str(path)) for path in files)
    typed = ", ".join(f"{_quoted(name)}: {_quoted(type_)}" for name, type_ in columns.items())
    # Published questions have no schema_version; a line that can't be read comes as a row of nulls.
    if kind == "questions":
        wanted = f"question is not null and coalesce(schema_version, {version}) = {version}"
    else:
        wanted = f"schema_version = {version}"
    return (
        f"create view {kind} as select {names}, filename as file from read_json([{listed}], columns = {{{typed}}}, "
        f"format = 'newline_delimited', ignore_errors = true, filename = true, "
        f"maximum_object_size = {LONGEST_LINE}) where {wanted}"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
