"""What a report says, typed: ``bench report --json`` is this, and tables and page are made from it.

Shares run from 0 to 1. ``None`` is unknown or undefined, never 0.
"""

from __future__ import annotations

from typing import Literal

import msgspec

REPORT_VERSION = 1


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A share of attempts with its interval, clustered by configuration."""

    right: int
    n: int
    value: float | None
    """``right / n``; None for n = 0."""
    low: float | None
    high: float | None
    clusters: int
    """Configurations among the n."""


class Sum(msgspec.Struct, frozen=True, kw_only=True):
    """A sum over attempts, of those that reported the figure."""

    total: float | None
    """None where no attempt reported it."""
    known: int
    n: int
    estimated: int = 0
    """Of the known ones, how many are estimates (tokens) or computed from a price table (cost)."""


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of wall time of the last try of each attempt."""

    n: int
    total: float
    mean: float
    median: float
    p90: float


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Accuracy by what becomes of the x attempts without an answer, of n in all, c of them right."""

    answered: int
    excluded: float | None
    """c / answered."""
    as_wrong: float | None
    """c / n."""
    as_guess: float | None
    """(c + x/4) / n."""
    as_right: float | None
    """(c + x) / n."""


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """How far repeats of the same questions differ."""

    accuracies: tuple[float | None, ...]
    """Of every repeat, of answered attempts; in the order of runs and repeats."""
    mean: float | None
    """Of the questions' shares of right answers."""
    sd: float | None
    """Of the repeats' accuracies, ddof 1; None under two."""
    se_questions: float | None
    """sd(p_i) / sqrt(questions), p_i the accuracy on a question over its repeats."""


class PassAt(msgspec.Struct, frozen=True, kw_only=True):
    """Chance that at least one of k answers is right, and that all are, over questions answered k times or more."""

    k: int
    pass_at: float | None
    pass_hat: float | None
    questions: int
    """Questions (each order of options by itself) answered at least k times."""


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Picks by where an option was shown, over questions answered in all four orders."""

    questions: int
    picks: tuple[Share, ...]
    """Share of picks of the option shown as A, B, C, D: a quarter each without bias."""
    by_key: tuple[Share, ...]
    """Accuracy where the key was shown as A, B, C, D."""
    steady: float | None
    """Share of questions on which the same option was picked in all four orders."""


class AgentReport(msgspec.Struct, frozen=True, kw_only=True):
    """One agent under one condition."""

    name: str
    """``AGENT (CONDITION)``; what other parts of the report call it."""
    agent: str
    mode: str
    data: str
    """How prices were given with tools; empty without."""
    runs: tuple[str, ...]
    models: tuple[str, ...]
    """As the agent reported them."""
    questions: int
    attempts: int
    statuses: dict[str, int]
    errors: dict[str, int]
    """Attempts with status agent_error, by kind."""
    accuracy: Share
    """The headline: letters read leniently, attempts without an answer left out."""
    as_wrong: Share
    """The same with every attempt without an answer counted as wrong."""
    lenient: Bounds
    strict: Bounds
    """Only answers in just the form asked for; others count as without an answer."""
    verified: Share | None
    """Letter and value right, among answers to questions that asked for the value; None where none did."""
    letters_where_verified: Share | None
    """The accuracy of letters on just those."""
    mistakes: dict[str, int]
    """Wrong values that one common mistake explains."""
    repeats: Repeats
    passes: tuple[PassAt, ...]
    guess_corrected: float | None
    above_floor: float | None
    tokens: dict[str, Sum]
    """input, cache_read, cache_write, output, reasoning."""
    cost: Sum
    """US dollars."""
    seconds: Times
    tries: int
    """Times that the agent was asked, retries included."""
    confusion: tuple[tuple[int, int, int, int], ...]
    """Rows: the key is A, B, C, D. Columns: the option picked is A, B, C, D, as the record has them."""
    position: Position | None
    """None where options were not rotated."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two agents on the questions that both answered."""

    first: str
    second: str
    kind: str
    """``agents``: two agents, one condition; ``conditions``: one agent, two conditions."""
    questions: int
    clusters: int
    only_first: int | None
    """Questions that only the first has right; None where a question was answered more than once."""
    only_second: int | None
    difference: float | None
    """Accuracy of the first less that of the second."""
    low: float | None
    high: float | None
    p: float | None
    holm: float | None
    """p adjusted over all pairs of the kind."""
    test: str
    """What gave p."""
    word: Literal["ahead", "behind", "tied"] | None
    """What may be said of the first: ``tied`` where the adjusted p is not below 0.05; None where nothing may."""
    smallest: float | None
    """The smallest true difference that so many questions show with a chance of 80%."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One agent on one group of questions."""

    agent: str
    share: Share


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Questions that share a tier, template, strategy, category or scheme."""

    kind: str
    name: str
    questions: int
    cells: tuple[Cell, ...]


class ItemRow(msgspec.Struct, frozen=True, kw_only=True):
    """One question over all who answered it."""

    question: str
    answers: int
    p: float | None
    """Share of right answers."""
    discrimination: float | None
    """Point-biserial correlation with the share right of the others; None under three takers or without spread."""


class Items(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of the questions as a test. Takers are agent, condition, repeat and order of options."""

    takers: int
    complete: int
    """Questions answered by every taker: KR-20 is over these."""
    kr20: float | None
    rows: tuple[ItemRow, ...]


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """What a script gets that sees text and options alone, on the questions asked."""

    value: float
    source: str
    """The shortcut's name, or ``--floor``."""
    about: str
    questions: int
    chance_p: float | None
    """P(some shortcut reaches so much) if nothing gave keys away; None where the floor was given."""


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A run in short."""

    run: str
    mode: str
    agents: tuple[str, ...]
    questions: int
    planned: int
    stored: int
    started: str
    ended: str | None
    outcome: str | None
    files: tuple[str, ...]
    settings: dict[str, str]


class NoteRow(msgspec.Struct, frozen=True, kw_only=True):
    """Something a reader has to know beside the figures."""

    kind: str
    text: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report."""

    schema_version: int = REPORT_VERSION
    level: float
    """Of every interval."""
    questions: int
    found: int
    """Questions whose record was found."""
    configurations: int
    runs: tuple[RunFacts, ...]
    notes: tuple[NoteRow, ...]
    floor: Floor | None
    agents: tuple[AgentReport, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]
    items: Items
