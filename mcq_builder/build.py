"""A bank of questions: which templates on which backtests, in which order, until the number is reached.

Every (template, configuration) pair is a stream of distinct questions of its own. A tier's quota is filled by going
round its streams; what one stream can't give, the others do. Streams don't depend on each other, so the result is the
same for every number of jobs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from backtrader_bench import store
from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.backtest.result import BacktestSpec
from backtrader_bench.backtest.run import run
from backtrader_bench.backtest.strategies import strategy_named
from backtrader_bench.checker.engine import simulate
from backtrader_bench.errors import BacktestError, UsageError
from backtrader_bench.mcq_builder.askers import Asker, HiddenAsker, VisibleAsker, hidden_asker
from backtrader_bench.mcq_builder.audit.bank import telling_values
from backtrader_bench.mcq_builder.context import Context, Skip
from backtrader_bench.mcq_builder.excluded import NOTHING, Excluded
from backtrader_bench.mcq_builder.hidden import cross_checked
from backtrader_bench.mcq_builder.questions import scope_key
from backtrader_bench.mcq_builder.seeds import stream
from backtrader_bench.mcq_builder.settings import PERIODS_PER_YEAR, Settings
from backtrader_bench.records import HIDDEN_SCHEMES
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.records import Question

    Parallel = Callable[[Iterable[tuple[Any, ...]]], Iterator[Any]]
    """Runs ``fetch`` on argument tuples, here or elsewhere, and gives the results in their order."""


_MOST = 100_000
"""Questions that are asked of one stream; all end long before."""
_LINKED = "an option stands in another question of the same backtest"
_EXCLUDED = "already in an excluded file"


class Stream(NamedTuple):
    """One template on one strategy's backtest."""

    template: str
    strategy: str


class Fetched(NamedTuple):
    """The first questions of a stream, and what goes with them."""

    questions: list[Question]
    skipped: Counter[str]
    """Reasons for those not asked."""
    ended: bool
    """Whether that was all of the stream."""
    tapes: dict[str, Tape]
    """The bars that the keys rest on, by hash."""
    cross_checked: frozenset[str] = frozenset()
    """Hidden worlds that were run in both engines meanwhile."""


@dataclass
class Bank:
    """What was built, and why the rest was not."""

    questions: list[Question]
    wanted: int
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By (template, reason)."""
    tapes: dict[str, Tape] = field(default_factory=dict)
    """The bars that the questions rest on, by hash."""
    cross_checked: set[str] = field(default_factory=set)
    """Hidden worlds that were run in both engines, by source."""


def contexts(settings: Settings, tape: Tape, cache: Path | None, *, bare: bool = False) -> dict[str, Context]:
    """One context a strategy; BacktestError when a window is too short for one. ``bare`` as in build_bank."""
    backtests = Backtests(simulate, "audit", None) if bare else Backtests(run, "build", cache)
    made = {}
    for name in settings.strategy:
        spec = BacktestSpec(
            strategy=name, params=settings.strategy_params[name], initial_cash=settings.initial_cash,
            commission_rate=settings.commission_rate, stake=settings.stake, sizing=settings.sizing,
        )  # fmt: skip
        needed = strategy_named(name).first_row(spec.params) + 1
        if len(tape) < needed:
            raise BacktestError(
                f"{tape.symbol} has {len(tape)} bars in the window; {name} needs at least {needed} with these "
                "parameters: choose a longer window or shorter periods"
            )
        made[name] = Context(tape, spec, record_config(settings, tape, spec), backtests)
    return made


def record_config(settings: Settings, tape: Tape, spec: BacktestSpec) -> dict[str, Any]:
    """The ``config`` of the records of one backtest, fields and order as published, ours after them."""
    return {
        "symbol": tape.symbol,
        "start_date": settings.start_date or tape.dates[0],
        "end_date": settings.end_date or day_after(tape.dates[-1]),
        "initial_cash": spec.initial_cash,
        "commission_rate": spec.commission_rate,
        "stake": spec.stake,
        "strategy_name": spec.strategy,
        "strategy_params": spec.params,
        "sizing": spec.sizing,
        "periods_per_year": PERIODS_PER_YEAR,
    }


def day_after(day: str) -> str:
    """The next calendar day, ISO."""
    from datetime import date, timedelta

    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def askers(
    settings: Settings, tape: Tape, cache: Path | None, secret: bytes | None, *, bare: bool = False
) -> dict[str, Asker]:
    """Who asks about each strategy; UsageError when hidden worlds are wanted and no secret hides them."""
    of = contexts(settings, tape, cache, bare=bare)
    if settings.scheme not in HIDDEN_SCHEMES:
        return {name: VisibleAsker(context, settings.scheme, settings.seed, bare) for name, context in of.items()}
    if secret is None:
        raise UsageError(f"scheme {settings.scheme} needs a secret")
    return {
        name: hidden_asker(context.spec, tape, context.config, resampled=settings.worlds == "resampled",
                           seed=settings.seed, secret=secret, scheme=settings.scheme, bare=bare)
        for name, context in of.items()
    }  # fmt: skip


def fetch(asker: Asker, wanted: list[tuple[str, int]]) -> list[Fetched]:
    """The first questions of some templates: (template, how many) each."""
    found = []
    for template, count in wanted:
        fetched = _first(asker.questions(template), count)
        for question in fetched.questions:
            fetched.tapes.setdefault(question.tape.sha256, asker.tape(question))
        found.append(fetched._replace(cross_checked=frozenset(cross_checked)))
    return found


def _first(found: Iterator[Question | Skip], count: int) -> Fetched:
    made: list[Question] = []
    skipped: Counter[str] = Counter()
    for item in found:
        if isinstance(item, Skip):
            skipped[str(item)] += 1
            continue
        made.append(item)
        if len(made) == count:
            return Fetched(made, skipped, False, {})
    return Fetched(made, skipped, True, {})


def build_bank(
    settings: Settings,
    tape: Tape,
    parallel: Parallel,
    *,
    cache: Path | None = None,
    secret: bytes | None = None,
    bare: bool = False,
    exclude: Excluded = NOTHING,
    progress: Callable[[int], None] = lambda done: None,
) -> Bank:
    """The bank of ``settings`` on ``tape``. ``exclude``: what is not asked again; ``progress`` hears totals.

    ``secret`` hides the key's world in the schemes with hidden worlds, where ``tape`` is what they are like.
    ``bare`` is for audits, which look at how options are made: no fingerprints of mistakes, and backtests in the
    checker's engine, which is the faster one.
    """
    of = askers(settings, tape, cache, secret, bare=bare)
    if settings.bundle:
        return _bundled(settings, of, exclude, progress)
    chosen = {tier: names for tier, names in settings.templates().items() if names}
    order = {tier: _order(names, list(of), settings.seed, tier) for tier, names in chosen.items()}
    if settings.all_templates:
        quotas = {tier: len(streams) for tier, streams in order.items()}
    else:
        quotas = _split(settings.num_questions, list(chosen))
    bank = Bank([], sum(quotas.values()))
    seen: set[str] = set()
    for tier, streams in order.items():
        most = 1 if settings.all_templates else None
        filler = _Filler(settings, of, parallel, seen, exclude, bank)
        bank.questions += filler.fill(streams, quotas[tier], most)
        progress(len(bank.questions))
    return bank


def _bundled(
    settings: Settings, of: dict[str, Asker], exclude: Excluded, progress: Callable[[int], None]
) -> Bank:
    """A bank of bundles: the strategies in turn, templates of the tiers in turn, until the number is reached."""
    names = [name for row in zip_longest(*settings.templates().values()) for name in row if name]
    if len(names) < settings.bundle:
        raise UsageError(
            f"--bundle {settings.bundle} asks {settings.bundle} different templates of the same worlds; --template and "
            f"--difficulty leave {len(names)}"
        )
    bank = Bank([], settings.num_questions)
    streams = [asker.bundles(names, settings.bundle) for asker in of.values() if isinstance(asker, HiddenAsker)]
    seen: set[str] = set()
    while streams and len(bank.questions) < bank.wanted:
        for one, asker in zip(list(streams), of.values(), strict=False):
            made = next(one, None)
            if made is None:
                streams.remove(one)
            elif isinstance(made, Skip):
                bank.skipped["bundle", str(made)] += 1
            elif any(map(exclude.holds, made)):
                bank.skipped["bundle", _EXCLUDED] += 1
            elif len(bank.questions) < bank.wanted and not seen & {q.id for q in made}:
                seen |= {q.id for q in made}
                bank.questions += made
                bank.tapes[made[0].tape.sha256] = asker.tape(made[0])
                progress(len(bank.questions))
    bank.cross_checked |= cross_checked
    return bank


def _split(total: int, tiers: list[str]) -> dict[str, int]:
    """``total`` split evenly; the first tiers take what is left over."""
    return {tier: total // len(tiers) + (place < total % len(tiers)) for place, tier in enumerate(tiers)}


def _order(templates: list[str], strategies: list[str], seed: int, tier: str) -> list[Stream]:
    """Streams such that every template comes once before any comes twice, strategies rotating over them.

    A template comes with the strategies that it fits; one that fits none keeps all, to say so.
    """
    shuffled = list(templates)
    stream(seed, "order", tier).shuffle(shuffled)
    fitting = {name: list(filter(TEMPLATES[name].fits, strategies)) or strategies for name in templates}
    return [
        Stream(name, fitting[name][(place + shift) % len(fitting[name])])
        for shift in range(len(strategies))
        for place, name in enumerate(shuffled)
        if shift < len(fitting[name])
    ]


class _Filler:
    """Fills one tier's quota from its streams."""

    def __init__(
        self,
        settings: Settings,
        of: dict[str, Asker],
        parallel: Parallel,
        seen: set[str],
        exclude: Excluded,
        bank: Bank,
    ) -> None:
        self.settings, self.of, self.parallel = settings, of, parallel
        self.seen, self.exclude, self.bank = seen, exclude, bank
        self.values: dict[str, frozenset[tuple[str, str]]] = {}
        # What stands in an excluded file and in a new question would be true as well.
        self.said = {value for question in bank.questions for value in self._values(question)} | exclude.values
        self.got: dict[Stream, Fetched] = {}

    def fill(self, streams: list[Stream], quota: int, most: int | None) -> list[Question]:
        """Up to ``quota`` questions, at most ``most`` a stream, going round the streams."""
        counts = dict.fromkeys(streams, 0)
        while True:
            open_streams = [s for s in streams if s not in self.got or not self.got[s].ended]
            usable = self._round_robin(streams, quota, most)
            if len(usable) >= quota or not open_streams or (most and all(counts[s] >= most for s in open_streams)):
                break
            missing = quota - len(usable)
            # The shortest first: what a long one gives may be all repeats, and each is fetched from its beginning.
            for place, one in enumerate(sorted(open_streams, key=counts.__getitem__)[:missing]):
                extra = missing // len(open_streams) + (place < missing % len(open_streams))
                counts[one] = min(counts[one] + max(1, extra, counts[one] // 4), most or _MOST)
            self._fetch({s: n for s, n in counts.items() if n > (len(self.got[s].questions) if s in self.got else 0)
                         and s in open_streams})  # fmt: skip
        for one in streams:
            if one in self.got:
                for reason, times in self.got[one].skipped.items():
                    self.bank.skipped[one.template, reason] += times
        chosen = self._round_robin(streams, quota, most, count_repeats=True)
        made = {sha: tape for fetched in self.got.values() for sha, tape in fetched.tapes.items()}
        self.bank.tapes.update((question.tape.sha256, made[question.tape.sha256]) for question in chosen)
        self.seen.update(scope_key(question) for question in chosen)
        return chosen

    def _fetch(self, counts: dict[Stream, int]) -> None:
        tasks: list[list[Stream]] = []
        for strategy in self.of:
            mine = [one for one in counts if one.strategy == strategy]
            # Pieces small enough for every job to have one, large enough that a process pays its backtest once.
            size = max(1, -(-len(mine) // 4))
            tasks += [mine[i : i + size] for i in range(0, len(mine), size)]
        wanted = [
            (self.of[task[0].strategy], [(one.template, counts[one]) for one in task]) for task in tasks
        ]  # fmt: skip
        for task, fetched in zip(tasks, self.parallel(wanted), strict=True):
            self.got.update(zip(task, fetched, strict=True))
            self.bank.cross_checked.update(*(one.cross_checked for one in fetched))

    def _round_robin(
        self, streams: list[Stream], quota: int, most: int | None, *, count_repeats: bool = False
    ) -> list[Question]:
        """One question of each stream, then a second of each, ... leaving out repeats, up to the quota."""
        seen, said = set(self.seen), set(self.said)
        chosen: list[Question] = []
        deepest = max((len(fetched.questions) for fetched in self.got.values()), default=0)
        for place in range(min(deepest, most or deepest)):
            for one in streams:
                found = self.got[one].questions if one in self.got else []
                if place < len(found) and len(chosen) < quota:
                    values = self._values(found[place])
                    reason = self._repeat(found[place], seen) or (_LINKED if values & said else None)
                    if reason is None:
                        seen.add(scope_key(found[place]))
                        said |= values
                        chosen.append(found[place])
                    elif count_repeats:
                        self.bank.skipped[one.template, reason] += 1
        return chosen

    def _values(self, question: Question) -> frozenset[tuple[str, str]]:
        """What the options of a question say that other questions of the same backtest might say again.

        A ladder's key is true and its distractors are made up, so that whatever stands in two questions is a key.
        Hidden worlds need no such care; ``all_templates`` wants all, whatever they share.
        """
        if question.scheme != "ladder" or self.settings.all_templates:
            return frozenset()
        if question.id not in self.values:
            self.values[question.id] = telling_values(question)
        return self.values[question.id]

    def _repeat(self, question: Question, seen: set[str]) -> str | None:
        if scope_key(question) in seen:
            return "the same question under another strategy is already in the file"
        return _EXCLUDED if self.exclude.holds(question) else None


def cache_folder() -> Path:
    """Where the builder keeps finished backtests; the checker has its own."""
    return store.folder("cache")
