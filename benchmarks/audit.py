"""Does the audit find leaks, and only leaks? And how do the schemes fare?

    python benchmarks/audit.py                            planted leaks and clean banks of 2,000 questions
    python benchmarks/audit.py --schemes 20000 --jobs 2   every attacker on ladder and published questions, too
    python benchmarks/audit.py --published POOL.jsonl     the leaks of a published file, by family, too

Ends with 1 when a planted leak is missed, or when more clean banks are accused than the criteria's levels explain.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).parents[1]))

from backtrader_bench.mcq_builder.audit.generate import Wish, generate
from backtrader_bench.mcq_builder.audit.items import read_files
from backtrader_bench.mcq_builder.audit.run import audit
from tests.mcq_builder.audit.banks import BUNDLES, PLANTS, bundles, clean, planted

if TYPE_CHECKING:
    from backtrader_bench.mcq_builder.audit.result import Audit

LEVEL = 0.03
"""Three tests at 1% each: the largest rule attacker, key letters, key ranks."""


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=2_000, help="questions of a planted or clean bank")
    parser.add_argument("--clean", type=int, default=20, help="clean banks, every fifth of them of bundles")
    parser.add_argument("--schemes", type=int, default=0, metavar="N", help="questions a scheme")
    parser.add_argument("--scheme", action="append", help="only this scheme; repeatable [ladder, published]")
    parser.add_argument("--published", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    missed = plants(given.size, given.jobs) if given.size else 0
    accused = clean_banks(given.clean, given.size, given.jobs) if given.clean and given.size else 0
    for scheme in (given.scheme or ("ladder", "published")) if given.schemes else ():
        items, certificates = generate(Wish(given.schemes, scheme=scheme), jobs=given.jobs)
        show(f"scheme {scheme}", audit(items, certificates, jobs=given.jobs))
    if given.published:
        items, certificates = read_files([given.published])
        found = audit(items, certificates, jobs=given.jobs)
        show(given.published.name, found)
        families(found)
    # Of 20 banks, three accused would be a chance of 1 in 50 at this level.
    return int(missed > 0 or accused > max(1, round(3 * LEVEL * given.clean)))


def plants(size: int, jobs: int) -> int:
    """Each planted leak; how many were not found and named."""
    missed = 0
    for name in [*PLANTS, BUNDLES]:
        items, expected = planted(name, size, 11)
        found = audit(items, jobs=jobs)
        named = [row for row in found.leaks if row.name in expected]
        ok = found.verdict == "leak" and bool(named)
        missed += not ok
        said = ", ".join(f"{row.name} {100 * row.accuracy:.1f}%" for row in named) or f"not named: {expected}"
        print(f"{'found ' if ok else 'MISSED'}  {name:38} {said}", flush=True)
    print(f"{len(PLANTS) + 1 - missed} of {len(PLANTS) + 1} planted leaks found")
    return missed


def clean_banks(count: int, size: int, jobs: int) -> int:
    """Banks without a leak; how many are called one."""
    verdicts: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for seed in range(count):
        items = bundles(size, seed, one_set=True) if seed % 5 == 4 else clean(size, seed)
        found = audit(items, jobs=jobs)
        verdicts[found.verdict] += 1
        broken.update({one.criterion for one in found.findings if one.ok is False})
        print(f"clean bank {seed:2}: {found.verdict:9}  p of the largest rule {found.largest_p:.3f}, letters "
              f"{found.letters.p:.3f}, ranks {found.ranks.p:.3f}, best {found.best.name} "
              f"{100 * found.best.accuracy:.1f}%", flush=True)  # fmt: skip
    accused = verdicts["leak"]
    print(f"{accused} of {count} clean banks accused: false alarm rate {accused / count:.3f}, at levels that allow "
          f"about {LEVEL:.2f} {dict(broken) or ''}")  # fmt: skip
    return accused


def show(title: str, found: Audit) -> None:
    """Every attacker with its interval, the worst type, the criteria."""
    print(f"\n{title}: {found.verdict}, {found.n:,} questions of {found.clusters} configurations")
    for row in found.rows:
        if row.answered:
            right = f"{100 * (row.when_answered or 0):5.1f}% right"
            print(f"  {row.name:34} {100 * row.accuracy:5.1f}%  [{100 * row.low:.1f}, {100 * row.high:.1f}]  "
                  f"answers {row.answered:6,}, {right}  Holm p {row.holm:.1e}")  # fmt: skip
    for one in sorted((one for one in found.subsets if one.kind == "type"), key=lambda one: -one.low)[:5]:
        print(f"  worst types: {one.name:26} {one.attacker:26} {100 * one.accuracy:5.1f}% of {one.n:,}")
    for finding in found.findings:
        state = {True: "ok", False: "LEAK", None: "open"}[finding.ok]
        print(f"  {finding.criterion:13} {state:5} {finding.text}")


def families(found: Audit) -> None:
    """The strongest attacker of each family, by p: what kinds of leak a file has."""
    print("\nby family")
    for name in sorted({row.family for row in found.rows}):
        row = min((row for row in found.rows if row.family == name), key=lambda row: (row.p, row.name))
        state = "leak" if row.holm < found.criteria.rule_p else "suspected" if row.p < 0.1 else "not shown"
        print(f"  {name:10} {state:10} {row.name:28} {100 * (row.when_answered or 0):5.1f}% of {row.answered} "
              f"answered, p {row.p:.1e}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
