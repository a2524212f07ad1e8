"""Anthropic Messages."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from tests.stubs.script import Act, Call, Decline, Fail, Say, Tokens, Turn, case_of, tokens_of

_ERRORS = {401: "authentication_error", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}


def turn(request: dict[str, Any], body: bytes) -> Turn:
    """Results are blocks of the user's; tools are listed by name."""
    results = [
        _text(block.get("content"))
        for message in request.get("messages", [])
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]
    names = tuple(str(tool.get("name")) for tool in request.get("tools") or [])
    return Turn("messages", case_of(body), tuple(results), names, body.decode("utf-8", "replace"))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(block.get("text", "")) for block in content)
    return str(content)


def failure(act: Fail) -> dict[str, Any]:
    """The error object."""
    return {"type": "error", "error": {"type": _ERRORS.get(act.status, "invalid_request_error"), "message": act.words}}


def _block(turn: Turn, act: Act) -> tuple[dict[str, Any], str]:
    if isinstance(act, Call):
        name = next((name for name in turn.tools if name.lower() == "bash"), "Bash")
        call = {"command": act.command, "description": "look"}
        return {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": name, "input": call}, "tool_use"
    if isinstance(act, Decline):
        return {"type": "text", "text": "I will not."}, "refusal"
    assert isinstance(act, Say)
    return {"type": "text", "text": act.text}, "end_turn"


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.fresh,
        "cache_creation_input_tokens": tokens.written,
        "cache_read_input_tokens": tokens.read,
        "output_tokens": tokens.output,
    }


def whole(turn: Turn, act: Act, request: dict[str, Any]) -> dict[str, Any]:
    """The message at once."""
    block, reason = _block(turn, act)
    return {
        "id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": request["model"],
        "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": _usage(tokens_of(turn)),
    }  # fmt: skip


def stream(turn: Turn, act: Act, request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The message in events."""
    message = whole(turn, act, request)
    block, usage = message["content"][0], message["usage"]
    head = message | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    if block["type"] == "text":
        empty, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    for kind, fields in (
        ("message_start", {"message": head}),
        ("content_block_start", {"index": 0, "content_block": empty}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ):
        yield kind, {"type": kind, **fields}
