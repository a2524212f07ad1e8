"""The ``api`` agent through the vendors' real SDKs, against a server on loopback that says what each test wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.agents import registry
from backtrader_bench.agents.api import parse, target
from backtrader_bench.agents.api_child import event_of
from backtrader_bench.agents.ask import AskCancelled, ask
from backtrader_bench.agents.backend import Raw, Reply
from backtrader_bench.attempts import Usage
from tests.agents.asking import ENVIRON, alive, asking

for _sdk in ("openai", "anthropic"):
    pytest.importorskip(_sdk)

COMPLETION = {
    "id": "chatcmpl-7", "object": "chat.completion", "created": 1, "model": "m-2026",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "<<< C >>>"}}],
    "usage": {"prompt_tokens": 23, "completion_tokens": 17, "total_tokens": 40,
              "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 4}},
}  # fmt: skip
MESSAGE = {
    "id": "msg_7", "type": "message", "role": "assistant", "model": "m-2026", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "<<< C >>>"}],
    "usage": {"input_tokens": 11, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 17},
}  # fmt: skip
USAGE = {
    "openai": Usage(input=18, cache_read=5, output=17, reasoning=4),
    "anthropic": Usage(input=11, cache_read=5, cache_write=7, output=17),
}
PROVIDERS = ("openai", "anthropic")
Here = Callable[[str], Reply]


class Stub(ThreadingHTTPServer):
    """Answers every request the same way, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.body, self.headers = 200, {}, {}  # type: int, dict[str, Any], dict[str, str]
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.hang = threading.Event()
        self.hang.set()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Stub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        self.server.hang.wait(60)
        data = json.dumps(self.server.body).encode()
        self.send_response(self.server.status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)),
                            **self.server.headers}.items():  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the console."""


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.hang.set()
        server.shutdown()


def environ_of(stub: Stub) -> dict[str, str]:
    url = f"http://127.0.0.1:{stub.server_port}"
    return {
        **ENVIRON, "OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-anthropic", "NO_PROXY": "*",
        "OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url,
    }  # fmt: skip


def say(tmp_path: Path, stub: Stub, provider: str, query: str = "", **changes: Any) -> Reply:
    """Ask in a process of its own, as users do. The SDKs take a second or more to start."""
    chosen = registry.parse(f"api:{provider}/my/model{query}")
    request = asking(tmp_path, model=chosen.model, environ=environ_of(stub), **{"timeout": 300.0, **changes})
    return ask(chosen.backend, request, mark="api-test-mark")


@pytest.fixture
def here(tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Reply]:
    """Ask in this process: the same order, the same child's code, the same parser."""
    for name, value in environ_of(stub).items():
        monkeypatch.setenv(name, value)

    def say_here(provider: str) -> Reply:
        chosen = registry.parse(f"api:{provider}/my/model")
        assert chosen.backend.command is not None
        order = chosen.backend.command(asking(tmp_path, model=chosen.model), Path("python")).stdin
        event = json.dumps(event_of(json.loads(order)))
        return parse(Raw(stdout=event.encode(), stderr=b"", code=0))

    return say_here


def answers(stub: Stub, provider: str, **changes: Any) -> None:
    """Let the stub answer, with changes to the body's first choice (openai) or to the body (anthropic)."""
    if provider == "anthropic":
        stub.body = {**MESSAGE, **changes}
    else:
        stub.body = {**COMPLETION, "choices": [{**COMPLETION["choices"][0], **changes}]}  # type: ignore[index]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer(tmp_path: Path, stub: Stub, provider: str) -> None:
    answers(stub, provider)
    reply = say(tmp_path, stub, provider, "?max_tokens=77&temperature=0.5")
    assert reply.error is None
    assert (reply.text, reply.model) == ("<<< C >>>", "m-2026")
    assert reply.session_id in ("chatcmpl-7", "msg_7")
    assert (reply.usage, reply.cost, reply.refused) == (USAGE[provider], None, False)
    ((path, headers, body),) = stub.asked
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("my/model", 77, 0.5)
    assert "tools" not in body
    question = {"role": "user", "content": asking(tmp_path).prompt}
    if provider == "openai":
        assert path == "/v1/chat/completions"
        assert headers["authorization"] == "Bearer sk-openai"
        assert body["messages"] == [{"role": "system", "content": "Be brief."}, question]
    else:
        assert path == "/v1/messages"
        # As a key or as a bearer's token, by version.
        assert any("sk-anthropic" in value for value in headers.values())
        assert (body["system"], body["messages"]) == ("Be brief.", [question])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "error", "headers", "kind", "wait"),
    [
        (401, {"type": "authentication_error", "message": "invalid x-api-key"}, {}, "auth", None),
        (403, {"type": "permission_error", "message": "not yours"}, {}, "auth", None),
        (404, {"type": "not_found_error", "message": "model: m"}, {}, "other", None),
        (429, {"type": "rate_limit_error", "message": "slow down"}, {"retry-after": "7"}, "rate_limit", 7.0),
        (429, {"type": "rate_limit_error", "message": "slow"}, {"retry-after-ms": "1500"}, "rate_limit", 1.5),
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}, {}, "quota", None),
        (400, {"code": "context_length_exceeded", "message": "maximum context length is 8192"}, {}, "context", None),
        (400, {"type": "invalid_request_error", "message": "prompt is too long: 2 > 1"}, {}, "context", None),
        (400, {"type": "invalid_request_error", "message": "temperature is odd"}, {}, "other", None),
        (500, {"type": "api_error", "message": "boom"}, {}, "overloaded", None),
        (529, {"type": "overloaded_error", "message": "Overloaded"}, {"retry-after": "3"}, "overloaded", 3.0),
    ],
    ids=["401", "403", "404", "429", "429-ms", "quota", "context", "too-long", "400", "500", "529"],
)
def test_errors_in_their_normal_form(
    here: Here, stub: Stub, provider: str, status: int, error: dict[str, str], headers: dict[str, str],
    kind: str, wait: float | None,
) -> None:  # fmt: skip
    stub.status, stub.headers = status, headers
    stub.body = {"type": "error", "error": error} if provider == "anthropic" else {"error": error}
    reply = here(provider)
    assert reply.error is not None
    found = (reply.error.kind, reply.error.http_status, reply.error.retry_after)
    assert found == (kind, status, wait)
    assert error["message"] in reply.error.message
    assert (reply.text, reply.usage) == ("", Usage())
    # The SDK's own retries are off: ours are counted.
    assert len(stub.asked) == 1


def test_a_date_to_wait_for(here: Here, stub: Stub) -> None:
    stub.status, stub.body = 429, {"error": {"message": "slow"}}
    stub.headers = {"retry-after": formatdate(time.time() + 40, usegmt=True)}
    error = here("openai").error
    assert error is not None and error.retry_after is not None
    assert 25 < error.retry_after <= 40


@pytest.mark.parametrize(
    ("provider", "changes"),
    [
        ("anthropic", {"stop_reason": "refusal", "content": []}),
        ("openai", {"finish_reason": "content_filter"}),
        ("openai", {"message": {"role": "assistant", "content": None, "refusal": "I won't"}}),
    ],
)
def test_refusals(here: Here, stub: Stub, provider: str, changes: dict[str, Any]) -> None:
    answers(stub, provider, **changes)
    reply = here(provider)
    assert (reply.refused, reply.error) == (True, None)


@pytest.mark.parametrize(
    ("provider", "changes"),
    [
        ("anthropic", {"stop_reason": "tool_use",
                       "content": [{"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}}]}),
        ("openai", {"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [
            {"id": "t", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}]}}),
    ],
)  # fmt: skip
def test_a_call_to_a_tool_that_nobody_offered(here: Here, stub: Stub, provider: str, changes: dict[str, Any]) -> None:
    answers(stub, provider, **changes)
    (call,) = here(provider).tool_calls
    assert (call.name, json.loads(call.arguments), call.executed) == ("bash", {"command": "ls"}, False)


def test_a_server_that_hangs(tmp_path: Path, stub: Stub) -> None:
    stub.hang.clear()
    cancel = threading.Event()

    def end_when_asked() -> None:
        while not stub.asked:
            time.sleep(0.02)
        cancel.set()

    threading.Thread(target=end_when_asked, daemon=True).start()
    chosen = registry.parse("api:openai/my/model")
    request = asking(tmp_path, model=chosen.model, environ=environ_of(stub), timeout=300.0)
    with pytest.raises(AskCancelled):
        ask(chosen.backend, request, mark="api-test-mark", cancel=cancel)
    assert not alive("api-test-mark")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nobody_there(here: Here, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    reply = here(provider)
    assert reply.error is not None
    assert (reply.error.kind, reply.error.http_status) == ("network", None)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_key(here: Here, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name)
    error = here(provider).error
    assert error is not None
    assert error.kind == "auth"


def test_one_provider_gets_no_key_of_the_other(tmp_path: Path) -> None:
    chosen = registry.parse("api:openai/m")
    assert chosen.backend.command is not None
    keys = {"OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-anthropic"}
    command = chosen.backend.command(asking(tmp_path, model=chosen.model, environ=keys), Path("python"))
    assert command.env["OPENAI_API_KEY"] == "sk-openai"
    assert "ANTHROPIC_API_KEY" not in command.env


def test_settings_follow_the_model() -> None:
    found = target("openai/org/model?seed=7&reasoning_effort=high")
    assert (found.provider, found.model, found.settings) == (
        "openai", "org/model", {"seed": 7, "reasoning_effort": "high"}
    )  # fmt: skip
    assert target("anthropic/m?thinking=2000").settings == {"thinking": {"type": "enabled", "budget_tokens": 2000}}


@pytest.mark.parametrize("stdout", [b"", b"{", b"[]\n", b'{"type": "other"}\n', b"\xff\n"])
def test_a_torn_stream_is_no_answer(stdout: bytes) -> None:
    assert parse(Raw(stdout=stdout, stderr=b"", code=0)).error is not None
