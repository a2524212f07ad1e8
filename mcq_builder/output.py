"""Where a bank goes: its name, its tape, its manifest, and the file itself, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import __version__, store
from backtrader_bench.errors import RecordError, StoreError
from backtrader_bench.market import pins
from backtrader_bench.mcq_builder.refs import tape_ref
from backtrader_bench.mcq_builder.secret import OWN
from backtrader_bench.mcq_builder.seeds import DRAWN
from backtrader_bench.records import BANK_VERSION, parse_json, to_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.mcq_builder.build import Bank
    from backtrader_bench.mcq_builder.settings import Settings


def default_name(settings: Settings, tape: Tape) -> str:
    """A file name made of the settings; those it does not spell out are in eight digits of their hash.

    Names of files turn up on pages and in messages, so that a seed which is to stay secret is not in them.
    """
    digest = hashlib.sha256(json.dumps([asdict(settings), tape.sha256], sort_keys=True).encode()).hexdigest()
    strategies = settings.strategy[0] if len(settings.strategy) == 1 else f"{len(settings.strategy)}strategies"
    count = "all-templates" if settings.all_templates else f"n{settings.num_questions}"
    symbol = re.sub(r"[^A-Za-z0-9.-]", "_", settings.symbol)
    tiers = "all" if len(settings.difficulty) == 3 else "-".join(settings.difficulty)
    seed = settings.seed if settings.seed < DRAWN else "-random"
    return f"{symbol}_{strategies}_{tiers}_{count}_seed{seed}_{digest[:8]}.jsonl"


def manifest_path(bank: Path) -> Path:
    """The manifest's place beside a bank."""
    return bank.with_name(bank.name.removesuffix(".jsonl") + ".manifest.json")


def check_place(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse a place for a bank, before it is built: as :func:`store.check_target`, of bank and manifest."""
    inputs = [*inputs, store.home() / "db" / OWN]
    store.check_target(path, inputs)
    store.check_target(manifest_path(path), inputs)


def write(bank: Bank, path: Path, settings: Settings, tape: Tape, command: list[str], *, force: bool) -> str:
    """Pin the tape, then write bank and manifest; says ``written`` or, for the same bytes as before, ``unchanged``.

    StoreError when another bank stands there and ``force`` is not given.
    """
    lines = b"".join(to_line(question) for question in bank.questions)
    same = store.holds(path, lines)
    store.holds(manifest_path(path), b"")  # a place that can't be written to is refused before anything is
    _pin(bank, tape if settings.worlds else None)
    about = manifest(bank, lines, path, settings, tape, command)
    if same and _describes(manifest_path(path), about["sha256"]):
        return "unchanged"
    if same is False and not force:
        raise StoreError(f"{path} exists and holds another bank; --force replaces it, --output names another place")
    # The bank first: one without its manifest is made whole by the same command again, the reverse would mislead.
    if not same:
        store.replace_file(path, lines)
    # The command line may name files in bytes that are no text.
    text = json.dumps(about, ensure_ascii=False, indent=2)
    store.replace_file(manifest_path(path), text.encode(errors="replace") + b"\n")
    return "unchanged" if same else "written"


def _describes(path: Path, sha256: str) -> bool:
    """Whether a manifest is there and names the bank with this hash."""
    try:
        found = parse_json(path.read_bytes(), str(path))
    except (OSError, RecordError):
        return False
    return isinstance(found, dict) and found.get("sha256") == sha256


def _pin(bank: Bank, base: Tape | None) -> None:
    """Keep the bars of every question, and those that resampled worlds are drawn from."""
    for tape in [*bank.tapes.values(), *([base] if base else [])]:
        pins.save(tape)


def manifest(
    bank: Bank, lines: bytes, path: Path, settings: Settings, tape: Tape, command: list[str]
) -> dict[str, Any]:
    """When, by what and from what a bank was made, and what was left out."""
    return {
        "schema_version": BANK_VERSION,
        "file": path.name,
        "sha256": hashlib.sha256(lines).hexdigest(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "backtrader-bench": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("backtrader", "numpy", "pandas")},
        },
        "command": command,
        "settings": asdict(settings),
        "tapes": [{**msgspec.to_builtins(tape_ref(tape)), "symbol": tape.symbol, "warnings": list(tape.warnings)}],
        "pinned": len(bank.tapes),
        "scheme": settings.scheme,
        "worlds_run_in_both_engines": len(bank.cross_checked),
        **counts(bank),
    }


def counts(bank: Bank) -> dict[str, Any]:
    """How many were asked for and built, by tier, template and strategy, and what was skipped and why."""
    skipped: dict[str, dict[str, int]] = {}
    for (template, reason), times in sorted(bank.skipped.items()):
        skipped.setdefault(template, {})[reason] = times
    return {
        "wanted": bank.wanted,
        "built": len(bank.questions),
        "tiers": dict(Counter(question.difficulty for question in bank.questions)),
        "strategies": dict(Counter(question.strategy_name for question in bank.questions)),
        "templates": dict(Counter(question.type for question in bank.questions)),
        "skipped": skipped,
    }
