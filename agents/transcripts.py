"""What is kept of one ask: the words it was put in, the reply in its normal form, and the program's raw files."""

from __future__ import annotations

import dataclasses
import json
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from backtrader_bench.agents import leftovers, process
from backtrader_bench.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backtrader_bench.agents.backend import Reply

SYSTEM, PROMPT, REPLY, NORMAL, FAULT = "system.txt", "prompt.txt", "reply.txt", "reply.json", "fault.txt"
"""Files of a transcript beside what the agent's program wrote."""
LEFT_OUT = "left_out.txt"
"""What of the program's files is not in the transcript, and why, by line; only where there is something to say."""
LARGEST = process.Caps().disk
"""Bytes of one raw file, or of all files of one folder."""


def new_folder(parent: Path) -> Path:
    """A new folder for one try, ``try1`` or the next number that is free. StoreError: it can't be made."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            with suppress(FileExistsError):
                (parent / f"try{number}").mkdir()
                return parent / f"try{number}"
            number += 1
    except OSError as error:
        raise StoreError(f"cannot create a folder in {parent}: {error.strerror}") from None


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Texts by file name. StoreError: the disk."""
    for name, text in files.items():
        try:
            (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")
        except OSError as error:
            raise StoreError(f"cannot write {folder / name}: {error.strerror}") from None


def copy(raw: Mapping[str, Path], folder: Path) -> None:
    """The raw files of a program into its transcript; the folders they lie in go with the workspace.

    What an agent left there is no reason to lose its answer or to stop: what can't be copied, is no regular file or
    beyond :data:`LARGEST` is named in :data:`LEFT_OUT`. StoreError: that can't be written.
    """
    odd = [line for name, path in raw.items() for line in leftovers.copy(path, folder, name, LARGEST)]
    if odd:
        write(folder, {LEFT_OUT: "".join(f"{line if line.isprintable() else repr(line)}\n" for line in odd)})


def normal_form(reply: Reply) -> str:
    """Everything of a reply but its text and files, as JSON."""
    left_out = ("text", "raw")
    fields = {one.name: getattr(reply, one.name) for one in dataclasses.fields(reply) if one.name not in left_out}
    return json.dumps(msgspec.to_builtins({**fields, "isolation": dict(reply.isolation)}), indent=2)
