"""The commands that the pages show run, and end as shown."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from backtrader_bench.cli.main import COMMANDS, run

CHECKOUT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md")
NETWORK = "yfinance"


class Block(NamedTuple):
    """The ``bench`` lines of one ```console block, run one after another."""

    page: str
    line: int
    commands: tuple[str, ...]


def blocks() -> list[Block]:
    """Every block with a ``bench`` line that needs no network."""
    found = []
    for page in PAGES:
        text = (CHECKOUT / page).read_text()
        for match in re.finditer(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            joined = match[1].replace("\\\n", " ")
            commands = tuple(line[2:] for line in joined.splitlines() if line.startswith("$ bench "))
            commands = tuple(command for command in commands if NETWORK not in command)
            if commands:
                found.append(Block(page, text.count("\n", 0, match.start()) + 1, commands))
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for a whole page's tour, so that a later block may use what an earlier one made."""
    folder = tmp_path_factory.mktemp("tour")
    prices = [f"{50 + n % 9},{52 + n % 9},{49 + n % 9},{51 + n % 9},100" for n in range(300)]
    lines = [f"2020-{n // 28 + 1:02}-{n % 28 + 1:02},{price}" for n, price in enumerate(prices)]
    (folder / "prices").mkdir()
    (folder / "prices" / "ABC.csv").write_text("Date,Open,High,Low,Close,Volume\n" + "\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("block", blocks(), ids=lambda block: f"{block.page}:{block.line}")
def test_the_commands_run(block: Block, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.delenv("BENCH_HOME")
    for command in block.commands:
        command, _, _ = command.partition(" | ")
        words = [name for word in shlex.split(command, comments=True)[1:] for name in expanded(word)]
        assert run(words) == 0, command


def expanded(word: str) -> list[str]:
    """What a shell makes of ``word``: the files it matches."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def test_the_tour_shows_every_command() -> None:
    text = (CHECKOUT / "README.md").read_text()
    for name in COMMANDS:
        assert f"bench {name}" in text


def test_the_first_screen_has_the_two_commands() -> None:
    screen = "\n".join((CHECKOUT / "README.md").read_text().splitlines()[:25])
    assert "./dev quickstart" in screen
    assert "./dev test" in screen


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_links_to_files_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (CHECKOUT / page).read_text()):
        assert (CHECKOUT / target).exists(), target


def test_code_names_in_contributing_exist() -> None:
    text = (CHECKOUT / "CONTRIBUTING.md").read_text()
    folders = "backtrader_bench|templates|mcq_builder|checker|tests|benchmarks"
    for target in re.findall(rf"`((?:{folders})/[\w/.]+)`", text):
        assert (CHECKOUT / target).exists(), target
