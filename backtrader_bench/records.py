"""Question records: one JSON object a line.

The fields of published Backtrader-Bench files come first and keep their names, so that files travel both ways; ours
follow. A record holds no time stamp: the same configuration and seed give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SCHEMA_VERSION = 1
BANK_VERSION = 1
"""Of the manifest beside a bank; the first ones name none."""
MINED = "mined"
"""Scheme of questions whose key a program of their own computes, see ``Question.verifier``."""
MINED_CATEGORIES = (
    "bracket", "trail", "atr", "stop", "slippage", "table", "analyzer", "breakout", "exit_rule", "moving_average",
    "other",
)  # fmt: skip
"""Types of mined questions, the most special first; see miner/categories.py."""
MINED_LABELS = ("tool_solver_correct", "tool_solver_wrong", "easy_discarded", "unscreened")
"""Decisions after which a mined question is kept or put aside; see miner/decisions.py."""
HIDDEN_SCHEMES = ("siblings", "diagnostic")
"""Schemes whose bars stay hidden from whoever sees the text alone."""
LETTERS = ("A", "B", "C", "D")


class TapeRef(msgspec.Struct, frozen=True, kw_only=True):
    """Which bars a record rests on: exactly the window that was run, not the file it was cut from."""

    sha256: str
    source: str
    """``bundled``, ``synthetic:REGIME:SEED``, ``csv:NAME`` (a file name without its folder), ``yfinance``;
    ``verifier`` for mined questions, whose program makes its bars: ``sha256`` is then the program's, ``rows`` 0."""
    rows: int
    """Number of bars."""
    first: str
    last: str


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """Public promise of scheme ``siblings``: the text was fixed before the key was drawn among the four options."""

    worlds: int
    """Hidden worlds that were computed."""
    valid: int
    """Those whose answer is defined and could be an option."""
    text_sha256: str
    """Of the stem and the four options sorted, as rendered from each of the four worlds."""
    commitment: str
    """SHA-256 of the seeds of all worlds, joined by commas: revealed seeds can be held against it."""


class Private(msgspec.Struct, frozen=True, kw_only=True):
    """What must not reach a solver: leave it out, with ``PRIVATE_FIELDS``, and the rest tells nothing of the key."""

    kind: str = ""
    """Kind of the hidden worlds, see market/worlds.py."""
    asked: str = ""
    """What the worlds were made for, as JSON: template and parameters, or those of all questions of a bundle."""
    seeds: list[str] = []
    """Seeds of all hidden worlds, in their order."""
    order: list[str] = []
    """The letters in the order among which the key was drawn: ascending answers (``siblings``), worlds (bundles)."""
    option_worlds: dict[str, int] = {}
    """Per letter, the place in ``seeds`` of the world that its option is the answer of."""
    fingerprints: dict[str, Any] = {}
    """Answers that common mistakes give, by mistake, rounded as ``value``."""


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """How a mined question's verifier was run, and what it answered: enough to hold another run against it."""

    base_seed: int
    """``MCQ_SEED`` of the question and its key."""
    answer: str
    """What the verifier printed at the base seed."""
    others: dict[str, str] = {}
    """Perturbed seed -> what it printed there: where wrong options come from."""
    isolation: dict[str, Any] = {}
    """What held while it ran, see ``sandbox.room.Isolation``."""
    attempt: str = ""
    """``RUN/attempt_001``: the folder of its prompts, output and runs, under ``logs/``."""
    generator: str = ""
    """Agent that wrote question and verifier."""
    second: str | None = None
    """What another agent's program answered, where one was asked."""
    marks: tuple[str, ...] = ()
    """``choices_only``: rules that look at the options alone agree on the key."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One multiple-choice question with its key and everything needed to compute that key again."""

    question: str
    """The full text a solver sees: introduction, stem, options, how to reply."""
    answer: str
    """The key's letter."""
    benchmark: str = "backtrader"
    author: str = "backtrader-bench"
    type: str
    """Template name, see docs/templates.md."""
    difficulty: str
    strategy_name: str
    strategy_params: dict[str, int | float]
    config: dict[str, Any]
    """symbol, start_date, end_date (exclusive), initial_cash, commission_rate, stake, sizing, periods_per_year,
    strategy_name, strategy_params."""
    schema_version: int = SCHEMA_VERSION
    id: str
    """:func:`question_id` of ``stem`` and ``options``."""
    stem: str
    """Configuration block and question, without options: complete enough to get the answer from it and the tape."""
    options: dict[str, str]
    template_params: dict[str, Any]
    """What the stem was filled with; see docs/templates.md."""
    value: Any
    """The typed answer, rounded as shown."""
    tape: TapeRef
    scheme: str
    """How the options were made: ``ladder``, ``published``, ``siblings``, ``diagnostic``; ``mined`` for questions
    whose options are a verifier's answers."""
    option_origins: dict[str, str]
    """Per letter, how that option came to be; the key's is ``key``."""
    seed: int
    """The build's seed; with the configuration, the template and its parameters it gives this record again."""
    labels: list[str] = []
    tolerance: float | None = None
    """How far a given value may be from ``value`` and still be right; None for answers that are no single number."""
    bundle: str | None = None
    """Questions with the same bundle were asked of the same four worlds and share the key's world."""
    certificate: Certificate | None = None
    private: Private | None = None
    category: str | None = None
    """Of mined questions, see miner/categories.py."""
    verifier: str | None = None
    """Of mined questions: the stand-alone program that prints question and answer for ``MCQ_SEED``; it gives the key
    away."""
    verification: Verification | None = None


def question_id(stem: str, options: Mapping[str, str]) -> str:
    """SHA-256 of stem and ``A:...`` to ``D:...``, white space collapsed in each, joined by newlines."""
    lines = [stem, *(f"{letter}:{options[letter]}" for letter in sorted(options))]
    return hashlib.sha256("\n".join(" ".join(line.split()) for line in lines).encode()).hexdigest()


_HALF = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
"""Where half a character may be: one of a surrogate pair, as it is or as an escape."""


def parse_json(text: str | bytes, where: str) -> Any:
    """``text`` as JSON, refusing what JSON parsers let pass: duplicate keys, NaN and infinities, half characters.

    RecordError names ``where`` and the fault.
    """
    try:
        # Decoded here: the parser would let half characters pass that stand in the bytes.
        plain = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
        found = json.loads(plain, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        if _HALF.search(plain):
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])[1:-1]
        raise RecordError(f"{where}: holds half a character (the lone surrogate {half}), which is no text") from None
    except UnicodeDecodeError as error:
        raise RecordError(f"{where}: not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise RecordError(f"{where}: nested too deep") from None
    except ValueError as error:
        raise RecordError(f"{where}: not JSON: {error}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"duplicate key {next(key for key in keys if keys.count(key) > 1)!r}")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def mended_json(text: bytes, where: str, constant: Callable[[str], Any] = float) -> Any:
    """JSON of other tools: half characters, which a model's tokens may be, read as ``?``, and the rest as it is.

    ``constant``: what NaN and infinities read as. RecordError names ``where`` and the fault.
    """
    try:
        plain = text.decode(json.detect_encoding(text), "surrogatepass")
        found = json.loads(plain, parse_constant=constant)
        return json.loads(mended(json.dumps(found, ensure_ascii=False))) if _HALF.search(plain) else found
    except RecursionError:
        raise RecordError(f"{where}: nested too deep") from None
    except ValueError as error:
        raise RecordError(f"{where}: not JSON: {error}") from None


def mended(text: str) -> str:
    """``text`` with ``?`` for each half character."""
    return text.encode(errors="replace").decode()


def is_published(fields: Mapping[str, Any]) -> bool:
    """Whether a decoded line is a published record: the common fields, none of ours."""
    return "question" in fields and "schema_version" not in fields and "template_params" not in fields


def check_version(fields: Mapping[str, Any], where: str) -> None:
    """RecordError for a decoded line whose schema this version doesn't know; one without any may be published."""
    version = fields.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise RecordError(f"{where}: schema_version {version!r} is unknown; this version reads {SCHEMA_VERSION}")


def to_question(fields: Any, where: str) -> Question:
    """The typed record of one decoded line of ours; RecordError names ``where`` and the field."""
    if not isinstance(fields, dict):
        raise RecordError(f"{where}: expected an object, got {type(fields).__name__}")
    version = fields.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise RecordError(f"{where}: schema_version {version!r} is unknown; this version reads {SCHEMA_VERSION}")
    try:
        record = msgspec.convert(fields, Question)
    except msgspec.ValidationError as error:
        raise RecordError(f"{where}: {error}") from None
    if tuple(sorted(record.options)) != LETTERS or record.answer not in LETTERS:
        raise RecordError(f"{where}: options must be A, B, C and D, and the answer one of them")
    return record


_OPTIONAL = ("tolerance", "bundle", "certificate", "private", "category", "verifier", "verification")
PRIVATE_FIELDS = (
    "answer", "value", "tolerance", "option_origins", "seed", "private", "verifier", "verification", "labels",
)  # fmt: skip
"""Fields that hold or lead to the key, and labels: free words, of people and of the miner, that may say anything."""
COMMON_FIELDS = (
    "question", "benchmark", "author", "type", "difficulty", "strategy_name", "strategy_params", "config",
)  # fmt: skip
"""What is public of a published record."""
PUBLIC_FIELDS = tuple(name for name in Question.__struct_fields__ if name not in PRIVATE_FIELDS)
"""What is public of a record of ours."""
_PUBLIC_INNER = {
    "config": (
        "symbol", "start_date", "end_date", "initial_cash", "commission_rate", "stake", "sizing", "periods_per_year",
        "strategy_name", "strategy_params", "difficulty_levels",
    ),
    "tape": TapeRef.__struct_fields__,
    "certificate": Certificate.__struct_fields__,
}  # fmt: skip


def public_part(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What may be told of a decoded record: the fields known to say nothing of its key; all others stay behind.

    Of a hidden world's bars it is not told how they were made, of a mined question's program not even the hash, which
    would say of any program whether it is the one.
    """
    names = COMMON_FIELDS if is_published(fields) else PUBLIC_FIELDS
    public = {name: value for name, value in fields.items() if name in names}
    for name, inner in _PUBLIC_INNER.items():
        if isinstance(public.get(name), dict):
            public[name] = {key: value for key, value in public[name].items() if key in inner}
    if fields.get("scheme") == MINED and isinstance(public.get("tape"), dict):
        public["tape"] = {**public["tape"], "sha256": ""}
    if fields.get("scheme") in HIDDEN_SCHEMES and isinstance(public.get("tape"), dict):
        public["tape"] = {**public["tape"], "source": "hidden"}
    return public


def to_line(record: Question) -> bytes:
    """The record as one line, newline included; field order is the class's, optional fields only where set."""
    fields = msgspec.to_builtins(record)
    for name in _OPTIONAL:
        if fields[name] is None:
            del fields[name]
    return json.dumps(fields, ensure_ascii=False, allow_nan=False).encode() + b"\n"
