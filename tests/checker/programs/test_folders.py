"""Folders of runs: counted and removed, whatever is in them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from backtrader_bench.checker.programs import folders


def test_a_folder_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(room)
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
            Path("file").touch()
    finally:
        os.fchdir(before)
        os.close(before)
    folders.remove(room)
    assert not list(tmp_path.iterdir())


def test_closed_folders_are_removed_and_what_links_lead_to_is_not(tmp_path: Path) -> None:
    outside, room = tmp_path / "outside", tmp_path / "room"
    (outside / "inner").mkdir(parents=True)
    (outside / "inner").chmod(0o500)
    (outside / "file").write_text("kept")
    (room / "closed" / "inner").mkdir(parents=True)
    (room / "closed" / "inner" / "file").touch()
    (room / "closed" / "link").symlink_to(outside)
    (room / "link").symlink_to(outside / "file")
    (room / "closed").chmod(0)
    folders.remove(room)
    assert not room.exists()
    room.symlink_to(outside)  # what a run may have put in its folder's place
    folders.remove(room)
    assert not room.is_symlink()
    assert (outside / "file").read_text() == "kept"
    assert stat.S_IMODE((outside / "inner").stat().st_mode) == 0o500


def test_what_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    folders.remove(tmp_path / "none")
    assert folders.used(tmp_path / "none") == 0


def test_all_that_is_in_a_folder_counts(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 1000)
    empty = folders.used(tmp_path)
    assert empty == 1000
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "two").write_bytes(b"x" * 500)
    (tmp_path / "inner" / "up").symlink_to("..")
    assert folders.used(tmp_path) == 1500 + (tmp_path / "inner").stat().st_size + 2
    if os.geteuid():
        (tmp_path / "inner").chmod(0o300)
        assert folders.used(tmp_path) > 1 << 60
        (tmp_path / "inner").chmod(0o700)
