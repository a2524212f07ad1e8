"""Replies that are JSON: an object with the answer under a key, or the envelope that a program put around the text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.agents.answer_objects import Options

_ANSWER = re.compile(
    r"(?:(?:final|correct|my|selected|chosen|best)_?)*(?:answer|choice|option|letter|selection|prediction|pick|respuesta|antwort|reponse|答案)"
    r"(?:_?(?:letter|option|choice|key|label|id))?|selected|chosen|label",
    re.IGNORECASE,
)
_TEXT = ("result", "response", "output", "text", "content", "message", "messages", "completion", "reply", "choices", "data", "delta",  # noqa: E501
         "parts", "item", "final", "value")  # fmt: skip
_OTHERS = ("user", "system", "tool")
_FENCE = re.compile(r"\A\s*(?:`{3,}|~{3,})[\w-]*\n(.*?)\n\s*(?:`{3,}|~{3,})\s*\Z", re.DOTALL)
_FENCED = re.compile(r"^`{3,}json[c5]?\n(.*?)\n`{3,}", re.DOTALL | re.MULTILINE)
_DEEPEST = 20
_PARTS = 40
"""Parts of a list under an answer's key that are read."""


def from_json(text: str, read: Callable[[str], frozenset[str] | None], options: Options) -> frozenset[str] | None:
    """The letters that a JSON reply says; None where the reply is no JSON or says nothing. ``read`` reads texts inside.

    A key such as ``answer`` decides, null included: the letters are then none.
    """
    for document in _documents(text):
        found = _answer(document, read, options, 0)
        if found is None:
            found = _texts(document, read, 0)
        if found is not None:
            return found
    return None


def _documents(text: str) -> list[Any]:
    """What is JSON in ``text``, the likeliest first: all of it, its fenced block, its last lines."""
    fence = _FENCE.match(text)
    whole = (fence[1] if fence else text).strip()
    found = _decoded(whole)
    if found is not None:
        return [found]
    blocks = [_decoded(block[1]) for block in _FENCED.finditer(text)]
    lines = [_decoded(line) for line in whole.rsplit("\n", 50)[-50:] if line.lstrip().startswith("{")]
    tail = _decoded(whole[whole.rfind("{") :]) if whole.endswith("}") else None
    return [one for one in [*reversed(blocks), *reversed(lines), tail] if one is not None]


def _decoded(text: str) -> dict[str, Any] | list[Any] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _answer(
    node: Any, read: Callable[[str], frozenset[str] | None], options: Options, depth: int
) -> frozenset[str] | None:
    """What the key of an answer says, at the outermost place that has one."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, list):
        found = (_answer(one, read, options, depth + 1) for one in reversed(node))
        return next((one for one in found if one is not None), None)
    if not isinstance(node, dict) or node.get("role") in _OTHERS:
        return None
    keys = [key for key in node if _ANSWER.fullmatch(key.replace(" ", "_").replace("-", "_"))]
    said = [_value(node[key], read, options) for key in keys]
    told = [one for one in said if one is not None]
    if told:
        return frozenset.union(*told)
    marks = [key for key in node if key in ("A", "B", "C", "D") and node[key] is True]
    if marks and all(isinstance(node.get(key), bool) for key in "ABCD"):
        return frozenset(marks)
    inner = (_answer(one, read, options, depth + 1) for one in node.values() if isinstance(one, dict | list))
    return next((one for one in inner if one is not None), None)


def _value(value: Any, read: Callable[[str], frozenset[str] | None], options: Options) -> frozenset[str] | None:
    if value is None:
        return frozenset()
    if isinstance(value, list):
        parts = [_value(one, read, options) for one in value[:_PARTS]]
        return frozenset().union(*(part for part in parts if part is not None))
    if isinstance(value, bool | dict):
        return None
    letter = options.letter_of(str(value))
    if letter:
        return frozenset(letter)
    return read(value) or frozenset() if isinstance(value, str) else frozenset()


def _texts(node: Any, read: Callable[[str], frozenset[str] | None], depth: int) -> frozenset[str] | None:
    """What the last text of an envelope says."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, str):
        return read(node)
    if isinstance(node, list):
        found = (_texts(one, read, depth + 1) for one in reversed(node))
        return next((one for one in found if one is not None), None)
    if not isinstance(node, dict) or node.get("role") in _OTHERS:
        return None
    inner = (_texts(node[key], read, depth + 1) for key in _TEXT if key in node)
    return next((one for one in inner if one is not None), None)
