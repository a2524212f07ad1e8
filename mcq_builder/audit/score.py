"""What every attacker earns on a bank, and what it would earn if the keys were drawn anew.

Credit is exact: 1 shared among the letters that an attacker holds for equally likely, 1/4 where it abstains. The
reference distribution redraws every key uniformly among its question's four options, which is what "nothing gives the
key away" means; questions of one bundle, whose key is one world, are redrawn together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.mcq_builder.audit.shape import date_ranks, ranks
from backtrader_bench.mcq_builder.audit.statistics import CHANCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from backtrader_bench.mcq_builder.audit.bank import Bank
    from backtrader_bench.mcq_builder.audit.items import Item
    from backtrader_bench.mcq_builder.audit.registry import HabitAttacker, RuleAttacker, Target

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_BATCH = 64


def rule_credits(attacker: RuleAttacker, bank: Bank) -> NDArray[np.float32]:
    """Credit that each letter would bring, (questions, 4); rows sum to 1."""
    table = np.full((len(bank.items), 4), CHANCE, dtype=np.float32)
    for row, item in enumerate(bank.items):
        places = attacker.pick(item, bank)
        if places:
            table[row] = 0.0
            table[row, list(places)] = 1 / len(places)
    return table


def codes(names: Sequence[object]) -> Ints:
    """Names as whole numbers from 0, in order of their first coming."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


@dataclass(frozen=True)
class Layout:
    """What habits need of the questions, as arrays: configuration, and ranks of the options (-1: none)."""

    clusters: Ints
    ranks: Ints
    """(questions, 4), by leading value."""
    dates: Ints
    """(questions, 4), by date."""

    @classmethod
    def of(cls, items: Sequence[Item]) -> Layout:
        """The layout of some items."""
        none = (-1,) * 4
        return cls(
            codes([item.cluster for item in items]),
            np.array([ranks(item) or none for item in items]),
            np.array([date_ranks(item) or none for item in items]),
        )

    def meaning(self, target: Target) -> Ints:
        """What choosing each option says of ``target``, (questions, 4)."""
        letters = np.tile(np.arange(4), (len(self.clusters), 1))
        return {"letter": letters, "rank": self.ranks, "date": self.dates}[target]


class Habit:
    """One habit attacker on one bank: what it earns under given keys, leaving out each question's configuration."""

    def __init__(self, attacker: HabitAttacker, items: Sequence[Item], layout: Layout) -> None:
        marks = [attacker.group(item) for item in items]
        meaning = layout.meaning(attacker.target)
        known = np.array([mark is not None for mark in marks]) & (meaning[:, 0] >= 0)
        self.rows = np.flatnonzero(known)
        self.n = len(items)
        self.meaning = meaning[self.rows]
        groups = codes([marks[row] for row in self.rows])
        width = int(layout.clusters.max(initial=0)) + 1
        pairs, self.pairs = np.unique(groups * width + layout.clusters[self.rows], return_inverse=True)
        self.group_of_pair = pairs // width
        self.group_count = int(groups.max(initial=-1)) + 1

    def totals(self, keys: Ints) -> Floats:
        """Credit over the bank for each of some redrawn banks, (questions, banks) -> (banks,)."""
        return self.share(keys, np.ones(self.n, dtype=bool)) * self.n

    def share(self, keys: Ints, mask: NDArray[np.bool_]) -> Floats:
        """Accuracy on the questions that ``mask`` marks, for each of some redrawn banks."""
        inside = mask[self.rows]
        rest = CHANCE * (int(mask.sum()) - int(inside.sum()))
        found: Floats = (self._earned(keys)[inside].sum(axis=0) + rest) / int(mask.sum())
        return found

    def credits(self, keys: Ints) -> Floats:
        """Credit per question of the bank."""
        found = np.full(self.n, CHANCE)
        found[self.rows] = self._earned(keys[:, None])[:, 0]
        return found

    def answered(self, keys: Ints) -> int:
        """On how many questions it has a preference."""
        if not len(self.rows):
            return 0
        best = self._best(self._targets(keys[:, None]))
        return int((best.sum(axis=2)[0, self.pairs] < 4).sum())

    def _targets(self, keys: Ints) -> Ints:
        return np.take_along_axis(self.meaning, keys[self.rows], axis=1)

    def _best(self, targets: Ints) -> NDArray[np.bool_]:
        """Per bank and (group, configuration): which of the four targets is most frequent in other configurations."""
        banks, pair_count = targets.shape[1], len(self.group_of_pair)
        flat = (np.arange(banks) * pair_count + self.pairs[:, None]) * 4 + targets
        counts = np.bincount(flat.ravel(), minlength=banks * pair_count * 4).reshape(banks, pair_count, 4)
        whole = np.zeros((banks, self.group_count, 4), dtype=np.int64)
        for pair, group in enumerate(self.group_of_pair):
            whole[:, group] += counts[:, pair]
        others = whole[:, self.group_of_pair] - counts
        best: NDArray[np.bool_] = others == others.max(axis=2, keepdims=True)
        return best

    def _earned(self, keys: Ints) -> Floats:
        """Credit of ``rows``, (rows, banks). Where other configurations say nothing all four are best: credit 1/4."""
        if not len(self.rows):
            return np.zeros((0, keys.shape[1]))
        targets = self._targets(keys)
        best = self._best(targets)
        worth = best / best.sum(axis=2, keepdims=True)
        earned: Floats = worth[np.arange(keys.shape[1])[None, :], self.pairs[:, None], targets]
        return earned


class Redraw:
    """Draws keys anew: each question's uniformly, one world for all questions of a bundle."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.n = len(items)
        bundles: dict[str, list[int]] = {}
        for row, item in enumerate(items):
            if item.bundle is not None and item.worlds is not None:
                bundles.setdefault(item.bundle, []).append(row)
        self.shared = [rows for rows in bundles.values() if len(rows) > 1 and _same_worlds(items, rows)]
        self.places = [_places(items, rows) for rows in self.shared]

    @property
    def independent(self) -> bool:
        """Whether every question's key is drawn by itself."""
        return not self.shared

    @property
    def draws(self) -> NDArray[np.bool_]:
        """Marks one question of each draw: all but the later ones of a bundle."""
        first = np.ones(self.n, dtype=bool)
        for rows in self.shared:
            first[rows[1:]] = False
        return first

    def keys(self, count: int, rng: np.random.Generator) -> Ints:
        """``count`` redrawn banks, (questions, count)."""
        drawn = rng.integers(0, 4, (self.n, count))
        for rows, places in zip(self.shared, self.places, strict=True):
            world = rng.integers(0, 4, count)
            drawn[rows] = places[:, world]
        return drawn


def _same_worlds(items: Sequence[Item], rows: Sequence[int]) -> bool:
    return len({frozenset(items[row].worlds or ()) for row in rows}) == 1


def _places(items: Sequence[Item], rows: Sequence[int]) -> Ints:
    """For each question, the place of each of the bundle's worlds among its options."""
    names = sorted(items[rows[0]].worlds or ())
    return np.array([[(items[row].worlds or ()).index(name) for name in names] for row in rows])


@dataclass(frozen=True)
class Reference:
    """Totals that rule and habit attackers reach when keys are redrawn, (attackers, permutations)."""

    totals: Floats

    def standardised(self, observed: Floats) -> tuple[Floats, Floats]:
        """Observed and redrawn totals as standard deviations above the redrawn mean; 0 where nothing varies."""
        mean, spread = self.totals.mean(axis=1, keepdims=True), self.totals.std(axis=1, keepdims=True)
        safe = np.where(spread > 0, spread, np.inf)
        return ((observed[:, None] - mean) / safe)[:, 0], (self.totals - mean) / safe

    def largest_p(self, observed: Floats) -> float:
        """P(the largest standardised total >= the observed largest) over redrawn keys: one test for all attackers."""
        seen, redrawn = self.standardised(observed)
        largest = redrawn.max(axis=0)
        return float((1 + int((largest >= seen.max() - 1e-9).sum())) / (1 + len(largest)))

    def single_p(self, observed: Floats) -> list[float]:
        """P(total >= observed) per attacker: counted, or the normal tail where fewer than ten redraws reach it."""
        from scipy.stats import norm

        seen, redrawn = self.standardised(observed)
        counts = (redrawn >= seen[:, None] - 1e-9).sum(axis=1)
        return [
            float((1 + count) / (1 + redrawn.shape[1]) if count >= 10 else norm.sf(z))
            for count, z in zip(counts, seen, strict=True)
        ]


def reference(
    rules: NDArray[np.float32], habits: Sequence[Habit], redraw: Redraw, permutations: int, seed: int
) -> Reference:
    """Totals under redrawn keys: rules (attackers, questions, 4) first, then habits, in their order."""
    totals = np.empty((len(rules) + len(habits), permutations))
    flat = rules.reshape(len(rules), -1)
    done = 0
    for keys in batches(redraw, permutations, seed):
        count = keys.shape[1]
        chosen = np.zeros((redraw.n, 4, count), dtype=np.float32)
        np.put_along_axis(chosen, keys[:, None, :], 1.0, axis=1)
        totals[: len(rules), done : done + count] = flat @ chosen.reshape(-1, count)
        for row, habit in enumerate(habits, len(rules)):
            totals[row, done : done + count] = habit.totals(keys)
        done += count
    return Reference(totals)


def batches(redraw: Redraw, permutations: int, seed: int) -> Iterator[Ints]:
    """Redrawn keys, (questions, banks) a batch, ``permutations`` banks in all."""
    rng = np.random.default_rng(seed)
    for start in range(0, permutations, _BATCH):
        yield redraw.keys(min(_BATCH, permutations - start), rng)
