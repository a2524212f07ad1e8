"""What a sandbox must show for a program to run."""

from __future__ import annotations

from pathlib import Path

from backtrader_bench.agents.locate import installation, which


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_program_alone(tmp_path: Path) -> None:
    path = program(tmp_path / "tools" / "agent")
    (tmp_path / "tools" / "secrets").write_text("x")
    assert installation(path) == (path,)
    assert installation(Path("/usr/bin/env")) == ()


def test_links_are_followed_and_libraries_come_along(tmp_path: Path) -> None:
    target = program(tmp_path / "node" / "lib" / "pkg" / "cli.js")
    link = tmp_path / "node" / "bin" / "agent"
    link.parent.mkdir()
    link.symlink_to("../lib/pkg/cli.js")
    outer = tmp_path / "home" / "agent"
    outer.parent.mkdir()
    outer.symlink_to(link)
    assert installation(outer) == (outer, link, tmp_path / "node" / "lib", target)


def test_a_virtual_environment_with_its_base(tmp_path: Path) -> None:
    base = program(tmp_path / "base" / "bin" / "python3")
    (tmp_path / "base" / "lib").mkdir()
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    python.symlink_to(base)
    assert installation(python) == (tmp_path / "venv", base, tmp_path / "base" / "lib")


def test_a_shim_with_its_manager(tmp_path: Path) -> None:
    assert installation(program(tmp_path / "pyenv" / "shims" / "python3")) == (tmp_path / "pyenv",)


def test_programs_are_looked_for_on_the_users_path(tmp_path: Path) -> None:
    path = program(tmp_path / "agent")
    assert which("agent", {"PATH": str(tmp_path)}) == path
    assert which(str(path), {"PATH": ""}) == path
    assert which("agent", {"PATH": "/usr/bin"}) is None
