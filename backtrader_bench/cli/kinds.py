"""Kinds of text on a command line: what TAB offers for each, and what ``bench.toml`` may give. Only click is loaded.

None of them refuses a text: that is for the code behind the command, which knows what goes with what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.shell_completion import CompletionItem


class JsonObject(click.types.StringParamType):
    """A JSON object; in ``bench.toml`` a table."""

    name = "json"


class Day(click.types.StringParamType):
    """A date, YYYY-MM-DD; in ``bench.toml`` a date or such a text."""

    name = "date"


class Words(click.types.StringParamType):
    """One of some words, read where they are kept when TAB is pressed; with ``commas`` a list of them."""

    def __init__(self, read: Callable[[], Iterable[str]], *, commas: bool = False, files: bool = False) -> None:
        self.read = read
        self.commas = commas
        self.files = files
        """Whether a path may stand there as well."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The words that go on from what was typed; the shell's own files where none does and one may stand there."""
        from click.shell_completion import CompletionItem

        before, comma, typed = incomplete.rpartition(",") if self.commas else ("", "", incomplete)
        words = [word for word in self.read() if word.startswith(typed)]
        if self.files and (not words or not typed):
            return [*map(CompletionItem, words), CompletionItem(incomplete, type="file")]
        return [CompletionItem(before + comma + word) for word in words]


def strategies() -> list[str]:
    """Of ``--strategy``."""
    from backtrader_bench.backtest.strategies import REGISTRY

    return [*REGISTRY, "all"]


def templates() -> list[str]:
    """Of ``--template``."""
    from backtrader_bench.templates.registry import TEMPLATES

    return list(TEMPLATES)


def tiers() -> list[str]:
    """Of ``--difficulty``."""
    from backtrader_bench.templates.template import TIERS

    return [*TIERS, "all"]


def schemes() -> list[str]:
    """Of ``--scheme``."""
    return ["siblings", "diagnostic", "ladder", "published"]


def sizings() -> list[str]:
    """Of ``--sizing``."""
    return ["capped", "fixed"]


def worlds() -> list[str]:
    """Of ``--worlds``."""
    return ["resampled"]


def sources() -> list[str]:
    """Of ``--data`` where it names a source of bars."""
    return ["auto", "bundled", "synthetic", "csv:", "yfinance"]


def agents() -> list[str]:
    """Backends; a model may follow after a colon."""
    from backtrader_bench.agents.registry import BACKENDS

    return list(BACKENDS)


def generators() -> list[str]:
    """Of ``bench mine --generator-agent``."""
    return ["offline", *agents()]


def categories() -> list[str]:
    """Of mined questions."""
    from backtrader_bench.miner.categories import CATEGORIES

    return list(CATEGORIES)


def runs() -> list[str]:
    """Runs of the store, the newest first."""
    return ["last", *(name for name in names() if not name.startswith("mining_"))]


def sessions() -> list[str]:
    """Mining sessions, the newest first."""
    return ["last", *(name for name in names() if name.startswith("mining_"))]


def names() -> list[str]:
    """Both, as files of the store are named."""
    from backtrader_bench import store

    folders = (store.home() / "db" / name for name in ("attempts", "summary"))
    return sorted({path.stem for folder in folders for path in folder.glob("*.jsonl")}, reverse=True)
