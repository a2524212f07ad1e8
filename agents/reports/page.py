"""The report as one self-contained page: tables and plots as text, questions and charts packed beside them.

No request leaves it: a content security policy forbids all, and allows the one script that is in it by its hash.
Whatever comes from records and replies is escaped by the template engine, or packed and shown by the script as text.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from backtrader_bench.agents.reports import detail, words
from backtrader_bench.mcq_builder.pages import parts
from backtrader_bench.mcq_builder.pages.pack import ChartPack, packed

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrader_bench.agents.reports.gather import Table
    from backtrader_bench.agents.reports.schema import Report
    from backtrader_bench.mcq_builder.pages.charts import Charts

CHUNK = 40
"""Questions that the page unpacks together."""
COLOURS = 8
"""Agents with a colour of their own; after that they begin again."""


def html(
    found: Report, table: Table, charts: Charts, pack: ChartPack, link: Callable[[str], str | None] = lambda path: None
) -> str:
    """The page. ``link`` turns an attempt's transcript folder into a relative address, or None for no link."""
    environment = parts.templates(source)
    environment.filters |= {
        "percent": words.percent, "points": words.points, "span": words.span, "number": words.number, "p": words.p,
        "total": words.total, "seconds": words.seconds,
    }  # fmt: skip
    order = [one.name for one in found.agents]
    shown = detail.questions(table, order, charts, link)
    script = parts.script(source("page.js"))
    return environment.get_template("page.html.j2").render(
        report=found, title=words.title(found), script=script,
        style=parts.style(source("style.css")), policy=parts.policy(script),
        about={one.name: one for one in found.agents},
        condition={one.name: words.condition(one) for one in found.agents},
        colour={name: place % COLOURS for place, name in enumerate(order)},
        groups=[(kind, list(mine)) for kind, mine in groupby(found.groups, lambda group: group.kind)],
        hard=sorted((one for one in found.items.rows if one.p is not None), key=lambda one: (one.p, one.question)),
        index=packed(detail.index(shown, order, found, CHUNK, len(pack.charts))),
        chunks=[packed(shown[start : start + CHUNK]) for start in range(0, len(shown), CHUNK)],
        calendars=pack.calendars, charts=pack.charts, statuses=words.STATUSES, words=words,
    )  # fmt: skip


def source(name: str) -> str:
    """The text of one of the page's own parts."""
    return parts.text(name, "backtrader_bench.agents.reports", "page")
