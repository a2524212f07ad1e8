"""Hidden worlds of one question: the same strategy and calendar on bars that differ in everything else.

Every question (or bundle) has worlds of its own. Were they shared, two questions with the same bars but different fours
would give both keys away: the option that they have in common is the answer of the world that they share.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.backtest.cache import Remembered
from backtrader_bench.backtest.run import run
from backtrader_bench.checker.agreement import apart
from backtrader_bench.checker.engine import simulate
from backtrader_bench.errors import BacktestError
from backtrader_bench.market.worlds import worlds
from backtrader_bench.mcq_builder.context import Context
from backtrader_bench.mcq_builder.secret import prf

if TYPE_CHECKING:
    from backtrader_bench.backtest.result import BacktestSpec, Result
    from backtrader_bench.market.tape import Tape

FIRST, MOST = 32, 64
"""Worlds computed at first, and when those have no four answers far enough apart."""
FEWEST = 8
"""Worlds with a valid answer that a question needs."""
CROSS_CHECK = 100
"""One world in so many is run in backtrader too."""


@dataclass(frozen=True)
class Setup:
    """A configuration and its calendar, and the kind of worlds to run it on."""

    kind: str
    """``world:REGIME`` or ``resampled:SHA256`` of the base."""
    days: tuple[str, ...]
    spec: BacktestSpec
    config: str
    """The records' ``config`` as JSON."""
    secret: bytes
    scheme: str = "siblings"
    base: Tape | None = None
    """The bars that resampled worlds are drawn from."""
    bare: bool = False
    """Whether to leave the fingerprints of mistakes out."""


class Worlds:
    """The worlds of what is asked, computed in batches of 32."""

    def __init__(self, setup: Setup, asked: str = "") -> None:
        self.setup = setup
        self.asked = asked
        """What the worlds were made for, as :func:`purpose` writes it; empty for scouts."""
        self.config: dict[str, Any] = json.loads(setup.config)
        self.backtests = Remembered(self._simulate)
        self._made: list[Context] = []

    def about(self, *asked: Any) -> Worlds:
        """Other worlds of the same setup, for what is asked alone."""
        return Worlds(self.setup, purpose(*asked))

    def first(self, count: int) -> list[Context]:
        """The first ``count`` worlds as contexts, their backtests in the fast engine."""
        while len(self._made) < count:
            places = range(len(self._made), len(self._made) + FIRST)
            seeds = [self.seed(place) for place in places]
            made = worlds(self.setup.kind, seeds, self.config["symbol"], self.setup.days, self.setup.base)
            self._made += [Context(tape, self.setup.spec, self.config, self.backtests) for tape in made]
        return self._made[:count]

    def seed(self, place: int) -> str:
        """Seed of the world at ``place``: 128 bits that only the secret tells."""
        return prf(self.setup.secret, "world", self.setup.kind, canonical(self.config), self.asked, place)[:16].hex()

    def _simulate(self, tape: Tape, spec: BacktestSpec) -> Result:
        """The fast engine; one world in a hundred is run in backtrader as well, and a difference stops the build."""
        fast = simulate(tape, spec)
        if self.setup.bare or spec != self.setup.spec or int(tape.source[-8:], 16) % CROSS_CHECK:
            return fast
        cross_checked.add(tape.source)
        if problem := apart(run(tape, spec), fast):
            raise BacktestError(
                f"the two engines disagree on {spec.strategy} in world {tape.source}: {problem}; this is a defect, "
                "please report it with this line"
            )
        return fast


cross_checked: set[str] = set()
"""Sources of the worlds that this process has run in both engines."""


def purpose(*asked: Any) -> str:
    """What worlds are made for: scheme, template and parameters, or those of a bundle's questions, as one line."""
    return canonical(asked)


def canonical(value: Any) -> str:
    """JSON with sorted keys: the same text whatever order a record keeps them in."""
    return json.dumps(value, sort_keys=True)


_kept: OrderedDict[tuple[str, str, bytes, str], Worlds] = OrderedDict()


def scouts_of(setup: Setup) -> Worlds:
    """Worlds that no question is asked of, from which parameters are chosen; kept for the next question."""
    key = (setup.kind, setup.config, setup.secret, setup.scheme)
    if key not in _kept:
        _kept[key] = Worlds(setup)
        if len(_kept) > 2:
            _kept.popitem(last=False)
    return _kept[key]
