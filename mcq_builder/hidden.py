"""Hidden worlds of one configuration: the same strategy and calendar on bars that differ in everything else.

Worlds belong to the configuration; every question draws its own four of them and its own key among the four, so that
one question tells nothing of another's key.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench.backtest.cache import Backtests
from backtrader_bench.backtest.run import run
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
    """The worlds of a setup, computed in batches of 32."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.config: dict[str, Any] = json.loads(setup.config)
        self.backtests = Backtests(simulate, "worlds", None, keep=400)
        self._made: list[Context] = []

    def first(self, count: int) -> list[Context]:
        """The first ``count`` worlds as contexts, their backtests in the fast engine."""
        while len(self._made) < count:
            places = range(len(self._made), len(self._made) + FIRST)
            seeds = [self.seed(place) for place in places]
            made = worlds(self.setup.kind, seeds, self.config["symbol"], self.setup.days, self.setup.base)
            self._made += [Context(tape, self.setup.spec, self.config, self.backtests) for tape in made]
            for place in places:
                self._cross_check(place)
        return self._made[:count]

    def seed(self, place: int) -> str:
        """Seed of the world at ``place``: 128 bits that only the secret tells."""
        return prf(self.setup.secret, "world", self.setup.kind, self.setup.config, place)[:16].hex()

    def _cross_check(self, place: int) -> None:
        """Run one world in a hundred in backtrader as well; a difference stops the build."""
        of = self._made[place]
        if int(of.tape.sha256[:8], 16) % CROSS_CHECK:
            return
        slow = run(of.tape, of.spec)
        fast = of.result
        apart = max((abs(a - b) for a, b in zip(slow.value, fast.value, strict=True)), default=0.0)
        if _events(slow) != _events(fast) or apart > 1e-6:
            raise BacktestError(
                f"the two engines disagree on {of.spec.strategy} in world {of.tape.source} by {apart:g}: this is a "
                "defect, please report it with this line"
            )


def _events(result: Result) -> list[tuple[int, str, int]]:
    return [(fill.bar, fill.side, fill.size) for fill in result.fills]


_kept: OrderedDict[tuple[str, str, bytes, str], Worlds] = OrderedDict()


def worlds_of(setup: Setup) -> Worlds:
    """The worlds of a setup, kept for the next question in the same process."""
    key = (setup.kind, setup.config, setup.secret, setup.scheme)
    if key not in _kept:
        _kept[key] = Worlds(setup)
        if len(_kept) > 2:
            _kept.popitem(last=False)
    return _kept[key]
