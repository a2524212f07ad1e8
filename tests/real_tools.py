"""The tools that read exports, pinned, each in its own environment, for tests marked ``real_tools``.

They are installed once into the cache folder of tests/real_clis.py (about 1.5 GB). ``BENCH_REAL_TOOLS=require``
installs them, and makes a failed installation a failed test; else a test runs only where its tool is installed already.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests.environments import make_environment
from tests.real_clis import CACHE, ENVIRON

PINS = {
    "inspect": ("inspect-ai==0.3.285",),
    "hf": ("datasets==5.2.0", "mlcroissant==1.1.1"),
    "lm-eval": ("lm-eval[api]==0.4.13",),
}


@dataclass(frozen=True)
class RealTool:
    """An installed tool."""

    python: Path

    @property
    def packages(self) -> Path:
        """Where its packages lie."""
        return next(self.python.parents[1].glob("lib/python*/site-packages"))

    def run(self, *argv: object, cwd: Path, code: int = 0) -> str:
        """Run the tool's Python with ``argv``, offline and in a home of its own; its output. Fails on another code."""
        home = cwd / "home"
        home.mkdir(exist_ok=True)
        path = f"{self.python.parent}:/usr/local/bin:/usr/bin:/bin"
        environ = {
            "PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1", "OPENAI_API_KEY": "sk-dummy", "no_proxy": "*",
        }  # fmt: skip
        words = [str(self.python), *map(str, argv)]
        done = subprocess.run(
            words, cwd=cwd, env=environ, capture_output=True, text=True, timeout=300, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        return done.stdout


@pytest.fixture(scope="session")
def real_tool() -> Callable[[str], RealTool]:
    """Gives the tool of a name in PINS."""
    return _tool


def _tool(name: str) -> RealTool:
    folder = CACHE / f"{name}-{'-'.join(PINS[name]).replace('[', '-').replace(']', '')}-py{sys.version_info.minor}"
    done, wish = folder / "installed", ENVIRON.get("BENCH_REAL_TOOLS", "")
    if wish == "off" or (wish != "require" and not done.exists()):
        pytest.skip(f"{name} is not installed; BENCH_REAL_TOOLS=require installs it")
    environ = {key: value for key, value in ENVIRON.items() if key != "PYTHONPATH"}
    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        with FileLock(CACHE / f"{name}.lock"):
            if not done.exists():
                make_environment(folder, PINS[name], environ)
                done.touch()
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", b"") or b""
        pytest.fail(f"{name} can't be installed: {error} {said.decode(errors='replace')[-1000:]}")
    return RealTool(folder / "bin" / "python")
