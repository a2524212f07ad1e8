"""What the real programs wrote, and the normal form that each of these outputs has by the hand of a reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from backtrader_bench.agents.backend import Backend, Raw, Reply
from backtrader_bench.agents.registry import get

FOLDER = Path(__file__).resolve().parents[1] / "data" / "captures"
BACKENDS = {"cursor-sdk-python": "cursor", "cursor-sdk": "cursor", "claude-2.1.197": "claude"}
CASES = sorted(str(file.relative_to(FOLDER).with_suffix("")) for file in FOLDER.glob("*/*.rc"))


def backend_of(case: str) -> Backend:
    """The backend that a case's folder belongs to."""
    folder = case.split("/")[0]
    return get(BACKENDS.get(folder, folder))


def raw(case: str) -> Raw:
    """The capture: ``.stdout``, ``.stderr``, ``.rc``, and by any other ending a file that was collected."""
    parts = {file.suffix[1:]: file.read_bytes() for file in FOLDER.glob(f"{case}.*")}
    code = json.loads(parts.pop("rc"))["rc"]
    parts.pop("json")
    out, err = parts.pop("stdout", b""), parts.pop("stderr", b"")
    return Raw(stdout=out, stderr=err, code=code, files=parts)


def expected(case: str) -> dict[str, Any]:
    """The normal form."""
    loaded: dict[str, Any] = json.loads((FOLDER / f"{case}.json").read_text())
    return loaded


def torn(case: str) -> Iterator[Raw]:
    """The capture ended before each of its events, and in the middle of each."""
    whole = raw(case)
    lines = whole.stdout.splitlines(keepends=True)
    while lines and not lines[-1].startswith(b"{"):
        lines.pop()
    for number, line in enumerate(lines):
        before = b"".join(lines[:number])
        yield replace(whole, stdout=before)
        yield replace(whole, stdout=before + line[: len(line) // 2])


def normal_form(reply: Reply) -> dict[str, Any]:
    """A reply in the words of the expected files."""
    usage, error = reply.usage, reply.error
    return {
        "text": reply.text,
        "session_id": reply.session_id,
        "model": reply.model,
        "usage": {
            name: getattr(usage, name) for name in ("input", "cache_read", "cache_write", "output", "reasoning")
        },
        "cost": reply.cost and reply.cost.usd,
        "tool_calls": [
            {
                "name": call.name,
                "arguments": json.loads(call.arguments) if call.arguments else None,
                "executed": call.executed,
            }
            for call in reply.tool_calls
        ],
        "error": error and {"kind": error.kind, "http_status": error.http_status, "message": error.message},
        "refused": reply.refused,
    }
