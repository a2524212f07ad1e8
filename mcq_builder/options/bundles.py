"""Bundles: several questions on the same four hidden worlds, with the same one for the key of all.

The four worlds are far enough apart in every question of the bundle, and the key's world is drawn once, after the text
and options of all of them are fixed: linking the questions tells nothing.
"""

from __future__ import annotations

import hashlib
from itertools import combinations
from typing import TYPE_CHECKING, Any

from backtrader_bench.mcq_builder.context import Skip
from backtrader_bench.mcq_builder.hidden import MOST
from backtrader_bench.mcq_builder.options.guards import apart
from backtrader_bench.mcq_builder.options.siblings import (
    Chosen,
    Draft,
    Option,
    draw_key,
    set_stream,
    world_answers,
)
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from backtrader_bench.mcq_builder.context import Answer
    from backtrader_bench.mcq_builder.hidden import Worlds
    from backtrader_bench.records import Question

_TRIES = 3000


def bundle(asked: Sequence[tuple[str, Mapping[str, Any]]], hidden: Worlds, seed: int) -> list[Question]:
    """The records of a bundle, one a (template, parameters), on worlds of its own; Skip when no four fit them all."""
    hidden = hidden.about("bundle", [[name, dict(params)] for name, params in asked])
    rng = set_stream(hidden)
    answers = [world_answers(TEMPLATES[name], hidden.first(MOST), params, {}) for name, params in asked]
    names = [name for name, _ in asked]
    places = _places(names, answers, rng)
    drafts = []
    for (name, params), found in zip(asked, answers, strict=True):
        options = [Option(place, found[place]) for place in places]
        drafts.append(Draft(name, hidden, params, seed, Chosen(options, MOST, len(found)), rng))
    identity = hashlib.sha256("\n".join(draft.id for draft in drafts).encode()).hexdigest()
    key = draw_key(hidden.setup.secret, identity)
    return [draft.record(key, bundle=identity) for draft in drafts]


def _places(names: list[str], answers: list[dict[int, Answer]], rng: Random) -> list[int]:
    """Four worlds apart in every question, at random among such fours, in their order."""
    shared = sorted(set.intersection(*(set(found) for found in answers)))
    for _ in range(_TRIES if len(shared) >= 4 else 0):
        places = sorted(rng.sample(shared, 4))
        if all(
            apart(TEMPLATES[name], found[one], found[other])
            for name, found in zip(names, answers, strict=True)
            for one, other in combinations(places, 2)
        ):
            return places
    raise Skip("no four worlds are far enough apart in every question of a bundle")
