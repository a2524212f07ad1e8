"""One backtest per distinct (configuration, tape, engine version), in memory and on disk."""

from __future__ import annotations

import hashlib
import inspect
from collections import OrderedDict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backtrader_bench import store
from backtrader_bench.backtest.result import BacktestSpec, Result
from backtrader_bench.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.market.tape import Tape

    Engine = Callable[[Tape, BacktestSpec], Result]


class Backtests:
    """Runs backtests in ``engine``, each distinct one once.

    ``folder`` keeps results between processes (None: memory only); it may be deleted at any time. An entry is named
    by engine version, tape hash and spec, carries its own checksum, and is computed again when either fails, so a
    stale or damaged entry can't answer. ``keep`` bounds the results held in memory.
    """

    def __init__(self, engine: Engine, name: str, folder: Path | None, keep: int = 64) -> None:
        self.engine = engine
        self.folder = folder / name if folder else None
        self.keep = keep
        self.runs = 0
        """Backtests computed here, not taken from memory or disk."""
        self._version = engine_version(engine)
        self._held: OrderedDict[str, Result] = OrderedDict()

    def run(self, tape: Tape, spec: BacktestSpec) -> Result:
        """The result of ``spec`` on ``tape``; errors are the engine's."""
        key = hashlib.sha256(f"{self._version} {tape.sha256} {spec.key}".encode()).hexdigest()
        result = self._held.get(key) or self._read(key)
        if result is None:
            result = self.engine(tape, spec)
            self.runs += 1
            self._write(key, result)
        self._held[key] = result
        self._held.move_to_end(key)
        if len(self._held) > self.keep:
            self._held.popitem(last=False)
        return result

    def _path(self, key: str) -> Path | None:
        return self.folder / key[:2] / f"{key}.msgpack" if self.folder else None

    def _read(self, key: str) -> Result | None:
        path = self._path(key)
        try:
            stored = path.read_bytes() if path else b""
            if hashlib.sha256(stored[32:]).digest() != stored[:32]:
                return None
            return msgspec.msgpack.decode(stored[32:], type=Result)
        except (OSError, msgspec.DecodeError):
            return None

    def _write(self, key: str, result: Result) -> None:
        path = self._path(key)
        if path is None:
            return
        body = msgspec.msgpack.encode(result)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            store.replace_file(path, hashlib.sha256(body).digest() + body)
        except (OSError, StoreError):
            # A cache that can't be written (read-only home, full disk) costs time, never an answer.
            self.folder = None


class Remembered:
    """Runs backtests in ``engine``, each distinct one once, in memory only and for as long as this object lives.

    Tapes are told apart as objects, so that nothing needs to be hashed: for hidden worlds, of which a question takes
    dozens.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._held: dict[tuple[int, str], tuple[Tape, Result]] = {}
        """With the tape, so that no other object can come to have its identity."""

    def run(self, tape: Tape, spec: BacktestSpec) -> Result:
        """The result of ``spec`` on ``tape``; errors are the engine's."""
        key = (id(tape), spec.key)
        if key not in self._held:
            self._held[key] = tape, self.engine(tape, spec)
        return self._held[key][1]


def engine_version(engine: Engine) -> str:
    """Digest of the code that computes: the engine's module, all beside and below it, and the libraries under it."""
    digest = hashlib.sha256()
    for source in sorted(Path(inspect.getfile(engine)).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    for library in ("backtrader", "numpy"):
        digest.update(f"{library} {version(library)}".encode())
    return digest.hexdigest()
