"""Files under ``$BENCH_HOME``: whole or not at all, and one writer at a time.

Every function here turns what the operating system says into a StoreError of one line that names the file,
the cause and, where there is one, the way out. Nothing is read or written but where the caller says.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import secrets
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backtrader_bench.errors import LockedError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from filelock import BaseFileLock

FOLDERS = frozenset({"mcq", "tapes", "attempts", "summary", "reviews", "cache"})
LONGEST_LINE = 64 * 2**20
"""Bytes; a longer line is no record but a file of another kind, and reading it whole would eat the memory."""
SEALED_KIND = "backtrader-bench sealed keys"
"""What the first line of a file of sealed keys says it is. Nothing replaces such a file: the random bits in it exist
nowhere else, and without them nobody can hold an export against its commitments any more."""
FIRST_LINE = 2**16
"""Bytes in which a file says what it is."""
REPORTS: dict[str, Callable[[bytes], bool]] = {
    "page": lambda first: first.lower().startswith(b"<!doctype html"),
    "table of attempts": lambda first: first.startswith(b"run,attempt,"),
    "list of verdicts": lambda first: first.startswith(b"{") and b'"verdict":' in first,
}
"""Reports by kind: whether the first line of a file is that of one."""
PRICES = (".csv", ".csv.gz")
"""How files of prices in a folder end."""
APPEND_WAIT = 10.0
"""Seconds an append waits for another's: each takes milliseconds, so more means that something is stuck."""
HINTS = {
    errno.ENOSPC: "free some space or choose another place",
    errno.EDQUOT: "free some space or choose another place",
    errno.EROFS: "choose another place (-o, or BENCH_HOME)",
    errno.EACCES: "choose another place (-o, or BENCH_HOME) or change its permissions",
    errno.ENOENT: "create the folder first or choose another place",
    errno.EISDIR: "give the name of a file in it",
}
READ_HINTS = {errno.ENOENT: "check the name", errno.EISDIR: "give the files in it"}
log = logging.getLogger(__name__)


def home() -> Path:
    """``$BENCH_HOME``, or the current folder; not created here. StoreError when the latter is gone."""
    chosen = os.environ.get("BENCH_HOME")
    with _one_line("find", Path(chosen or ".")):
        return Path(chosen).absolute() if chosen else Path.cwd()


def folder(name: str) -> Path:
    """``home()/db/NAME`` for one of FOLDERS, created when missing; StoreError when it can't be."""
    if name not in FOLDERS:
        raise ValueError(f"{name!r} is none of {sorted(FOLDERS)}")
    path = home() / "db" / name
    with _one_line("create the folder", path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def replace_file(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Make ``data`` (whole, or chunks written as they come) the content of ``path``, all of it or none.

    A reader sees the old file or the new one. When anything fails, ``data`` raising included, the old file
    stands as it was. Links are followed; what is no regular file (a folder, ``/dev/null``) is refused, and so is a
    file of sealed keys. StoreError: missing or read-only folder, read-only file, full disk, name too long.
    """
    with _one_line("write", path):
        target = Path(os.path.realpath(path))
        mode = _mode_to_keep(target)
        _sweep(target.parent)
        temporary = target.parent / f".bench-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines((data,) if isinstance(data, bytes) else data)
                file.flush()
                if mode is not None:
                    os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


def _sweep(folder: Path) -> None:
    """Remove the temporary files of processes that were killed while writing here."""
    for left in left_behind(folder, ".tmp"):
        with suppress(OSError):
            left.unlink()


def left_behind(folder: Path, suffix: str) -> Iterator[Path]:
    """What dead processes left in a folder under names of the form ``.bench-PID-...SUFFIX``."""
    for left in sorted(folder.glob(f".bench-*-*{suffix}")):
        number = left.name.split("-")[1]
        if number.isdigit() and int(number) != os.getpid() and not _alive(int(number)):
            yield left


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def holds(path: Path, data: bytes) -> bool | None:
    """Whether ``path`` is a file with just these bytes; None when nothing is there. StoreError as for writing it."""
    with _one_line("write", path):
        target = Path(os.path.realpath(path))
        # The mode is looked up for its refusals: reading a device could go on for ever.
        if _mode_to_keep(target) is None:
            return None
        return target.stat().st_size == len(data) and target.read_bytes() == data


def check_target(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse to write ``path``, before any work is done for it.

    StoreError: it can't be written, or holds sealed keys. UsageError: it is one of ``inputs``, the files that the same
    command reads, by whatever name or link; a folder among them stands for the prices in it.
    """
    # Looking refuses what writing would: a folder, a device, a read-only file, sealed keys, a name too long.
    holds(path, b"")
    if not path.absolute().parent.is_dir():
        raise StoreError(f"{path}: there is no folder {path.parent}; make it first or name another place")
    for one in inputs:
        if any(same_file(path, read) for read in (_prices_in(one) if one.is_dir() else (one,))):
            raise UsageError(f"{path} is a file that the same command reads; give the output another name")


def check_report(path: Path, kind: str, inputs: Iterable[Path] = ()) -> None:
    """:func:`check_target` for what is written again each time: UsageError where ``path`` holds anything but a report
    of this kind, one of :data:`REPORTS`. A report that lies in a folder of prices is none of them."""
    check_target(path)
    first = _first_line(path) if path.exists() else b""
    again = REPORTS[kind](first)
    check_target(path, (one for one in inputs if not (again and one.is_dir())))
    if first and not again:
        raise UsageError(f"{path} is no {kind}, and nothing else is replaced by one; give it another name")


def _prices_in(folder: Path) -> list[Path]:
    with _one_line("read", folder, READ_HINTS):
        return [one for one in folder.iterdir() if one.name.endswith(PRICES)]


def same_file(one: Path, other: Path) -> bool:
    """Whether two names lead to the same file, by links of any kind, or would once it is there."""
    with suppress(OSError, ValueError):
        if one.exists() and other.exists():
            return one.samefile(other)
        return os.path.realpath(one) == os.path.realpath(other)
    return False


def _mode_to_keep(target: Path) -> int | None:
    """The permission bits of the file about to be replaced, None when there is none; OSError to refuse."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a device or pipe, not a file")
    # os.replace asks the folder's permissions only; someone who made a file read-only meant it.
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    if holds_sealed_keys(target):
        raise OSError(errno.EPERM, "it holds sealed keys, which are never replaced; move it away or name another place")
    return stat.S_IMODE(found.st_mode)


def holds_sealed_keys(target: Path) -> bool:
    """Whether the first line of a regular file says that it is one of sealed keys; OSError where it can't be read."""
    first = _first_line(target)
    with suppress(ValueError, RecursionError):
        fields = json.loads(first) if first.startswith(b"{") else None
        return isinstance(fields, dict) and fields.get("kind") == SEALED_KIND
    return False


def _first_line(path: Path) -> bytes:
    """The beginning of a regular file's first line; OSError where it can't be read."""
    with path.open("rb") as file:
        return file.read(FIRST_LINE).lstrip().partition(b"\n")[0]


def _sync_folder(path: Path) -> None:
    """Make a rename in ``path`` survive a power cut."""
    # Some file systems refuse to sync a folder; the file itself is safe by then, so that is no failure.
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def lock(path: Path, wait: float = 0.0, what: str = "") -> Iterator[None]:
    """Be the only process that writes ``path`` (which need not exist) while the block runs.

    The lock is ``.NAME.lock`` beside it, says who holds it, for ``what`` and since when, and goes when the block ends.
    The system drops it with its process, so one left by a killed process is no obstacle.
    LockedError (exit 4) after ``wait`` seconds; StoreError when the lock file can't be made.
    """
    from filelock import FileLock, Timeout

    with _one_line("lock", path):
        target = Path(os.path.realpath(path))
        beside = target.parent / f".{target.name}.lock"
        held = FileLock(beside, timeout=wait, poll_interval=0.005)
        try:
            held.acquire()
        except Timeout:
            who = _holder(beside)
            raise LockedError(f"{path} is being written by {who}; wait, or choose another file") from None
        try:
            _tell(beside, what)
        except BaseException:
            _let_go(held, beside)
            raise
    try:
        yield
    finally:
        _let_go(held, beside)


def tell_lock(path: Path, what: str) -> None:
    """Say anew what the lock of ``path`` is held for; by its holder, to whom a lock that says less is as good."""
    target = Path(os.path.realpath(path))
    with suppress(OSError):
        _tell(target.parent / f".{target.name}.lock", what)


def _tell(beside: Path, what: str) -> None:
    doing = f" ({what})" if what else ""
    beside.write_text(f"process {os.getpid()}{doing} since {time.strftime('%Y-%m-%d %H:%M:%S')}")


def _let_go(held: BaseFileLock, beside: Path) -> None:
    # Unlinked while it is held: a waiter that already opened it finds that its name is gone and starts again.
    with suppress(OSError):
        beside.unlink()
    held.release()


def left_lock(path: Path) -> str | None:
    """Who holds the lock of ``path``, or held it and was killed, in words; None where nobody left a trace."""
    target = Path(os.path.realpath(path))
    beside = target.parent / f".{target.name}.lock"
    return _holder(beside) if beside.exists() else None


def _holder(beside: Path) -> str:
    """Who holds the lock, as far as its file says."""
    try:
        return beside.read_text().strip() or "another process"
    except (OSError, UnicodeDecodeError):
        return "another process"


def append_line(path: Path, line: bytes, fsync: bool = True) -> None:
    """Add ``line`` (with or without its newline, no other inside) to ``path``, whole, under its lock.

    A tail without newline, left by a crash, is moved to ``<path>.torn`` first, with a warning. When the write
    fails the file is cut back to what it was. ``fsync=False`` leaves it to the caller to sync at the end.
    StoreError as for :func:`replace_file`; LockedError when another process keeps the lock for APPEND_WAIT.
    """
    line = line.removesuffix(b"\n")
    if b"\n" in line:
        raise ValueError("a line to append must not hold a newline")
    with lock(path, APPEND_WAIT), _one_line("write", path):
        created = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _append(path, descriptor, line + b"\n", fsync)
        finally:
            os.close(descriptor)
        if created and fsync:
            _sync_folder(path.parent)


def _append(path: Path, descriptor: int, line: bytes, fsync: bool) -> None:
    size = _set_torn_tail_aside(path, descriptor)
    try:
        os.lseek(descriptor, size, os.SEEK_SET)
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if fsync:
            os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, size)
        raise


def _set_torn_tail_aside(path: Path, descriptor: int) -> int:
    """Cut what follows the last newline, keeping it in ``<path>.torn``; returns the size that is left."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return size
    keep = _end_of_last_line(descriptor, size)
    torn = path.with_name(path.name + ".torn")
    with torn.open("ab") as aside:
        for start in range(keep, size, 2**20):
            aside.write(os.pread(descriptor, min(2**20, size - start), start))
        aside.write(b"\n")
        aside.flush()
        os.fsync(aside.fileno())
    os.ftruncate(descriptor, keep)
    os.fsync(descriptor)
    log.warning("warning: %s ended in half a line (%d bytes), now in %s", path, size - keep, torn.name)
    return keep


def _end_of_last_line(descriptor: int, size: int) -> int:
    """Offset just after the last newline, 0 when there is none."""
    end = size
    while end:
        start = max(0, end - 2**16)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The non-blank lines of ``path`` with their numbers from 1, without their line ends; memory stays flat.

    A last line without newline is given like any other: whoever parses it sees that it is cut.
    StoreError, on the first step: missing, a folder, not readable; later: a line above LONGEST_LINE.
    """
    with _one_line("read", path, READ_HINTS), path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise StoreError(f"{path}, line {number}: longer than {LONGEST_LINE >> 20} MiB")
            if not line.isspace():
                yield number, line.rstrip(b"\r\n")


@contextmanager
def _one_line(verb: str, path: Path, hints: dict[int, str] = HINTS) -> Iterator[None]:
    """What the system refuses inside the block becomes a StoreError about ``path``."""
    try:
        yield
    except OSError as error:
        hint = f"; {hints[error.errno]}" if error.errno in hints else ""
        raise StoreError(f"cannot {verb} {path}: {error.strerror or error}{hint}") from error
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise StoreError(f"cannot {verb} {str(path)!r}: the name holds a null byte") from None
