"""Canaries: found whole, in part, in any case, across the edges of what is read at a time; and nowhere else."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from backtrader_bench.agents.exports import canary
from backtrader_bench.cli.main import run
from backtrader_bench.errors import StoreError
from tests.agents.exports.made import bank, export

ONE = "backtrader-bench-canary-0f8fad5b-d9cb-469f-a165-70867728950e"


def test_made_ones_differ_and_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert run(["canary", "make"]) == 0
    made = capsys.readouterr().out.split()
    assert len(set(made)) == 2 and all(canary.ANY.fullmatch(one.encode()) for one in made)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "reply.txt").write_text(f"first line\nthe file says {made[0].upper()}.\n{made[1]}")
    (tmp_path / "clean.txt").write_text("backtrader-bench-canary-")
    assert run(["canary", "find", str(tmp_path), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["files"] == 2
    assert [(one["line"], one["canary"].lower()) for one in said["finds"]] == [(2, made[0]), (3, made[1])]
    assert run(["canary", "find", str(tmp_path / "clean.txt")]) == 0


@pytest.mark.parametrize("before", [0, canary.CHUNK - 30, canary.CHUNK - 1, canary.CHUNK, 2 * canary.CHUNK - 10])
def test_one_on_an_edge_is_found_once_with_its_line(before: int, tmp_path: Path) -> None:
    lines = before // 64
    text = ("x" * 63 + "\n") * lines + "y" * (before - 64 * lines) + ONE + "z" * 3_000_000
    (tmp_path / "big.txt").write_text(text)
    found, files = canary.find([tmp_path])
    assert files == 1
    assert [(one.line, one.canary) for one in found] == [(lines + 1, ONE)]


def test_the_random_part_alone_is_enough_where_it_is_known(tmp_path: Path) -> None:
    (tmp_path / "reply.txt").write_text(f"I recall {ONE.removeprefix(canary.PREFIX).upper()}")
    assert canary.find([tmp_path])[0] == []
    assert len(canary.find([tmp_path], [ONE])[0]) == 1
    assert canary.find([tmp_path], ["another canary of ours"])[0] == []


def test_those_of_an_export_are_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export("csv", bank(tmp_path / "bank.jsonl"), tmp_path / "out", canary="our own canary 7f3a")
    (tmp_path / "reply.txt").write_text("nothing\nOur own canary 7F3A")
    assert run(["canary", "find", str(tmp_path / "reply.txt"), "--from", str(tmp_path / "out")]) == 1
    assert "line 2" in capsys.readouterr().out
    assert run(["canary", "find", str(tmp_path / "reply.txt"), "--from", str(tmp_path / "bank.jsonl")]) == 2
    assert run(["canary", "find", str(tmp_path / "gone")]) == 2
    assert run(["canary", "find", str(tmp_path), "--canary", "a"]) == 2
    assert len(re.findall(r"^error: ", capsys.readouterr().err, re.MULTILINE)) == 3


def test_a_pipe_that_nobody_writes_to_is_refused_and_one_of_the_shells_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(StoreError, match="no file or folder"):
            canary.find([path])
    reader, writer = os.pipe()
    text = canary.make()
    os.write(writer, f"x {text}".encode())
    os.close(writer)
    try:
        found, files = canary.find([Path(f"/dev/fd/{reader}")])
    finally:
        os.close(reader)
    assert [one.canary for one in found] == [text] and files == 1
