"""Attempts, questions and banks for tests of runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backtrader_bench.attempts import Attempt, Failure, attempt_id

if TYPE_CHECKING:
    from pathlib import Path

RUN = "run_20260101_000000"


def attempt(question: str = "q", agent: str = "a", status: str = "correct", **more: Any) -> Attempt:
    """An attempt; ``kind`` and ``retry_after`` make its error."""
    kind, after = more.pop("kind", None), more.pop("retry_after", None)
    repeat, shift = more.pop("repeat", 0), more.pop("shift", 0)
    if kind:
        status, more["error"] = "agent_error", Failure(kind=kind, message=kind, retry_after=after)
    fields = {"backend": "b", "mode": "no-tools", "started": "2026-01-01T00:00:00+00:00", "seconds": 1.0, **more}
    name = attempt_id(RUN, question, agent, fields["mode"], repeat, shift)
    return Attempt(
        id=name, run=RUN, question_id=question, agent=agent, repeat=repeat, shift=shift, status=status, **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def published(number: int, answer: str = "B", **changes: Any) -> dict[str, Any]:
    """A published-form record whose stem is told from others by ``number``."""
    params = {"pfast": 10, "pslow": 30, "target_percent": 1.0}
    text = (
        f"Configuration:\n- symbol: ABC\n\nWhat was close number {number}?\n\n"
        f"A. ${number}.10\nB. ${number}.20\nC. ${number}.30\nD. ${number}.40\n\nReply as <<< X >>>."
    )
    config = {"symbol": "ABC", "start_date": "2020-01-01", "end_date": "2021-01-01", "strategy_name": "sma_crossover"}
    return {
        "question": text, "answer": answer, "benchmark": "backtrader", "author": "x", "type": "first_close",
        "difficulty": "easy", "strategy_name": "sma_crossover", "strategy_params": params, "config": config, **changes,
    }  # fmt: skip


def write_bank(path: Path, records: list[dict[str, Any]]) -> Path:
    """The records as a file."""
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path
