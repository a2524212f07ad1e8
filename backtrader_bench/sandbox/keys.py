"""Whether what is shown in a room holds the keys."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from backtrader_bench import store


def keys_shown(shown: Iterable[Path]) -> tuple[Path, Path] | None:
    """The first of ``shown`` that holds a folder of the store or lies in one, and that folder; None when none does.

    Whether the folder is there yet does not matter: it will be. Links are followed on both sides, those within the
    store included.
    """
    home = store.home()
    kept = [home / "db", home / "logs", *(home / "db" / name for name in sorted(store.FOLDERS))]
    real = list(dict.fromkeys(path.resolve() for path in kept))
    for path in dict.fromkeys(shown):
        there = path.resolve()
        for folder in real:
            if folder.is_relative_to(there) or there.is_relative_to(folder):
                return path, folder
    return None
