"""Pass, leak, or too small: the criteria of docs/audit.md, one function each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.mcq_builder.audit.result import Finding
from backtrader_bench.written import p_value, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.mcq_builder.audit.result import Audit, Outcome, Row
    from backtrader_bench.mcq_builder.audit.statistics import Uniformity


def verdict_of(found: Sequence[Finding]) -> Outcome:
    """A leak when one criterion is broken, too small when one can't be decided, else a pass."""
    if any(one.ok is False for one in found):
        return "leak"
    return "too small" if any(one.ok is None for one in found) else "pass"


def findings(audit: Audit) -> list[Finding]:
    """Every criterion, in the order of the documentation."""
    return [
        _size(audit),
        _rules(audit),
        *_learned(audit),
        _subsets(audit),
        _uniform(audit, "letters", "key letters A to D", audit.letters),
        _uniform(audit, "ranks", "key ranks, smallest to largest", audit.ranks),
        _certificates(audit),
    ]


def _size(audit: Audit) -> Finding:
    least = audit.criteria.least
    bundled = "" if audit.draws == audit.n else f" ({audit.draws:,} draws of a key: bundles share theirs)"
    points = f"the smallest leak that {audit.n:,} questions{bundled} could show: {100 * audit.smallest_leak:.1f} points"
    if audit.draws < least:
        return Finding("size", None, f"{points}; {least:,} questions are needed to certify")
    return Finding("size", True, points)


def _rules(audit: Audit) -> Finding:
    fixed = [row for row in audit.rows if not row.learned and row.answered]
    if not fixed:
        return Finding("rules", None, "no rule attacker has anything to go by")
    top = min(fixed, key=lambda row: (max(row.p, 1e-12), -row.accuracy, row.name))
    p, level = audit.largest_p, audit.criteria.rule_p
    text = f"largest rule attacker: {_said(top)}; p {p_value(p, level)} over redrawn keys"
    return Finding("rules", p >= level, f"{text} ({'within chance' if p >= level else f'below {level:g}'})")


def _said(row: Row) -> str:
    return f"{row.name} {100 * row.accuracy:.1f}%" + (
        f" ({100 * row.when_answered:.0f}% of the {row.answered:,} it answers)"
        if row.when_answered is not None and row.answered < row.n
        else ""
    )


def _learned(audit: Audit) -> list[Finding]:
    rows = [row for row in audit.rows if row.learned]
    if not rows:
        return [Finding("learned", None, "no learned attacker was run; left out, or a single configuration")]
    return [_one_learned(audit, row) for row in rows]


def _one_learned(audit: Audit, row: Row) -> Finding:
    bound = audit.criteria.learned_bound
    holm = p_value(row.holm, audit.criteria.rule_p)
    text = f"{row.name} {100 * row.accuracy:.1f}%, upper bound {percent(row.high, bound)}"
    if row.high <= bound:
        return Finding("learned", True, f"{text} (at most {100 * bound:g}%)")
    if row.holm < audit.criteria.rule_p:
        return Finding("learned", False, f"{text} (above {100 * bound:g}%), Holm p {holm}")
    return Finding("learned", None, f"{text}: above {100 * bound:g}%, but not shown to be above chance (Holm p {holm})")


def _subsets(audit: Audit) -> Finding:
    most, least = audit.criteria.subset_accuracy, audit.criteria.least
    judged = [one for one in audit.subsets if one.draws >= least]
    if not judged:
        return Finding("subsets", True, f"no type, tier, scheme or strategy has {least:,} questions to be judged by")
    worst = max(judged, key=lambda one: one.accuracy)
    text = f"worst of {len(judged)} with {least:,} questions: {worst.kind} {worst.name}, {worst.attacker} "
    text += percent(worst.accuracy, most)
    ok = worst.accuracy <= most
    return Finding("subsets", ok, f"{text} ({'at most' if ok else 'above'} {100 * most:g}%)")


def _uniform(audit: Audit, name: str, what: str, test: Uniformity) -> Finding:
    if sum(test.counts) == 0:
        return Finding(name, True, f"{what}: no question has any")
    level = audit.criteria.uniform_p
    counts = " ".join(f"{count:,}" for count in test.counts)
    ok = test.p >= level
    p = p_value(test.p, level)
    return Finding(name, ok, f"{what}: {counts}, chi-square p {p}{'' if ok else f' (below {level:g})'}")


def _certificates(audit: Audit) -> Finding:
    seen = audit.certificates
    if not seen.claimed:
        return Finding("certificates", True, "no question claims a certificate")
    sampled = f", {seen.looked:,} of them were verified" if seen.looked < seen.claimed else ""
    claim = f"{seen.claimed:,} questions claim a certificate{sampled}"
    if seen.by_text and not seen.invalid:
        return Finding("certificates", None, f"{claim}; {seen.by_text:,} have no private part: their text is as "
                       "certified, their worlds can't be made again")  # fmt: skip
    if not seen.invalid:
        held = "" if seen.with_secret else "; the keys were not held to the secret (--secret-file)"
        return Finding("certificates", True, f"{claim}, all valid{held}")
    first = f" ({seen.examples[0]})" if seen.examples else ""
    return Finding("certificates", False, f"{seen.invalid:,} of {seen.looked:,} certificates are not valid{first}")
