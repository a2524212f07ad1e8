"""Where a command's output goes: bytes that nobody reads any more, and characters that a terminal can't show."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Forgiving(io.RawIOBase):
    """A stream that goes on without its reader (``bench db stats | head -1``): the rest goes nowhere.

    A command whose output was not read to the end has done its work all the same, and its exit code says how.
    """

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self.gone = False

    def write(self, data: ReadableBuffer, /) -> int | None:
        """As of any raw stream, but that a pipe without a reader takes everything."""
        try:
            return self._raw.write(data)
        except BrokenPipeError:
            self.gone = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """Of the stream behind it."""
        return self._raw.fileno()

    def isatty(self) -> bool:
        """Of the stream behind it."""
        return self._raw.isatty()


def make_safe() -> None:
    """Closed streams swallow what is written, readers may go away, and names that can't be shown come out escaped."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123 - it stays open to the end
            continue
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and isinstance(_raw(stream), io.FileIO):
            stream.flush()
            forgiving = _Forgiving(_raw(stream))
            # With PYTHONUNBUFFERED nothing stands between the text and the file.
            unbuffered = isinstance(stream.buffer, io.FileIO)
            safe = io.TextIOWrapper(
                forgiving if unbuffered else io.BufferedWriter(forgiving), encoding=stream.encoding,  # type: ignore[type-var]
                errors="backslashreplace", line_buffering=stream.line_buffering, write_through=stream.write_through,
            )  # fmt: skip
            setattr(sys, name, safe)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def reader_gone() -> bool:
    """Whether nobody reads stdout any more: what would go on for ever ends then."""
    raw = _raw(sys.stdout)
    return isinstance(raw, _Forgiving) and raw.gone


def _raw(stream: Any) -> Any:
    """What a text stream's bytes go to in the end."""
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)
