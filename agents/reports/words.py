"""How figures are written, on the page and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.agents.reports.between import ALPHA
from backtrader_bench.agents.reports.gather import Series
from backtrader_bench.written import p_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.agents.reports.schema import AgentReport, Pair, Report, Share, Sum

STATUSES = {
    "correct": "right", "wrong": "wrong", "unparsed": "no letter found", "refused": "refused",
    "tool_attempted": "tool attempted", "timeout": "timeout", "agent_error": "agent error",
    "harness_error": "harness error",
}  # fmt: skip
NOTHING = "-"


def percent(share: float | None, places: int = 1) -> str:
    """``73.4%``; a dash for unknown."""
    return NOTHING if share is None else f"{100 * share:.{places}f}%"


def points(share: float | None) -> str:
    """``+3.2``: a difference in percentage points."""
    if share is None:
        return NOTHING
    text = f"{100 * share:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def span(share: Share | Pair) -> str:
    """``65.6 to 80.5``: the interval, in percent or points."""
    if share.low is None or share.high is None:
        return NOTHING
    return f"{100 * share.low:.1f} to {100 * share.high:.1f}"


def p(value: float | None) -> str:
    """A p value to three decimals, or its order of size."""
    if value is None:
        return NOTHING
    return p_value(value, ALPHA, least=0.0005)


def number(value: float | None) -> str:
    """A count with separators, other numbers to two decimals."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def total(found: Sum, unit: str = "") -> str:
    """A sum, and how many of all reported it where not all did: ``~392,204 (170 of 180 known)``; ``unknown``."""
    if found.total is None:
        return "unknown"
    figure = f"{unit}{found.total:,.2f}" if unit else f"{found.total:,.0f}"
    about = "~" if found.estimated else ""
    return about + figure + (f" ({found.known:,} of {found.n:,} known)" if found.known < found.n else "")


def seconds(value: float) -> str:
    """``14.1 s``, ``3.4 min``, ``2.1 h``."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if value >= 2 * size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.1f} s"


def verdict(pair: Pair, agents: Mapping[str, AgentReport]) -> str:
    """Whether a pair is tied, and if not, who is ahead."""
    if pair.word is None:
        return nothing_to_say(pair)
    if pair.word == "tied":
        return "tied"
    ahead = agents[pair.first if pair.word == "ahead" else pair.second]
    return f"{ahead.agent if pair.kind == 'agents' else condition(ahead)} ahead"


def nothing_to_say(pair: Pair) -> str:
    """Why a pair has no p."""
    return "no common question" if pair.difference is None else "one configuration can't tell"


def condition(agent: AgentReport) -> str:
    """``no-tools``, ``with-tools``, ``with-tools, data none``."""
    return Series(agent.agent, agent.mode, agent.data).condition


def title(found: Report) -> str:
    """The runs, shortly."""
    names = [one.run for one in found.runs]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def failures(statuses: dict[str, int], errors: dict[str, int]) -> str:
    """``3 agent error (1 auth, 2 network), 1 refused``; ``none``."""
    parts = []
    for name, count in statuses.items():
        if name not in ("correct", "wrong"):
            kinds = ", ".join(f"{times} {kind}" for kind, times in errors.items())
            parts.append(f"{count:,} {STATUSES[name]}" + (f" ({kinds})" if name == "agent_error" and kinds else ""))
    return ", ".join(parts) or "none"
