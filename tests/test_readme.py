"""The commands that README.md shows run, and links lead somewhere (CONTRIBUTING has a test of its own)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backtrader_bench.cli.main import COMMANDS
from tests.shown import Command, commands, play

CHECKOUT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
NETWORK = "yfinance"
SHORTER = {"--attempts 10": "--attempts 2", "rounds_10: 10 attempts": "rounds_2: 2 attempts"}
"""A session of ten attempts takes a minute; two show as much."""


def tour() -> list[Command]:
    """The commands of the page but those of other programs and those that need the network, in order."""
    found = commands((CHECKOUT / "README.md").read_text())
    ours = [one for one in found if one.line.startswith(("bench ", "sed ")) and NETWORK not in one.line]
    return [one.replaced(SHORTER) for one in ours]


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
        play(command, capsys)


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
