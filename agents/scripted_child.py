"""The program of the ``scripted`` agent: plays one step of a script. Standard library alone, so that it starts fast.

Usage: python scripted_child.py STEP.json, with the prompt on stdin.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import Any


def say(kind: str, **fields: Any) -> None:
    """One event on stdout."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def flood(size: int) -> None:
    """So many bytes on stdout, in lines."""
    line = "." * 1023 + "\n"
    for _ in range(size // len(line) + 1):
        sys.stdout.write(line)
    sys.stdout.flush()


def play(step: dict[str, Any], prompt: bytes) -> int:
    """Do what the step says, in this order; the exit code."""
    if step.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if step.get("orphan"):
        # In a session of its own and with our pipes, as the shells of real agents run.
        subprocess.Popen(["sleep", str(step["orphan"])], start_new_session=True)
    say("start", session_id=step.get("session_id"), model=step.get("model"), prompt_bytes=len(prompt))
    time.sleep(step.get("delay") or 0)
    sys.stderr.write(step.get("stderr") or "")
    sys.stderr.flush()
    sys.stdout.write(step.get("stdout") or "")
    flood(step["flood"]) if step.get("flood") else None
    for call in step.get("tool_calls") or []:
        say("tool_call", **call)
    while step.get("hang"):
        time.sleep(3600)
    if not step.get("truncated"):
        say("result", **{name: step.get(name) for name in ("text", "usage", "cost", "error", "refused")})
    return int(step.get("exit") or 0)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - pathlib would double the start-up
        chosen = json.load(file)
    sys.exit(play(chosen, sys.stdin.buffer.read()))
