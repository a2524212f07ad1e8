"""From a verifier's printed lines to the question record, or to why there is none. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.mcq_builder.seeds import stream
from backtrader_bench.miner.categories import category_of
from backtrader_bench.miner.convert import Unusable, convert
from backtrader_bench.miner.decisions import Outcome
from backtrader_bench.miner.wellposed import Printed, flaws, stem_flaws, unkept_flaw
from backtrader_bench.records import MINED, Question, TapeRef, Verification, question_id
from backtrader_bench.templates.render import question_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DIFFICULTY = "mined"


@dataclass(frozen=True)
class Origin:
    """Where a question comes from."""

    attempt: str
    """``RUN/attempt_001``."""
    generator: str
    seed: int
    """The session's."""
    number: int
    """The attempt's."""


def question_of(
    code: str, base: Printed, others: Sequence[Printed], origin: Origin, isolation: Mapping[str, Any]
) -> Question | Outcome:
    """The record, without labels; or ``not_well_posed`` with every reason."""
    stem = base.question.strip()
    rng = stream(origin.seed, "options", origin.number)
    if flaw := unkept_flaw([base, *others]):
        return Outcome("not_well_posed", (flaw.reason,), flaw.detail)
    if words := stem_flaws(stem):
        return Outcome("not_well_posed", tuple(flaw.reason for flaw in words), words[0].detail)
    made = convert(stem, base.answer, [(one.seed, one.answer) for one in others], rng)
    if isinstance(made, Unusable):
        return Outcome("not_well_posed", (made.reason,), made.detail)
    found = flaws(code, Printed(base.seed, stem, base.answer), others, made)
    if found:
        return Outcome("not_well_posed", tuple(dict.fromkeys(flaw.reason for flaw in found)), found[0].detail)
    digest = hashlib.sha256(code.encode()).hexdigest()
    category = category_of(code, stem)
    return Question(
        question=question_text(stem, made.options),
        answer=made.answer,
        type=category,
        difficulty=DIFFICULTY,
        strategy_name="",
        strategy_params={},
        config={"verifier_sha256": digest},
        id=question_id(stem, made.options),
        stem=stem,
        options=made.options,
        template_params={},
        value=made.value,
        tape=TapeRef(sha256=digest, source="verifier", rows=0, first="", last=""),
        scheme=MINED,
        option_origins=made.origins,
        seed=base.seed,
        tolerance=made.tolerance,
        category=category,
        verifier=code,
        verification=Verification(
            base_seed=base.seed,
            answer=base.answer,
            others={str(one.seed): one.answer for one in others},
            isolation=dict(isolation),
            attempt=origin.attempt,
            generator=origin.generator,
        ),
    )



def labelled(question: Question, label: str, marks: tuple[str, ...], second: str | None = None) -> Question:
    """The record as it is kept: with its decision, marks, and the second verifier's answer."""
    assert question.verification is not None
    verification = msgspec.structs.replace(question.verification, marks=marks, second=second)
    return msgspec.structs.replace(question, labels=[label], verification=verification)


def ask_line(stem: str, longest: int = 160) -> str:
    """The end of a stem, which is what it asks, as one line."""
    last = next((part for part in reversed(stem.strip().split("\n\n")) if part.strip()), "")
    text = " ".join(last.split())
    return text if len(text) <= longest else "..." + text[-longest:]
