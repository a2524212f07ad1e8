"""CONTRIBUTING.md's examples work: in a copy of the checkout, with every block in the file it names."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKOUT = Path(__file__).resolve().parents[1]
TEXT = (CHECKOUT / "CONTRIBUTING.md").read_text()
SECTIONS = dict(re.findall(r"^## (Add a \w+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
ROOTS = ("backtrader_bench", "templates", "mcq_builder", "checker", "agents", "miner")


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)


def changed_checkout(section: str, folder: Path) -> Path:
    """A copy of the checkout with the section's blocks added."""
    for root in ROOTS:
        shutil.copytree(CHECKOUT / root, folder / root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "pyproject.toml", folder)
    for block in blocks(section, "python"):
        first, _, code = block.partition("\n")
        target = folder / first.removeprefix("# ")
        assert target.is_file(), first
        target.write_text(f"{target.read_text()}\n\n{code}")
    return folder


def bench_in(checkout: Path, work: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs ``bench ...`` lines from that checkout, with the installed dependencies only."""
    # -S drops site-packages with the installed backtrader_bench's finders; a plain path entry comes second.
    sites = [path for path in sys.path if path.endswith("site-packages")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": os.pathsep.join([str(checkout), *sites]), "BENCH_HOME": str(work)}

    def bench(line: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-S", "-m", "backtrader_bench", *shlex.split(line)[1:]]
        return subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, check=False)

    return bench


def test_the_page_has_the_three_examples() -> None:
    assert list(SECTIONS) == ["Add a strategy", "Add a template", "Add a source"]
    for section in SECTIONS:
        assert blocks(section, "python")
        assert blocks(section, "console")


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_the_example_works(section: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    prices = [[50 + n % 9, 52 + n % 9, 49 + n % 9, 51 + n % 9] for n in range(300)]
    rows = [[f"2020-{n // 28 + 1:02}-{n % 28 + 1:02}", *price, 100 * n] for n, price in enumerate(prices)]
    (work / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bench = bench_in(changed_checkout(section, tmp_path / "checkout"), work)
    for block in blocks(section, "console"):
        for line in block.splitlines():
            done = bench(line.removeprefix("$ "))
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_without_the_blocks_the_commands_are_refused(tmp_path: Path) -> None:
    # Else the examples would prove nothing.
    bench = bench_in(CHECKOUT, tmp_path)
    for section in SECTIONS:
        first = blocks(section, "console")[0].splitlines()[0].removeprefix("$ ")
        assert bench(first).returncode == 2
