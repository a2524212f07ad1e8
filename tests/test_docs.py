"""Every command and option stands in README or docs, on a page that names the command; links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from backtrader_bench.cli import configuration
from backtrader_bench.cli.main import COMMANDS, cli

CHECKOUT = Path(__file__).resolve().parents[1]
PAGES = {path: path.read_text() for path in (CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md")))}


def every_command() -> dict[str, click.Command]:
    """``bench db check`` -> its command, groups included."""
    found: dict[str, click.Command] = {}

    def add(words: str, command: click.Command) -> None:
        found[words] = command
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                add(f"{words} {name}", inner)

    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        add(f"bench {name}", command)
    return found


EVERY = every_command()


@pytest.mark.parametrize("words", EVERY)
def test_commands_and_options_are_documented(words: str) -> None:
    pages = "\n".join(text for text in PAGES.values() if re.search(rf"{words}\b", text))
    assert pages, f"no page names `{words}`"
    options = {f"--{configuration.flag(option)}" for option in configuration.settable(EVERY[words])}
    missing = {option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", pages)}
    assert not missing, f"no page that names `{words}` has these"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGES[page]):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_pages_show_have_the_options_that_they_are_shown_with(page: Path) -> None:
    for block in re.findall(r"^```console\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^\$ (bench .*)", block, re.MULTILINE):
            words = max((words for words in EVERY if re.match(rf"{words}\b", line)), key=len)
            known = {name for one in EVERY[words].params for name in one.opts} | {"--help", "--version"}
            if words == "bench config":  # what follows it are options of another command
                continue
            used = re.findall(r"(?<!\S)--[a-z][a-z-]*", line.partition("|")[0])
            assert set(used) <= known, line
