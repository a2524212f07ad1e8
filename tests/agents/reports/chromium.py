"""A headless Chromium driven over its debugging pipe: what a page asks for, logs, shows and looks like."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
WAIT = 60.0


def program() -> str | None:
    """Path of a Chromium, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One tab. ``requests`` and ``complaints`` (console, exceptions, blocked content) fill as it runs."""

    def __init__(self, chromium: str) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._folder = tempfile.mkdtemp(prefix="chromium-")
        self._process, self._write, self._read = _start(chromium, self._folder)
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *what: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its result; events that come meanwhile are noted."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def open(self, path: Path, hash: str = "") -> None:
        """Load a file from disk and wait until its script is through."""
        self.call("Page.navigate", url=path.absolute().as_uri() + hash)
        self.wait("document.readyState === 'complete' && typeof index !== 'undefined' && index !== undefined")
        self.settle()

    def run(self, code: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        found = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until ``condition`` holds in the page."""
        until = time.monotonic() + WAIT
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < until, f"never so: {condition}"
            time.sleep(0.05)

    def settle(self) -> None:
        """Two frames on, and events read."""
        self.run("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go, 50))))")

    def size(self, width: int, height: int = 900, dark: bool = False) -> None:
        """The window, and the system's colours."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True, fromSurface=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + WAIT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            assert ready, "Chromium is silent"
            data = os.read(self._read, 2**16)
            assert data, "Chromium ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(params["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(params["args"])[:500])
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])


def _start(chromium: str, folder: str) -> tuple[subprocess.Popen[bytes], int, int]:
    """The process, and our ends of its pipe: it reads commands from descriptor 3 and answers on 4."""
    their_read, our_write = os.pipe()
    our_read, their_write = os.pipe()

    def wire() -> None:
        # First out of the way: either end may itself be 3 or 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (their_read, their_write)]
        os.dup2(ends[0], 3)
        os.dup2(ends[1], 4)

    flags = (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
    )  # fmt: skip
    process = subprocess.Popen(
        [chromium, *flags, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, pass_fds=(3, 4), preexec_fn=wire, start_new_session=True,
    )  # fmt: skip
    os.close(their_read)
    os.close(their_write)
    return process, our_write, our_read
