"""What an audit found: plain values for the table, the JSON and the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from backtrader_bench import bounds
from backtrader_bench.arguments import hold

if TYPE_CHECKING:
    from backtrader_bench.mcq_builder.audit.items import Certificates
    from backtrader_bench.mcq_builder.audit.statistics import Uniformity

Outcome = Literal["pass", "leak", "too small"]


@dataclass(frozen=True)
class Criteria:
    """When a bank passes; the defaults are those of docs/audit.md."""

    rule_p: float = 0.01
    """The least p of the largest rule attacker over redrawn keys; also where an attacker is called a leak."""
    learned_bound: float = 0.27
    """The most that the upper end of a learned attacker's clustered 95% interval may be."""
    subset_accuracy: float = 0.30
    """The most that any attacker may reach on a type, tier, scheme or strategy of ``least`` questions."""
    uniform_p: float = 0.01
    """The least p of the chi-square tests of letters and of ranks."""
    least: int = 1000
    """Independent draws of a key: with fewer a bank is too small, and so is a subset to be judged."""
    permutations: int = 999
    """Redraws of the keys."""

    def __post_init__(self) -> None:
        """UsageError: one that can't be."""
        hold(self, bounds.CRITERIA)


@dataclass(frozen=True)
class Row:
    """One attacker. Shares from 0 to 1."""

    name: str
    family: str
    about: str
    learned: bool
    n: int
    answered: int
    """On how many questions it had a preference; on the others its credit is 1/4."""
    accuracy: float
    low: float
    high: float
    clustered: bool
    """Whether the interval is clustered by configuration (learned attackers) or Wilson's."""
    when_answered: float | None
    """Accuracy on the questions answered; None when it answered none."""
    p: float
    """One-sided, against 1/4."""
    holm: float
    """``p`` adjusted over all attackers."""


@dataclass(frozen=True)
class Subset:
    """The strongest attacker on a part of the bank."""

    kind: str
    """type, tier, scheme, strategy."""
    name: str
    n: int
    draws: int
    """Independent draws of a key among them: questions of one bundle count once."""
    attacker: str
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class TypeUniformity:
    """Key letters and key ranks of one type, p adjusted over all types and both tests."""

    type: str
    letters: Uniformity
    ranks: Uniformity
    letters_holm: float
    ranks_holm: float


@dataclass(frozen=True)
class Finding:
    """One criterion: kept (True), broken (False), or not to be decided with so few questions (None)."""

    criterion: str
    ok: bool | None
    text: str


@dataclass
class Audit:
    """A whole audit."""

    n: int
    draws: int
    """Independent draws of a key: questions of one bundle, whose key is one world, count once."""
    clusters: int
    """Configurations."""
    schemes: dict[str, int]
    rows: list[Row]
    """The highest accuracy first."""
    largest_p: float
    letters: Uniformity
    ranks: Uniformity
    by_type: list[TypeUniformity]
    subsets: list[Subset]
    certificates: Certificates
    smallest_leak: float
    """How far above 1/4 an attacker must be for this many draws to show it."""
    criteria: Criteria
    seed: int
    findings: list[Finding]
    verdict: Outcome

    @property
    def leaks(self) -> list[Row]:
        """Attackers whose adjusted p is below the criterion's."""
        return [row for row in self.rows if row.holm < self.criteria.rule_p]

    @property
    def suspects(self) -> list[Row]:
        """Attackers below the criterion's p by themselves but not after adjustment: seen, not proved."""
        proved = {row.name for row in self.leaks}
        return [row for row in self.rows if row.p < self.criteria.rule_p and row.name not in proved]

    @property
    def best(self) -> Row:
        """The attacker with the highest accuracy: what a score has to be compared with."""
        return self.rows[0]

    def as_dict(self) -> dict[str, Any]:
        """Everything, for ``--json``."""
        plain = asdict(self)
        for uniform in (plain["letters"], plain["ranks"]):
            assert len(uniform) == 3
        plain["letters"], plain["ranks"] = self.letters._asdict(), self.ranks._asdict()
        for one, row in zip(self.by_type, plain["by_type"], strict=True):
            row["letters"], row["ranks"] = one.letters._asdict(), one.ranks._asdict()
        plain["leaks"] = [row.name for row in self.leaks]
        plain["suspects"] = [row.name for row in self.suspects]
        return {"verdict": plain.pop("verdict"), **plain}
