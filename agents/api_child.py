"""The program of the ``api`` agent: one chat completion through a vendor's own SDK, then the end.

Usage: python -P api_child.py, with one JSON object on stdin (``provider``, ``model``, ``system``, ``prompt``,
``options``, ``timeout``); one on stdout. A program of its own, so that the deadline and the kill are ours. It reads the
SDK's own variables (key, base URL) and imports nothing of this package.
"""

from __future__ import annotations

import email.utils
import json
import sys
import time
from typing import Any

MAX_TOKENS = 16_000
"""Anthropic's protocol wants a bound on every reply."""

# Settings go into the request as they are (``extra_body``): which of them an SDK has names for changes by version.


def anthropic_message(order: dict[str, Any]) -> dict[str, Any]:
    """Messages protocol."""
    import anthropic

    # Without an explicit time limit the SDK refuses long replies that don't stream.
    with anthropic.Anthropic(max_retries=0, timeout=order["timeout"]) as client:
        reply = client.messages.create(
            model=order["model"], system=order["system"], messages=[{"role": "user", "content": order["prompt"]}],
            max_tokens=order["options"].get("max_tokens", MAX_TOKENS), extra_body=order["options"],
        )  # fmt: skip
    used = reply.usage
    return {
        "text": "".join(block.text for block in reply.content if block.type == "text"),
        "tool_calls": [
            {"name": block.name, "arguments": json.dumps(block.input)}
            for block in reply.content if block.type == "tool_use"
        ],
        "session_id": reply.id, "model": reply.model, "stop": reply.stop_reason,
        "usage": {
            "input": used.input_tokens, "cache_read": used.cache_read_input_tokens,
            "cache_write": used.cache_creation_input_tokens, "output": used.output_tokens,
        },
    }  # fmt: skip


def openai_completion(order: dict[str, Any]) -> dict[str, Any]:
    """Chat Completions protocol, which the compatible servers speak."""
    import openai

    with openai.OpenAI(max_retries=0, timeout=order["timeout"]) as client:
        reply = client.chat.completions.create(
            model=order["model"], extra_body=order["options"],
            messages=[{"role": "system", "content": order["system"]}, {"role": "user", "content": order["prompt"]}],
        )  # fmt: skip
    if not reply.choices:
        raise ValueError("the reply holds no choice")
    choice, message = reply.choices[0], reply.choices[0].message
    return {
        "text": message.content or "", "refusal": message.refusal,
        "tool_calls": [json.loads(call.model_dump_json()) for call in message.tool_calls or ()],
        "session_id": reply.id, "model": reply.model, "stop": choice.finish_reason,
        "usage": None if reply.usage is None else _openai_usage(reply.usage),
    }  # fmt: skip


def _openai_usage(used: Any) -> dict[str, Any]:
    asked, said = used.prompt_tokens_details, used.completion_tokens_details
    cached = getattr(asked, "cached_tokens", None)
    return {
        # Theirs includes what the cache served.
        "input": None if used.prompt_tokens is None else used.prompt_tokens - (cached or 0),
        "cache_read": cached, "output": used.completion_tokens,
        "reasoning": getattr(said, "reasoning_tokens", None),
    }  # fmt: skip


def problem(error: Exception) -> dict[str, Any]:
    """What an SDK's exception says."""
    names = [one.__name__ for one in type(error).__mro__]
    response = getattr(error, "response", None)
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else {}
    inner = inner if isinstance(inner, dict) else {}
    message = inner.get("message") if isinstance(inner.get("message"), str) else str(error)
    cause = error.__cause__
    return {
        "message": f"{message} ({cause})" if cause and "APIConnectionError" in names else message,
        "names": names, "status": getattr(error, "status_code", None),
        "code": inner.get("code"), "error_type": inner.get("type"),
        "retry_after": retry_after(response.headers) if response is not None else None,
    }  # fmt: skip


def retry_after(headers: Any) -> float | None:
    """Seconds that a response asks to wait: milliseconds, seconds or a date, whichever it has."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * scale)
        except (KeyError, ValueError):
            pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, TypeError):
        return None


ASK = {"anthropic": anthropic_message, "openai": openai_completion}


def event_of(order: dict[str, Any]) -> dict[str, Any]:
    """Ask; a ``result``, or an ``error`` that says what the SDK raised."""
    try:
        return {"type": "result", **ASK[order["provider"]](order)}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what there is to say
        return {"type": "error", **problem(error)}


def main() -> int:
    """From stdin to stdout; exit code 0 for a reply, 1 for an error."""
    event = event_of(json.load(sys.stdin))
    print(json.dumps(event), flush=True)
    return 0 if event["type"] == "result" else 1


if __name__ == "__main__":
    sys.exit(main())
