"""The real agent programs, pinned, for tests marked ``real_cli``; and stand-ins for the endpoints that they ask.

They are installed once into a cache folder (``BENCH_TEST_CACHE``, else below the user's cache folder; about 1 GB).
``BENCH_REAL_CLI=require`` makes a failed installation a failed test instead of a skipped one, ``all`` also plays every
case of long sessions, ``off`` skips outright.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from backtrader_bench.agents.backend import Backend
from backtrader_bench.agents.registry import get
from tests.environments import make_environment, run
from tests.stubs.server import StubServer

# As they were before any test got a home folder of its own: the package managers' settings may be there.
ENVIRON = dict(os.environ)
CACHE = Path(ENVIRON.get("BENCH_TEST_CACHE") or Path.home() / ".cache" / "backtrader-bench-tests")
NPM = {
    "claude": "@anthropic-ai/claude-code@2.1.197",
    "codex": "@openai/codex@0.171.0",
    "copilot": "@github/copilot@1.0.102",
}
SDK = "cursor-sdk==1.1.0"


@dataclass(frozen=True)
class RealCli:
    """One installed agent."""

    name: str
    program: Path
    model: str

    @property
    def backend(self) -> Backend:
        """As it is registered."""
        return get(self.name)

    def environ(self, url: str, home: Path) -> dict[str, str]:
        """A user's environment in which this agent asks the stub at ``url``, with keys that open nothing."""
        common = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(home)}
        own = {
            "claude": {"ANTHROPIC_API_KEY": "sk-ant-dummy", "ANTHROPIC_BASE_URL": url},
            "codex": {"OPENAI_API_KEY": "sk-dummy", "OPENAI_BASE_URL": f"{url}/v1"},
            "copilot": {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
                "COPILOT_PROVIDER_API_KEY": "sk-dummy",
            },
            "cursor": {"CURSOR_API_KEY": "key-dummy", "CURSOR_BACKEND_URL": url, "CURSOR_WEBSITE_URL": url},
        }[self.name]
        return common | own | {f"BENCH_{self.name.upper()}": str(self.program)}


MODELS = {"claude": "claude-sonnet-4-5", "codex": "gpt-5.5", "copilot": "stub-model", "cursor": "stub-model"}


@pytest.fixture(scope="session")
def real_clis() -> Mapping[str, RealCli]:
    """claude, codex, copilot and cursor by name."""
    wish = ENVIRON.get("BENCH_REAL_CLI", "")
    if wish == "off":
        pytest.skip("BENCH_REAL_CLI=off")
    try:
        return installed(*MODELS)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", b"") or b""
        reason = f"the real agents can't be installed: {error} {said.decode(errors='replace')[-1000:]}"
        if wish in ("require", "all"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture
def stubs() -> Iterator[Callable[..., StubServer]]:
    """Starts stub servers, with shell commands for cases of the test's own; they are closed with the test."""
    started: list[StubServer] = []

    def start(commands: Mapping[str, str] | None = None) -> StubServer:
        started.append(StubServer(commands))
        return started[-1]

    yield start
    for server in started:
        server.close()


def installed(*names: str) -> dict[str, RealCli]:
    """These agents, installed where they are not yet. OSError, SubprocessError: they can't be."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE / "install.lock"):
        return {name: RealCli(name, _installed(name), MODELS[name]) for name in names}


def _installed(name: str) -> Path:
    pin = NPM.get(name, SDK)
    folder = CACHE / pin.replace("/", "-").lstrip("@")
    if name == "cursor":
        folder = folder.with_name(f"{folder.name}-{sys.version_info.major}.{sys.version_info.minor}")
    program = folder / ("bin/python" if name == "cursor" else f"node_modules/.bin/{name}")
    done = folder / "installed"
    if not done.exists():
        if name == "cursor":
            make_environment(folder, (pin,), ENVIRON)
        else:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--loglevel", "error")
            run("npm", "install", "--prefix", str(folder), *quiet, pin, environ=ENVIRON)
        done.touch()
    return program
