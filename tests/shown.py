"""The commands that pages show, as tests run them: parsed, shortened, and held against the output that is shown."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from backtrader_bench.cli.main import run

RUN_ID = re.compile(r"(?:run|mining)_\d{8}_\d{6}")


class Command(NamedTuple):
    """One ``$`` line of a ```console block, with what stands under it."""

    line: str
    output: str

    @property
    def code(self) -> int:
        """The exit code that the output shown means."""
        return 2 if self.output.startswith("error: ") else int("wrong key" in self.output)

    def replaced(self, parts: Mapping[str, str]) -> Command:
        """The same with ``parts`` of it replaced: what takes long as shown, or names what only a reader knows."""
        line, output = f"{self.line}\n", self.output
        for part, other in parts.items():
            line, output = line.replace(part, other), output.replace(part, other)
        return Command(line.rstrip("\n"), output)


def commands(text: str) -> list[Command]:
    """The commands of a page, in order."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            found.append(Command(line, output))
    return found


def words(line: str) -> list[str]:
    """The arguments of a command as the shell would hand them over, patterns filled in."""
    found: list[str] = []
    unquoted = set(line.split())
    for word in shlex.split(line)[1:]:
        found += sorted(map(str, Path().glob(word))) if "*" in word and word in unquoted else [word]
    return found


def play(command: Command, told: pytest.CaptureFixture[str], codes: Iterable[int] = ()) -> str:
    """Run a command in the current folder and hold it to its exit code and the first line shown; what it printed.

    ``bench`` runs in this process, since starting it would take most of the time, anything else in a shell.
    """
    told.readouterr()
    if command.line.startswith("bench "):
        code = run(words(command.line))
        out, err = told.readouterr()
    else:
        done = subprocess.run(
            command.line, shell=True, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        code, out, err = done.returncode, done.stdout, done.stderr
    assert code in (tuple(codes) or (command.code,)), f"{command.line}\n{out[-2000:]}\n{err[-2000:]}"
    if command.output:
        # Layout follows the terminal's width; the first line of what is shown does not.
        assert _plain(command.output.splitlines()[0]) in _plain(out + err), command.line
    return out + err


def _plain(text: str) -> str:
    return " ".join(RUN_ID.sub("ID", text).split())
