"""Questions that the with-tools solver got wrong: what a person needs to judge them, and the verdict as a record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrader_bench import store
from backtrader_bench.attempts import ANSWERS
from backtrader_bench.errors import UsageError
from backtrader_bench.miner import journal
from backtrader_bench.miner.decisions import REVIEW
from backtrader_bench.miner.records import ReviewLine, read_review, to_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from backtrader_bench.attempts import Attempt
    from backtrader_bench.miner.records import Verdict
    from backtrader_bench.records import Question


@dataclass(frozen=True)
class Flagged:
    """One question for review."""

    run: str
    question: Question
    attempts: tuple[Attempt, ...]
    """Of all solvers, in the order of asking."""
    verdict: ReviewLine | None
    """The last one that was given."""

    @property
    def against(self) -> dict[str, int]:
        """Letters other than the key -> how many answers of with-tools solvers gave them."""
        letters = (one.letter for one in self.attempts if one.mode == "with-tools" and one.status in ANSWERS)
        return dict(Counter(letter for letter in letters if letter and letter != self.question.answer).most_common())

    @property
    def values(self) -> dict[str, int]:
        """Values that with-tools solvers gave -> how often, most often first."""
        given = (one.given_value for one in self.attempts if one.mode == "with-tools")
        return dict(Counter(value for value in given if value is not None).most_common())


def flagged(run: str | None = None) -> list[Flagged]:
    """The questions for review of a session (``last``: the newest), or of all; in the order of the files."""
    names = [journal.run_named(run)] if run is not None else journal.sessions()
    found = []
    for name in names:
        questions = [one for one, _ in journal.mined(name) if REVIEW in one.labels]
        if questions:
            files = journal.open_journal(name)
            verdicts = {line.question_id: line for line in read_reviews(reviews_path(name))}
            for one in questions:
                asked = tuple(attempt for attempt in files.attempts if attempt.question_id == one.id)
                found.append(Flagged(name, one, asked, verdicts.get(one.id)))
    return found


def chosen(all_flagged: Sequence[Flagged], which: str) -> Flagged:
    """The one whose id begins so. UsageError: none does, or several."""
    fitting = [one for one in all_flagged if one.question.id.startswith(which)]
    if len(fitting) != 1:
        some = f"{len(fitting)} questions for review begin with {which}"
        many = some if fitting else f"no question {which} is for review"
        raise UsageError(f"{many}; bench review lists them")
    return fitting[0]


def reviews_path(run: str) -> Path:
    """Where the verdicts on a session's questions are kept."""
    return store.folder("reviews") / f"{run}.jsonl"


def read_reviews(path: Path) -> list[ReviewLine]:
    """Every verdict of a file, in order; none where there is no file."""
    return [read_review(line, where) for line, where in journal.whole_lines(path)]


def give(one: Flagged, verdict: Verdict, reason: str, reviewer: str, at: str) -> ReviewLine:
    """Append a verdict. UsageError: a rejection, or a need to fix, without a reason."""
    if verdict != "accept" and not reason.strip():
        raise UsageError(f"--verdict {verdict} needs a --reason: whoever reads it later must know why")
    line = ReviewLine(
        run=one.run, question_id=one.question.id, verdict=verdict, reason=" ".join(reason.split()), reviewer=reviewer,
        at=at, replaces=one.verdict is not None,
    )  # fmt: skip
    store.append_line(reviews_path(one.run), to_line(line))
    return line


def as_fields(all_flagged: Iterable[Flagged]) -> list[dict[str, Any]]:
    """For ``--json``."""
    return [
        {
            "run": one.run, "question_id": one.question.id, "category": one.question.category,
            "stem": one.question.stem, "options": one.question.options, "key": one.question.answer,
            "value": one.question.value, "verifier": one.question.verifier,
            "verifier_answer": one.question.verification.answer if one.question.verification else None,
            "answers": [
                {"agent": a.agent, "mode": a.mode, "status": a.status, "letter": a.letter, "value": a.given_value,
                 "transcript": a.transcript} for a in one.attempts
            ],
            "against_the_key": one.against, "values": one.values,
            "verdict": None if one.verdict is None else one.verdict.verdict,
            "reason": None if one.verdict is None else one.verdict.reason,
        }
        for one in all_flagged
    ]  # fmt: skip
