"""What one record claims, typed and held to bounds, whichever kind of file it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.checker.engine import LARGEST, check_spec
from backtrader_bench.checker.oracles import ORACLES
from backtrader_bench.checker.reading import Parts, read
from backtrader_bench.errors import RecordError
from backtrader_bench.records import LETTERS, Question, question_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.records import TapeRef

CONFIG = frozenset({
    "symbol", "start_date", "end_date", "initial_cash", "commission_rate", "stake", "sizing",
    "periods_per_year", "strategy_name", "strategy_params",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One record, ready to be checked."""

    id: str
    template: str
    difficulty: str
    symbol: str
    start: str | None
    end: str | None
    spec: BacktestSpec
    periods_per_year: float
    asked: Mapping[str, Any]
    """``template_params``."""
    texts: Mapping[str, str]
    options: Mapping[str, Parts | None]
    """What the letters' texts say, None where a text can't be read."""
    key: str
    tape: TapeRef | None
    """None for published records, which don't say."""
    question: Question | None
    """Our record; None for published ones."""
    stem: str
    drift: tuple[str, ...]
    """Contradictions between the record's own fields."""
    notes: tuple[str, ...] = ()

    @property
    def published(self) -> bool:
        """Whether the record is of the published kind, read from its text."""
        return self.question is None


def own_claim(question: Question) -> Claim:
    """The claim of a record of ours; RecordError or BacktestError says why it can't be checked."""
    config = question.config
    if odd := sorted(CONFIG ^ set(config)):
        raise RecordError(f"config: missing or unknown: {', '.join(odd)[:80]}")
    oracle_named(question.type)
    asks = set(ORACLES[question.type].asks)
    if odd := sorted(asks ^ set(question.template_params)):
        raise RecordError(f"template_params: missing or unknown: {', '.join(odd)[:80]}")
    return Claim(
        id=question.id,
        template=question.type,
        difficulty=question.difficulty,
        symbol=text_of(config, "symbol"),
        start=_day_of(config, "start_date"),
        end=_day_of(config, "end_date"),
        spec=spec_of(config, config["strategy_params"], config["sizing"]),
        periods_per_year=_positive(config, "periods_per_year"),
        asked=question.template_params,
        texts=question.options,
        options={letter: read(question.type, question.options[letter]) for letter in LETTERS},
        key=question.answer,
        tape=question.tape,
        question=question,
        stem=question.stem,
        drift=(
            *contradictions(
                question.difficulty, question.type, question.strategy_name, question.strategy_params, config
            ),
            *_outside(question),
        ),
    )


def _outside(question: Question) -> list[str]:
    """The tape's span against the configured window."""
    start, end = question.config["start_date"], question.config["end_date"]
    inside = (start or "") <= question.tape.first and (not end or question.tape.last < end)
    return [] if inside else ["the tape's dates lie outside the configured window"]


def oracle_named(template: str) -> None:
    """RecordError unless there is a template of that name."""
    if template not in ORACLES:
        raise RecordError(f"type {template[:40]!r} is no template that this version knows")


def text_of(config: Mapping[str, Any], name: str) -> str:
    """A text field of the configuration."""
    value = config.get(name)
    if not isinstance(value, str):
        raise RecordError(f"config: {name} is {value!r:.40}; it must be text")
    return value


def _day_of(config: Mapping[str, Any], name: str) -> str | None:
    return None if config[name] is None else text_of(config, name)


def _positive(config: Mapping[str, Any], name: str) -> float:
    value = config[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LARGEST:
        raise RecordError(f"config: {name} is {value!r:.40}; it must be a number above 0")
    return float(value)


def spec_of(config: Mapping[str, Any], params: Any, sizing: Any) -> BacktestSpec:
    """The backtest that a configuration asks for; BacktestError for what can't be run."""
    strategy = text_of(config, "strategy_name")
    if not isinstance(params, dict):
        raise RecordError("config: strategy_params must be an object")
    raw = BacktestSpec(
        strategy=strategy, params=params, initial_cash=config.get("initial_cash"),  # type: ignore[arg-type]
        commission_rate=config.get("commission_rate"), stake=config.get("stake"), sizing=sizing,  # type: ignore[arg-type]
    )  # fmt: skip
    check_spec(raw)
    return BacktestSpec(
        strategy=strategy, params=dict(params), initial_cash=float(raw.initial_cash),
        commission_rate=float(raw.commission_rate), stake=raw.stake, sizing=raw.sizing,
    )  # fmt: skip


def contradictions(
    difficulty: str, template: str, strategy: object, params: object, config: Mapping[str, Any]
) -> list[str]:
    """Where a record's outer fields say something else than its configuration or its template."""
    found = []
    if difficulty != ORACLES[template].tier:
        found.append(f"difficulty {difficulty[:20]!r}, but {template} is {ORACLES[template].tier}")
    if strategy != config["strategy_name"]:
        found.append("strategy_name differs from the configuration's")
    if params != config["strategy_params"]:
        found.append("strategy_params differ from the configuration's")
    return found


def loose_ends(question: Question) -> list[str]:
    """Where the full text or the id doesn't go with the stem and options beside it."""
    found = []
    if question.question.count(question.stem) != 1 or not question.stem.strip():
        found.append("the question's text doesn't hold the stem")
    after = question.question.rpartition(question.stem or "\n")[2]
    lines = [line.strip() for line in after.splitlines()]
    lettered = [line for line in lines if line[:2] in {f"{letter}." for letter in LETTERS}]
    if lettered != [f"{letter}. {question.options[letter]}".strip() for letter in LETTERS]:
        found.append("the question's text doesn't hold exactly the four options")
    if question.id != question_id(question.stem, question.options):
        found.append("the id is not the hash of stem and options")
    keys = [letter for letter, origin in question.option_origins.items() if origin == "key"]
    if keys and keys != [question.answer]:
        found.append(f"option_origins call {', '.join(keys)[:20]} the key")
    return found
