"""Commands in rooms: what they see, and what they don't."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.errors import SandboxError
from backtrader_bench.sandbox.keys import keys_shown
from backtrader_bench.sandbox.launch import find_bwrap, interpreter, launch, start, system_folders
from backtrader_bench.sandbox.room import Level, Limits, Room

LOOK = """
import json, os, sys
def readable(path):
    try:
        open(path).close()
        return True
    except OSError:
        return False
def told(ask):
    try:
        return ask()
    except OSError:  # there is no /proc to ask
        return None
def capabilities():
    lines = open("/proc/self/status").read().splitlines()
    return [int(line.split()[1], 16) for line in lines if line.startswith("CapEff")][0]
open("made", "w").write("here")
print(json.dumps({
    "env": dict(os.environ), "cwd": os.getcwd(), "uid": os.getuid(),
    "files": [readable(path) for path in sys.argv[1:]],
    "cap": told(capabilities), "fds": told(lambda: len(os.listdir("/dev/fd"))),
}))
"""


def look(room: Room, level: Level, env: dict[str, str], *paths: Path) -> dict[str, Any]:
    process = start(
        launch([sys.executable, "-I", "-S", "-c", LOOK, *map(str, paths)], room, level, env),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={},
    )  # fmt: skip
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode()
    seen: dict[str, Any] = json.loads(out)
    return seen


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_room_shows_its_folders_and_nothing_else(level: Level, work: Path, tmp_path: Path) -> None:
    for name in ("hidden", "shown"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    room = Room(work=work, readable=(tmp_path / "shown",), limits=Limits())
    env = {"PATH": "/usr/bin", "KEY": "sk-nobody-else-sees-this"}
    seen = look(room, level, env, tmp_path / "shown" / "file", tmp_path / "hidden" / "file")
    assert seen["files"] == [True, False]
    assert seen["cwd"] == str(work)
    assert (work / "made").read_text() == "here"
    assert {name: seen["env"].get(name) for name in env} == env
    assert set(seen["env"]) <= {*env, "PWD", "LC_CTYPE"}  # which bubblewrap and Python add
    assert seen["uid"] != 0


def test_what_is_hidden_in_a_folder_that_is_shown(level: Level, work: Path, tmp_path: Path) -> None:
    """Under every name that it could be reached by, but for what is shown of it by name."""
    for name in ("top", "shown/file", "shown/own/key", "shown/own/deep/key", "shown/own/deep/child", "shown/z/file"):
        (tmp_path / "real" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "real" / name).write_text("x")
    real, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(real)
    (real / "shown" / "same").symlink_to("own")
    child = real / "shown" / "own" / "deep" / "child"
    hidden = (link / "shown" / "own", link / "shown" / "own" / "deep", real / "none")
    room = Room(work=work, readable=(link / "shown", real / "shown", child), hidden=hidden, limits=Limits())
    names = ("file", "z/file", "own/deep/child", "own/key", "own/deep/key", "same/key")
    for base in (real, link) if level == "L3" else (real,):
        seen = look(room, level, {}, *(base / "shown" / name for name in names))
        assert seen["files"] == [True, True, base is real, False, False, False]
        (work / "made").unlink()
    assert (real / "shown" / "own" / "key").read_text() == "x"


def test_what_is_private_is_not_in_the_process_list(level: Level, work: Path) -> None:
    made = launch(["true"], Room(work=work), level, {"KEY": "sk-nobody-else-sees-this"})
    made.close()
    assert "sk-nobody" not in " ".join(made.argv) and not made.env


def test_no_rights_and_no_descriptors_are_left(level: Level, work: Path) -> None:
    seen = look(Room(work=work, limits=Limits()), level, {})
    assert seen["cap"] in (0, None)
    assert seen["fds"] in (4, None)  # three streams and the folder that is listed


@pytest.mark.parametrize("network", [False, True])
def test_loopback_is_reached_with_network_only(level: Level, work: Path, network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=5)"
        room = Room(work=work, network=network, nested=network)
        process = start(
            launch([sys.executable, "-I", "-S", "-c", code], room, level, {}), stderr=subprocess.DEVNULL, env={}
        )
        assert (process.wait(60) == 0) is network


def test_an_agent_writes_its_home_and_workspace(level: Level, work: Path, tmp_path: Path) -> None:
    home = tmp_path / "private" / "home"
    home.mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text("x")
    room = Room(work=work, writable=(home,), network=True, nested=True)
    code = "import os; open(os.path.expanduser('~/config'), 'w').write('x'); open('answer', 'w').write('B')"
    code += f"\ntry: open('{secret}'); os._exit(1)\nexcept OSError: pass"
    process = start(launch([sys.executable, "-I", "-S", "-c", code], room, level, {"HOME": str(home)}), env={})
    assert process.wait(60) == 0
    assert (home / "config").exists() and (work / "answer").read_text() == "B"


def test_links_to_shown_folders_lead_somewhere(level: Level, work: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    seen = look(Room(work=work, readable=(tmp_path / "link",)), level, {}, tmp_path / "link" / "file")
    assert seen["files"] == [True]


def test_a_folder_that_is_not_there_is_said(work: Path, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="nowhere, which does not exist"):
        launch(["true"], Room(work=work, readable=(tmp_path / "nowhere",)), "L1", {})


def test_limits_hold_at_the_lowest_level(work: Path) -> None:
    code = "import resource as r; print(*map(r.getrlimit, (r.RLIMIT_FSIZE, r.RLIMIT_AS, r.RLIMIT_CORE)))"
    room = Room(work=work, limits=Limits(file_bytes=12345, memory_bytes=1 << 30))
    process = start(
        launch([sys.executable, "-I", "-S", "-c", code], room, "L1", {}), stdout=subprocess.PIPE, env={}
    )
    assert process.communicate(timeout=60)[0].split(b"\n")[0] == b"(12345, 12345) (1073741824, 1073741824) (0, 0)"


def test_bubblewrap_is_where_the_user_says() -> None:
    assert find_bwrap({"BENCH_BWRAP": "/opt/bwrap", "PATH": os.defpath}) == "/opt/bwrap"
    assert find_bwrap({"BENCH_BWRAP": "", "PATH": os.defpath}) is None


def test_an_interpreter_by_a_relative_path_is_named_without_it(
    level: Level, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the shell stood in another folder, which a room does not show."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    monkeypatch.setattr(sys, "executable", f"{tmp_path}/elsewhere/../bin/{Path(sys.executable).name}")
    assert interpreter() == str((tmp_path / "bin").resolve() / Path(sys.executable).name)
    process = start(launch([interpreter(), "-I", "-S", "-c", "pass"], Room(work=work), level, {}), env={})
    assert process.wait(60) == 0


def test_keys_in_what_rooms_show_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("BENCH_HOME", str(home))
    assert keys_shown(system_folders(network=True)) is None
    assert keys_shown([home / "prices", tmp_path / "other"]) is None
    for shown in (tmp_path, home, home / "db", home / "db" / "mcq" / "bank.jsonl"):
        found = keys_shown([tmp_path / "other", shown])
        assert found == (shown, home / "db")
    (home / "db").mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    assert keys_shown([tmp_path / "link"]) == (tmp_path / "link", home / "db")
    (home / "db" / "mcq").symlink_to("/usr/share/bench-of-nobody")
    found = keys_shown(system_folders())
    assert found == (Path("/usr"), Path("/usr/share/bench-of-nobody"))
