"""An export's folder: written whole or not at all, with a manifest of its files, and read back."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrader_bench import store
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.records import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MANIFEST = "bench-export.json"
KIND = "backtrader-bench export"
EXPORT_VERSION = 1
NEW, OLD = ".export", ".old"
"""Ends of the names of a folder that is being written, and of one that makes room for it."""


def sweep(folder: Path) -> None:
    """Put right what killed exports left beside ``folder``.

    Unfinished folders go, and so do exports that were replaced. One that was put aside when nothing had taken its
    place yet comes back with the next export to that place.
    """
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link
    for left in store.left_behind(target.parent, OLD):
        mark = left.name.removesuffix(OLD).rpartition("-")[2]
        if mark in {_mark(one.name) for one in target.parent.iterdir()}:
            shutil.rmtree(left, ignore_errors=True)
        elif mark == _mark(target.name):
            with suppress(OSError):
                left.replace(target)
    for left in store.left_behind(target.parent, NEW):
        shutil.rmtree(left, ignore_errors=True)


def _mark(name: str) -> str:
    """Tells in the name of a folder that was put aside what it was called, however long that is."""
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:16]


def check_place(folder: Path, inputs: Iterable[Path], *, force: bool) -> str | None:
    """StoreError or UsageError when no export can be written there, or would replace one of ``inputs``; nothing is
    changed.

    What :func:`write` may replace: the hash of the manifest that stands there, None where nothing does.
    """
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise StoreError(f"{folder}: there is no folder {parent}; make it first or name another place")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is no folder; an export is one, name another place")
    if not folder.exists() or not any(folder.iterdir()):
        return None
    if not _is_export(folder):
        # What else lies there is somebody's: --force replaces exports only.
        raise UsageError(f"{folder} exists and is no export of bench; name a new or empty folder")
    if not force:
        raise UsageError(f"{folder} holds an export; --force replaces it, or name another folder")
    if strangers := _strangers(folder):
        raise UsageError(f"{folder} holds {strangers[0]}, which is not of the export; move it away first")
    for name in names_in(folder):
        if _holds_keys(folder / name):
            raise UsageError(f"{folder} holds {name}, and sealed keys are never replaced; move them away first")
    for one in inputs:
        if lies_in(one, folder):
            raise UsageError(f"{one} lies in {folder}, which would be replaced; name another folder")
    return _standing(folder)


def _holds_keys(path: Path) -> bool:
    try:
        return path.is_file() and store.holds_sealed_keys(path)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None


def lies_in(path: Path, folder: Path) -> bool:
    """Whether a path, its links followed, is ``folder`` or leads into it."""
    inside, outside = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return inside == outside or outside in inside.parents


def _standing(folder: Path) -> str | None:
    """The hash of a folder's manifest; None where there is none."""
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def stands(folder: Path, about: Mapping[str, Any]) -> bool:
    """Whether the export in ``folder`` is the one with these commitments."""
    try:
        return bool(read_manifest(folder).get("commitments") == about["commitments"])
    except (StoreError, RecordError):
        return False


def _is_export(folder: Path) -> bool:
    try:
        read_manifest(folder)
    except (StoreError, RecordError):
        return False
    return True


def _strangers(folder: Path) -> list[str]:
    known = {MANIFEST, *read_manifest(folder)["files"]}
    # Tools leave their byte code beside a task file.
    return [name for name in names_in(folder) if name not in known and "__pycache__" not in name]


def names_in(folder: Path) -> list[str]:
    """All that is in a folder and is none, by names relative to it, sorted."""
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if not one.is_dir())


def write(
    folder: Path, files: Iterable[tuple[str, bytes]], about: Mapping[str, Any], replaces: str | None
) -> dict[str, Any]:
    """Write ``files`` (relative name, content) and a manifest with ``about`` as all of ``folder``; the manifest.

    ``replaces``: what :func:`check_place` found there. StoreError: the disk, or another export was written there
    meanwhile; nothing is left then.
    """
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link
    beside = target.parent / f".bench-{os.getpid()}-{secrets.token_hex(4)}{NEW}"
    try:
        beside.mkdir()
        hashes = {}
        for name, data in files:
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_file(path, data)
            hashes[name] = hashlib.sha256(data).hexdigest()
        manifest = {"kind": KIND, "schema_version": EXPORT_VERSION, **about, "files": dict(sorted(hashes.items()))}
        _write_file(beside / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n")
        _swap(beside, target, replaces)
    except OSError as error:
        raise StoreError(f"cannot write {folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return manifest


def _write_file(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _swap(new: Path, target: Path, replaces: str | None) -> None:
    """Put ``new`` where ``target`` is, if that is still what it was; what was there comes back when that fails.

    No lock is needed: a folder gives way to another by renaming only where it is empty, and one that was put aside is
    looked at before it is given up.
    """
    taken = StoreError(f"{target}: another export was written there meanwhile; nothing of this one is left")
    if replaces is None:
        try:
            new.replace(target)
        except OSError as error:
            raise (taken if error.errno in (errno.ENOTEMPTY, errno.EEXIST) else error) from None
        return
    aside = new.with_name(f"{new.name.removesuffix(NEW)}-{_mark(target.name)}{OLD}")
    try:
        try:
            target.replace(aside)
        except FileNotFoundError:
            raise taken from None
        if _standing(aside) != replaces:
            raise taken
        new.replace(target)
    except BaseException:
        with suppress(OSError):  # in the way is then what another export just put there
            aside.replace(target)
        raise
    with suppress(OSError):
        shutil.rmtree(aside)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of an export. StoreError: there is none. RecordError: it is none of this version."""
    path = folder / MANIFEST
    try:
        fields = parse_json(path.read_bytes(), str(path))
    except OSError as error:
        hint = "; name the folder that bench export wrote" if not path.exists() else ""
        raise StoreError(f"cannot read {path}: {error.strerror}{hint}") from None
    if not isinstance(fields, dict) or fields.get("kind") != KIND or not isinstance(fields.get("files"), dict):
        raise RecordError(f"{path}: this is no manifest of an export")
    if fields.get("schema_version") != EXPORT_VERSION:
        raise RecordError(f"{path}: schema_version {fields.get('schema_version')!r} is unknown")
    return fields


def changed_files(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The files of an export that are not as they were written, with what is wrong."""
    found = []
    for name, sha256 in sorted(manifest["files"].items()):
        path = folder / name
        # A manifest is input like any other: it may name files elsewhere.
        if Path(name).is_absolute() or ".." in Path(name).parts:
            found.append(f"{name} is not in the export's folder")
            continue
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            found.append(f"{name}: {error.strerror}")
            continue
        if digest != sha256:
            found.append(f"{name} was changed after the export")
    return found


def added_files(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Names of files that the manifest doesn't list. What tools leave (byte code) and what they hide is passed over:
    the names of both begin with a point or stand in a folder that says so."""
    known = {MANIFEST, *manifest["files"]}
    return [
        name for name in names_in(folder)
        if name not in known and not any(part.startswith(".") or part == "__pycache__" for part in Path(name).parts)
    ]  # fmt: skip


def write_sealed(path: Path, data: bytes) -> None:
    """The sealed keys, readable by their owner alone. StoreError: something stands there, or the disk."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise StoreError(f"{path} exists: sealed keys are never replaced; move it away or name another place") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StoreError(f"cannot write {path}: {error.strerror}") from None
        raise


def check_sealed_place(path: Path, folder: Path, *, belongs: bool) -> None:
    """UsageError, StoreError: keys can't be put there, because it lies in the export, or something is there.

    ``belongs``: whether what is there may be of use to somebody.
    """
    if lies_in(path, folder):
        raise UsageError(f"--sealed {path} lies in the export's folder, which is to hold no key; name another place")
    if path.exists() or path.is_symlink():
        orphan = "" if belongs else (
            f"; {folder} is not the export that these belong to, and one that was killed leaves such a file: delete it "
            "if you have no export elsewhere that it is for"
        )  # fmt: skip
        raise StoreError(f"{path} exists: sealed keys are never replaced; move it away or name another place{orphan}")
    store.check_target(path)


def check_bank_place(path: Path, sealed: Path, folder: Path, *, force: bool) -> None:
    """UsageError, StoreError: a bank with its keys can't be put there: it lies in the export, is one of the files that
    it is made of, or something is there and ``force`` is not given."""
    if lies_in(path, folder):
        raise UsageError(f"{path} lies in the export's folder, which is to hold no key; name another place")
    read_manifest(folder)  # what is no export is not searched
    store.check_target(path, [sealed, *(folder / name for name in names_in(folder))])
    if path.exists() and not force:
        raise StoreError(f"{path} exists; --force replaces it, or name another file")
