"""Which program is started, with which words, in which environment; and what is told of a login."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from backtrader_bench.agents import clis, codex, copilot, cursor, registry, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw
from backtrader_bench.attempts import Mode
from backtrader_bench.errors import MissingError, UsageError

SECRETS = {"DATABASE_PASSWORD": "p", "AWS_SECRET_ACCESS_KEY": "k", "ANSWER_KEY": "C", "BENCH_HOME": "/store"}
CLIS = ("claude", "codex", "copilot", "cursor", "cursor-cli")


def program(path: Path, script: str = "exit 0") -> Path:
    """A small program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(autouse=True)
def no_unpacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copilot's unpacked copy goes into the test's own temporary folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def asking(tmp_path: Path, mode: Mode = "no-tools", **changes: object) -> Ask:
    """A question in new folders."""
    work, private = tmp_path / "work", tmp_path / "private"
    for folder in (work, private):
        folder.mkdir(exist_ok=True)
    whole = Ask(
        prompt="What is 6*7?", system="Be brief.", mode=mode, model="some-model", workspace=work, private=private,
        timeout=5, environ={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "user"), **SECRETS},
    )  # fmt: skip
    return replace(whole, **changes)  # type: ignore[arg-type]


CATALOGUE = '{"models": [{"slug": "some-model", "shell_type": "unified_exec", "tool_mode": "code_mode_only"}]}'


def command(name: str, ask: Ask, tmp_path: Path) -> tuple[Backend, Command]:
    """What the backend would start."""
    backend = registry.get(name)
    assert backend.command is not None
    return backend, backend.command(ask, program(tmp_path / "bin" / name, f"echo '{CATALOGUE}'"))


# -- finding ----------------------------------------------------------------------------------------------------------

SYSTEM, MACHINE = clis.target()
LIBC = "-musl" if clis.musl() else ""
PACKAGES = {
    "claude": (
        "@anthropic-ai/claude-code/bin/claude.exe", f"@anthropic-ai/claude-code-{SYSTEM}-{MACHINE}{LIBC}/claude"
    ),
    "codex": ("@openai/codex/bin/codex.js", f"@openai/codex-{SYSTEM}-{MACHINE}/vendor/some-triple/bin/codex"),
    "copilot": (
        "@github/copilot/npm-loader.js", f"@github/copilot-{SYSTEM}{'musl' if LIBC else ''}-{MACHINE}/copilot"
    ),
}  # fmt: skip


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("name", PACKAGES)
def test_of_an_npm_installation_the_native_program_is_taken(name: str, nested: bool, tmp_path: Path) -> None:
    wrapper, native = PACKAGES[name]
    modules = tmp_path / "lib" / "node_modules"
    script = program(modules / wrapper)
    place = modules / "/".join(wrapper.split("/")[:2]) / "node_modules" if nested else modules
    wanted = program(place / native)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / name).symlink_to(script)
    backend = registry.get(name)
    assert backend.find is not None
    assert backend.find({"PATH": str(tmp_path / "bin")}) == wanted
    assert backend.find({"PATH": "/nowhere", f"BENCH_{name.upper()}": str(tmp_path / "bin" / name)}) == wanted
    wanted.unlink()
    assert backend.find({"PATH": str(tmp_path / "bin")}) == script


@pytest.mark.parametrize(("name", "variable"), [(name, f"BENCH_{name.upper().replace('-', '_')}") for name in CLIS])
def test_a_variable_names_the_program_and_must_name_one(name: str, variable: str, tmp_path: Path) -> None:
    backend = registry.get(name)
    assert backend.find is not None
    mine = program(tmp_path / "mine")
    assert backend.find({"PATH": "/nowhere", variable: str(mine)}) == mine
    for wrong in (tmp_path / "missing", tmp_path):
        with pytest.raises(UsageError, match=variable):
            backend.find({"PATH": "/nowhere", variable: str(wrong)})


@pytest.mark.parametrize("name", [name for name in CLIS if name != "cursor"])
def test_nothing_is_found_where_nothing_is(name: str) -> None:
    backend = registry.get(name)
    assert backend.find is not None
    assert backend.find({"PATH": "/nowhere"}) is None


def test_the_older_name_of_cursors_program_is_found(tmp_path: Path) -> None:
    assert cursor.find_cli({"PATH": str(program(tmp_path / "agent").parent)}) == tmp_path / "agent"
    assert cursor.find_cli({"PATH": str(program(tmp_path / "cursor-agent").parent)}) == tmp_path / "cursor-agent"


# -- login ------------------------------------------------------------------------------------------------------------

LOGINS = {
    "claude": ("ANTHROPIC_API_KEY", ".claude/.credentials.json"),
    "codex": ("OPENAI_API_KEY", ".codex/auth.json"),
    "copilot": ("GH_TOKEN", ".copilot/config.json"),
    "cursor-cli": ("CURSOR_API_KEY", ".config/cursor/auth.json"),
}


@pytest.mark.parametrize("name", LOGINS)
def test_a_login_is_told_from_a_variable_or_a_file_that_nobody_opens(name: str, tmp_path: Path) -> None:
    backend = registry.get(name)
    variable, file = LOGINS[name]
    assert backend.login is not None
    environ = {"HOME": str(tmp_path)}
    assert backend.login(environ) == "none found"
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).touch(mode=0o000)
    assert backend.login(environ) == f"login file {tmp_path / file} (used with the agent's own configuration)"
    told = backend.login(environ | {variable: "secret"})
    assert told == f"key in {variable}"


# -- what is started --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["no-tools", "with-tools"])
@pytest.mark.parametrize("name", CLIS)
def test_nothing_of_the_users_is_in_the_environment(name: str, mode: Mode, tmp_path: Path) -> None:
    ask = asking(tmp_path, mode)
    _, started = command(name, ask, tmp_path)
    assert not SECRETS.keys() & started.env.keys()
    assert started.env["HOME"] == str(ask.private / "home")
    folders = [value for key, value in started.env.items() if key.endswith(("_HOME", "_CONFIG_DIR", "_DATA_DIR"))]
    assert folders
    for folder in folders:
        assert folder.startswith(str(tmp_path)) and not folder.startswith(str(tmp_path / "user"))
    assert not started.writable


@pytest.mark.parametrize("name", CLIS)
def test_the_question_goes_in_on_stdin_and_is_in_no_argument(name: str, tmp_path: Path) -> None:
    long = "What is 6*7? " + "x" * 300_000
    ask = asking(tmp_path, prompt=long)
    _, started = command(name, ask, tmp_path)
    assert b"What is 6*7?" in started.stdin
    assert not any("6*7" in argument or "Be brief" in argument for argument in started.argv)
    assert sum(map(len, started.argv)) < 10_000
    files = [file.read_text() for file in ask.private.glob("*.txt")]
    assert any("Be brief." in text for text in (started.stdin.decode(), *files))


@pytest.mark.parametrize("name", CLIS)
def test_the_model_is_asked_for_or_left_to_the_agent(name: str, tmp_path: Path) -> None:
    def asked(model: str | None) -> str:
        _, started = command(name, asking(tmp_path, model=model), tmp_path)
        return " ".join(started.argv) + started.stdin.decode()

    assert "some-model" in asked("some-model")
    assert "some-model" not in asked(None)


def test_claude_is_told_to_have_no_tools_or_a_shell(tmp_path: Path) -> None:
    key = {"ANTHROPIC_API_KEY": "k", "HOME": "/h"}
    _, without = command("claude", asking(tmp_path, environ=key), tmp_path)
    assert without.argv[-2:] == ("--tools", "")
    assert "--bare" in without.argv
    assert without.env["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert without.env["ANTHROPIC_API_KEY"] == "k"
    _, with_tools = command("claude", asking(tmp_path, "with-tools"), tmp_path)
    assert with_tools.argv[-4:] == ("--tools", "Bash", "--allowedTools", "Bash")
    assert "--bare" not in with_tools.argv  # it knows no login but a key
    for argument in ("--strict-mcp-config", "--setting-sources=", "--disable-slash-commands"):
        assert argument in without.argv and argument in with_tools.argv


def test_codex_is_given_a_catalogue_without_tools(tmp_path: Path) -> None:
    ask = asking(tmp_path, model="new-model")
    _, started = command("codex", ask, tmp_path)
    models = json.loads((ask.private / "catalogue.json").read_text())["models"]
    assert [model["slug"] for model in models] == ["some-model", "new-model"]
    for model in models:
        assert model["shell_type"] == "disabled"
        assert model["apply_patch_tool_type"] is None
        assert "tool_mode" not in model
    line = " ".join(started.argv)
    assert "model_catalog_json" in line and "-s read-only" in line and "--disable shell_tool" in line
    _, started = command("codex", asking(tmp_path, "with-tools"), tmp_path)
    assert "--dangerously-bypass-approvals-and-sandbox" in started.argv
    assert "model_catalog_json" not in " ".join(started.argv)


def test_codex_that_lists_no_models_is_missing_something(tmp_path: Path) -> None:
    broken = program(tmp_path / "codex", "echo no such command >&2; exit 2")
    with pytest.raises(MissingError, match="no such command"):
        codex.command(asking(tmp_path), broken)


def test_codex_asks_the_endpoint_of_the_users_choice_without_retries_of_its_own(tmp_path: Path) -> None:
    key = {"OPENAI_API_KEY": "k", "HOME": "/h"}
    _, started = command("codex", asking(tmp_path, environ=key), tmp_path)
    (provider,) = (argument for argument in started.argv if argument.startswith("model_providers.bench="))
    assert 'base_url="https://api.openai.com/v1"' in provider and "request_max_retries=0" in provider
    assert started.env["CODEX_API_KEY"] == "k"
    there = key | {"OPENAI_BASE_URL": 'http://here/"v1"'}
    _, started = command("codex", asking(tmp_path, environ=there), tmp_path)
    assert any(r'base_url="http://here/\"v1\""' in argument for argument in started.argv)


def test_codex_borrows_the_users_login_and_nothing_else(tmp_path: Path) -> None:
    own = tmp_path / "user" / ".codex"
    own.mkdir(parents=True)
    (own / "auth.json").write_text("{}")
    (own / "config.toml").write_text('model = "other"')
    ask = asking(tmp_path, own_config=True)
    _, started = command("codex", ask, tmp_path)
    assert started.env["CODEX_HOME"] == str(ask.private / "codex")
    assert [file.name for file in (ask.private / "codex").iterdir()] == ["auth.json"]
    assert (ask.private / "codex" / "auth.json").samefile(own / "auth.json")
    assert started.writable == (own / "auth.json",)


@pytest.mark.parametrize(("name", "folder"), [("claude", ".claude"), ("copilot", ".copilot"), ("cursor", ".cursor")])
def test_own_configuration_is_the_users_folder(name: str, folder: str, tmp_path: Path) -> None:
    (tmp_path / "user" / folder).mkdir(parents=True)
    _, started = command(name, asking(tmp_path, own_config=True), tmp_path)
    assert started.env["HOME"] == str(tmp_path / "user")
    assert started.writable == (tmp_path / "user" / folder,)


def test_copilot_has_no_tools_by_the_name_of_one_that_is_not(tmp_path: Path) -> None:
    ask = asking(tmp_path)
    _, started = command("copilot", ask, tmp_path)
    assert started.argv[-1] == "--available-tools=none"
    assert started.stdin == b"Be brief.\n\nWhat is 6*7?"
    assert started.collect == {"usage": ask.private / "usage.json"}
    _, started = command("copilot", asking(tmp_path, "with-tools"), tmp_path)
    assert started.argv[-1] == "--allow-all"


def test_copilot_unpacks_itself_only_into_a_folder_of_this_user_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    root = tmp_path / f"bench-copilot-{os.getuid()}"
    root.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MissingError, match="not this user's alone"):
        copilot.command(asking(tmp_path), program(tmp_path / "copilot"))


def test_the_cursor_sdk_is_told_to_offer_no_tools(tmp_path: Path) -> None:
    _, started = command("cursor", asking(tmp_path), tmp_path)
    orders = json.loads(started.stdin)
    assert orders["tools"] == []
    assert started.argv[1:] == ("-I", str(cursor.CHILD))
    _, started = command("cursor", asking(tmp_path, "with-tools"), tmp_path)
    assert json.loads(started.stdin)["tools"] is None


def test_the_cursor_sdk_has_no_model_of_its_own_choice() -> None:
    with pytest.raises(UsageError, match="cursor:"):
        registry.parse("cursor")
    assert registry.parse("cursor:composer-2").model == "composer-2"


def test_cursors_program_has_rules_in_the_workspace_instead(tmp_path: Path) -> None:
    ask = asking(tmp_path)
    _, started = command("cursor-cli", ask, tmp_path)
    rules = json.loads((ask.workspace / ".cursor" / "cli.json").read_text())["permissions"]
    assert rules["allow"] == []
    assert "Shell(**)" in rules["deny"]
    assert "--force" not in started.argv
    (tmp_path / "other").mkdir()
    other = asking(tmp_path / "other", "with-tools")
    _, started = command("cursor-cli", other, tmp_path)
    assert "--force" in started.argv
    assert not (other.workspace / ".cursor").exists()


# -- the documented stream of Cursor's program, which no test has run --------------------------------------------------

DOCUMENTED = b"""\
{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/w","session_id":"s-1","model":"Some Model","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]},"session_id":"s-1"}
{"type":"tool_call","subtype":"started","call_id":"c-1","tool_call":{"readToolCall":{"args":{"path":"a.csv"}}},"session_id":"s-1"}
{"type":"tool_call","subtype":"completed","call_id":"c-1","tool_call":{"readToolCall":{"args":{"path":"a.csv"},"result":{"success":{"content":"x"}}}},"session_id":"s-1"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<<< C >>>"}]},"session_id":"s-1"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"result":"<<< C >>>","session_id":"s-1","usage":{"inputTokens":23,"outputTokens":17,"cacheReadTokens":5,"cacheWriteTokens":3}}
"""  # noqa: E501


def test_the_documented_stream_of_cursors_program_is_read() -> None:
    reply = cursor.parse_cli(Raw(stdout=DOCUMENTED, stderr=b"", code=0))
    assert (reply.text, reply.session_id, reply.model, reply.error) == ("<<< C >>>", "s-1", "Some Model", None)
    usage = reply.usage
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning) == (23, 5, 3, 17, None)
    assert [(call.name, json.loads(call.arguments), call.executed) for call in reply.tool_calls] == [
        ("read", {"path": "a.csv"}, True)
    ]
    lines = DOCUMENTED.splitlines()
    assert [cursor.is_tool_call(line) for line in lines] == [False, False, True, True, False, False]
    denied = DOCUMENTED.replace(b'"result":{"success":{"content":"x"}}', b'"result":{"rejected":{"reason":"rule"}}')
    assert cursor.parse_cli(Raw(stdout=denied, stderr=b"", code=0)).tool_calls[0].executed is False
    failed = cursor.parse_cli(Raw(stdout=b"", stderr=b"Error: You are not logged in. Run agent login\n", code=1))
    assert failed.error is not None
    assert failed.error.kind == "auth"


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "status", "kind", "wait"),
    [
        ("unexpected status 401 Unauthorized: nope", 401, "auth", None),
        ("exceeded retry limit, last status: 429 Too Many Requests", 429, "rate_limit", None),
        ("Rate limit reached. Please try again in 1.5s.", None, "rate_limit", 1.5),
        ("HTTP 429: please try again in 250ms", 429, "rate_limit", 0.25),
        ("too many requests, retry after 2 minutes", None, "rate_limit", 120.0),
        ("API Error: 529 Overloaded", 529, "overloaded", None),
        ("unexpected status 503 Service Unavailable", 503, "overloaded", None),
        ("Quota exceeded. Check your plan and billing details.", None, "quota", None),
        ("Credit balance is too low", None, "quota", None),
        ("Codex ran out of room in the model's context window", None, "context", None),
        ("Prompt is too long", None, "context", None),
        ("HTTP 400: maximum context length is 8192 tokens", 400, "context", None),
        ("error sending request for url", None, "network", None),
        ("getaddrinfo ENOTFOUND somewhere", None, "network", None),
        ("The model `x` does not exist, HTTP 404", 404, "other", None),
        ("something else", None, "other", None),
    ],
)
def test_the_kind_of_an_error_is_read_from_its_status_or_its_words(
    message: str, status: int | None, kind: str, wait: float | None
) -> None:
    failure = streams.failure(message)
    assert (failure.http_status, failure.kind, failure.retry_after) == (status, kind, wait)


def test_the_child_of_the_sdk_imports_nothing_of_ours() -> None:
    assert "backtrader_bench" not in cursor.CHILD.read_text()
