"""Where agents work: for each attempt an empty folder with the question and, unless told otherwise, its prices.

Folders have random names, and every attempt has three that don't lie in each other: ``work``, which is the agent's,
``private``, for its home, and ``output``, where we keep what it writes to its streams and which it does not see. None
ever holds a key, or anything of another attempt.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from backtrader_bench import store
from backtrader_bench.errors import MissingError, StoreError
from backtrader_bench.records import is_published, to_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from backtrader_bench.market.tape import Tape

DataAccess = Literal["prices", "none", "network"]
"""``prices``: the tape as ``prices.csv``. ``none``: nothing. ``network``: nothing, the agent may fetch its own."""
QUESTION, PRICES = "question.txt", "prices.csv"


@dataclass(frozen=True)
class Place:
    """The folders of one attempt."""

    work: Path
    private: Path
    output: Path


class Workspaces:
    """The workspaces of one run, under a temporary folder that only this user can enter; gone when closed.

    ``keep`` leaves everything where it is. Any number of threads may use one.
    """

    def __init__(self, *, keep: bool = False, parent: Path | None = None) -> None:
        self.keep = keep
        try:
            self.root = Path(tempfile.mkdtemp(prefix="bench-", dir=parent)).resolve()
        except OSError as error:
            raise StoreError(f"cannot make a temporary folder: {error.strerror}; set TMPDIR") from None
        _check_outside_store(self.root)

    def __enter__(self) -> Workspaces:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.keep:
            remove(self.root)

    @contextlib.contextmanager
    def place(self, prompt: str, tape: Tape | None = None) -> Iterator[Place]:
        """Folders for one attempt while the block runs: ``question.txt``, and ``prices.csv`` where ``tape`` is given.

        StoreError: the disk is full.
        """
        place = Place(*(self.root / secrets.token_hex(8) for _ in range(3)))
        try:
            for folder in (place.work, place.private, place.output):
                folder.mkdir(mode=0o700)
            (place.work / QUESTION).write_text(prompt + "\n", encoding="utf-8")
            if tape is not None:
                (place.work / PRICES).write_bytes(tape.canonical())
        except OSError as error:
            raise StoreError(f"cannot make a workspace in {self.root}: {error.strerror}; set TMPDIR") from None
        try:
            yield place
        finally:
            if not self.keep:
                for folder in (place.work, place.private, place.output):
                    remove(folder)


def _check_outside_store(root: Path) -> None:
    """Nothing of the store may lie above a workspace: ``..`` is the first thing an agent looks at."""
    home = store.home().resolve()
    for part in ("db", "logs"):
        if home / part in root.parents:
            remove(root)
            raise StoreError(f"the temporary folder {root} lies in the store; set TMPDIR to another place")


def tape_for(fields: Mapping[str, Any], access: DataAccess, data: Path | None = None, network: bool = False) -> Tape:
    """The bars of a decoded record, hash-verified: from ``data``, the store, or the record's own source.

    MissingError: not to be found, or ``access`` gives none; else as :func:`backtrader_bench.market.pins.find`.
    """
    from backtrader_bench.market import pins

    if access != "prices":
        raise MissingError(f"--data-access {access} gives no prices")
    if is_published(fields):
        config = fields.get("config")
        config = config if isinstance(config, dict) else {}
        symbol = str(config.get("symbol") or "")
        if data is None:
            raise MissingError(f"a published record names no tape: give {symbol}'s prices with --data")
        return pins.read_window(data, symbol, config.get("start_date"), config.get("end_date"))
    record = to_question(fields, f"question {str(fields.get('id'))[:12]}")
    config = record.config
    symbol, start, end = str(config.get("symbol") or ""), config.get("start_date"), config.get("end_date")
    return pins.find(record.tape, symbol, start, end, data, network)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, read-only folders included; what can't be removed stays."""

    def force(function: Callable[..., Any], path: str, _: Any) -> None:
        # An agent may have taken write permission from a folder of its own.
        with contextlib.suppress(OSError):
            for one in (Path(path).parent, Path(path)):
                if (one == folder or folder in one.parents) and not one.is_symlink():
                    one.chmod(stat.S_IRWXU)
            if function in (os.unlink, os.rmdir):
                function(path)
            else:
                shutil.rmtree(path, ignore_errors=True)

    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder, onerror=force)
