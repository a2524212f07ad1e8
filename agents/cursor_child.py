"""Run as a program of its own by the interpreter that has cursor-sdk: one question to one agent.

Reads one JSON object from stdin: ``prompt``, ``model``, ``workspace``, ``tools`` (null: all; a list: only these).
Writes the SDK's messages as JSON lines and, last, a line of type ``RESULT``. Imports nothing of ours, so that any
interpreter can run it. The SDK leaves its Node process behind when this one is killed; whoever started this ends it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """The SDK's objects as JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def emit(fields: Mapping[str, Any]) -> None:
    """One line, out at once: the parent watches for tool calls."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Ask and report; 0 when a result was reported, whatever it says."""
    from cursor_sdk import Agent, AgentOptions, LocalAgentOptions

    orders = json.load(sys.stdin)
    options = AgentOptions(
        api_key=os.environ.get("CURSOR_API_KEY"),
        model=orders["model"],
        tools=orders["tools"],
        local=LocalAgentOptions(cwd=orders["workspace"]),
    )
    with Agent.create(options) as agent:
        run = agent.send(orders["prompt"])
        for message in run.messages():
            fields = plain(message)
            emit(fields)
            if fields.get("type") == "tool_call" and orders["tools"] == []:
                run.cancel()
                break
        emit({"type": "RESULT", **plain(run.wait())})
    return 0


if __name__ == "__main__":
    try:
        code = main()
    except Exception as error:  # noqa: BLE001  (reported to the parent, whatever it is)
        emit({"type": "RESULT", "status": "error", "error": {"message": f"{type(error).__name__}: {error}"}})
        code = 1
    sys.stdout.flush()
    # The SDK's threads would keep this process waiting.
    os._exit(code)
