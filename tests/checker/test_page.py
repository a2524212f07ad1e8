"""The oracles against docs/templates.md: the same templates, tiers and parameters."""

from __future__ import annotations

import re
from pathlib import Path

from backtrader_bench.checker.oracles import ORACLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "templates.md"


def test_the_oracles_are_the_templates_of_the_page() -> None:
    tier, found = "", {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            tier = line[3:].lower()
        cells = [cell.strip() for cell in line.split("|")]
        if tier in ("easy", "medium", "hard") and len(cells) > 4 and cells[1].startswith("`"):
            # Words in brackets after a parameter list its values.
            names = re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", cells[2]))
            found[cells[1].strip("`")] = (tier, tuple(names))
    assert found == {name: (oracle.tier, oracle.asks) for name, oracle in ORACLES.items()}
