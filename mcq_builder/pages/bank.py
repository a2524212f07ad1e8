"""A bank as one self-contained page: its questions to browse, with key, chart and provenance, or without any key.

No request leaves the page, and what records say is packed, or escaped by the template engine, or shown as text.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrader_bench import store
from backtrader_bench.errors import RecordError
from backtrader_bench.mcq_builder.audit.items import item_of
from backtrader_bench.mcq_builder.pages import parts
from backtrader_bench.mcq_builder.pages.charts import add_charts
from backtrader_bench.mcq_builder.pages.facts import KINDS, TIERS, Facts
from backtrader_bench.mcq_builder.pages.pack import ChartPack, packed
from backtrader_bench.mcq_builder.settings import GUARANTEES
from backtrader_bench.records import LETTERS, MINED, parse_json, public_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from backtrader_bench.mcq_builder.pages.charts import Charts

CHUNK = 40
"""Questions that the page unpacks together."""
SHORT = 12
"""Characters of an id in lists and addresses."""
LONGEST_ASK = 160
NO_KEYS: dict[str, Any] = {"answer": LETTERS[0], "value": None, "option_origins": {}, "seed": 0}
"""Stands in for the fields that an export without answers lacks, while it is read; nothing of it is shown."""
HIDES_CHART = "left out of a page without answers: it would show them"


@dataclass(frozen=True)
class Bank:
    """Questions to show, each once."""

    facts: tuple[Facts, ...]
    files: tuple[str, ...]
    repeated: int
    """Lines left out because their question came before."""


@dataclass(frozen=True)
class Page:
    """A finished page, and what it holds."""

    html: str
    questions: int
    charts: int
    """Distinct backtests drawn."""
    missing: dict[str, str]
    """Question id -> why it has no chart."""
    repeated: int


def read(paths: Iterable[Path], *, answers: bool) -> Bank:
    """The questions of files, ours or published, by tier, template and id.

    StoreError: a file can't be read. RecordError: a line is no record, or has no key though ``answers`` are wanted.
    """
    found: dict[str, Facts] = {}
    files, repeated = [], 0
    for path in paths:
        files.append(path.name)
        before = len(found) + repeated
        for number, line in store.read_lines(path):
            one = _facts(path, number, line, answers=answers)
            if found.setdefault(one.id, one) is not one:
                repeated += 1
        if len(found) + repeated == before:
            raise RecordError(f"{path}: empty; there is no question to show")
    order = sorted(found.values(), key=lambda one: (
        TIERS.get(one.item.difficulty, len(TIERS)), one.item.difficulty, one.item.type, one.id
    ))  # fmt: skip
    return Bank(tuple(order), tuple(files), repeated)


def _facts(path: Path, number: int, line: bytes, *, answers: bool) -> Facts:
    where = f"{path}, line {number}"
    fields = parse_json(line, where)
    bare = isinstance(fields, dict) and "question" in fields and "answer" not in fields
    if bare and answers:
        raise RecordError(f"{where}: no answer; give --no-answers to show a bank without its keys")
    item = item_of({**NO_KEYS, **fields} if bare else fields, where)
    if answers:
        return Facts(item, fields, path.name, number)
    # What is not public never gets near the page: not even to name, group or order by.
    public = public_part(fields)
    return Facts(item_of({**NO_KEYS, **public}, where), public, path.name, number)


def page(
    paths: Sequence[Path], *, answers: bool = True, data: Path | None = None, title: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Page:
    """The page of question files. Without ``answers`` nothing in it holds or leads to a key, packed or not.

    ``data``: where to look for bars instead of the store; ``progress`` is told of questions drawn. Errors as
    :func:`read`; a question whose bars are not found has a page that says so.
    """
    bank = read(paths, answers=answers)
    pack = ChartPack()
    drawn = add_charts(bank.facts, pack.add, data, progress) if answers else None
    return Page(
        html(bank, drawn, pack, title), len(bank.facts), len(pack.charts), drawn.missing if drawn else {},
        bank.repeated,
    )  # fmt: skip


def html(bank: Bank, drawn: Charts | None, pack: ChartPack, title: str | None = None) -> str:
    """The page of questions read; ``drawn`` is None for one without answers."""
    shown = [question(one, drawn) for one in bank.facts]
    script = parts.script(parts.text("bank.js"))
    named = title or (bank.files[0] if len(bank.files) == 1 else f"{bank.files[0]} and {len(bank.files) - 1} more")
    return parts.templates(parts.text).get_template("bank.html.j2").render(
        title=named, files=bank.files, repeated=bank.repeated, questions=len(shown), answers=drawn is not None,
        tiers=Counter(one.item.difficulty for one in bank.facts), tapes=len({_tape(one) for one in bank.facts}),
        schemes=Counter(one.item.scheme for one in bank.facts), guarantees=GUARANTEES,
        configurations=len({one.item.cluster for one in bank.facts}), backtests=len(pack.charts),
        undrawn=len(drawn.missing) if drawn else 0, style=parts.style(parts.text("bank.css")), script=script,
        policy=parts.policy(script), index=packed(index(bank.facts, answers=drawn is not None)),
        chunks=[packed(shown[start : start + CHUNK]) for start in range(0, len(shown), CHUNK)],
        calendars=pack.calendars, charts=pack.charts,
    )  # fmt: skip


def _tape(one: Facts) -> str:
    tape = public_part(one.record).get("tape")
    return str(tape.get("sha256")) if isinstance(tape, dict) else one.item.dataset


def index(facts: Sequence[Facts], *, answers: bool) -> dict[str, Any]:
    """What the list needs: names once, and per question its id, their places and what it asks."""
    names = {kind: sorted({name_of(one) for one in facts}) for kind, name_of in KINDS.items()}
    places = {kind: {name: place for place, name in enumerate(mine)} for kind, mine in names.items()}
    rows = []
    for one in facts:
        ask = " ".join(one.item.ask.split())
        ask = ask if len(ask) <= LONGEST_ASK else ask[: LONGEST_ASK - 1] + "…"
        rows.append([one.id[:SHORT], [places[kind][name_of(one)] for kind, name_of in KINDS.items()], ask])
    return {"kinds": list(KINDS), "names": names, "rows": rows, "chunk": CHUNK, "answers": answers}


def question(one: Facts, drawn: Charts | None) -> dict[str, Any]:
    """One question as plain values; without ``drawn`` what is public alone."""
    item, public = one.item, public_part(one.record)
    found = {
        "id": one.id, **{kind: name_of(one) for kind, name_of in KINDS.items()}, "stem": item.stem, "ask": item.ask,
        "options": one.options, "where": f"{one.file}, line {one.line}", "facts": public_facts(public, item.scheme),
    }  # fmt: skip
    if drawn is None:
        return {**found, "noChart": HIDES_CHART}
    secret = {"key": one.key, "origins": one.record.get("option_origins") or {}, "secret": private_facts(one.record)}
    chart, missing = drawn.of.get(one.id), drawn.missing.get(one.id)
    return {**found, **secret, "chart": chart, "noChart": missing, "verifier": one.record.get("verifier")}


def public_facts(record: Mapping[str, Any], scheme: str) -> list[tuple[str, str]]:
    """Where a question comes from, as far as it tells nothing of the key: (name, text)."""
    found = [("scheme", f"{scheme}: {GUARANTEES[scheme]}" if scheme in GUARANTEES else scheme)]
    if isinstance(tape := record.get("tape"), dict):
        if tape.get("rows"):
            found.append(("bars", f"{tape['rows']}, {tape.get('first')} to {tape.get('last')}"))
        found += [(name, _plain(tape.get(name))) for name in ("source", "sha256") if tape.get(name) != ""]
    if isinstance(promise := record.get("certificate"), dict):
        found.append(("certificate", f"{promise.get('worlds')} hidden worlds, {promise.get('valid')} with an answer; "
                      "the text was fixed before the key was drawn"))  # fmt: skip
        found += [(f"{name}, sha256", _plain(promise.get(field))) for name, field in
                  (("text", "text_sha256"), ("seeds", "commitment"))]  # fmt: skip
    for name in ("bundle", "benchmark", "author"):
        if record.get(name):
            found.append((name, _plain(record[name])))
    return found


def private_facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What holds or leads to the key beside its letter: (name, text)."""
    found = [(name, _plain(record[name])) for name in ("value", "tolerance", "seed") if record.get(name) is not None]
    if record.get("labels"):
        found.append(("labels", _plain(record["labels"])))
    if isinstance(private := record.get("private"), dict):
        if worlds := private.get("option_worlds"):
            found.append(("worlds of the options", _plain(worlds)))
        found += [(f"mistake {name}", _plain(value)) for name, value in (private.get("fingerprints") or {}).items()]
    if record.get("scheme") == MINED and isinstance(tape := record.get("tape"), dict):
        found.append(("verifier, sha256", _plain(tape.get("sha256"))))
    if isinstance(said := record.get("verification"), dict):
        found += [("generator", _plain(said.get("generator"))), ("attempt", _plain(said.get("attempt")))]
        found.append((f"verifier, seed {said.get('base_seed')}", _plain(said.get("answer"))))
        found += [(f"verifier, seed {seed}", _plain(text)) for seed, text in (said.get("others") or {}).items()]
        found += [(name, _plain(said[name])) for name in ("second", "marks", "isolation") if said.get(name)]
    return found


def _plain(value: Any) -> str:
    """A value of a record in words."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(one)}" for name, one in value.items())
    return json.dumps(value, ensure_ascii=False)
