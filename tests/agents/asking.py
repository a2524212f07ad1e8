"""What tests of agents share: a record, an ask, and looking for processes that should be gone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from backtrader_bench.agents import process
from backtrader_bench.agents.backend import Ask

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
PROMPT = "Which?\n\nA. 1.00\nB. 2.00\nC. 3.00\nD. 9.00\n\nGive your answer as <<< X >>>."
RECORD = {"id": "ab" * 32, "question": PROMPT, "answer": "C", "type": "", "config": {}}


def asking(tmp_path: Path, **changes: Any) -> Ask:
    """An ask with folders of its own."""
    work, private = tmp_path / "work", tmp_path / "private"
    for folder in (work, private):
        folder.mkdir(exist_ok=True)
    fields: dict[str, Any] = {
        "prompt": PROMPT, "system": "Be brief.", "mode": "no-tools", "model": None, "workspace": work,
        "private": private, "timeout": 30.0, "environ": ENVIRON, "record": RECORD, "seed": 7, **changes,
    }  # fmt: skip
    return Ask(**fields)


def alive(mark: str) -> set[int]:
    """Marked processes that are still there after a moment's grace for the kernel."""
    for _ in range(50):
        if not process.marked(mark):
            return set()
        time.sleep(0.01)
    return process.marked(mark)
