"""The table as CSV: one row an attempt, with what is known of its question."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.reports.gather import UNKNOWN
from backtrader_bench.agents.reports.shares import shown_key
from backtrader_bench.mcq_builder.pages.facts import KINDS

if TYPE_CHECKING:
    from backtrader_bench.agents.reports.gather import Row, Table

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_bytes(table: Table) -> bytes:
    """UTF-8 CSV with a header; empty cells are unknown or not applicable."""
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for row in table.rows:
        fields = flat(row)
        if writer is None:
            writer = csv.DictWriter(text, fields.keys(), lineterminator="\n")
            writer.writeheader()
        writer.writerow({name: _cell(value) for name, value in fields.items()})
    return text.getvalue().encode(errors="replace")  # half a character, which JSON can name and files can't hold


def flat(row: Row) -> dict[str, Any]:
    """One row by column, always the same columns."""
    one, facts = row.attempt, row.facts
    kinds = {kind: name_of(facts) if facts else UNKNOWN for kind, name_of in KINDS.items()}
    return {
        "run": one.run, "attempt": one.id, "question": one.question_id, "agent": one.agent, "backend": one.backend,
        "model": one.model, "mode": one.mode, "data": row.series.data, "repeat": one.repeat, "shift": one.shift,
        "status": one.status, "error": one.error.kind if one.error else None, "answered": row.answered,
        "right": row.right if row.answered else None, "strict": row.strict if row.answered else None,
        "key": facts.key if facts else None, "letter": one.letter,
        "key_shown": shown_key(facts.key, one.shift) if facts else None, "letter_shown": one.shown,
        "given_value": one.given_value, "value_right": one.value_right, "verified": one.verified,
        "mistake": one.mistake, **kinds, "configuration": row.cluster, "tries": one.tries, "seconds": one.seconds,
        "started": one.started, "input": one.usage.input, "cache_read": one.usage.cache_read,
        "cache_write": one.usage.cache_write, "output": one.usage.output, "reasoning": one.usage.reasoning,
        "tokens_estimated": one.usage.estimated, "usd": one.cost.usd if one.cost else None,
        "usd_source": one.cost.source if one.cost else None, "transcript": one.transcript,
    }  # fmt: skip


def _cell(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula is quoted: models write some of these cells."""
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str) or not value.startswith(FORMULA) or _is_number(value):
        return value
    return "'" + value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
