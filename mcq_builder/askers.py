"""Who asks: a backtest that the solver may see, or one of many that it may not. Both give streams of questions."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from backtrader_bench.market.synthetic import business_days
from backtrader_bench.market.worlds import worlds
from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.hidden import Setup, purpose, scouts_of
from backtrader_bench.mcq_builder.hidden_draws import hidden_draws
from backtrader_bench.mcq_builder.options.bundles import bundle
from backtrader_bench.mcq_builder.options.diagnostic import diagnostic_question
from backtrader_bench.mcq_builder.options.siblings import sibling_question
from backtrader_bench.mcq_builder.questions import check_fit, in_turn, questions
from backtrader_bench.mcq_builder.secret import hidden_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from backtrader_bench.backtest.result import BacktestSpec
    from backtrader_bench.market.tape import Tape
    from backtrader_bench.mcq_builder.context import Context
    from backtrader_bench.mcq_builder.hidden import Worlds
    from backtrader_bench.records import Question


class Asker(Protocol):
    """Gives the questions of one configuration; picklable, so that any process can ask."""

    def questions(self, template: str) -> Iterator[Question | Skip]:
        """All questions of a template, in seeded order, with the reasons for those not asked."""

    def tape(self, question: Question) -> Tape:
        """The bars that the question's key rests on."""


@dataclass(frozen=True)
class VisibleAsker:
    """Asks about one backtest on bars that the solver may see."""

    of: Context
    scheme: str
    seed: int
    bare: bool = False

    def questions(self, template: str) -> Iterator[Question | Skip]:
        """See Asker."""
        return questions(template, self.of, self.scheme, self.seed, bare=self.bare)

    def tape(self, question: Question) -> Tape:
        """The one tape."""
        return self.of.tape


@dataclass(frozen=True)
class HiddenAsker:
    """Asks about hidden worlds of one configuration (scheme ``siblings``)."""

    setup: Setup
    seed: int

    def questions(self, template: str) -> Iterator[Question | Skip]:
        """See Asker."""
        hidden = scouts_of(self.setup)
        rng = hidden_stream(self.setup.secret, "draw", self.seed, template, self.setup.config)

        def drawn() -> Iterator[dict[str, Any]]:
            check_fit(template, self.setup.spec.strategy)
            return hidden_draws(template, hidden, rng)

        return in_turn(drawn, lambda params: _once(template, hidden, params, self.seed))

    def bundles(self, templates: Sequence[str], size: int) -> Iterator[list[Question] | Skip]:
        """Bundles of ``size`` templates, going round all of them, until one of them has nothing left to ask."""
        hidden = scouts_of(self.setup)
        rng = hidden_stream(self.setup.secret, "bundles", self.seed, self.setup.config)
        drawn: dict[str, Iterator[dict[str, Any]]] = {}
        for number in range(_MOST_BUNDLES):
            names = [templates[(number * size + place) % len(templates)] for place in range(size)]
            try:
                asked = [(name, _next(drawn, name, hidden, rng)) for name in names]
                yield bundle(asked, hidden, self.seed)
            except Skip as reason:
                yield reason

    def tape(self, question: Question) -> Tape:
        """The world of the key."""
        assert question.private is not None
        seed = question.private.seeds[question.private.option_worlds[question.answer]]
        return worlds(self.setup.kind, [seed], question.config["symbol"], self.setup.days, self.setup.base)[0]


_ASKED = {"siblings": sibling_question, "diagnostic": diagnostic_question}
_asked: OrderedDict[tuple[str, ...], Question | Skip] = OrderedDict()
_MOST_ASKED = 4000


def _once(template: str, hidden: Worlds, params: dict[str, Any], seed: int) -> Question:
    """The question, made once in this process: a stream is read from its beginning each time that more of it is wanted,
    and every question takes dozens of backtests."""
    setup = hidden.setup
    secret, bare = setup.secret.hex(), str(setup.bare)
    key = (setup.scheme, setup.kind, setup.config, secret, str(seed), purpose(template, params), bare)
    if key not in _asked:
        try:
            _asked[key] = _ASKED[setup.scheme](template, hidden, params, seed)
        except Skip as reason:
            # A new one: that which was raised holds, by its traceback, all worlds that were tried.
            _asked[key] = Skip(str(reason))
        if len(_asked) > _MOST_ASKED:
            _asked.popitem(last=False)
    found = _asked[key]
    if isinstance(found, Skip):
        raise Skip(str(found))
    return found


_MOST_BUNDLES = 2000


def _next(
    drawn: dict[str, Iterator[dict[str, Any]]], name: str, hidden: Worlds, rng: Random
) -> dict[str, Any]:
    """The next parameters of a template, from the beginning again when they are used up."""
    for _ in range(2):
        if name not in drawn:
            drawn[name] = hidden_draws(name, hidden, rng)
        found = next(drawn[name], None)
        if found is not None:
            return found
        del drawn[name]
    raise Skip("a template has nothing to ask")


def hidden_asker(
    spec: BacktestSpec, base: Tape, config: dict[str, Any], *, resampled: bool, seed: int, secret: bytes,
    scheme: str = "siblings", bare: bool = False,
) -> HiddenAsker:
    """An asker of worlds like ``base``: of its synthetic regime, or resampled from its bars and dated anew.

    The symbol becomes an opaque name of the configuration, the same in all of its worlds.
    """
    days = base.dates
    kind = f"world:{base.source.split(':')[1]}" if not resampled else f"resampled:{base.sha256}"
    if resampled:
        # As many business days as there are bars, from a date that has nothing to do with them.
        days = tuple(business_days("2016-01-04", "2120-01-01")[: len(base)])
    name = hashlib.sha256(json.dumps([kind, config], sort_keys=True).encode()).hexdigest()[:8].upper()
    dated = {"symbol": f"SYN-{name}", "start_date": days[0], "end_date": _after(days[-1])}
    shown = json.dumps({**config, **dated})
    return HiddenAsker(Setup(kind, days, spec, shown, secret, scheme, base if resampled else None, bare), seed)


def _after(day: str) -> str:
    from backtrader_bench.mcq_builder.build import day_after

    return day_after(day)
