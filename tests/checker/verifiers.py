"""The suite of verifiers, faulty and clean, and the things outside that a harmful one goes for.

Each is a file of ``tests/data/verifiers``. What a faulty one is caught by stands in its head: ``# source: REASON`` by
its source, ``# runs: REASON...`` by its runs, any of these; ``# harmful`` marks what must not run without a sandbox,
``# not run`` what is caught by its source alone.
"""

from __future__ import annotations

import os
import re
import resource
import secrets
import signal
import socket
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "verifiers"


@dataclass(frozen=True)
class Case:
    """One program of the suite."""

    name: str
    code: str
    faulty: bool
    source: frozenset[str]
    """Reasons that its source gives; any of them will do."""
    runs: frozenset[str]
    harmful: bool
    runnable: bool


def cases(kind: str) -> list[Case]:
    """All of a kind, ``faulty`` or ``clean``."""
    return [_case(path, kind == "faulty") for path in sorted((FOLDER / kind).glob("*.py"))]


def _case(path: Path, faulty: bool) -> Case:
    code = path.read_text()
    return Case(
        name=path.stem,
        code=code,
        faulty=faulty,
        source=_head(code, "source"),
        runs=_head(code, "runs"),
        harmful=bool(re.search(r"^# harmful", code, re.MULTILINE)),
        runnable=not re.search(r"^# not run", code, re.MULTILINE),
    )


def _head(code: str, name: str) -> frozenset[str]:
    found = re.search(rf"^# {name}: (.*)$", code, re.MULTILINE)
    return frozenset(found.group(1).split()) if found else frozenset()


class Outside:
    """A store with a secret, a service on loopback, a process to kill; and whether anything happened to them."""

    def __init__(self, folder: Path) -> None:
        self.secret = secrets.token_hex(12)
        self.store = folder / "store" / "mcq.jsonl"
        self.store.parent.mkdir()
        self.store.write_text(self.secret)
        self.written = folder / "written"
        self.notes = [Path(place) / f"bench-note-{self.secret[:8]}" for place in ("/tmp", "/dev/shm")]
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        for service in (self.tcp, self.udp):
            service.setblocking(False)
        # A stand-in for the process that runs us: it holds a key, and ends with our end of its pipe.
        self.bystander = subprocess.Popen(["cat"], env={"ANTHROPIC_API_KEY": self.secret}, stdin=subprocess.PIPE)
        self.before = self._state()
        self.key = os.environ.get("ANTHROPIC_API_KEY")
        os.environ["ANTHROPIC_API_KEY"] = self.secret

    def __enter__(self) -> Outside:
        return self

    def __exit__(self, *_: object) -> None:
        self.tcp.close()
        self.udp.close()
        self.bystander.communicate()
        for note in self.notes:
            note.unlink(missing_ok=True)
        del os.environ["ANTHROPIC_API_KEY"]
        if self.key is not None:
            os.environ["ANTHROPIC_API_KEY"] = self.key

    def told(self, case: Case) -> Case:
        """The program with the places filled in that it goes for."""
        places = {
            "@STORE@": str(self.store),
            "@OUTSIDE@": str(self.written),
            "@PORT@": str(self.port),
            "@PARENT@": str(self.bystander.pid),
            "@TOKEN@": self.secret[:8],
        }
        code = case.code
        for place, value in places.items():
            code = code.replace(place, value)
        return replace(case, code=code)

    def harm(self, output: str) -> list[str]:
        """What was done to it, or told in ``output``, since the last look."""
        found = []
        if self.secret in output:
            found.append("a secret was read")
        if not self.store.exists() or self.store.read_text() != self.secret:
            found.append("the store was changed")
        if self._state() != self.before:
            found.append("permissions or times of the store, or limits or priority of a process, were changed")
            self.before = self._state()
        if self.written.exists() or any(note.exists() for note in self.notes):
            found.append("a file was written outside")
        if self.bystander.poll() is not None:
            found.append(f"a process was ended by {signal.Signals(-self.bystander.returncode).name}")
        found += ["the network was reached"] * self._reached()
        return found

    def _state(self) -> tuple[object, ...]:
        status, pid = self.store.stat(), self.bystander.pid
        try:
            of_process = [resource.prlimit(pid, kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_NPROC)]
            return status.st_mode, status.st_mtime_ns, of_process, os.getpriority(os.PRIO_PROCESS, pid)
        except ProcessLookupError:
            return status.st_mode, status.st_mtime_ns

    def _reached(self) -> bool:
        for take in (self.tcp.accept, lambda: self.udp.recv(100)):
            try:
                take()
            except BlockingIOError:
                continue
            return True
        return False
