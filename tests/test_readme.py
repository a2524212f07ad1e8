"""The commands that README.md shows run, and links lead somewhere (CONTRIBUTING has a test of its own)."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from backtrader_bench.cli.main import COMMANDS, run

CHECKOUT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
NETWORK = "yfinance"
SHORTER = {"--attempts 10": "--attempts 2", "rounds_10: 10 attempts": "rounds_2: 2 attempts"}
"""A session of ten attempts takes a minute; two show as much."""
RUN_ID = re.compile(r"(?:run|mining)_\d{8}_\d{6}")


class Command(NamedTuple):
    """One ``$`` line of a ```console block, with what stands under it."""

    line: str
    output: str

    @property
    def code(self) -> int:
        """The exit code that the output shown means."""
        return 2 if self.output.startswith("error: ") else int("wrong key" in self.output)


def tour() -> list[Command]:
    """The commands of the page but those of other programs and those that need the network, in order."""
    found = []
    text = (CHECKOUT / "README.md").read_text()
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            if line.startswith(("bench ", "sed ")) and NETWORK not in line:
                found.append(Command(line, output))
    return found


def words(line: str) -> list[str]:
    """The arguments of a command as the shell would hand them over, patterns filled in."""
    found: list[str] = []
    for ten, two in SHORTER.items():
        line = line.replace(ten, two)
    for word in shlex.split(line)[1:]:
        found += sorted(map(str, Path().glob(word))) if "*" in word else [word]
    return found


def price_file() -> str:
    """300 bars of a made-up symbol."""
    prices = [f"{50 + n % 9},{52 + n % 9},{49 + n % 9},{51 + n % 9},100" for n in range(300)]
    lines = [f"2020-{n // 28 + 1:02}-{n % 28 + 1:02},{price}" for n, price in enumerate(prices)]
    return "\n".join(["Date,Open,High,Low,Close,Volume", *lines]) + "\n"


def test_the_tour_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BENCH_HOME")
    (tmp_path / "prices").mkdir()
    (tmp_path / "prices" / "ABC.csv").write_text(price_file())
    (tmp_path / "bad.csv").write_text(price_file().replace("2020-01-02,51,53,50,52", "2020-01-02,51,53,50,nan"))
    for command in tour():
        if command.line.startswith("sed "):
            subprocess.run(command.line, shell=True, check=True)
            continue
        assert run(words(command.line)) == command.code, command.line
        told = capsys.readouterr()
        # Layout follows the terminal's width; the first line of what is shown does not.
        first = " ".join(RUN_ID.sub("ID", command.output.splitlines()[0]).split())
        for ten, two in SHORTER.items():
            first = first.replace(ten, two)
        assert first in " ".join(RUN_ID.sub("ID", told.out + told.err).split()), command.line


def test_the_tour_shows_every_command() -> None:
    text = (CHECKOUT / "README.md").read_text()
    for name in COMMANDS:
        assert f"bench {name}" in text


def test_the_first_screen_has_the_two_commands() -> None:
    screen = "\n".join((CHECKOUT / "README.md").read_text().splitlines()[:25])
    assert "./dev quickstart" in screen
    assert "./dev test" in screen


@pytest.mark.parametrize("page", PAGES)
def test_links_to_files_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (CHECKOUT / page).read_text()):
        assert (CHECKOUT / target).exists(), target


def test_code_names_in_contributing_exist() -> None:
    text = (CHECKOUT / "CONTRIBUTING.md").read_text()
    folders = "backtrader_bench|templates|mcq_builder|checker|tests|benchmarks"
    for target in re.findall(rf"`((?:{folders})/[\w/.]+)`", text):
        assert (CHECKOUT / target).exists(), target
