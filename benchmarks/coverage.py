"""Do the intervals and tests of reports keep their word? Two equal agents, many simulated runs.

    python benchmarks/coverage.py [RUNS]

Questions come in configurations. A configuration is easier or harder for both agents, and each agent has luck of its
own with all of its questions at once, so answers inside one hang together. 95% intervals should cover the truth in 93
to 97% of the runs, and the tests at 5% should accuse equal agents in at most about 5%. Intervals that take questions
for independent are printed beside: they fail. Exits with 1 when a figure that must hold does not.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from backtrader_bench.stats.clusters import clustered
from backtrader_bench.stats.pairs import difference, mcnemar
from backtrader_bench.stats.proportions import wilson


class Setting(NamedTuple):
    """What a simulated bank looks like. Spreads are standard deviations on the probit scale."""

    name: str
    clusters: int
    size: int
    level: float
    shared: float
    own: float


SETTINGS = (
    Setting("independent, 300 questions", 300, 1, 0.0, 0.0, 0.0),
    Setting("60 configurations of 5", 60, 5, 0.3, 0.8, 0.7),
    Setting("40 configurations of 10", 40, 10, 0.3, 0.8, 0.7),
    Setting("20 configurations of 10", 20, 10, 0.3, 0.8, 0.7),
    Setting("12 configurations of 10", 12, 10, 0.0, 0.6, 0.6),
)


class Coverage(NamedTuple):
    """Shares of the runs."""

    wilson: float
    clustered: float
    plain_difference: float
    difference: float
    exact: float
    mid: float
    flip: float


def drawn(setting: Setting, draw: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Scores of two equal agents on one bank."""
    hard = draw.normal(0, setting.shared, setting.clusters)
    scores = []
    for _ in range(2):
        luck = draw.normal(0, setting.own, setting.clusters)
        chance = ndtr(setting.level + np.repeat(hard + luck, setting.size))
        scores.append((draw.random(len(chance)) < chance).astype(np.int64))
    return scores[0], scores[1]


def truth(setting: Setting) -> float:
    """The accuracy of both over all banks: a normal mean of a normal distribution function."""
    return float(ndtr(setting.level / np.sqrt(1 + setting.shared**2 + setting.own**2)))


def simulate(setting: Setting, runs: int, seed: int = 1) -> Coverage:
    """How often each interval covers and each test accuses, over ``runs`` banks."""
    draw = np.random.default_rng([seed, setting.clusters, setting.size])
    names = np.repeat(np.arange(setting.clusters), setting.size).tolist()
    accuracy = truth(setting)
    hits = np.zeros(7)
    for run in range(runs):
        a, b = drawn(setting, draw)
        apart, alone, both = (
            wilson(int(a.sum()), len(a)),
            clustered(a.tolist(), names, seed=run),
            difference(a.tolist(), b.tolist(), names, run),
        )
        plain = difference(a.tolist(), b.tolist(), None, run)
        test = mcnemar(plain.b, plain.c)
        hits += [
            apart is not None and apart.low <= accuracy <= apart.high,
            _covers(alone.low, alone.high, accuracy),
            _covers(plain.low, plain.high, 0.0),
            _covers(both.low, both.high, 0.0),
            test.exact < 0.05,
            test.mid < 0.05,
            both.p is not None and both.p < 0.05,
        ]
    return Coverage(*(float(hit) for hit in hits / runs))


def _covers(low: float | None, high: float | None, value: float) -> bool:
    return low is not None and high is not None and low <= value <= high


def failures(setting: Setting, found: Coverage) -> list[str]:
    """What is not as promised: intervals outside 93 to 97%, a test that accuses more than 6%."""
    wrong = [f"{setting.name}: {name} {getattr(found, name):.3f}" for name in ("clustered", "difference")
             if not 0.93 <= getattr(found, name) <= 0.97]  # fmt: skip
    tests = ("exact", "mid", "flip") if setting.size == 1 else ("flip",)
    wrong += [f"{setting.name}: {name} {getattr(found, name):.3f}" for name in tests if getattr(found, name) > 0.06]
    if setting.size > 1 and found.wilson >= 0.93:
        wrong.append(f"{setting.name}: Wilson covers {found.wilson:.3f}, so this bank shows nothing about clusters")
    return wrong


def main() -> None:
    """Print a table; exit 1 when a promise is broken."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{runs} runs each; the error of a figure near 95% is {100 * (0.95 * 0.05 / runs) ** 0.5:.1f} points\n")
    print(f"{'':28}  {'95% intervals cover':^43}  {'tests at 5% accuse':^22}")
    print(f"{'':28}  {'accuracy':^21}  {'difference':^20}  {'McNemar':^13}  sign")
    print(
        f"{'bank':28}  {'Wilson':>9} {'clustered':>11}  {'plain':>8} {'clustered':>11}  {'exact':>6} {'mid-p':>6}  flip"
    )
    wrong = []
    for setting in SETTINGS:
        found = simulate(setting, runs)
        print(
            f"{setting.name:28}  {found.wilson:>9.1%} {found.clustered:>11.1%}  {found.plain_difference:>8.1%} "
            f"{found.difference:>11.1%}  {found.exact:>6.1%} {found.mid:>6.1%}  {found.flip:.1%}"
        )
        wrong += failures(setting, found)
    for line in wrong:
        print(f"FAILED {line}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
