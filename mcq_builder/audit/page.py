"""The audit as one page: no script, no request; marks are inline SVG that stretches with the window."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from backtrader_bench.written import p_value, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.mcq_builder.audit.result import Audit, Row, Subset
    from backtrader_bench.mcq_builder.audit.statistics import Uniformity

STYLE = """
:root { --ink: #1d2330; --dim: #667085; --line: #e3e6ec; --paper: #ffffff; --card: #f7f8fa;
        --mark: #3466c2; --leak: #c4322b; --warn: #a16207; --good: #23803f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --dim: #98a1b3; --line: #313847; --paper: #14171d; --card: #1c2028;
          --mark: #7ba4f5; --leak: #f0776f; --warn: #dfae4b; --good: #6cc48a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 24px 20px 56px; background: var(--paper); color: var(--ink);
       font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; margin: 0 0 4px; }
h2 { font-size: 1.08rem; margin: 36px 0 4px; }
p { margin: 4px 0 10px; max-width: 74ch; }
.dim { color: var(--dim); }
.verdict { border-left: 5px solid var(--warn); background: var(--card); padding: 12px 16px; margin: 16px 0; }
.verdict b { font-size: 1.1rem; }
.verdict.leak { border-color: var(--leak); } .verdict.pass { border-color: var(--good); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 10px; }
.facts div { background: var(--card); padding: 8px 12px; }
.facts b { display: block; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.rows { display: grid; grid-template-columns: minmax(230px, 34%) 1fr max-content max-content; }
.row { display: contents; }
.row > * { border-top: 1px solid var(--line); padding: 4px 0 4px 14px; align-content: center; }
.row .name { padding-left: 0; }
.row.head > * { border: 0; color: var(--dim); font-size: 0.83rem; }
.row .value { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.row .note { color: var(--dim); font-size: 0.83rem; text-align: right; font-variant-numeric: tabular-nums;
             white-space: nowrap; align-content: center; }
.name small { display: block; color: var(--dim); font-size: 0.78rem; font-weight: 400; line-height: 1.3; }
.row.leak .name, .row.leak .value { color: var(--leak); font-weight: 600; }
.row.suspect .name, .row.suspect .value { color: var(--warn); }
svg { display: block; width: 100%; height: 22px; overflow: visible; }
.track { position: relative; min-height: 24px; margin-left: 14px; }
.track svg { position: absolute; inset: 0; height: 100%; }
.scale text { fill: var(--dim); font-size: 11px; }
.chance { stroke: var(--dim); stroke-dasharray: 3 3; }
.span { stroke: var(--mark); stroke-width: 2.5; } .dot { fill: var(--mark); }
.leak .span { stroke: var(--leak); } .leak .dot { fill: var(--leak); }
.suspect .span { stroke: var(--warn); } .suspect .dot { fill: var(--warn); }
.bars { display: grid; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); gap: 12px 40px; }
.bar { display: grid; grid-template-columns: 84px 1fr 92px; gap: 10px; align-items: center; margin: 3px 0; }
.bar span:last-child { text-align: right; font-variant-numeric: tabular-nums; }
.bar rect { fill: var(--mark); }
ul.criteria { list-style: none; padding: 0; margin: 8px 0; }
ul.criteria li { display: grid; grid-template-columns: 96px 54px 1fr; gap: 10px; padding: 5px 0;
                 border-top: 1px solid var(--line); }
.ok { color: var(--good); } .bad { color: var(--leak); font-weight: 700; } .open { color: var(--warn); }
footer { margin-top: 40px; color: var(--dim); font-size: 0.85rem; }
@media (max-width: 640px) {
  body { padding: 16px 14px 40px; }
  .rows { display: block; }
  .row { display: grid; grid-template-columns: 1fr max-content; border-top: 1px solid var(--line); }
  .row.head { border: 0; }
  .row > * { border: 0; padding: 5px 0 0; align-content: start; }
  .row .value { padding-left: 12px; }
  .row .track { grid-column: 1 / -1; grid-row: 2; margin: 2px 0; padding: 0; }
  .row .note, .row.head .name, .row.head .value { display: none; }
  ul.criteria li { grid-template-columns: 1fr max-content; } ul.criteria li span:last-child { grid-column: 1 / -1; }
}
"""
VERDICTS = {
    "pass": "Pass: no attacker beats chance",
    "leak": "Leak: keys can be guessed without a backtest",
    "too small": "Too small to certify, which is not clean",
}
OUTCOMES = {True: ("ok", "ok"), False: ("bad", "leak"), None: ("open", "open")}
CHANCE = 25.0


def html(audit: Audit, title: str) -> str:
    """The page; everything in it is from ``audit``."""
    sections = [_head(audit, title), _attackers(audit), _subsets(audit), _histograms(audit), _criteria(audit)]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Audit: {escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + f"\n<footer>bench audit, seed {audit.seed}, {audit.criteria.permutations} redraws of the keys. Attackers, "
        "criteria and statistics are described in docs/audit.md.</footer>\n</body>\n</html>\n"
    )


def _head(audit: Audit, title: str) -> str:
    broken = sorted((one for one in audit.findings if one.ok is not True), key=lambda one: one.ok is None)
    why = "".join(f"<br>{escape(one.criterion)}: {escape(one.text)}" for one in broken[:4])
    best = audit.best
    facts = {
        f"{audit.n:,}": "questions",
        f"{audit.clusters:,}": "configurations",
        f"{100 * best.accuracy:.1f}%": f"best attacker ({best.name})",
        f"{100 * audit.smallest_leak:.1f} points": "smallest leak that so many can show",
    }
    listed = "".join(f"<div><b>{escape(big)}</b>{escape(small)}</div>" for big, small in facts.items())
    schemes = ", ".join(f"{name or 'no scheme'} ({count:,})" for name, count in sorted(audit.schemes.items()))
    return (
        f"<h1>Audit: {escape(title)}</h1>\n<p class='dim'>Scheme: {escape(schemes)}</p>\n"
        f"<div class='verdict {escape(audit.verdict.replace(' ', '-'))}'><b>{VERDICTS[audit.verdict]}</b>{why}</div>\n"
        f"<div class='facts'>{listed}</div>"
    )


def _attackers(audit: Audit) -> str:
    used = [row for row in audit.rows if row.answered]
    most = max([0.5, *(row.high for row in used)])
    proved, suspected = {row.name for row in audit.leaks}, {row.name for row in audit.suspects}
    marks = {**dict.fromkeys(suspected, "suspect"), **dict.fromkeys(proved, "leak")}
    rows = "".join(_attacker(row, most, marks.get(row.name, ""), audit.criteria.rule_p) for row in used)
    idle = ", ".join(row.name for row in audit.rows if not row.answered)
    rest = f"<p class='dim'>Nothing to go by: {escape(idle)}.</p>" if idle else ""
    return (
        "<h2>Attackers</h2>\n<p class='dim'>Accuracy with its 95% interval; the dashed line is chance. Red: above "
        f"chance after adjustment for all attackers (Holm p below {audit.criteria.rule_p:g}); amber: by itself "
        "alone.</p>\n"
        f"<div class='rows'>{_axis(most, 'accuracy', 'Holm p')}{rows}</div>{rest}"
    )


def _attacker(row: Row, most: float, mark: str, level: float) -> str:
    p = p_value(row.holm, level)
    partly = row.when_answered is not None and row.answered < row.n
    answers = f"; answers {row.answered:,}, {100 * (row.when_answered or 0):.0f}% right" if partly else ""
    return _line(mark, row.name, row.about + answers, (row.accuracy, row.low, row.high), most, p)


def _line(
    mark: str, name: str, small: str, share: tuple[float, float, float], most: float, note: str, *limits: float
) -> str:
    value, low, high = share
    return (
        f"<div class='row {mark}'><div class='name'>{escape(name)}<small>{escape(small)}</small></div>"
        f"<div class='track'>{_track(value, low, high, most)}</div><div class='value'>{percent(value, *limits)}</div>"
        f"<div class='note'>{escape(note)}</div></div>"
    )


def _track(value: float, low: float, high: float, most: float) -> str:
    at = {name: f"{100 * share / most:.2f}%" for name, share in (("v", value), ("l", low), ("h", high), ("c", 0.25))}
    return (
        f"<svg role='img' aria-label='{100 * value:.1f}%, {100 * low:.1f}% to {100 * high:.1f}%'>"
        f"<line class='chance' x1='{at['c']}' x2='{at['c']}' y1='0' y2='100%'/>"
        f"<line class='span' x1='{at['l']}' x2='{at['h']}' y1='50%' y2='50%'/>"
        f"<circle class='dot' cx='{at['v']}' cy='50%' r='4.5'/></svg>"
    )


def _axis(most: float, value: str, note: str) -> str:
    """A line of round percentages over the tracks."""
    step = 0.25 if most > 0.6 else 0.1
    ticks = [step * place for place in range(int(most / step + 1e-9) + 1)]
    ticks = ticks if step == 0.25 else sorted({*ticks, 0.25})
    # 20% and 30% would run into the 25% that matters.
    marks = "".join(_tick(tick, most) for tick in ticks if tick == 0.25 or abs(tick - 0.25) > 0.06)
    return (
        "<div class='row head'><div class='name'></div><div class='track'><svg class='scale' aria-hidden='true'>"
        f"{marks}</svg></div><div class='value'>{value}</div><div class='note'>{note}</div></div>"
    )


def _tick(tick: float, most: float) -> str:
    anchor = "start" if tick == 0 else "end" if tick > 0.97 * most else "middle"
    return f"<text x='{100 * tick / most:.2f}%' y='18' text-anchor='{anchor}'>{100 * tick:.0f}%</text>"


def _subsets(audit: Audit) -> str:
    parts = []
    for kind, plural in (("type", "Types"), ("tier", "Tiers"), ("strategy", "Strategies"), ("scheme", "Schemes")):
        mine = sorted((one for one in audit.subsets if one.kind == kind), key=lambda one: (-one.low, one.name))
        if mine:
            parts.append(_part(audit, plural, mine))
    return "\n".join(parts)


def _part(audit: Audit, plural: str, subsets: Sequence[Subset]) -> str:
    most = max([0.5, *(one.high for one in subsets)])
    limit = audit.criteria.subset_accuracy
    rows = "".join(
        _line(
            "leak" if one.draws >= audit.criteria.least and one.accuracy > limit else "",
            one.name or "(none)", f"{one.attacker}, n {one.n:,}", (one.accuracy, one.low, one.high), most,
            f"{100 * one.low:.0f}-{100 * one.high:.0f}", limit,
        )
        for one in subsets
    )  # fmt: skip
    return (
        f"<h2>{plural}: the best attacker of each</h2>\n<p class='dim'>The best of {len(audit.rows)} attackers is "
        "chosen after the fact, so with few questions it lies above 25% by luck alone. Judged (red above "
        f"{100 * limit:g}%) from {audit.criteria.least:,} questions on.</p>\n"
        f"<div class='rows'>{_axis(most, 'accuracy', '95%')}{rows}</div>"
    )


def _histograms(audit: Audit) -> str:
    letters = _bars("Key letters", "ABCD", audit.letters, audit.criteria.uniform_p)
    ranks = _bars("Key ranks", ("smallest", "second", "third", "largest"), audit.ranks, audit.criteria.uniform_p)
    return f"<h2>Where the keys are</h2>\n<div class='bars'>{letters}{ranks}</div>"


def _bars(title: str, labels: Sequence[str], test: Uniformity, level: float) -> str:
    total = sum(test.counts) or 1
    most = max(0.4, max(test.counts) / total)
    bars = "".join(
        f"<div class='bar'><span>{label}</span><svg role='img' aria-label='{100 * count / total:.1f}%'>"
        f"<rect x='0' y='4' height='14' width='{100 * count / total / most:.2f}%'/>"
        f"<line class='chance' x1='{CHANCE / most:.2f}%' x2='{CHANCE / most:.2f}%' y1='0' y2='22'/></svg>"
        f"<span>{count:,} ({100 * count / total:.1f}%)</span></div>"
        for label, count in zip(labels, test.counts, strict=True)
    )
    p = p_value(test.p, level)
    return f"<div><p>{title} <span class='dim'>chi-square p {p}</span></p>{bars}</div>"


def _criteria(audit: Audit) -> str:
    rows = "".join(
        f"<li><span>{escape(one.criterion)}</span><span class='{OUTCOMES[one.ok][0]}'>{OUTCOMES[one.ok][1]}</span>"
        f"<span>{escape(one.text)}</span></li>"
        for one in audit.findings
    )
    return f"<h2>Criteria</h2>\n<ul class='criteria'>{rows}</ul>"
