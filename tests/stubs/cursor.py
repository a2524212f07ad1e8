"""Cursor's protocol, as far as cursor-sdk needs it for one question: protobuf over Connect, HTTP/1.1.

The client opens a stream (``RunSSE``) and posts its side of the talk apart (``BidiAppend``). Field numbers are those
that the SDK's own messages use.
"""

from __future__ import annotations

import base64
import json
import queue
import struct
import threading
from typing import Any

from tests.stubs.script import Call, Fail, Hang, Say, Turn, case_of, tokens_of

Fields = dict[int, list[Any]]


def varint(number: int) -> bytes:
    """A base-128 number."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def block(field: int, value: bytes | str) -> bytes:
    """A field of bytes: a text or a message."""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def number(field: int, value: int) -> bytes:
    """A field that is a number."""
    return varint(field << 3) + varint(value)


def fields(data: bytes) -> Fields:
    """The fields of a message, by number."""
    found: Fields = {}
    at = 0

    def read() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = read()
        size = {0: None, 1: 8, 2: -1, 5: 4}[key & 7]
        if size is None:
            found.setdefault(key >> 3, []).append(read())
            continue
        size = read() if size < 0 else size
        found.setdefault(key >> 3, []).append(data[at : at + size])
        at += size
    return found


class Runs:
    """The posted messages of each run, by its request id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[str, queue.Queue[bytes]] = {}

    def of(self, request: str) -> queue.Queue[bytes]:
        """The queue of one run."""
        with self._lock:
            return self._queues.setdefault(request, queue.Queue())


def handles(path: str) -> bool:
    """Whether a path is one of Cursor's."""
    return path.endswith("/exchange_user_api_key") or path.startswith(("/aiserver.", "/agent.", "/auth"))


def reply(handler: Any, path: str, body: bytes) -> None:
    """Answer one request."""
    if path.endswith("/exchange_user_api_key"):
        _login(handler)
    elif path.endswith("/RunSSE"):
        _run(handler, fields(body[5:])[1][0].decode())
    elif path.endswith("/BidiAppend"):
        posted = fields(body)
        message = posted[4][0] if 4 in posted else bytes.fromhex(posted[1][0].decode())
        handler.server.cursor.of(fields(posted[2][0])[1][0].decode()).put(message)
        handler.whole(200, b"", "application/proto")
    elif handler.headers.get("content-type", "").startswith("application/proto"):
        handler.whole(200, b"", "application/proto")  # an empty message is a valid default
    else:
        handler.json(404, {"code": "unimplemented", "message": "not here"})


def _login(handler: Any) -> None:
    """A key that ends in ``refused`` is; the others get a token that lasts."""
    if handler.headers.get("authorization", "").endswith("refused"):
        handler.server.script.act(Turn("cursor", "refuse-401"))
        handler.json(401, {"code": "unauthenticated", "message": "Invalid API key"})
        return
    claims = base64.urlsafe_b64encode(json.dumps({"sub": "stub", "exp": 4102444800}).encode()).rstrip(b"=").decode()
    handler.json(200, {"accessToken": f"eyJhbGciOiJub25lIn0.{claims}.x", "refreshToken": "r"})


def _run(handler: Any, request: str) -> None:
    inbox = handler.server.cursor.of(request)
    asked = _wait(inbox, 1)
    case = case_of(asked)
    turn = Turn("cursor", case, text=asked.decode("utf-8", "replace"))
    script = handler.server.script
    act = script.act(turn)
    if isinstance(act, Fail):
        code = {429: "resource_exhausted", 500: "internal", 401: "unauthenticated"}[act.status]
        headers = {"retry-after": str(act.retry_after)} if act.retry_after else {}
        handler.json(act.status, {"code": code, "message": f"stubbed {act.status}"}, headers)
        return
    handler.begin("application/connect+proto")
    tokens = tokens_of(turn)
    if isinstance(act, Hang):
        script.closing.wait()
        return
    if isinstance(act, Call):
        output = _shell(handler, inbox, act.command)
        turn = Turn("cursor", case, (output,), text=turn.text)
        act = script.act(turn)
        tokens = tokens + tokens_of(turn)
    assert isinstance(act, Say)
    _update(handler, block(1, block(1, act.text)))
    _send(handler, block(3, b""))
    counts = (tokens.fresh, tokens.output, tokens.read, tokens.written, tokens.reasoning)
    _update(handler, block(14, b"".join(number(at, value) for at, value in enumerate(counts, 1))))
    _frame(handler, 2, b"{}")
    handler.chunk(b"")


def _wait(inbox: queue.Queue[bytes], field: int) -> bytes:
    """The next posted message that has this field; the field's content."""
    while True:
        found = fields(inbox.get(timeout=20))
        if field in found:
            return bytes(found[field][0])


def _shell(handler: Any, inbox: queue.Queue[bytes], command: str) -> str:
    """Have the client run a command; what it printed."""
    arguments = block(1, command) + number(3, 30000) + block(4, "call_1")
    call = block(1, block(1, arguments))
    _update(handler, block(2, block(1, "call_1") + block(2, call)))
    _send(handler, block(2, number(1, 1) + block(15, "exec-1") + block(14, arguments)))
    output, code = b"", 0
    while True:
        told = fields(_wait(inbox, 2))
        event = fields(told[14][0]) if 14 in told else {}
        if 1 in event:
            output += b"".join(fields(event[1][0]).get(1, []))
        if 3 in event:
            code = fields(event[3][0]).get(1, [0])[0]
        if 2 in told or {3, 5, 6} & set(event):
            break
    done = block(1, block(1, command) + number(3, code) + block(5, output))
    _update(handler, block(3, block(1, "call_1") + block(2, block(1, block(1, arguments) + block(2, done)))))
    return output.decode("utf-8", "replace")


def _update(handler: Any, inner: bytes) -> None:
    _send(handler, block(1, inner))


def _send(handler: Any, message: bytes) -> None:
    _frame(handler, 0, message)


def _frame(handler: Any, flag: int, payload: bytes) -> None:
    handler.chunk(bytes([flag]) + struct.pack(">I", len(payload)) + payload)
