"""One question as an attacker meets it: the visible text, its parsed options, and (for scoring alone) the key."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backtrader_bench.checker.published import OPTION
from backtrader_bench.errors import RecordError
from backtrader_bench.mcq_builder.audit.options import AMOUNTS, Column, columns, leading
from backtrader_bench.records import HIDDEN_SCHEMES, LETTERS, is_published, parse_json, question_id, to_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    VerifyCertificate = Callable[[Mapping[str, Any]], str | None]
    """A record's fields -> what is wrong with its certificate, None when it is valid."""

_SHOWN = re.compile(r"^([A-D])\. ([^\n]*)", re.MULTILINE)
CERTIFIED = HIDDEN_SCHEMES
"""Schemes whose records claim, by naming the scheme, that they carry a certificate."""


@dataclass(frozen=True, slots=True)
class Account:
    """What the text says of the account. Dollars, shares, a share of traded value, ISO dates; None: not said."""

    cash: float | None = None
    stake: float | None = None
    commission: float | None = None
    target: float | None = None
    start: str | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One question. Attackers look at everything but ``key`` and ``worlds``."""

    id: str
    stem: str
    """Configuration block and question, without options."""
    options: tuple[str, ...]
    """Texts of A to D, white space collapsed."""
    key: int
    """Place of the key among the options, 0 to 3."""
    type: str
    difficulty: str
    strategy: str
    cluster: str
    """The configuration behind it: items that share it are not independent, and are kept together."""
    dataset: str = ""
    """How the text names the bars: the symbol, or an opaque id."""
    scheme: str = ""
    account: Account = Account()
    bundle: str | None = None
    """Questions of one bundle share the draw of the key's world."""
    bars: str | None = None
    """Hash of the key's bars, where they are the question's own: a public record states it."""
    worlds: tuple[str, ...] | None = None
    """Private: a name of the world behind each option. Used to redraw keys, and never shown to an attacker."""
    columns: tuple[Column, ...] = field(default=())
    amounts: Column | None = None
    """The column that rank and distance attackers look at."""
    dates: Column | None = None
    ask: str = ""
    """The last paragraph of the stem: the question itself."""
    seen: tuple[str, ...] = ()
    """The options as they stand in the text, white space and all."""
    before: tuple[int, int | None] | None = None
    """Place and rank of the key of the question before it in the file: who works through a bank knows them."""

    @property
    def letter(self) -> str:
        """The key's letter."""
        return LETTERS[self.key]


def item(stem: str, options: Iterable[str], key: int, **more: Any) -> Item:
    """An item with its options, as they stand in the text, parsed; ``more`` are further fields of :class:`Item`."""
    seen = tuple(options)
    texts = tuple(" ".join(text.split()) for text in seen)
    found = columns(texts)
    more.setdefault("ask", stem.rstrip().rpartition("\n\n")[2])
    more.setdefault("id", question_id(stem, dict(zip(LETTERS, texts, strict=True))))
    amounts = leading(found, AMOUNTS)
    return Item(
        stem=stem, options=texts, key=key, columns=found, amounts=amounts, dates=leading(found, "@"), seen=seen, **more
    )  # fmt: skip


def item_of(fields: Any, where: str) -> Item:
    """The item of one decoded record, ours or published; RecordError names ``where`` and the fault."""
    if not isinstance(fields, dict):
        raise RecordError(f"{where}: expected an object, got {type(fields).__name__}")
    if "answer" not in fields and "question" in fields:
        raise RecordError(f"{where}: no answer; an audit needs the bank with its keys, not a --no-answers export")
    return _published(fields, where) if is_published(fields) else _own(fields, where)


def _own(fields: Mapping[str, Any], where: str) -> Item:
    record = to_question(fields, where)
    # Without the bars: those of a certified question are the key's world, which no attacker is told.
    configuration = json.dumps(record.config, sort_keys=True)
    return item(
        record.stem,
        _seen(record.question) or [record.options[letter] for letter in LETTERS],
        LETTERS.index(record.answer),
        id=record.id,
        type=record.type,
        difficulty=record.difficulty,
        strategy=record.strategy_name,
        cluster=_short(configuration),
        dataset=str(fields.get("dataset") or record.config.get("symbol") or ""),
        scheme=record.scheme,
        account=_account(record.config),
        bundle=str(fields["bundle"]) if fields.get("bundle") else None,
        bars=record.tape.sha256 if record.scheme in HIDDEN_SCHEMES else None,
        worlds=_worlds(fields.get("private")),
    )


def _seen(question: str) -> list[str]:
    """The options as a question's full text shows them, its line's end and all; empty where there aren't just four."""
    found = _SHOWN.findall(question)
    return [text for _, text in found] if tuple(letter for letter, _ in found) == LETTERS else []


def _worlds(private: Any) -> tuple[str, ...] | None:
    """The world behind each option, where the private part of a record names four different ones."""
    places = private.get("option_worlds") if isinstance(private, dict) else None
    if not isinstance(places, dict) or tuple(sorted(places)) != LETTERS:
        return None
    named = tuple(str(places[letter]) for letter in LETTERS)
    return named if len(set(named)) == len(named) else None


def _published(fields: Mapping[str, Any], where: str) -> Item:
    text, answer, config = fields.get("question"), fields.get("answer"), fields.get("config")
    if not isinstance(text, str) or not isinstance(config, dict) or answer not in LETTERS:
        raise RecordError(f"{where}: expected question (text), config (object) and answer (A, B, C or D)")
    found = list(OPTION.finditer(text))
    if tuple(one[1] for one in found) != LETTERS:
        raise RecordError(f"{where}: the text doesn't hold options A to D, one a line")
    strategy = str(fields.get("strategy_name") or config.get("strategy_name") or "")
    return item(
        text[: found[0].start()].rstrip(),
        _seen(text) or [one[2] for one in found],
        LETTERS.index(answer),
        type=str(fields.get("type") or ""),
        difficulty=str(fields.get("difficulty") or ""),
        strategy=strategy,
        cluster=_short(json.dumps([strategy, config], sort_keys=True, default=str)),
        dataset=str(config.get("symbol") or ""),
        scheme="published",
        account=_account(config),
    )


def _account(config: Mapping[str, Any]) -> Account:
    params = config.get("strategy_params")
    return Account(
        cash=_amount(config.get("initial_cash")),
        stake=_amount(config.get("stake")),
        commission=_amount(config.get("commission_rate")),
        target=_amount(params.get("target_percent")) if isinstance(params, dict) else None,
        start=_day(config.get("start_date")),
        end=_day(config.get("end_date")),
    )


def _amount(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _day(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) else None


def _short(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class Certificates:
    """How many items claim a certificate, how many were looked at, and what is wrong with those that aren't valid."""

    claimed: int = 0
    looked: int = 0
    invalid: int = 0
    by_text: int = 0
    """Valid as far as the text tells: the private part, with the worlds, is not there."""
    with_secret: bool = False
    """Whether each was held to the secret as well."""
    repeated: int = 0
    """Lines left out because their question stands in the bank already."""
    examples: list[str] = field(default_factory=list)
    """``id: reason`` of the first few."""

    def look(self, fields: Mapping[str, Any], verify: VerifyCertificate | None) -> None:
        """Count one record; without ``verify`` its certificate is not looked at."""
        if fields.get("scheme") not in CERTIFIED and not fields.get("certificate"):
            return
        self.claimed += 1
        if verify is None:
            return
        self.looked += 1
        private = fields.get("private")
        problem = verify(fields)
        self.by_text += problem is None and not (isinstance(private, dict) and private.get("seeds"))
        if problem is not None:
            self.invalid += 1
            if len(self.examples) < 5:
                self.examples.append(f"{str(fields.get('id'))[:12]}: {problem}")

    def add(self, other: Certificates) -> None:
        """Take over the counts of another part of the bank."""
        self.claimed += other.claimed
        self.looked += other.looked
        self.by_text += other.by_text
        self.invalid += other.invalid
        self.examples = [*self.examples, *other.examples][:5]


def no_verifier(fields: Mapping[str, Any], base: object = None) -> str | None:
    """The certificate check of a version that knows no certified scheme: a claim that can't be verified isn't valid."""
    return f"nothing here can verify certificates of scheme {fields.get('scheme')!r}"


def read_files(paths: Iterable[Path], verify: VerifyCertificate = no_verifier) -> tuple[list[Item], Certificates]:
    """The items of question files; StoreError for a file, RecordError for a line, that can't be read.

    A question that comes again, in the same file or another, is left out: it is no further evidence.
    """
    from backtrader_bench import store

    items: list[Item] = []
    seen: set[str] = set()
    certificates = Certificates()
    for path in paths:
        before = len(seen)
        for number, line in store.read_lines(path):
            where = f"{path}, line {number}"
            fields = parse_json(line, where)
            found = item_of(fields, where)
            if found.id in seen:
                certificates.repeated += 1
                continue
            seen.add(found.id)
            items.append(found)
            certificates.look(fields, verify)
        if len(seen) == before and not items:
            raise RecordError(f"{path}: empty; there is no record to audit")
    return items, certificates
