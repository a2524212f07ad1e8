"""OpenAI Responses."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from tests.stubs.script import Act, Call, Fail, Say, Turn, case_of, tokens_of

_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_ERRORS = {401: "invalid_api_key", 429: "rate_limit_exceeded", 500: "server_error"}


def turn(request: dict[str, Any], body: bytes) -> Turn:
    """Results and tools are items of the input and entries of ``tools``."""
    given = request.get("input")
    listed = given if isinstance(given, list) else []
    results = tuple(_text(item.get("output")) for item in listed if item.get("type") in _OUTPUTS)
    return Turn("responses", case_of(body), results, _names(request, listed), body.decode("utf-8", "replace"))


def _names(request: dict[str, Any], listed: list[dict[str, Any]]) -> tuple[str, ...]:
    """Tools may also come as an item of the input, grouped."""
    tools = list(request.get("tools") or [])
    for item in listed:
        if item.get("type") == "additional_tools":
            for group in item.get("tools", []):
                tools += group.get("tools", [group])
    return tuple(str(tool.get("name") or tool.get("type")) for tool in tools)


def _text(output: Any) -> str:
    return output if isinstance(output, str) else json.dumps(output)


def failure(act: Fail) -> dict[str, Any]:
    """The error object."""
    code = act.code or _ERRORS.get(act.status, "invalid_request_error")
    return {"error": {"message": act.words, "type": code, "param": None, "code": code}}


def _item(turn: Turn, act: Act) -> dict[str, Any]:
    if isinstance(act, Say):
        content = [{"type": "output_text", "text": act.text, "annotations": []}]
        return {
            "type": "message", "id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "status": "completed",
            "content": content,
        }  # fmt: skip
    assert isinstance(act, Call)
    if "exec" in turn.tools:
        script = f"const done = await tools.exec_command({{cmd: {json.dumps(act.command)}}});\ntext(done.output);"
        call = {"type": "custom_tool_call", "name": "exec", "input": script}
    else:
        call = {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": act.command})}
    return call | {"id": f"item_{uuid.uuid4().hex}", "call_id": f"call_{uuid.uuid4().hex}", "status": "completed"}


def whole(turn: Turn, act: Act, request: dict[str, Any]) -> dict[str, Any]:
    """The response at once."""
    tokens = tokens_of(turn)
    usage = {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.read, "cache_write_tokens": tokens.written},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.output,
    }
    return {
        "id": f"resp_{uuid.uuid4().hex}", "object": "response", "created_at": 1, "status": "completed",
        "model": request.get("model"), "output": [_item(turn, act)], "usage": usage, "error": None,
        "incomplete_details": None,
    }  # fmt: skip


def stream(turn: Turn, act: Act, request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The response in events."""
    final = whole(turn, act, request)
    (item,) = final["output"]
    begun = final | {"status": "in_progress", "output": [], "usage": None}
    parts: list[tuple[str, dict[str, Any]]] = [("response.created", {"response": begun})]
    if item["type"] == "message":
        text = item["content"][0]["text"]
        at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        empty = item | {"status": "in_progress", "content": []}
        parts += [
            ("response.output_item.added", {"output_index": 0, "item": empty}),
            ("response.content_part.added", {**at, "part": {"type": "output_text", "text": "", "annotations": []}}),
            ("response.output_text.delta", {**at, "delta": text}),
            ("response.output_text.done", {**at, "text": text}),
        ]
    else:
        parts.append(("response.output_item.added", {"output_index": 0, "item": item | {"status": "in_progress"}}))
    parts += [
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": final}),
    ]
    for number, (kind, fields) in enumerate(parts):
        yield kind, {"type": kind, "sequence_number": number, **fields}
