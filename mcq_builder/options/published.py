"""Scheme ``published``: multiplicative jitter, as the published bank made its options. For comparison only: it leaks.

A key so jittered is the value closest to the others' mean, win rates stop being k/n and volumes lose their lots;
``bench build`` says so whenever the scheme is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.options.ladder import ladder
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from backtrader_bench.mcq_builder.context import Answer, Context
    from backtrader_bench.mcq_builder.options.ladder import Made
    from backtrader_bench.templates.kinds import Kind

JITTER = (0.78, 1.30)


def published(template: str, of: Context, params: Mapping[str, Any], key: Answer, rng: Random) -> Made:
    """Three jittered distractors; templates whose options are words or given sets are made as in ``ladder``."""
    kinds = {part.field: part.kind for part in TEMPLATES[template].parts}
    if {kind.name for kind in kinds.values()} & {"label", "params", "rate"}:
        return ladder(template, of, params, key, rng)
    made: Made = []
    for _ in range(200):
        other = {field: _jittered(of, kind, key[field], rng) for field, kind in kinds.items()}
        texts = [TEMPLATES[template].option_text(answer) for answer in (key, other, *(answer for answer, _ in made))]
        if len(set(texts)) == len(texts):
            made.append((other, "jitter"))
        if len(made) == 3:
            return made
    raise Skip("jitter gives no three other values")


def _jittered(of: Context, kind: Kind, value: Any, rng: Random) -> Any:
    if kind.name == "date":
        return rng.choice(of.tape.dates)
    factor = rng.uniform(*JITTER)
    if kind.decimals is None:
        return max(0, round(value * factor) + (rng.randrange(-3, 4) if abs(value) < 20 else 0))
    return value * factor
