"""No variable of the user's reaches an agent but those that are named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from backtrader_bench.agents import environment, registry
from backtrader_bench.agents.ask import ask
from tests.agents.asking import ENVIRON, asking

USERS = {
    **ENVIRON, "HOME": "/home/someone", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "TERM": "xterm", "TZ": "UTC",
    "https_proxy": "http://proxy:1", "SSL_CERT_FILE": "/etc/ca.pem", "AWS_SECRET_ACCESS_KEY": "s3cret",
    "OPENAI_API_KEY": "sk-other", "MY_TOKEN": "t", "BENCH_HOME": "/store", "PYTHONPATH": "/x", "LD_PRELOAD": "/x.so",
    "LCX": "no", "MY_ONE": "1", "MY_TWO": "2",
}  # fmt: skip


def test_only_what_is_named(tmp_path: Path) -> None:
    found = environment.base(asking(tmp_path, environ=USERS), ["MY_ONE", "MY_TW*"], EXTRA="e")
    private = tmp_path / "private"
    assert found == {
        "PATH": ENVIRON["PATH"], "LANG": "de_DE.UTF-8", "LC_ALL": "C", "TERM": "xterm", "TZ": "UTC",
        "https_proxy": "http://proxy:1", "SSL_CERT_FILE": "/etc/ca.pem", "MY_ONE": "1", "MY_TWO": "2", "EXTRA": "e",
        "HOME": str(private / "home"), "TMPDIR": str(private / "tmp"),
    }  # fmt: skip
    assert (private / "home").is_dir()
    assert (private / "tmp").is_dir()


def test_with_tools_a_python_with_backtrader_is_first_on_the_path(tmp_path: Path) -> None:
    found = environment.base(asking(tmp_path, environ={}, mode="with-tools"))
    first, _, rest = found["PATH"].partition(":")
    assert rest == environment.DEFAULT_PATH
    assert sys.executable in (Path(first) / "python").read_text()


@pytest.mark.parametrize("bwrap", [None, ""], ids=["best room", "no bubblewrap"])
def test_what_a_program_really_gets(
    tmp_path: Path, bwrap: str | None, monkeypatch: pytest.MonkeyPatch, fresh_room: None
) -> None:
    if bwrap is not None:
        monkeypatch.setenv("BENCH_BWRAP", bwrap)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    dump = "command:python3 -c 'import os, json; print(json.dumps(dict(os.environ)))'"
    reply = ask(registry.parse(dump).backend, asking(tmp_path, model=dump.partition(":")[2], environ=USERS))
    assert reply.error is None, reply
    names = set(json.loads(reply.text)) - {"PWD", "LC_CTYPE", "SHLVL", "_", "OLDPWD"}
    assert names == {
        "PATH", "LANG", "LC_ALL", "TERM", "TZ", "https_proxy", "SSL_CERT_FILE", "HOME", "TMPDIR", "BENCH_MARK"
    }  # fmt: skip
