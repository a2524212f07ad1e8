"""OpenAI Chat completions."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from tests.stubs.responses import failure
from tests.stubs.script import Act, Call, Say, Turn, case_of, tokens_of

__all__ = ["failure", "stream", "turn", "whole"]


def turn(request: dict[str, Any], body: bytes) -> Turn:
    """Results are messages of role ``tool``."""
    told = [message for message in request.get("messages", []) if message.get("role") == "tool"]
    results = tuple(str(message.get("content")) for message in told)
    names = tuple(str(tool.get("function", {}).get("name")) for tool in request.get("tools") or [])
    return Turn("chat", case_of(body), results, names, body.decode("utf-8", "replace"))


def _message(act: Act) -> tuple[dict[str, Any], str]:
    if isinstance(act, Say):
        return {"role": "assistant", "content": act.text}, "stop"
    assert isinstance(act, Call)
    arguments = json.dumps({"command": act.command, "description": "look"})
    call = {"id": f"call_{uuid.uuid4().hex}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def whole(turn: Turn, act: Act, request: dict[str, Any]) -> dict[str, Any]:
    """The completion at once."""
    message, reason = _message(act)
    tokens = tokens_of(turn)
    usage = {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.read},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion", "created": 1, "model": request.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage,
    }  # fmt: skip


def stream(turn: Turn, act: Act, request: dict[str, Any]) -> Iterator[tuple[None, dict[str, Any] | str]]:
    """The completion in chunks."""
    final = whole(turn, act, request)
    message, reason = final["choices"][0]["message"], final["choices"][0]["finish_reason"]
    calls = [{"index": number, **call} for number, call in enumerate(message.get("tool_calls", []))]
    delta = {"tool_calls": calls} if calls else {"content": message["content"]}
    head = {key: final[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    for change, why in (({"role": "assistant", "content": ""}, None), (delta, None), ({}, reason)):
        yield None, {**head, "choices": [{"index": 0, "delta": change, "finish_reason": why}]}
    yield None, {**head, "choices": [], "usage": final["usage"]}
    yield None, "[DONE]"
