"""An audit from beginning to end: items -> attackers' credits -> statistics -> verdict. Deterministic for a seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backtrader_bench.errors import RecordError
from backtrader_bench.mcq_builder.audit.attackers import HABITS, RULES
from backtrader_bench.mcq_builder.audit.bank import Bank
from backtrader_bench.mcq_builder.audit.items import Certificates
from backtrader_bench.mcq_builder.audit.learned import LEARNED, credits_of
from backtrader_bench.mcq_builder.audit.result import Audit, Criteria, Row, Subset, TypeUniformity
from backtrader_bench.mcq_builder.audit.score import Habit, Layout, Redraw, batches, reference, rule_credits
from backtrader_bench.mcq_builder.audit.shape import in_file_order
from backtrader_bench.mcq_builder.audit.statistics import (
    CHANCE,
    clustered_interval,
    clustered_p,
    exact_p,
    holm,
    require_extra,
    smallest_leak,
    uniformity,
    wilson,
)
from backtrader_bench.mcq_builder.audit.verdict import findings, verdict_of
from backtrader_bench.parallel import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backtrader_bench.mcq_builder.audit.items import Item
    from backtrader_bench.mcq_builder.audit.registry import HabitAttacker, RuleAttacker
    from backtrader_bench.mcq_builder.audit.statistics import Uniformity

    Floats = NDArray[np.float64]
    Progress = Callable[[str], None]

SUBSETS = (("type", "type"), ("tier", "difficulty"), ("scheme", "scheme"), ("strategy", "strategy"))
_DECIMALS = 6


@dataclass(frozen=True)
class Scored:
    """One attacker's credit per question, and how sure that its total is no luck."""

    name: str
    family: str
    about: str
    learned: bool
    credits: Floats
    answered: int
    p: float
    clusters: NDArray[np.int64] | None = None
    """For a learned attacker: its interval is clustered by these."""


def audit(
    items: Sequence[Item],
    certificates: Certificates | None = None,
    criteria: Criteria | None = None,
    *,
    seed: int = 42,
    learned: bool = True,
    jobs: int = 1,
    progress: Progress = lambda what: None,
) -> Audit:
    """The audit of a bank; ``learned`` off leaves the trained attackers out, and then no bank can pass.

    MissingError for trained attackers without the extra ``audit``; RecordError for an empty bank.
    """
    require_extra(learned=learned)
    if not items:
        raise RecordError("there is no question to audit")
    criteria = criteria or Criteria()
    items = in_file_order(items)
    bank, layout = Bank(items), Layout.of(items)
    keys = np.array([item.key for item in items])
    progress("rules")
    tables = np.stack([rule_credits(attacker, bank) for attacker in RULES.values()])
    habits = [Habit(attacker, items, layout) for attacker in HABITS.values()]
    progress("redrawn keys")
    redraw = Redraw(items)
    scored, largest_p = _fixed(redraw, tables, habits, keys, criteria.permutations, seed)
    chance = ChanceHabits(dict(zip(HABITS, habits, strict=True)), redraw, criteria, seed)
    if learned:
        progress("learned attackers")
        scored += _learned(items, tables, layout.clusters, seed, jobs)
    rows = _rows(scored, seed)
    ranks = layout.ranks[np.arange(len(items)), keys]
    found = Audit(
        n=len(items),
        draws=int(redraw.draws.sum()),
        clusters=len(np.unique(layout.clusters)),
        schemes=dict(Counter(item.scheme for item in items)),
        rows=rows,
        largest_p=largest_p,
        letters=_letters(keys),
        ranks=_ranks(ranks[redraw.draws]),
        by_type=_by_type(items, keys, ranks, redraw.draws),
        subsets=_subsets(items, scored, redraw.draws, chance),
        certificates=certificates or Certificates(),
        smallest_leak=smallest_leak(int(redraw.draws.sum())),
        criteria=criteria,
        seed=seed,
        findings=[],
        verdict="too small",
    )
    found.findings = findings(found)
    found.verdict = verdict_of(found.findings)
    return found


def _fixed(
    redraw: Redraw,
    tables: NDArray[np.float32],
    habits: Sequence[Habit],
    keys: NDArray[np.int64],
    permutations: int,
    seed: int,
) -> tuple[list[Scored], float]:
    """Rules and habits, and the p of the largest of them."""
    earned = [table[np.arange(redraw.n), keys].astype(float) for table in tables]
    earned += [habit.credits(keys) for habit in habits]
    totals = np.array([credit.sum() for credit in earned])
    redrawn = reference(tables, habits, redraw, permutations, seed)
    singles = redrawn.single_p(totals)
    scored = []
    known: list[RuleAttacker | HabitAttacker] = [*RULES.values(), *HABITS.values()]
    for place, attacker in enumerate(known):
        if place < len(tables):
            answered = int((tables[place].max(axis=1) > CHANCE).sum())
            p = rule_p(tables[place], earned[place]) if redraw.independent else singles[place]
        else:
            answered, p = habits[place - len(tables)].answered(keys), singles[place]
        p = p if answered else 1.0
        scored.append(Scored(attacker.name, attacker.family, attacker.about, False, earned[place], answered, p))
    return scored, redrawn.largest_p(totals)


def rule_p(table: NDArray[np.float32], earned: Floats) -> float:
    """The exact p of a rule on independent keys."""
    chosen = np.rint(1 / table.max(axis=1)).astype(int)  # how many letters it holds for likely; 4: abstains
    sizes = Counter(chosen.tolist())
    return exact_p(float(earned[chosen < 4].sum()), sizes[1], sizes[2], sizes[3])


def _learned(
    items: Sequence[Item], tables: NDArray[np.float32], clusters: NDArray[np.int64], seed: int, jobs: int
) -> list[Scored]:
    scored = []
    run = spread(credits_of, jobs)
    arguments = [(name, items, tables, clusters, seed) for name in LEARNED]
    for attacker, earned in zip(LEARNED.values(), run(arguments), strict=True):
        if earned is not None:
            p = clustered_p(earned, clusters)
            scored.append(Scored(attacker.name, "learned", attacker.about, True, earned, len(items), p, clusters))
    return scored


def _rows(scored: Sequence[Scored], seed: int) -> list[Row]:
    """The report's rows, the highest accuracy first."""
    adjusted = holm([one.p for one in scored])
    rows = []
    for one, p_holm in zip(scored, adjusted, strict=True):
        n, total = len(one.credits), float(one.credits.sum())
        clustered = one.clusters is not None
        span = clustered_interval(one.credits, one.clusters, seed) if one.clusters is not None else wilson(total, n)
        gained = total - CHANCE * (n - one.answered)
        rows.append(
            Row(
                name=one.name, family=one.family, about=one.about, learned=one.learned, n=n, answered=one.answered,
                accuracy=_tidy(total / n), low=_tidy(span.low), high=_tidy(span.high), clustered=clustered,
                when_answered=_tidy(gained / one.answered) if one.answered else None, p=one.p, holm=p_holm,
            )
        )  # fmt: skip
    return sorted(rows, key=lambda row: (-row.accuracy, row.p, row.name))


def _tidy(share: float) -> float:
    return round(share, _DECIMALS)


def _letters(keys: NDArray[np.int64]) -> Uniformity:
    return uniformity(np.bincount(keys, minlength=4).tolist())


def _ranks(ranks: NDArray[np.int64]) -> Uniformity:
    """Ranks of the keys of independent draws: the ranks of one world's answers to a bundle go together."""
    return uniformity(np.bincount(ranks[ranks >= 0], minlength=4).tolist())


def _by_type(
    items: Sequence[Item], keys: NDArray[np.int64], ranks: NDArray[np.int64], draws: NDArray[np.bool_]
) -> list[TypeUniformity]:
    """Letters and ranks of each type, p adjusted over all of them."""
    names = sorted({item.type for item in items})
    types = np.array([item.type for item in items])
    tests = []
    for name in names:
        mine = types == name
        tests.append(_letters(keys[mine]))
        tests.append(_ranks(ranks[mine & draws]))
    adjusted = holm([test.p for test in tests])
    return [
        TypeUniformity(name, tests[2 * at], tests[2 * at + 1], adjusted[2 * at], adjusted[2 * at + 1])
        for at, name in enumerate(names)
    ]


@dataclass(frozen=True)
class ChanceHabits:
    """Tells whether a habit's accuracy on a subset is one that redrawn keys reach too.

    A habit says the same of many questions, so that its luck on them goes together: it passes 30% of 1,000 questions by
    chance now and then, where a rule does so once in some 7,000 banks.
    """

    habits: dict[str, Habit]
    redraw: Redraw
    criteria: Criteria
    seed: int

    def explain(self, name: str, mask: NDArray[np.bool_], share: float) -> bool:
        """Whether chance explains ``share``; asked only of habits above the limit, on subsets that are judged."""
        judged = int((mask & self.redraw.draws).sum()) >= self.criteria.least
        if name not in self.habits or not judged or share <= self.criteria.subset_accuracy:
            return False
        shares = np.concatenate([
            self.habits[name].share(keys, mask)
            for keys in batches(self.redraw, self.criteria.permutations, self.seed)
        ])  # fmt: skip
        return float((1 + (shares >= share - 1e-9).sum()) / (1 + len(shares))) >= self.criteria.rule_p


def _subsets(
    items: Sequence[Item], scored: Sequence[Scored], draws: NDArray[np.bool_], chance: ChanceHabits
) -> list[Subset]:
    """The strongest attacker on each type, tier, scheme and strategy, habits left out that chance explains."""
    credits = np.stack([one.credits for one in scored])
    found = []
    for kind, attribute in SUBSETS:
        names = np.array([getattr(item, attribute) for item in items])
        for name in sorted(set(names.tolist())):
            mine = names == name
            n, totals = int(mine.sum()), credits[:, mine].sum(axis=1)
            order = np.argsort(-np.round(totals, 6), kind="stable")
            best = next(int(at) for at in order if not chance.explain(scored[at].name, mine, totals[at] / n))
            low, high = (_tidy(end) for end in wilson(float(totals[best]), n))
            share = _tidy(float(totals[best]) / n)
            found.append(Subset(kind, name, n, int((mine & draws).sum()), scored[best].name, share, low, high))
    return found
