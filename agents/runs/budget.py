"""What a run has used, and when that is enough. Pure; unknown stays unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrader_bench import bounds
from backtrader_bench.arguments import Number, hold, optional

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrader_bench.attempts import Attempt, Usage


@dataclass(frozen=True, kw_only=True)
class Caps:
    """Where a session ends early; None is no cap."""

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    """Of this session; tokens and dollars are of the whole run, resumed sessions together."""

    def __post_init__(self) -> None:
        """UsageError: a cap that can't be."""
        seconds = Number(0, above=True)
        hold(self, {name: optional(check) for name, check in
                    (("tokens", bounds.TOKENS), ("usd", bounds.USD), ("seconds", seconds))})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Sums over tries whose figures are known, and how many were."""

    tokens: int = 0
    with_tokens: int = 0
    estimated: bool = False
    """Some of the tokens were counted from the text."""
    usd: float = 0.0
    with_usd: int = 0
    tries: int = 0

    def add(self, attempt: Attempt) -> Spent:
        """With one more try."""
        tokens, cost = tokens_of(attempt.usage), attempt.cost
        return Spent(
            tokens=self.tokens + (tokens or 0),
            with_tokens=self.with_tokens + (tokens is not None),
            estimated=self.estimated or (tokens is not None and attempt.usage.estimated),
            usd=self.usd + (cost.usd if cost else 0.0),
            with_usd=self.with_usd + (cost is not None),
            tries=self.tries + 1,
        )


def spent(attempts: Iterable[Attempt]) -> Spent:
    """What these attempts used; records that replace another cost nothing anew."""
    total = Spent()
    for one in attempts:
        if one.replaces is None:
            total = total.add(one)
    return total


def tokens_of(usage: Usage) -> int | None:
    """All tokens together; None when no part is known. Reasoning is part of the output."""
    parts = [part for part in (usage.input, usage.cache_read, usage.cache_write, usage.output) if part is not None]
    return sum(parts) if parts else None


def reached(caps: Caps, used: Spent, running: int, seconds: float) -> str | None:
    """Which cap forbids to start one more try beside ``running`` others, in words; None when none does.

    What runs is taken to use what a try has used so far on average, so that a cap is passed by little or not at all.
    """
    if caps.seconds is not None and seconds >= caps.seconds:
        return f"--max-hours {caps.seconds / 3600:g} are over"
    if caps.tokens is not None and _ahead(used.tokens, used.with_tokens, running) >= caps.tokens:
        if used.tokens < caps.tokens:
            mean = used.tokens / used.with_tokens
            return f"--max-tokens {caps.tokens:,} is reached with one more try: {used.tokens:,} used, {mean:,.0f} a try"
        return f"--max-tokens {caps.tokens:,} is reached: {used.tokens:,} used"
    if caps.usd is not None and _ahead(used.usd, used.with_usd, running) >= caps.usd:
        if used.usd < caps.usd:
            mean = used.usd / used.with_usd
            return f"--max-cost {caps.usd:g} is reached with one more try: ${used.usd:.4f} used, ${mean:.4f} a try"
        return f"--max-cost {caps.usd:g} is reached: ${used.usd:.4f} used"
    return None


def _ahead(total: float, known: int, running: int) -> float:
    # One more than what runs: the try that is about to start.
    mean = total / known if known else 0.0
    return total + mean * (running + 1) if known else total
