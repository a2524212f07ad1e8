"""What the page knows of each question and attempt, as plain values that are packed into it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.reports.gather import UNKNOWN
from backtrader_bench.agents.reports.words import STATUSES
from backtrader_bench.mcq_builder.pages.facts import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backtrader_bench.agents.reports.gather import Row, Table
    from backtrader_bench.agents.reports.schema import Report
    from backtrader_bench.attempts import Attempt
    from backtrader_bench.mcq_builder.pages.charts import Charts
    from backtrader_bench.mcq_builder.pages.facts import Facts

SHORT = 12
"""Characters of an id in lists and addresses."""
LONGEST_ASK = 160
LONGEST_REPLY = 3000
"""Characters of a reply on the page; the transcript has all of it."""


def questions(
    table: Table, order: Sequence[str], charts: Charts, link: Callable[[str], str | None]
) -> list[dict[str, Any]]:
    """Every question with its attempts, by tier, template and id; those without a record last."""
    rows = sorted(table.rows, key=lambda row: row.attempt.question_id)  # stable: the table's order within a question
    found = [
        _question(id, table.facts.get(id), list(mine), order, charts, link)
        for id, mine in groupby(rows, lambda row: row.attempt.question_id)
    ]
    tiers = ("easy", "medium", "hard")
    return sorted(found, key=lambda one: (
        tiers.index(one["tier"]) if one["tier"] in tiers else len(tiers), one["tier"], one["template"], one["id"],
    ))  # fmt: skip


def _question(
    id: str, facts: Facts | None, rows: Sequence[Row], order: Sequence[str], charts: Charts,
    link: Callable[[str], str | None],
) -> dict[str, Any]:  # fmt: skip
    attempts = [_attempt(row, order.index(row.series.name), link) for row in rows]
    attempts.sort(key=lambda one: one["agent"])
    found: dict[str, Any] = {"id": id, "attempts": attempts}
    if facts is None:
        return {**found, **dict.fromkeys(KINDS, UNKNOWN), "ask": "The record of this question was not found."}
    item, record = facts.item, facts.record
    return {
        **found,
        **{kind: name_of(facts) for kind, name_of in KINDS.items()},
        "ask": item.ask, "stem": item.stem, "options": facts.options, "key": facts.key,
        "origins": record.get("option_origins"), "value": record.get("value"), "where": f"{facts.file}:{facts.line}",
        "chart": charts.of.get(id), "noChart": charts.missing.get(id),
    }  # fmt: skip


def _attempt(row: Row, place: int, link: Callable[[str], str | None]) -> dict[str, Any]:
    one = row.attempt
    given = {
        "agent": place, "run": one.run, "repeat": one.repeat, "shift": one.shift, "status": one.status,
        "letter": one.letter, "shown": one.shown, "method": one.method, "given": one.given_value,
        "valueRight": one.value_right, "verified": one.verified, "mistake": one.mistake, "model": one.model,
        "seconds": one.seconds, "tries": one.tries, "usd": one.cost.usd if one.cost else None,
        "error": f"{one.error.kind}: {one.error.message}" if one.error else None,
        "tools": [call.name for call in one.tool_calls], "reply": one.reply[:LONGEST_REPLY],
        "cut": len(one.reply) > LONGEST_REPLY or None, "transcript": link(one.transcript) if one.transcript else None,
        **_tokens(one),
    }  # fmt: skip
    return {name: value for name, value in given.items() if value is not None and value not in ("", [])}


def _tokens(one: Attempt) -> dict[str, Any]:
    usage = one.usage
    return {"in": usage.input, "out": usage.output, "estimated": usage.estimated or None}


def index(
    shown: Sequence[dict[str, Any]], order: Sequence[str], found: Report, chunk: int, charts: int
) -> dict[str, Any]:
    """What the list of questions needs: names once, and per question their places, key, and statuses by agent."""
    names: dict[str, list[str]] = {kind: sorted({one[kind] for one in shown}) for kind in KINDS}
    statuses = list(STATUSES)
    rows = []
    for one in shown:
        by_agent: list[list[int]] = [[] for _ in order]
        for attempt in one["attempts"]:
            by_agent[attempt["agent"]].append(statuses.index(attempt["status"]))
        ask = " ".join(one["ask"].split())
        ask = ask if len(ask) <= LONGEST_ASK else ask[: LONGEST_ASK - 1] + "…"
        places = [names[kind].index(one[kind]) for kind in KINDS]
        rows.append([one["id"][:SHORT], places, one.get("key", ""), by_agent, ask])
    discrimination = {one.question[:SHORT]: one.discrimination for one in found.items.rows}
    return {
        "agents": list(order), "kinds": list(KINDS), "names": names, "statuses": STATUSES, "chunk": chunk, "rows": rows,
        "discrimination": {id: value for id, value in discrimination.items() if value is not None}, "charts": charts,
    }  # fmt: skip
