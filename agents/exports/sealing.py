"""Exports without keys: what is public, what is sealed, and the commitment that holds one to the other. Pure.

The sealed file has the whole rest of every record, under a nonce of 256 random bits a question. The export names the
SHA-256 of each nonce with its rest, so that no key can be changed afterwards; without the nonces, the four possible
keys can't be tried against it.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.errors import RecordError
from backtrader_bench.mcq_builder.audit.bank import Bank, backtest_of
from backtrader_bench.mcq_builder.audit.items import item_of
from backtrader_bench.mcq_builder.excluded import before_options
from backtrader_bench.mcq_builder.seeds import DRAWN
from backtrader_bench.records import (
    COMMON_FIELDS,
    MINED,
    is_published,
    parse_json,
    public_part,
    to_line,
    to_question,
)
from backtrader_bench.store import SEALED_KIND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from backtrader_bench.agents.runs.questions import Asking
    from backtrader_bench.mcq_builder.audit.items import Item

SEALED_VERSION = 1
SEEDED = ("ladder", "published")
"""Schemes whose keys follow from the build's seed; with hidden worlds they are drawn under a secret."""


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """One question's line of the sealed file."""

    id: str
    place: int
    """Of the record in the bank, from 0: the export is sorted by id."""
    nonce: str
    """256 random bits, hex."""
    rest: dict[str, Any]
    """Every field that is not, or not so, in the public record."""


def seal(asked: Asking, place: int, nonce: str) -> Sealed:
    """What stays behind of a question."""
    public = public_part(asked.record)
    rest = {name: value for name, value in asked.record.items() if name not in public or public[name] != value}
    return Sealed(id=asked.id, place=place, nonce=nonce, rest=rest)


def commitment(sealed: Sealed) -> str:
    """SHA-256 of nonce, id and rest: given before the keys are, it shows later that they are the same."""
    text = json.dumps([sealed.nonce, sealed.id, sealed.place, sealed.rest], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed_file(sealed: Iterable[Sealed], name: str) -> bytes:
    """The sealed file: a line that says what it is, and one a question."""
    head = {"kind": SEALED_KIND, "schema_version": SEALED_VERSION, "name": name}
    lines = [head, *(msgspec.to_builtins(one) for one in sealed)]
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def read_sealed(lines: Iterable[tuple[int, bytes]], file: str) -> list[Sealed]:
    """The questions of a sealed file; RecordError names the line."""
    found: list[Sealed] = []
    head: Any = None
    for number, line in lines:
        where = f"{file}, line {number}"
        fields = parse_json(line, where)
        if head is None:
            head = fields
            if not isinstance(head, dict) or head.get("kind") != SEALED_KIND:
                raise RecordError(f"{where}: this is no file of sealed keys, which bench export --no-answers writes")
            if head.get("schema_version") != SEALED_VERSION:
                raise RecordError(f"{where}: schema_version {head.get('schema_version')!r} is unknown")
            continue
        try:
            found.append(msgspec.convert(fields, Sealed))
        except msgspec.ValidationError as error:
            raise RecordError(f"{where}: {error}") from None
    if not found:
        raise RecordError(f"{file}: holds no sealed question")
    return found


@dataclass(frozen=True)
class Revealed:
    """What opening a sealed file showed."""

    questions: int
    problems: tuple[str, ...]
    """One line each; none when every key is the one that was committed to."""
    bank: tuple[bytes, ...] = ()
    """The records as they were, in the bank's order; only where there are no problems."""
    unsure: tuple[str, ...] = ()
    """Files that are not as this version writes them, where another one wrote them: whether they were changed can't be
    told here."""
    notes: tuple[str, ...] = ()
    """What is no fault, and good to know."""


def reveal(
    sealed: Sequence[Sealed], promised: Mapping[str, str], public: Mapping[str, Mapping[str, Any]],
    read: Callable[[Any, str], Asking],
) -> Revealed:  # fmt: skip
    """Hold sealed questions against the commitments (by id) and public records (by id) of an export.

    ``read`` is :func:`backtrader_bench.agents.runs.questions.asking`.
    """
    problems = [f"question {name[:12]} was promised, but the sealed file has no key for it"
                for name in promised if name not in {one.id for one in sealed}]  # fmt: skip
    bank = []
    seen: set[str] = set()
    for one in sorted(sealed, key=lambda one: one.place):
        short = f"question {one.id[:12]}"
        if one.id in seen:
            problems.append(f"{short} is in the sealed file twice")
        elif one.id not in promised or one.id not in public:
            problems.append(f"{short} is in the sealed file, but not in the export")
        elif commitment(one) != promised[one.id]:
            problems.append(f"{short}: its key or what belongs to it is not what was sealed")
        else:
            try:
                bank.append(_restored(public[one.id], one, read))
            except RecordError as error:
                problems.append(f"{short}: {error}")
        seen.add(one.id)
    return Revealed(len(seen), tuple(problems), () if problems else tuple(bank))


def _restored(public: Mapping[str, Any], one: Sealed, read: Callable[[Any, str], Asking]) -> bytes:
    """The record's line: the public part as the export has it, the rest as it was sealed."""
    record = {**public, **one.rest}
    asked = read(record, "sealed and public part together")
    if asked.id != one.id:
        raise RecordError("the public text is not the one that the key was sealed for")
    if problem := _certified(record):
        raise RecordError(problem)
    if is_published(record):
        order = ("question", "answer", *COMMON_FIELDS[1:])
        known = {name: record[name] for name in order if name in record}
        return json.dumps({**known, **record}, ensure_ascii=False).encode() + b"\n"
    return to_line(to_question(record, "sealed and public part together"))


def _certified(record: Mapping[str, Any]) -> str | None:
    """What is wrong with the seeds of a certified question, None for nothing."""
    promise, private = record.get("certificate"), record.get("private")
    if not isinstance(promise, dict) or not isinstance(private, dict):
        return None
    seeds = ",".join(map(str, private.get("seeds") or ()))
    if hashlib.sha256(seeds.encode()).hexdigest() == promise.get("commitment"):
        return None
    return "the seeds of its hidden worlds are not those that its certificate commits to"


@dataclass(frozen=True)
class Guesses:
    """How many questions somebody with this package could find the keys of without a backtest, by guessing a seed."""

    built: int = 0
    """From a small seed, by a scheme that draws the key's rank from it."""
    mined: int = 0
    """In a session with a small seed."""
    unknown: int = 0
    """In a session whose seed is not known."""
    published: int = 0
    """Published records, which name no seed."""
    linked: int = 0
    """Asked with other options in another question, or sharing a value with one of the same backtest: what stands in
    both is true."""


def guessable(records: Iterable[Mapping[str, Any]], session_seed: Callable[[str], int | None]) -> Guesses:
    """Counts those whose seed is too small or not known, or that another question gives away. ``session_seed``: of a
    mining session by its name, None for not known."""
    built = mined = unknown = published = 0
    visible: list[Mapping[str, Any]] = []
    for record in records:
        if is_published(record) or record.get("scheme") in SEEDED:
            visible.append(record)
            published += is_published(record)
            built += _small(record.get("seed"))
        elif record.get("scheme") == MINED:
            said = record.get("verification")
            attempt = said.get("attempt") if isinstance(said, dict) else None
            seed = session_seed(str(attempt).partition("/")[0]) if attempt else None
            unknown += seed is None
            mined += _small(seed)
    return Guesses(built=built, mined=mined, unknown=unknown, published=published, linked=_linked(visible))


def _linked(records: Sequence[Mapping[str, Any]]) -> int:
    """Questions that others of the same bars give away: those with the same words and other options, and those where
    the values of some options, not of all, occur in another question of the same backtest."""
    asked: dict[str, set[frozenset[str]]] = {}
    items: list[tuple[str, Item]] = []
    for record in records:
        text, options = before_options(str(record.get("question")))
        asked.setdefault(text, set()).add(frozenset(options.values()))
        with suppress(RecordError):  # what an audit can't read, an export takes
            items.append((text, replace(item_of(record, "a question"), cluster=backtest_of(record))))
    bank = Bank([item for _, item in items])
    return sum(
        len(asked[text]) > 1 or len({bank.shared(item, place) for place in range(len(item.options))}) > 1
        for text, item in items
    )


def _small(seed: Any) -> bool:
    return isinstance(seed, int) and seed < DRAWN
