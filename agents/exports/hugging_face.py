"""A folder that Hugging Face datasets loads: test.jsonl, the card, Croissant metadata, tapes. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from backtrader_bench import __version__
from backtrader_bench.agents.exports.croissant import Column, croissant
from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backtrader_bench.agents.exports.content import Content, Entry

DATA = "test.jsonl"
LICENSE = "gpl-3.0"
"""As the package's, whose words the questions are; ``--license`` names another."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
# Every row has every column, and a column one type: what Arrow needs. What differs from question to question (the
# parameters of templates, answers of several parts) is JSON text.
PUBLIC_COLUMNS = (
    Column("id", "sc:Text", "SHA-256 of stem and options"),
    Column("question", "sc:Text", "The whole question: introduction, configuration, options, how to reply"),
    Column("opening", "sc:Text", "The question without options and reply form"),
    Column("choices", "sc:Text", "The options A to D", repeated=True),
    Column("difficulty", "sc:Text", "Tier: easy, medium, hard; mined"),
    Column("type", "sc:Text", "Template, or category of a mined question"),
    Column("strategy_name", "sc:Text", "Strategy; empty for mined questions"),
    Column("category", "sc:Text", "Of mined questions"),
    Column("scheme", "sc:Text", "How the wrong options were made; empty for published records"),
    Column("symbol", "sc:Text", "Symbol in the text"),
    Column("strategy_params", None, "Parameters of the strategy by name, null where it has none of that name"),
    Column("strategy_params_json", "sc:Text", "The same as JSON text"),
    Column("config_json", "sc:Text", "Configuration of the backtest as JSON text"),
    Column("template_params_json", "sc:Text", "What the question was filled with, as JSON text"),
    Column("bundle", "sc:Text", "Questions with the same one share their bars; empty for none"),
    Column("certificate_json", "sc:Text", "Promise of questions with hidden worlds, as JSON text; else null"),
    Column("tape_sha256", "sc:Text", "Name of the bars: SHA-256 of the CSV in tapes/; empty where none are named"),
    Column("tape_file", "sc:Text", "The bars in this folder; empty where they are not in it"),
    Column("canary", "sc:Text", "Stands in these files and in no question"),
)
KEY_COLUMNS = (
    Column("answer", "sc:Text", "The key's letter"),
    Column("answer_index", "sc:Integer", "The key's place among the choices, from 0"),
    Column("value_json", "sc:Text", "The answer itself as JSON text; null for published records"),
    Column("tolerance", "sc:Float", "How far a given value may be from it; null where it is no single number"),
    Column("option_origins_json", "sc:Text", "How each option came to be, as JSON text"),
)


def columns(content: Content) -> tuple[Column, ...]:
    """The columns of an export."""
    return PUBLIC_COLUMNS if content.sealed else (*PUBLIC_COLUMNS, *KEY_COLUMNS)


def files(
    content: Content, tapes: Mapping[str, tuple[str, int]], license_id: str = LICENSE
) -> dict[str, bytes]:
    """Everything but the tapes. ``tapes``: SHA-256 -> name in the folder and size in bytes."""
    names = sorted({name for entry in content.entries for name in params_of(entry)})
    lines = [json.dumps(row(entry, content, names, tapes), ensure_ascii=False) for entry in content.entries]
    data = "".join(line + "\n" for line in lines).encode(errors="replace")
    about = croissant(
        name=content.name, description=_description(content), license_id=license_id, version=__version__,
        data=(DATA, hashlib.sha256(data).hexdigest(), len(data)),
        tapes=[(name, sha256, size) for sha256, (name, size) in sorted(tapes.items())], columns=columns(content),
    )  # fmt: skip
    return {
        DATA: data,
        "README.md": card(content, license_id, with_tapes=bool(tapes)).encode(errors="replace"),
        "croissant.json": json.dumps(about, indent=2, ensure_ascii=False).encode() + b"\n",
    }


def params_of(entry: Entry) -> dict[str, float]:
    """The parameters of the strategy that are numbers, as floats: a column has one type."""
    params = entry.record.get("strategy_params")
    if not isinstance(params, dict):
        return {}
    return {name: float(value) for name, value in params.items()
            if isinstance(value, int | float) and not isinstance(value, bool)}  # fmt: skip


def row(
    entry: Entry, content: Content, params: Sequence[str], tapes: Mapping[str, tuple[str, int]]
) -> dict[str, Any]:
    """One line of the data."""
    own, record = params_of(entry), entry.record
    sha256 = entry.tape.sha256 if entry.tape else ""
    fields: dict[str, Any] = {
        "id": entry.id, "question": entry.text, "opening": entry.opening,
        "choices": [entry.options[letter] for letter in LETTERS], **entry.about,
        "strategy_params": {name: own.get(name) for name in params} or None,
        "bundle": str(record.get("bundle") or ""), "tape_sha256": sha256,
        "tape_file": tapes[sha256][0] if sha256 in tapes else "", "canary": content.canary,
    }  # fmt: skip
    for name in ("strategy_params", "config", "template_params", "certificate"):
        fields[f"{name}_json"] = _json(record.get(name))
    if entry.key is not None:
        fields |= {
            "answer": entry.key, "answer_index": LETTERS.index(entry.key), "value_json": _json(record.get("value")),
            "tolerance": record.get("tolerance"), "option_origins_json": _json(record.get("option_origins")),
        }  # fmt: skip
    return {column.name: fields[column.name] for column in columns(content)}


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _description(content: Content) -> str:
    keys = " The keys are sealed." if content.sealed else ""
    return (
        f"{len(content.entries)} multiple-choice questions about backtests of trading strategies, with four options "
        f"each.{keys} {content.canary}"
    )


def card(content: Content, license_id: str, *, with_tapes: bool) -> str:
    """The README with the fields that the hub reads."""
    count = len(content.entries)
    size = next((name for limit, name in SIZES if count < limit), "n>1M")
    head = {
        "pretty_name": content.title, "license": license_id, "language": ["en"],
        "task_categories": ["multiple-choice", "question-answering"],
        "tags": ["backtrader", "backtesting", "quantitative-finance", "benchmark"], "size_categories": [size],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": DATA}]}],
    }  # fmt: skip
    # YAML reads JSON values, so that nothing needs quoting rules of its own.
    front = "".join(f"{name}: {json.dumps(value)}\n" for name, value in head.items())
    return f"---\n{front}---\n\n# {content.title}\n\n{_description(content)}\n\n{_body(content, with_tapes=with_tapes)}"


def _body(content: Content, *, with_tapes: bool) -> str:
    tiers = Counter(entry.about["difficulty"] or "(none)" for entry in content.entries)
    types = Counter(entry.about["type"] or "(none)" for entry in content.entries)
    fields = "\n".join(f"| `{one.name}` | {one.description} |" for one in columns(content))
    bars = (
        "\n## Bars\n\n`tapes/SHA256.csv` holds the daily bars of the questions that name them; the name is the file's "
        "SHA-256.\n" if with_tapes else ""
    )  # fmt: skip
    keys = (
        "\n## Keys\n\nThe keys are in a file of their own. `bench-export.json` commits to each of them; once the file "
        "is published, `bench reveal SEALED FOLDER` shows that none was changed.\n"
        if content.sealed else ""
    )  # fmt: skip
    return (
        f"## Questions\n\n{_counts('tier', tiers)}\n\n{_counts('type', types)}\n\n## Fields\n\n| field | what |\n"
        f"|---|---|\n{fields}\n{bars}{keys}\n## Canary\n\n`{content.canary}` stands in every row and in no question. "
        "Keep these files out of training data: a model that can say it, or a transcript that holds it, saw them.\n"
    )


def _counts(head: str, counts: Iterable[str] | Counter[str]) -> str:
    rows = "\n".join(f"| {name} | {times} |" for name, times in sorted(Counter(counts).items()))
    return f"| {head} | questions |\n|---|---|\n{rows}"
