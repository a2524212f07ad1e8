"""Who may import whom, read from the source, and what `bench --help` loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
OUTER = ("templates", "mcq_builder", "checker", "agents", "miner")
# folder -> what it may import beside itself; the spine is everything in backtrader_bench/ but api and cli.
MAY_IMPORT: dict[str, set[str]] = {
    "spine": set(),
    "templates": {"spine"},
    "checker": {"spine"},
    "mcq_builder": {"spine", "templates", "checker"},
    "agents": {"spine", "templates", "checker", "mcq_builder"},
    "miner": {"spine", "templates", "checker", "mcq_builder", "agents"},
    "api": {"spine", *OUTER},
    "cli": {"spine", *OUTER, "api"},
}
START_UP = {"backtrader_bench", "click", "__main__", "_distutils_hack"}
SOURCES = sorted(file for root in ("backtrader_bench", *OUTER) for file in (CHECKOUT / root).rglob("*.py"))


def module_of(file: Path) -> str:
    """The import name of a source file."""
    parts = list(file.relative_to(CHECKOUT).with_suffix("").parts)
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts if parts[0] == "backtrader_bench" else ["backtrader_bench", *parts])


def layer_of(module: str) -> str:
    """The folder a module of ours belongs to, as the direction counts it."""
    return next((name for name in (*OUTER, "api", "cli") if name in module.split(".")[1:2]), "spine")


@cache
def imports_of(file: Path) -> frozenset[str]:
    """Every module that ``file`` imports anywhere, functions and type-checking blocks included.

    ``from package import name`` counts as ``package`` and, where that is a module, as ``package.name``.
    """
    known = {module_of(source) for source in SOURCES}
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & known
            whole = len(inner) == len(node.names) or node.module == "backtrader_bench"
            found.update(inner if inner and whole else inner | {node.module or ""})
    return frozenset(found)


def ours(file: Path) -> set[str]:
    return {name for name in imports_of(file) if name.split(".")[0] == "backtrader_bench"}


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(CHECKOUT)))
def test_the_direction_holds(file: Path) -> None:
    mine = layer_of(module_of(file))
    exempt = {"backtrader_bench.cli.main"} if file.name == "__main__.py" else set()
    used = {layer_of(name) for name in ours(file) - exempt} - {mine}
    assert used <= MAY_IMPORT[mine], f"{mine} imports {used - MAY_IMPORT[mine]}"


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(CHECKOUT)))
def test_nothing_of_ours_is_imported_by_a_bare_name(file: Path) -> None:
    assert not {name.split(".")[0] for name in imports_of(file)} & set(OUTER)


def test_the_checker_takes_only_types_runs_and_cache_from_backtest() -> None:
    allowed = {f"backtrader_bench.backtest.{name}" for name in ("result", "run", "cache")}
    for file in SOURCES:
        if layer_of(module_of(file)) == "checker":
            used = {name for name in ours(file) if name.startswith("backtrader_bench.backtest")}
            assert used <= allowed, f"{file}: {used - allowed}"


def reached(start: set[str]) -> set[str]:
    """Modules that ``start`` imports, or anything of ours that it imports, packages' own code included."""
    by_name = {module_of(file): file for file in SOURCES}
    seen: set[str] = set()
    todo = set(start)
    while todo:
        name = todo.pop()
        seen.add(name)
        parents = {name.rsplit(".", 1)[0]} if "." in name else set()
        todo |= ((imports_of(by_name[name]) if name in by_name else frozenset()) | parents) - seen
    return seen


def test_the_second_engine_and_the_oracles_never_meet_backtrader() -> None:
    own = {
        module_of(file)
        for file in SOURCES
        if module_of(file).startswith(("backtrader_bench.checker.engine", "backtrader_bench.checker.oracles"))
    }
    assert own
    banned = {"backtrader", "backtrader_bench.backtest.run", "backtrader_bench.backtest.strategies"}
    assert not reached(own) & banned


def test_help_loads_only_click_and_the_standard_library() -> None:
    code = (
        "import sys\n"
        "from backtrader_bench.cli.main import run\n"
        "assert run(['--help']) == 0\n"
        "print('MODULES', *{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rsplit("MODULES ", 1)[1].split())
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*{name.split('.')[0] for name in sys.modules})"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    # What a bare interpreter loads (editable finders, coverage hooks) is not ours.
    extra = loaded - set(bare.stdout.split()) - set(sys.stdlib_module_names) - START_UP
    assert not extra
