"""What a store holds, counted. Lines that can't be read are counted as such: ``bench db check`` names them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.attempts import ATTEMPT_VERSION
from backtrader_bench.market import pins
from backtrader_bench.records import SCHEMA_VERSION
from backtrader_bench.upkeep import places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backtrader_bench.upkeep.places import Kind


class _Asked(msgspec.Struct, frozen=True):
    """Of a question, what is counted."""

    type: str = "?"
    difficulty: str = "?"
    scheme: str = "published"


class _Tried(msgspec.Struct, frozen=True):
    """Of an attempt."""

    agent: str
    mode: str
    status: str
    run: str


class _Told(msgspec.Struct, frozen=True):
    """Of a summary or review line."""

    kind: str
    decision: str | None = None
    verdict: str | None = None


class _Versioned(msgspec.Struct, frozen=True):
    """Of a record that may be of any version."""

    schema_version: Any = None


@dataclass
class Stats:
    """Counts of one store."""

    files: Counter[str] = field(default_factory=Counter)
    """By kind."""
    size: Counter[str] = field(default_factory=Counter)
    """Bytes by kind; ``tapes`` and ``cache`` among them."""
    records: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    other_version: Counter[str] = field(default_factory=Counter)
    """Records of a schema that this version doesn't read; they are in no other count."""
    schemes: Counter[str] = field(default_factory=Counter)
    tiers: Counter[str] = field(default_factory=Counter)
    templates: Counter[str] = field(default_factory=Counter)
    runs: set[str] = field(default_factory=set)
    agents: dict[str, Counter[str]] = field(default_factory=dict)
    """``AGENT (MODE)`` -> status -> records; what was asked again counts each time."""
    decisions: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    tapes: int = 0


def stats(home: Path, versions: Mapping[Kind, int], read: Callable[[int], None] = lambda count: None) -> Stats:
    """Count everything. StoreError: a file can't be read; UsageError: there is no store.

    ``versions``: the schema of summaries and reviews.
    """
    found = Stats()
    known = {"questions": SCHEMA_VERSION, "attempts": ATTEMPT_VERSION, **versions}
    for kind in places.KINDS:
        decoder = msgspec.json.Decoder({"questions": _Asked, "attempts": _Tried}.get(kind, _Told))
        for path in places.files(home, kind):
            found.files[kind] += 1
            found.size[kind] += path.stat().st_size
            for line in places.lines(path, read):
                try:
                    if msgspec.json.decode(line.data, type=_Versioned).schema_version not in (None, known[kind]):
                        found.other_version[kind] += 1
                        continue
                    one = decoder.decode(line.data)
                # A byte that is no UTF-8 inside a text is a UnicodeDecodeError, which is a ValueError too.
                except (msgspec.MsgspecError, ValueError):
                    found.unreadable[kind] += 1
                    continue
                found.records[kind] += 1
                _count(found, one)
    for path in pins.pinned(home):
        found.tapes += 1
        found.size["tapes"] += path.stat().st_size
    found.size["cache"] = sum(path.stat().st_size for path in (home / "db" / "cache").rglob("*") if path.is_file())
    return found


def _count(found: Stats, one: Any) -> None:
    if isinstance(one, _Asked):
        found.schemes[one.scheme] += 1
        found.tiers[one.difficulty] += 1
        found.templates[one.type] += 1
    elif isinstance(one, _Tried):
        found.runs.add(one.run)
        found.agents.setdefault(f"{one.agent} ({one.mode})", Counter())[one.status] += 1
    elif one.kind == "attempt":
        found.decisions[str(one.decision)] += 1
    elif one.kind == "review":
        found.verdicts[str(one.verdict)] += 1


def as_json(found: Stats) -> dict[str, Any]:
    """For scripts; most frequent first."""

    def ordered(counts: Counter[str]) -> dict[str, int]:
        return dict(counts.most_common())

    return {
        "files": dict(found.files), "bytes": dict(found.size), "records": dict(found.records),
        "unreadable": dict(found.unreadable), "other_version": dict(found.other_version),
        "tapes": found.tapes, "runs": len(found.runs),
        "schemes": ordered(found.schemes), "tiers": ordered(found.tiers), "templates": ordered(found.templates),
        "agents": {name: ordered(counts) for name, counts in sorted(found.agents.items())},
        "decisions": ordered(found.decisions), "verdicts": ordered(found.verdicts),
    }  # fmt: skip
