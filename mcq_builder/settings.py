"""What to build: every setting with its default and its check, from flags, a configuration file or a conversation."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from backtrader_bench import arguments
from backtrader_bench.arguments import Number, OneOf, Whole, flag, shown
from backtrader_bench.backtest.result import Sizing
from backtrader_bench.backtest.strategies import REGISTRY, Params, strategy_named
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.market import sources
from backtrader_bench.mcq_builder.seeds import RANDOM, drawn_seed
from backtrader_bench.records import HIDDEN_SCHEMES, parse_json
from backtrader_bench.templates.registry import TEMPLATES
from backtrader_bench.templates.template import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SCHEMES = ("siblings", "diagnostic", "ladder", "published")
GUARANTEES = {
    "diagnostic": "options are true and mistaken answers of two hidden worlds; which true one is the key is drawn last",
    "siblings": "options are true answers of four hidden worlds, the key drawn last: text and options alone give 1/4",
    "ladder": "options are a ladder around the key (rank drawn uniformly); not certified against guessing",
    "published": "options are jittered as published: for comparison only, they can be guessed without the data",
    "mined": "options are what a program answers at other seeds, or a ladder around its answer; not certified",
}
"""What a scheme promises, in a line."""
MOST_QUESTIONS = 100_000
PERIODS_PER_YEAR = 252
_MOST_CONFIG_BYTES = 1_000_000
# Names that published configuration files use for ours.
ALIASES = {"strategy_name": "strategy", "difficulty_levels": "difficulty"}


def text(name: str, value: Any) -> str:
    """A check for a text that is not empty."""
    found = arguments.text(name, value).strip()
    if not found:
        raise UsageError(f"{name} is {shown(value)}; it must be a text")
    return found


def symbol(name: str, value: Any) -> str:
    """A check for a ticker, which becomes part of file names."""
    ticker = text(name, value)
    sources.check_symbol(ticker)
    return ticker


def source(name: str, value: Any) -> str:
    """A check for a source of bars."""
    spelled = text(name, value)
    sources.parse_source(spelled)
    return spelled


def default_symbol(data: str) -> str:
    """The symbol of a source when none is given: a price file's name, SYN for made-up bars, else AAPL."""
    kind, _, argument = data.partition(":")
    if kind != "csv":
        return "SYN" if kind == "synthetic" else "AAPL"
    path = Path(argument).expanduser()
    if not path.exists():
        raise StoreError(f"{path}: no such file or folder")
    if path.is_dir():
        raise UsageError(f"{path} is a folder of prices: name a file of it with --symbol")
    stem = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    try:
        sources.check_symbol(stem)
    except UsageError:
        raise UsageError(f"{path.name} does not say what the symbol is: give it with --symbol") from None
    return stem


def default_scheme(data: str, symbol: str, worlds: str) -> str:
    """``siblings`` wherever the bars can be hidden, ``ladder`` for bars that are known by name and date."""
    return "siblings" if worlds or is_made_up(data, symbol) else "ladder"


def is_made_up(data: str, symbol: str) -> bool:
    """Whether these settings lead to the synthetic source."""
    return data.partition(":")[0] == "synthetic" or (data == "auto" and symbol.startswith("SYN"))


def iso_date(name: str, value: Any) -> str | None:
    """A check for a date, or None for the source's own limit."""
    if value is None or value == "":
        return None
    if isinstance(value, date):
        return value.isoformat()[:10]
    try:
        if isinstance(value, str) and date.fromisoformat(value).isoformat() == value:
            return value
    except ValueError:
        pass
    raise UsageError(f"{name} is {shown(value)}; it must be a date written YYYY-MM-DD")


def words(allowed: tuple[str, ...], everything: str) -> Callable[[str, Any], tuple[str, ...]]:
    """A check for a list of words (or a text with commas), ``everything`` standing for all; keeps the given order."""

    def check(name: str, value: Any) -> tuple[str, ...]:
        given = value.split(",") if isinstance(value, str) else value
        if not isinstance(given, list | tuple) or not all(isinstance(word, str) for word in given):
            raise UsageError(f"{name} is {shown(value)}; it must be a list of {', '.join(allowed)}")
        split = [word.strip() for entry in given for word in entry.split(",") if word.strip()]
        if everything in split:
            return allowed
        for word in split:
            if word not in allowed:
                raise UsageError(f"{name}: {word!r} is unknown; there are {', '.join(allowed)} (and {everything})")
        if not split:
            raise UsageError(f"{name} is empty; it must be a list of {', '.join(allowed)}")
        return tuple(dict.fromkeys(split))

    return check


def _tiers(name: str, value: Any) -> tuple[str, ...]:
    chosen = words(tuple(TIERS), "all")(name, value)
    return tuple(tier for tier in TIERS if tier in chosen)


def _seed(name: str, value: Any) -> int:
    return drawn_seed() if value == RANDOM else Whole(0, 2**63 - 1)(name, value)


def _params(name: str, value: Any) -> dict[str, Any]:
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            value = parse_json(value, name)
        except RecordError as error:
            raise UsageError(str(error)) from None
    if not isinstance(value, dict):
        raise UsageError(f'{name} is {shown(value)}; it must be a JSON object such as {{"pfast": 12, "pslow": 40}}')
    return value


def _templates(name: str, value: Any) -> tuple[str, ...]:
    return () if value in (None, "", (), []) else words(tuple(TEMPLATES), "all")(name, value)


@dataclass(frozen=True)
class Setting:
    """One setting: its default, its check, and the line that help and the conversation show."""

    default: Any
    check: Callable[[str, Any], Any]
    about: str


SETTINGS: dict[str, Setting] = {
    "symbol": Setting("AAPL", symbol, "ticker; SYN... is made up by the synthetic source"),
    "data": Setting("auto", source, "auto, bundled, synthetic[:REGIME[:SEED]], csv:PATH or yfinance"),
    "start_date": Setting(None, iso_date, "first day of the window, YYYY-MM-DD; empty: from the source's first bar"),
    "end_date": Setting(None, iso_date, "first day after the window, YYYY-MM-DD; empty: to the source's last bar"),
    "initial_cash": Setting(50_000.0, Number(0, 1e12, above=True), "dollars in the account at the start"),
    "commission_rate": Setting(0.001, Number(0, 0.5), "share of traded value charged on each side; 0.001 is 0.1%"),
    "stake": Setting(1000, Whole(1, 10**9), "most shares of one buy (sizing capped), or shares of every buy (fixed)"),
    "sizing": Setting("capped", OneOf(get_args(Sizing)), "capped: 95% of the cash, at most the stake; or fixed"),
    "strategy": Setting(("sma_crossover",), words(tuple(REGISTRY), "all"), "strategies to ask about, or all"),
    "strategy_params": Setting({}, _params, "JSON object of parameters, or of such objects by strategy"),
    "num_questions": Setting(30, Whole(1, MOST_QUESTIONS), "how many questions, split evenly over the tiers"),
    "seed": Setting(42, _seed, "the same settings and seed give the same bytes; random: one that can't be guessed"),
    "difficulty": Setting(tuple(TIERS), _tiers, "easy, medium, hard, all or a comma list"),
    "template": Setting((), _templates, "only these templates; empty: all of the tiers"),
    "all_templates": Setting(False, flag, "one question of every template, instead of a number"),
    "worlds": Setting("", OneOf(("", "resampled")), "resampled: hide a real tape behind worlds drawn from its blocks"),
    "scheme": Setting("", OneOf(("", *SCHEMES)), "siblings, diagnostic, ladder or published; empty: by the data"),
    "bundle": Setting(0, Whole(0, 12), "questions that share their four hidden worlds; 0: none do"),
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Checked settings; see SETTINGS for what each means."""

    symbol: str
    data: str
    start_date: str | None
    end_date: str | None
    initial_cash: float
    commission_rate: float
    stake: int
    sizing: Sizing
    strategy: tuple[str, ...]
    strategy_params: dict[str, Params]
    """Complete parameters by strategy."""
    num_questions: int
    seed: int
    difficulty: tuple[str, ...]
    template: tuple[str, ...]
    all_templates: bool
    worlds: str
    scheme: str
    bundle: int

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """``given`` (names as in SETTINGS, or published aliases), checked and with defaults; or UsageError."""
        named = {ALIASES.get(name, name): value for name, value in given.items()}
        if len(named) < len(given):
            raise UsageError(f"the same setting is given under two names: {', '.join(sorted(given))}")
        for name in named:
            if name not in SETTINGS:
                raise UsageError(f"unknown setting {name!r}; there are {', '.join(SETTINGS)}")
        checked = {
            name: setting.check(name, named[name]) if name in named else setting.default
            for name, setting in SETTINGS.items()
        }
        if "symbol" not in named:
            checked["symbol"] = default_symbol(checked["data"])
        if checked["all_templates"] and "num_questions" in named and named["num_questions"] != 30:
            raise UsageError("all_templates asks one question of every template; leave num_questions out")
        checked["scheme"] = checked["scheme"] or default_scheme(checked["data"], checked["symbol"], checked["worlds"])
        checked["strategy_params"] = _complete(checked["strategy"], checked["strategy_params"])
        _agree(checked)
        return cls(**checked)

    def templates(self) -> dict[str, list[str]]:
        """Chosen template names by tier, in registry order; those that fit no strategy only when they were named."""
        chosen = self.template or tuple(TEMPLATES)
        if set(chosen) == set(TEMPLATES):
            chosen = tuple(name for name in chosen if any(map(TEMPLATES[name].fits, self.strategy)))
        return {
            tier: [name for name in TEMPLATES if name in chosen and TEMPLATES[name].tier == tier]
            for tier in self.difficulty
        }


def _complete(strategies: tuple[str, ...], given: dict[str, Any]) -> dict[str, Params]:
    """Parameters for each strategy: ``given`` is for the only one, or an object by strategy."""
    by_name = bool(given) and all(isinstance(value, dict) for value in given.values())
    if by_name:
        for name in given:
            if name not in strategies:
                listed = ", ".join(strategies)
                raise UsageError(f"strategy_params are for {name!r}, which is not among the strategies {listed}")
        return {name: strategy_named(name).complete(given.get(name, {})) for name in strategies}
    if given and len(strategies) > 1:
        raise UsageError('strategy_params for several strategies go by strategy: {"sma_crossover": {...}}')
    return {name: strategy_named(name).complete(given) for name in strategies}


def _agree(checked: dict[str, Any]) -> None:
    """Settings that contradict each other."""
    start, end = checked["start_date"], checked["end_date"]
    if start and end and start >= end:
        raise UsageError(f"end_date {end} is not after start_date {start}")
    hidden = checked["scheme"] in HIDDEN_SCHEMES
    if (checked["worlds"] or checked["bundle"]) and not hidden:
        raise UsageError(f"worlds and bundle are for hidden worlds, not for scheme {checked['scheme']}")
    if checked["bundle"] == 1 or (checked["bundle"] and checked["scheme"] != "siblings"):
        raise UsageError("a bundle is of 2 to 12 questions, in scheme siblings")
    if checked["bundle"] and checked["all_templates"]:
        raise UsageError("bundle goes round all templates by itself; leave all_templates out")
    if checked["bundle"] and checked["num_questions"] % checked["bundle"]:
        size = checked["bundle"]
        raise UsageError(f"bundles of {size} make no {checked['num_questions']} questions: num_questions must be a "
                         f"multiple of {size}, such as {-(-checked['num_questions'] // size) * size}")  # fmt: skip
    made_up = is_made_up(checked["data"], checked["symbol"])
    if hidden and not made_up and not checked["worlds"]:
        raise UsageError(
            f"scheme {checked['scheme']} hides the bars: use a synthetic source, or --worlds resampled for real ones"
        )
    for name in checked["template"]:
        if TEMPLATES[name].tier not in checked["difficulty"]:
            raise UsageError(f"template {name} is {TEMPLATES[name].tier}, which difficulty leaves out")


def read_config(path: Path) -> dict[str, Any]:
    """A configuration file, JSON or TOML by its ending; UsageError or StoreError in one line."""
    try:
        if path.stat().st_size > _MOST_CONFIG_BYTES:
            raise UsageError(f"{path}: larger than a configuration file can be ({_MOST_CONFIG_BYTES} bytes)")
        raw = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    try:
        content = raw.decode("utf-8-sig")
        found = tomllib.loads(content) if path.suffix.lower() == ".toml" else parse_json(content, str(path))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    except RecordError as error:
        raise UsageError(str(error)) from None
    if not isinstance(found, dict):
        raise UsageError(f"{path}: must hold one object of settings")
    return found
