"""The store: whole files, whole lines, one writer at a time, one line for every refusal."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from backtrader_bench import store
from backtrader_bench.errors import LockedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOBODY = 65534


def in_child(work: Callable[[], None], before: Callable[[], None] | None = None) -> str:
    """Run ``work`` in a forked child, after ``before``; what it ended with: ``done`` or ``Error: text``."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if before is not None:
                before()
            work()
            text = "done"
        except BaseException as error:  # noqa: BLE001 - the parent is told whatever it was
            text = f"{type(error).__name__}: {error}"
        os.write(write_end, text.encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return text


def as_nobody() -> None:
    """Root ignores permission bits; nobody doesn't."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process running ``code``, its stdout a pipe."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that another user can reach; pytest's own are closed to all but their owner."""
    opened = [folder for folder in (tmp_path, *tmp_path.parents) if folder.stat().st_uid == os.geteuid()]
    modes = [(folder, folder.stat().st_mode) for folder in opened]
    with contextlib.ExitStack() as back:
        for folder, mode in modes:
            if mode & 0o005 != 0o005:
                folder.chmod(mode | 0o055)
                back.callback(folder.chmod, mode)
        yield tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Where things go


def test_home_is_bench_home_or_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_HOME", "there")
    assert store.home() == tmp_path / "there"
    for empty in (None, ""):
        monkeypatch.setenv("BENCH_HOME", "") if empty == "" else monkeypatch.delenv("BENCH_HOME")
        assert store.home() == tmp_path


def test_a_folder_is_made_on_demand_and_unknown_names_are_a_defect() -> None:
    assert store.folder("mcq").is_dir()
    assert store.folder("mcq") == store.home() / "db" / "mcq"
    with pytest.raises(ValueError):
        store.folder("elsewhere")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "db").write_text("a file stands where the folder should")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    with pytest.raises(StoreError, match=r"cannot create the folder .*/db/mcq"):
        store.folder("mcq")


# Whole files


def test_replace_writes_bytes_and_chunks_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "bank.jsonl"
    store.replace_file(path, b"one\n")
    store.replace_file(path, (b"%d\n" % number for number in range(3)))
    assert path.read_bytes() == b"0\n1\n2\n"
    assert names(tmp_path) == ["bank.jsonl"]


def test_replace_keeps_the_mode_and_follows_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    store.replace_file(link, b"new")
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"new", 0o640)


def test_a_chunk_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    path.write_bytes(b"old")

    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.replace_file(path, chunks())
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["bank"]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("missing/bank", "No such file or directory; create the folder first"),
        ("folder", "it is a folder; give the name of a file"),
        ("x" * 300, "File name too long"),
        ("file/bank", "Not a directory"),
        ("nul\0byte", "null byte"),
    ],
)
def test_replace_refuses_in_one_line(tmp_path: Path, name: str, cause: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=cause) as caught:
        store.replace_file(tmp_path / name, b"data")
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == ["file", "folder"]


def test_holds_compares_and_refuses_what_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    assert store.holds(path, b"one") is None
    path.write_bytes(b"one")
    assert store.holds(path, b"one") is True
    assert store.holds(path, b"two") is False
    for other in (Path("/dev/zero"), tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(StoreError, match="cannot write"):
            store.holds(other, b"one")


def test_replace_never_swaps_a_device_for_a_file() -> None:
    # As root a rename onto /dev/null would succeed, and break the machine.
    with pytest.raises(StoreError, match="/dev/null: it is a device"):
        store.replace_file(Path("/dev/null"), b"data")


def test_a_read_only_folder_and_a_read_only_file_are_one_line(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o555)
    told = in_child(lambda: store.replace_file(closed / "bank", b"x"), as_nobody)
    assert told.startswith("StoreError: cannot write")
    told = in_child(lambda: store.append_line(closed / "bank", b"x"), as_nobody)
    assert told.startswith("StoreError: cannot lock")
    assert names(closed) == []
    free = open_folder / "free"
    free.mkdir()
    free.chmod(0o777)
    (free / "bank").write_bytes(b"old")
    (free / "bank").chmod(0o444)
    assert "read-only" in in_child(lambda: store.replace_file(free / "bank", b"x"), as_nobody)
    assert (free / "bank").read_bytes() == b"old"
    assert names(free) == ["bank"]


def small_files_only() -> None:
    """Writing past 4 KiB fails, as on a full disk, whoever runs the tests."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_no_room_leaves_the_old_file_and_no_half_line(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    store.append_line(path, b"a" * 3000)
    old = path.read_bytes()
    assert in_child(lambda: store.replace_file(path, b"b" * 9000), small_files_only).startswith("StoreError")
    assert in_child(lambda: store.append_line(path, b"b" * 3000), small_files_only).startswith("StoreError")
    assert path.read_bytes() == old
    assert names(tmp_path) == ["bank"]


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB with no byte free but what a file named ``bank`` holds."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no right to mount a small file system")
    try:
        (place / "bank").write_bytes(b"old\n")
        with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as filler:
            while filler.write(b"x" * 4096):
                pass
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_one_line(full_disk: Path) -> None:
    with pytest.raises(StoreError, match="No space left on device; free some space"):
        store.replace_file(full_disk / "bank", b"new" * 9999)
    with pytest.raises(StoreError, match="No space left on device; free some space"):
        store.append_line(full_disk / "bank", b"new" * 9999)
    assert (full_disk / "bank").read_bytes() == b"old\n"
    assert names(full_disk) == ["bank", "filler"]


def test_killed_in_the_middle_of_a_replace_the_old_file_stands(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    path.write_bytes(b"old")
    code = """
import sys, time
from pathlib import Path
from backtrader_bench import store
def chunks():
    yield b"x" * 10**6
    print("half", flush=True)
    time.sleep(60)
store.replace_file(Path(sys.argv[1]), chunks())
"""
    child = start(code, path)
    assert child.stdout is not None
    assert child.stdout.readline() == "half\n"
    child.kill()
    child.communicate()
    assert path.read_bytes() == b"old"


# Locks

HOLD = """
import sys, time
from pathlib import Path
from backtrader_bench import store
with store.lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_held_lock_names_its_holder_and_a_dead_one_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    child = start(HOLD, path)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    told = rf"written by process {child.pid} since \d{{4}}-"
    with pytest.raises(LockedError, match=told) as caught, store.lock(path):
        raise AssertionError("two holders")
    assert caught.value.exit_code == 4
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    with store.lock(path):
        assert names(tmp_path) == [".bank.lock"]
    assert names(tmp_path) == []


def test_a_lock_is_dropped_when_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), store.lock(tmp_path / "bank"):
        _ = 1 / 0
    assert names(tmp_path) == []


def test_a_wait_ends_when_the_holder_does(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    child = start(HOLD.replace("60", "0.3"), path)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    begun = time.monotonic()
    with store.lock(path, wait=20):
        assert time.monotonic() - begun < 15
    child.communicate()


# Lines

APPEND = """
import sys
from pathlib import Path
from backtrader_bench import store
path, name, count = Path(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])
for number in range(count):
    store.append_line(path, name + b" %d " % number + b"x" * (number * 997 % 20000), fsync=False)
"""


def test_two_processes_append_and_no_line_is_torn_or_lost(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    children = [start(APPEND, path, name, 150) for name in ("a", "b")]
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    lines = [line for _, line in store.read_lines(path)]
    for name in (b"a", b"b"):
        mine = [line for line in lines if line.startswith(name)]
        assert mine == [name + b" %d " % n + b"x" * (n * 997 % 20000) for n in range(150)]
    assert len(lines) == 300
    assert names(tmp_path) == ["attempts.jsonl"]


def test_killed_while_appending_no_line_before_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    child = start(APPEND, path, "a", 10**6)
    deadline = time.monotonic() + 20
    while not (path.exists() and path.stat().st_size > 10**6) and time.monotonic() < deadline:
        time.sleep(0.01)
    child.kill()
    child.communicate()
    store.append_line(path, b"last")
    numbers = [int(line.split()[1]) for _, line in store.read_lines(path) if line != b"last"]
    assert numbers == list(range(len(numbers)))
    assert [line for _, line in store.read_lines(path)][-1] == b"last"


TORN_CASES = {"none": b"", "one": b"one\n", "long": b"one\n" + b"y" * 200_000 + b"\n"}


@pytest.mark.parametrize("kept", TORN_CASES.values(), ids=TORN_CASES)
def test_a_torn_tail_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: bytes) -> None:
    path = tmp_path / "bank.jsonl"
    tail = b'{"torn": ' + b"z" * 150_000
    path.write_bytes(kept + tail)
    store.append_line(path, b"two\n")
    assert path.read_bytes() == kept + b"two\n"
    assert (tmp_path / "bank.jsonl.torn").read_bytes() == tail + b"\n"
    assert "ended in half a line (150009 bytes), now in bank.jsonl.torn" in caplog.text
    path.write_bytes(path.read_bytes() + b"again")
    store.append_line(path, b"three")
    assert (tmp_path / "bank.jsonl.torn").read_bytes() == tail + b"\nagain\n"


def test_append_takes_one_line_and_refuses_two(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        store.append_line(tmp_path / "bank", b"one\ntwo\n")
    assert names(tmp_path) == []


def test_read_numbers_physical_lines_and_skips_blank_ones(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    path.write_bytes(b"one\r\n\n  \ntwo\nthree")
    assert list(store.read_lines(path)) == [(1, b"one"), (4, b"two"), (5, b"three")]


def test_read_refuses_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="No such file or directory; check the name"):
        list(store.read_lines(tmp_path / "missing"))
    with pytest.raises(StoreError, match="Is a directory; give the files in it"):
        list(store.read_lines(tmp_path))
    monkeypatch.setattr(store, "LONGEST_LINE", 2**20)
    (tmp_path / "long").write_bytes(b"short\n" + b"x" * (2**20 + 1))
    with pytest.raises(StoreError, match="line 2: longer than 1 MiB"):
        list(store.read_lines(tmp_path / "long"))


def test_an_unreadable_file_is_one_line(open_folder: Path) -> None:
    (open_folder / "bank").touch(mode=0o600)
    if os.geteuid() != 0:
        pytest.skip("the file would be this user's own")
    told = in_child(lambda: [*store.read_lines(open_folder / "bank")].clear(), as_nobody)
    assert told.startswith("StoreError: cannot read")
