"""Workspaces: what is in them, what is gone afterwards, and that no key can be reached from one."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench import store
from backtrader_bench.agents import isolation, process, registry, workspace
from backtrader_bench.agents.ask import ask
from backtrader_bench.agents.workspace import Workspaces, remove, tape_for
from backtrader_bench.errors import MissingError, StoreError, UsageError
from backtrader_bench.market import pins
from backtrader_bench.mcq_builder.build import Bank
from backtrader_bench.records import to_line
from backtrader_bench.sandbox.room import Isolation
from tests.agents.asking import ENVIRON, alive, asking
from tests.helpers import bank, settings, tape_of


@pytest.fixture(scope="module")
def built() -> Bank:
    return bank(difficulty=("easy",), num_questions=2)


@pytest.fixture
def record(built: Bank) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_line(built.questions[0]))
    return found


def test_what_is_in_it_and_that_it_goes(record: dict[str, Any]) -> None:
    tape = tape_for(record, "prices")
    assert tape.sha256 == record["tape"]["sha256"]
    with Workspaces() as workspaces:
        assert stat.S_IMODE(workspaces.root.stat().st_mode) == 0o700
        with workspaces.place("What?", tape) as place, workspaces.place("Other?") as other:
            assert sorted(path.name for path in place.work.iterdir()) == ["prices.csv", "question.txt"]
            assert [path.name for path in other.work.iterdir()] == ["question.txt"]
            assert not list(place.private.iterdir()) and not list(place.output.iterdir())
            lines = (place.work / "prices.csv").read_text().splitlines()
            assert lines[0] == "Date,Open,High,Low,Close,Volume"
            assert len(lines) == 1 + record["tape"]["rows"]
            assert (place.work / "question.txt").read_text() == "What?\n"
            for path in (place.work, place.private):
                assert record["id"][:6] not in str(path)
        assert not place.work.exists()
        assert not place.private.exists()
        assert not place.output.exists()
    assert not workspaces.root.exists()


def test_kept_on_demand(tmp_path: Path) -> None:
    with Workspaces(keep=True, parent=tmp_path) as workspaces, workspaces.place("What?") as place:
        pass
    assert (place.work / "question.txt").exists()


def test_never_in_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = store.folder("mcq")
    with pytest.raises(StoreError, match="lies in the store"):
        Workspaces(parent=inside)
    assert not list(inside.iterdir())


def test_a_full_or_missing_disk_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="set TMPDIR"):
        Workspaces(parent=tmp_path / "none")


def test_remove_takes_read_only_folders_but_follows_no_link(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    (inside / "deep").mkdir(parents=True)
    (inside / "deep" / "file").write_text("x")
    (inside / "link").symlink_to(outside)
    for folder in (inside / "deep", inside):
        folder.chmod(0o500)
    before = tmp_path.stat().st_mode
    remove(inside)
    assert not inside.exists()
    assert (outside / "kept").exists()
    assert tmp_path.stat().st_mode == before


def test_data_access(record: dict[str, Any]) -> None:
    for access in ("none", "network"):
        with pytest.raises(MissingError, match="gives no prices"):
            tape_for(record, access)  # type: ignore[arg-type]
    published = {"question": "q", "answer": "A", "config": {"symbol": "ABC"}}
    with pytest.raises(MissingError, match="--data"):
        tape_for(published, "prices")


def test_a_hidden_world_comes_from_the_store(record: dict[str, Any]) -> None:
    tape = tape_of(settings())
    hidden = {**record, "scheme": "siblings", "tape": {**record["tape"], "source": "world:nowhere"}}
    pins.save(tape)
    assert tape_for(hidden, "prices").sha256 == tape.sha256


SEARCH = """
import os, sys
needle, store = sys.argv[1][::-1].encode(), sys.argv[2]
skipped = {sys.prefix, sys.base_prefix, *sys.argv[3:]}
def content(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 22)
    except OSError:
        return b""
hits = []
here = os.getcwd()
for root in ("/home", "/root", "/tmp", "/var/tmp", "/dev/shm", "/run", "/mnt", here, os.path.dirname(here),
             os.environ["HOME"], store):
    for folder, below, names in os.walk(root):
        # The interpreter's own folders are large, and not ours.
        below[:] = [one for one in below if os.path.join(folder, one) not in skipped]
        hits += [os.path.join(folder, name) for name in names if needle in content(os.path.join(folder, name))]
for number in filter(str.isdigit, os.listdir("/proc")):
    hits += [f"/proc/{number}/{part}" for part in ("environ", "cmdline") if needle in content(f"/proc/{number}/{part}")]
print(len(os.listdir("/proc")), "looked at;", hits)
"""


@pytest.mark.parametrize("bwrap", [None, ""], ids=["best room", "no bubblewrap"])
def test_no_key_can_be_reached(
    record: dict[str, Any], own_home: Path, tmp_path: Path, bwrap: str | None, monkeypatch: pytest.MonkeyPatch,
    fresh_room: None,
) -> None:  # fmt: skip
    """The agent looks for a needle that stands in the record, the store, the user's home and our environment."""
    if bwrap is not None:
        monkeypatch.setenv("BENCH_BWRAP", bwrap)
    if isolation.held().fs == "open":
        pytest.skip("this machine has no way to hide files")
    needle = "needle-5f1e9c07"
    key = json.dumps({**record, "private": {"fingerprints": {needle: 1}}})
    (store.folder("mcq") / "bank.jsonl").write_text(key)
    (own_home / "notes").write_text(needle)
    (tmp_path / "search.py").write_text(SEARCH)
    # Backwards, so that the search does not find its own command line.
    template = f"python3 {tmp_path}/search.py {needle[::-1]} {store.home()} {sys.prefix} {sys.base_prefix}"
    # A process of ours that has it in its environment, and where processes are hidden in its arguments, too.
    shown = needle if isolation.held().pids == "hidden" else "nothing"
    neighbour = subprocess.Popen(["sh", "-c", "sleep 60; true", shown], env={"KEY": needle}, start_new_session=True)
    tape = tape_for(record, "prices")
    try:
        with Workspaces() as workspaces, workspaces.place(needle), workspaces.place("What?", tape) as place:
            request = asking(
                tmp_path, workspace=place.work, private=place.private, mode="with-tools", model=template,
                record=json.loads(key), environ={**ENVIRON, "KEY": needle}, timeout=60.0,
            )  # fmt: skip
            reply = ask(registry.get("command"), request)
    finally:
        os.killpg(neighbour.pid, signal.SIGKILL)
        neighbour.wait()
    assert reply.error is None, reply
    assert reply.text.endswith("looked at; []"), reply.text
    assert reply.isolation["workspace"] == "enforced"


def test_the_same_file_is_open_where_nothing_hides_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above can fail, and so that ``absent`` is what it says."""
    bank_file = store.folder("mcq") / "bank.jsonl"
    bank_file.write_text("the key")
    request = asking(tmp_path, model=f"sh -c 'cat {bank_file}'")
    hidden = ask(registry.get("command"), request)
    bare = Isolation(level="L1", net="open", fs="open", pids="open", mem="open")
    monkeypatch.setattr(isolation, "held", lambda: bare)
    reply = ask(registry.get("command"), request)
    assert "the key" in reply.text
    assert reply.isolation["workspace"] == "absent"
    if hidden.isolation["workspace"] == "enforced":
        assert "the key" not in hidden.text


FIND = """
import importlib, os, sys
import backtrader, numpy, pandas
for name in ("", ".agents", ".checker", ".mcq_builder", ".miner", ".templates", ".market", ".checker.engine"):
    try:
        found = importlib.import_module("backtrader_bench" + name)
        if getattr(found, "__file__", None):
            print("imported", name)
    except (ImportError, OSError):
        pass
for root in (*sys.path, sys.prefix, sys.base_prefix, sys.argv[1]):
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if "backtrader_bench" + os.sep in path or folder.startswith(sys.argv[1]):
                    open(path).close()
                    print("there", path)
            except OSError:
                pass
print("done", backtrader.__version__ != "")
"""


@pytest.mark.parametrize("bwrap", [None, ""], ids=["best room", "no bubblewrap"])
@pytest.mark.parametrize("installed", [False, True])
def test_an_agents_python_has_backtrader_but_not_this_package(
    tmp_path: Path, bwrap: str | None, installed: bool, monkeypatch: pytest.MonkeyPatch, fresh_room: None
) -> None:
    if bwrap is not None:
        monkeypatch.setenv("BENCH_BWRAP", bwrap)
    if isolation.held().fs == "open":
        pytest.skip("this machine has no way to hide files")
    checkout = Path(workspace.__file__).parents[1]
    libraries = tmp_path / "libraries"
    package = libraries / "backtrader_bench"
    for part in ("checker", "templates"):
        (package / part).mkdir(parents=True)
        (package / part / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (libraries / "other.py").write_text("")
    if installed:
        monkeypatch.setattr(isolation, "own_code", lambda: (package, package / "checker"))
    (tmp_path / "find.py").write_text(FIND)
    shown, where = (libraries, package) if installed else (Path(sys.prefix), checkout / "checker")
    request = asking(
        tmp_path, mode="with-tools", timeout=120.0,
        model=f"sh -c 'PYTHONPATH={libraries} python {tmp_path}/find.py {where}'",
        environ={**ENVIRON, "BENCH_COMMAND_READ": f"{shown}:{tmp_path / 'find.py'}"},
    )  # fmt: skip
    reply = ask(registry.get("command"), request)
    assert reply.error is None, reply
    assert reply.text == "done True"


def test_all_folders_of_the_package_are_known() -> None:
    checkout = Path(workspace.__file__).parents[1]
    wanted = {checkout / part for part in ("backtrader_bench", *isolation.PARTS)}
    assert {path.resolve() for path in isolation.own_code()} == {path.resolve() for path in wanted}
    outer = {file.parent.name for file in checkout.glob("*/__init__.py")} - {"backtrader_bench", "tests"}
    assert outer == set(isolation.PARTS)


def test_two_attempts_dont_see_each_other(tmp_path: Path) -> None:
    if isolation.held().fs == "open":
        pytest.skip("this machine has no way to hide files")
    with Workspaces() as workspaces, workspaces.place("one") as one, workspaces.place("two") as two:
        request = asking(
            tmp_path, workspace=one.work, private=one.private,
            model=f"sh -c 'ls -d {one.work} {two.work} {two.private} {one.work}/.. 2>&1; ls {one.work}/..'",
        )  # fmt: skip
        reply = ask(registry.get("command"), request)
    text = reply.text
    assert f"{two.work}" not in [line.strip() for line in text.splitlines()]
    assert two.work.name not in text.replace(f"'{two.work}'", "").replace(f"'{two.private}'", "")
    assert workspace.QUESTION not in text


def test_a_store_inside_what_every_agent_sees_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isolation.held().fs == "open":
        pytest.skip("this machine has no way to hide files")
    monkeypatch.setenv("BENCH_HOME", sys.prefix)
    with pytest.raises(UsageError, match="set BENCH_HOME"):
        ask(registry.get("command"), asking(tmp_path, model="true"))


def test_agents_in_a_room_die_with_a_killed_session(tmp_path: Path) -> None:
    if isolation.held().level != "L3":
        pytest.skip("needs bubblewrap; elsewhere a resumed run sweeps")
    mark = f"killed-{os.urandom(8).hex()}"
    code = (
        "import sys; from pathlib import Path; from backtrader_bench.agents import registry\n"
        "from backtrader_bench.agents.ask import ask; from tests.agents.asking import asking\n"
        "model = \"sh -c 'setsid sleep 60 & sleep 60'\"\n"
        f"ask(registry.get('command'), asking(Path({str(tmp_path)!r}), model=model), mark={mark!r})"
    )
    session = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    while len(process.marked(mark)) < 4:
        assert session.poll() is None
        time.sleep(0.02)
    session.kill()
    session.wait()
    assert not alive(mark)
