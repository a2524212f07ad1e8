"""Every output of the real programs that was captured parses to its normal form, and no damaged one to an answer."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from backtrader_bench.agents.backend import Raw
from backtrader_bench.agents.codex import CODEX
from tests.agents.captures import CASES, FOLDER, backend_of, expected, normal_form, raw, torn

pytestmark = pytest.mark.filterwarnings("error")


def test_every_capture_has_its_normal_form() -> None:
    assert len(CASES) >= 52
    assert {str(file.relative_to(FOLDER).with_suffix("")) for file in FOLDER.glob("*/*.json")} == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_a_capture_parses_to_its_normal_form(case: str) -> None:
    backend = backend_of(case)
    assert backend.parse is not None
    found, wanted = normal_form(backend.parse(raw(case))), expected(case)
    if wanted["error"]:
        assert wanted["error"]["message"] in found["error"]["message"]
        wanted["error"]["message"] = found["error"]["message"]
    assert found == wanted


@pytest.mark.parametrize("case", CASES)
def test_no_answer_without_the_final_event(case: str) -> None:
    backend = backend_of(case)
    assert backend.parse is not None
    for damaged in torn(case):
        reply = backend.parse(damaged)
        assert reply.text == ""
        assert reply.error is not None


@pytest.mark.parametrize("case", CASES)
def test_no_answer_with_a_bad_exit_code_or_after_the_time_limit(case: str) -> None:
    backend = backend_of(case)
    assert backend.parse is not None
    whole = raw(case)
    for damaged in (
        replace(whole, code=1), replace(whole, code=-9), replace(whole, code=None),
        replace(whole, timed_out=True), replace(whole, cancelled=True, code=-15),
    ):  # fmt: skip
        reply = backend.parse(damaged)
        assert reply.text == ""
        assert reply.error is not None or reply.refused
        assert reply.timed_out == damaged.timed_out


NOISE = (
    b"\xff\xfe\x00 not utf-8", b"{", b"[]", b"null", b"{}", b'{"type": null}',
    b'{"type": "from_the_future", "data": 1}',
    b'{"type": {"a": 1}, "item": [], "message": 3, "data": "x", "usage": [1]}', b"t 0.72",
    b'{"type":"assistant","message":{"content":[1,null,{"type":"text","text":5}]}}',
    b'{"type":"item.completed","item":null}', b'{"type":"system","subtype":"init","model":7,"session_id":[]}',
    b'{"type":"assistant.message"}', b'{"type":"status","status":3}', b"[" * 100_000, b'{"a":' * 50_000,
    b'{"type":"user","message":{"content":"' + b"x" * 3_000_000 + b'"}}', b'{"type":"error"}',
    b'{"n": ' + b"9" * 5000 + b"}", b'{"type":"note","text":"\\ud800"}',
)  # fmt: skip


@pytest.mark.parametrize("case", [case for case in CASES if "/a_" in case or "/b_" in case])
def test_noise_between_the_lines_changes_nothing(case: str) -> None:
    backend = backend_of(case)
    assert backend.parse is not None
    whole = raw(case)
    lines = whole.stdout.splitlines()
    mixed = [*NOISE, *(part for line in lines for part in (NOISE[0], line))]
    reply = backend.parse(replace(whole, stdout=b"\n".join(mixed) + b"\n"))
    form, wanted = normal_form(reply), expected(case)
    assert (form["text"], form["usage"], form["error"]) == (wanted["text"], wanted["usage"], None)


@pytest.mark.parametrize("case", [case for case in CASES if "/b_" in case])
def test_changed_bytes_never_raise(case: str) -> None:
    backend = backend_of(case)
    assert backend.parse is not None
    assert backend.is_tool_call is not None
    whole = raw(case)
    draw = random.Random(case)
    for _ in range(30):
        damaged = bytearray(whole.stdout)
        for _ in range(draw.randrange(1, 40)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        reply = backend.parse(replace(whole, stdout=bytes(damaged)))
        reply.text.encode()
        for line in bytes(damaged).splitlines():
            backend.is_tool_call(line)


@pytest.mark.parametrize("stdout", [b"", b"\n\n", b"hello\n", b"\xff" * 1000, b"{" * 1000, *NOISE])
@pytest.mark.parametrize("name", ["claude", "codex", "copilot", "cursor-sdk", "cursor-cli"])
def test_rubbish_is_an_error(name: str, stdout: bytes) -> None:
    backend = backend_of(f"{name}/x")
    assert backend.parse is not None
    reply = backend.parse(Raw(stdout=stdout, stderr=b"\xff\xfe boom\n", code=0))
    assert reply.text == ""
    assert reply.error is not None
    assert len(reply.error.message) <= 500
    assert "\n" not in reply.error.message


CALLING = [case for case in CASES if expected(case)["tool_calls"] and "codex/c_forced" not in case]


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("codex/f_")])
def test_the_watch_sees_a_tool_call_as_it_comes(case: str) -> None:
    backend = backend_of(case)
    assert backend.is_tool_call is not None
    seen = any(backend.is_tool_call(line) for line in raw(case).stdout.splitlines())
    assert seen == (case in CALLING)


def test_codex_that_was_ended_reports_what_its_session_file_counted() -> None:
    whole = raw("codex/f_rollout")
    assert CODEX.parse is not None
    ended = CODEX.parse(replace(whole, stdout=b"", code=-15, timed_out=True))
    assert ended.text == ""
    assert normal_form(ended)["usage"] == expected("codex/f_rollout")["usage"]
    assert ended.model == "gpt-5.5"
