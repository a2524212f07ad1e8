"""What an agent's process finds in its environment: an allow-list, never the user's whole environment."""

from __future__ import annotations

import shlex
import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from backtrader_bench.agents.backend import Ask

ALWAYS = ("PATH", "LANG", "LC_*", "TERM", "TZ")
NETWORK = (
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
"""Proxies and certificate authorities: without them nothing reaches a vendor from inside many networks."""
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def base(ask: Ask, allowed: Iterable[str] = (), **more: str) -> dict[str, str]:
    """The whole environment of one attempt's process: what :data:`ALWAYS`, :data:`NETWORK` and ``allowed`` name (a
    name may end in ``*``), ``HOME`` and ``TMPDIR`` in the attempt's private folder, and ``more``.

    With tools, ``python`` comes first on the PATH as the interpreter that runs this program: it has backtrader.
    """
    chosen = {"PATH": DEFAULT_PATH, **select(ask.environ, (*ALWAYS, *NETWORK, *allowed))}
    home, temporary = ask.private / "home", ask.private / "tmp"
    for folder in (home, temporary):
        folder.mkdir(parents=True, exist_ok=True)
    if ask.mode == "with-tools":
        chosen["PATH"] = f"{_interpreter(ask.private / 'bin')}:{chosen['PATH']}"
    return {**chosen, "HOME": str(home), "TMPDIR": str(temporary), **more}


def _interpreter(folder: Path) -> Path:
    """``folder`` with ``python`` and ``python3``: scripts, as a link would not find its virtual environment."""
    folder.mkdir(exist_ok=True)
    for name in ("python", "python3"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        script.chmod(0o755)
    return folder


def select(environ: Mapping[str, str], patterns: Iterable[str]) -> dict[str, str]:
    """The variables whose name is one of ``patterns``, or begins as one that ends in ``*``."""
    wanted = tuple(patterns)
    return {name: value for name, value in environ.items() if any(fnmatchcase(name, one) for one in wanted)}
