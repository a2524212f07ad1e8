"""A loopback stand-in for the providers' endpoints: Anthropic Messages, OpenAI Responses and Chat, and Cursor's.

>>> with StubServer() as stub:
...     stub.url
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.stubs import chat, cursor, messages, responses
from tests.stubs.script import Drop, Fail, Hang, Script, Turn

MODELS = {
    "object": "list",
    "data": [{"id": "stub-model", "object": "model", "created": 1, "owned_by": "stub"}],
    "models": [],
    "items": [{"id": "stub-model", "displayName": "Stub"}],
}
PROTOCOLS = {"/messages": messages, "/responses": responses, "/chat/completions": chat}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the console."""

    def do_HEAD(self) -> None:
        self.json(200, {})

    def do_GET(self) -> None:
        self.json(200, MODELS) if self.path.split("?")[0].endswith("/models") else self.json(404, {})

    def do_POST(self) -> None:
        body, path = self.body(), self.path.split("?")[0]
        try:
            if cursor.handles(path):
                cursor.reply(self, path, body)
                return
            if path.endswith("/count_tokens"):
                self.json(200, {"input_tokens": 100})
                return
            protocol = next((module for end, module in PROTOCOLS.items() if path.endswith(end)), None)
            self.ask(protocol, body) if protocol else self.json(404, {"error": {"message": f"no {path} here"}})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def ask(self, protocol: Any, body: bytes) -> None:
        """Let the script decide and answer in the words of the protocol."""
        request = json.loads(body)
        turn: Turn = protocol.turn(request, body)
        act = self.server.script.act(turn)
        if isinstance(act, Hang):
            self.server.script.closing.wait()
            self.close_connection = True
        elif isinstance(act, Drop):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif isinstance(act, Fail):
            headers = {"retry-after": str(act.retry_after)} if act.retry_after else {}
            self.json(act.status, protocol.failure(act), headers)
        elif request.get("stream"):
            self.stream(protocol.stream(turn, act, request))
        else:
            self.json(200, protocol.whole(turn, act, request))

    def body(self) -> bytes:
        """The request's body, chunked or not."""
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def json(self, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
        """A whole JSON answer."""
        self.whole(status, json.dumps(value).encode(), "application/json", headers)

    def whole(self, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer of any kind."""
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def begin(self, kind: str) -> None:
        """The head of a chunked answer."""
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        """A part of a chunked answer; an empty one ends it."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def stream(self, parts: Any) -> None:
        """Server-sent events: pairs of an event's name (or None) and its data."""
        self.begin("text/event-stream")
        for name, data in parts:
            text = data if isinstance(data, str) else json.dumps(data)
            self.chunk((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
        self.chunk(b"")


class Server(ThreadingHTTPServer):
    """Many connections."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.cursor = cursor.Runs()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed in mid-request is what many tests are about."""
        import sys

        if not isinstance(sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class StubServer(contextlib.AbstractContextManager["StubServer"]):
    """A running server on a free port."""

    def __init__(self, commands: Mapping[str, str] | None = None) -> None:
        self.script = Script(commands or {})
        self._server = Server(self.script)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let hanging answers go and stop."""
        self.script.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
