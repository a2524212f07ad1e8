"""What a wheel holds, and that every way to install (or not to) imports the right copy."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import backtrader_bench

CHECKOUT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["setuptools"]["packages"]
PLACES: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
ROOTS = sorted({place.split("/")[0] for place in PLACES.values()})


def dotted(folder: Path) -> str:
    """The import name of a package folder of the checkout."""
    parts = folder.relative_to(CHECKOUT).parts
    return ".".join(parts if parts[0] == "backtrader_bench" else ("backtrader_bench", *parts))


def modules() -> list[str]:
    """The import name of every module of the checkout."""
    files = [file for root in ROOTS for file in (CHECKOUT / root).rglob("*.py")]
    return sorted(dotted(file.parent if file.stem == "__init__" else file.with_suffix("")) for file in files)


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [str(part) for part in command]
    environment = clean | environment
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_the_list_of_packages_is_the_list_of_folders() -> None:
    # An unlisted package works in an editable install and is missing from the wheel.
    folders = {dotted(file.parent) for root in ROOTS for file in (CHECKOUT / root).rglob("__init__.py")}
    assert folders == set(PACKAGES)
    loose = {file.parent for root in ROOTS for file in (CHECKOUT / root).rglob("*.py")}
    assert {dotted(folder) for folder in loose} == set(PACKAGES)


@pytest.mark.parametrize("name", modules())
def test_every_module_imports(name: str) -> None:
    if name != "backtrader_bench.__main__":
        importlib.import_module(name)


@pytest.mark.parametrize("name", PACKAGES)
def test_the_copy_under_test_is_the_one_that_was_asked_for(name: str) -> None:
    asked = os.environ.get("BENCH_INSTALL")
    if asked is None:
        pytest.skip("set by ./dev test")
    file = Path(importlib.import_module(name).__file__ or "")
    inside = CHECKOUT in file.parents and ".venv" not in str(file.relative_to(CHECKOUT))
    assert inside == (asked == "editable"), file


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fresh wheel and sdist, built from a copy so that the checkout stays clean."""
    pytest.importorskip("setuptools", "77")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for root in ROOTS:
        shutil.copytree(CHECKOUT / root, source / root, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, source)
    code = f"from setuptools import build_meta as b; d = {str(target)!r}; b.build_sdist(d); b.build_wheel(d)"
    done = run(sys.executable, "-c", code, cwd=source)
    assert done.returncode == 0, done.stderr
    return target


def test_the_wheel_holds_every_package_and_nothing_at_the_top(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"backtrader_bench"}
    wanted = {"/".join(name.split(".")) + "/__init__.py" for name in PACKAGES}
    assert wanted <= set(names)
    data = {f"backtrader_bench/market/bundled/{file.name}" for file in bundled()}
    folders = ("agents/reports/page", "mcq_builder/pages/files")
    pages = {f"backtrader_bench/{folder}/{file.name}" for folder in folders for file in (CHECKOUT / folder).iterdir()}
    assert len(pages) > 3 and data | pages | {"backtrader_bench/py.typed"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    last = [name.split("/")[-1] for name in names]
    assert not [name for name in last if name.startswith(("test_", "conftest")) or name.endswith(".pyc")]


def bundled() -> list[Path]:
    files = [file for file in (CHECKOUT / "backtrader_bench/market/bundled").iterdir() if file.is_file()]
    assert files
    return files


def test_the_bundled_data_is_small(built: Path) -> None:
    assert sum(file.stat().st_size for file in bundled()) < 400 * 1024
    assert next(built.glob("*.whl")).stat().st_size < 1024 * 1024


def test_the_sdist_holds_what_a_build_needs(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    wanted = {f"{root}/__init__.py" for root in ROOTS} | {"pyproject.toml", "LICENSE", "README.md"}
    assert wanted | {f"backtrader_bench/market/bundled/{file.name}" for file in bundled()} <= names


def test_a_wheel_runs_by_itself(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path)
    done = run(sys.executable, "-c", "import backtrader_bench.agents as a; print(a.__file__)", cwd=tmp_path)
    assert Path(done.stdout.strip()) == tmp_path / "backtrader_bench" / "agents" / "__init__.py", done.stderr


def test_an_uninstalled_checkout_works(tmp_path: Path) -> None:
    """``python -m backtrader_bench`` in a checkout, where only the dependencies are installed."""
    # -S drops site-packages, and an editable install's finders with it; the dependencies come back by path.
    sites = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    for root in ROOTS:
        shutil.copytree(CHECKOUT / root, tmp_path / root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    done = run(sys.executable, "-S", "-m", "backtrader_bench", "--version", cwd=tmp_path, PYTHONPATH=sites)
    assert (done.stdout, done.stderr) == (f"bench, version {backtrader_bench.__version__}\n", "")
    code = "import backtrader_bench.agents as agents; print(agents.__file__)"
    done = run(sys.executable, "-S", "-c", code, cwd=tmp_path, PYTHONPATH=sites)
    assert Path(done.stdout.strip()) == tmp_path / "agents" / "__init__.py", done.stderr
