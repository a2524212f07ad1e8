"""A mined question against its own verifier: the stored program runs again, and its answer is held against the record.

The program is all there is, so this shows that the record says what the program says, today and here, and that the
program always says the same; that the program is right is for people and second verifiers.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from backtrader_bench.checker.claim import loose_ends
from backtrader_bench.checker.mined_fields import contradictions, other_seeds
from backtrader_bench.checker.programs.judge import Printed, judge_run
from backtrader_bench.checker.programs.program import run_program, verify
from backtrader_bench.checker.programs.static import rejections
from backtrader_bench.errors import SandboxError
from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from backtrader_bench.checker.programs.program import ProgramRun
    from backtrader_bench.checker.verdict import Findings
    from backtrader_bench.records import Question
    from backtrader_bench.sandbox.room import Level

NAMES = ("fresh interpreter", "warm, once", "warm, twice")
_NUMBER = re.compile(r"(?P<sign>[-+\u2212]?)\s?\$?\s?(?P<inner>[-+\u2212]?)(?P<digits>\d[\d,]*(?:\.\d+)?)")
_MIDNIGHT = re.compile(r"(\d{4}-\d{2}-\d{2})[t ]00:00(?::00(?:\.0+)?)?")


@cache
def sandbox_level() -> Level:
    """Where programs run here; SandboxError where none of them may."""
    from backtrader_bench.sandbox.selftest import best

    return best().level


def check_mined(question: Question, findings: Findings) -> tuple[tuple[str, ...], dict[str, str]]:
    """Findings about a mined record; the letters that are right, and what the verifier answers by run."""
    for problem in loose_ends(question):
        findings.add("loose_text", problem)
    if question.verification is not None:
        for problem in contradictions(question, same):
            findings.add("loose_text", problem)
    if (unfit := _no_verifier(question)) is not None:
        findings.add("unverifiable", unfit)
        return (), {}
    try:
        runs = rerun(question)
    except SandboxError as error:
        findings.add("unverifiable", str(error))
        findings.cause = "missing"
        return (), {}
    judged = [judge_run(run) for run in runs[: len(NAMES)]]
    said = [one for one in judged if isinstance(one, Printed)]
    if len(said) < len(NAMES):
        names = sorted({one.name for found in judged if not isinstance(found, Printed) for one in found})
        findings.add("unverifiable", f"the verifier does not run as it should: {', '.join(names)}")
        return (), {}
    values = {name: one.answer for name, one in zip(NAMES, said, strict=True)}
    if len(set(said)) > 1:
        findings.add("engines_disagree", "two runs of the verifier differ")
        return (), values
    _compare_others(question, runs[len(NAMES) :], findings)
    return _judged(question, said[0], findings), values


def rerun(question: Question) -> list[ProgramRun]:
    """The stored verifier at its base seed, in a fresh interpreter, then twice in a warm one; and at the perturbed
    seeds of the record. SandboxError."""
    assert question.verifier is not None
    base = _base(question)
    return verify(question.verifier, base, [base, *(other_seeds(question) or ())], level=sandbox_level())


def _compare_others(question: Question, runs: list[ProgramRun], findings: Findings) -> None:
    """The answers at perturbed seeds, as the record has them and as the verifier gives them."""
    assert question.verification is not None
    seeds = other_seeds(question)
    if seeds is None:
        findings.add("loose_text", "verification.others: seeds that no session of mining uses")
    found = {run.seed: judge_run(run) for run in runs}
    for seed in seeds or ():
        one, recorded = found.get(seed), question.verification.others[str(seed)]
        if not isinstance(one, Printed):
            findings.add("loose_text", f"verification.others: the verifier does not run at seed {seed}")
            return
        if one.answer != recorded:
            findings.add(
                "loose_text",
                f"verification.others: at seed {seed} the verifier answers {one.answer[:80]}, not {recorded[:80]}",
            )


def right_letters(question: Question) -> tuple[str, ...]:
    """The letters whose option the verifier's answer is, from one run in a fresh interpreter; none where it fails.

    SandboxError: there is nothing here to run it in.
    """
    if _no_verifier(question) is not None or question.verifier is None:
        return ()
    run = run_program(question.verifier, [_base(question)], level=sandbox_level(), fresh=True)[0]
    found = judge_run(run)
    return _letters(question, found.answer) if isinstance(found, Printed) else ()


def _base(question: Question) -> int:
    return question.verification.base_seed if question.verification else question.seed


def _no_verifier(question: Question) -> str | None:
    if question.verifier is None or question.verification is None:
        return "a mined record without its verifier, as a --no-answers export is"
    if hashlib.sha256(question.verifier.encode("utf-8", "surrogatepass")).hexdigest() != question.tape.sha256:
        return "the verifier is not the program that the record names"
    if found := rejections(question.verifier):
        return f"the verifier can't be used: {found[0].name}, line {found[0].line}: {found[0].detail}"
    return None


def _judged(question: Question, said: Printed, findings: Findings) -> tuple[str, ...]:
    if " ".join(said.question.split()) != " ".join(question.stem.split()):
        findings.add("text_drift", "the verifier prints another question")
    for one, other in combinations(LETTERS, 2):
        if same(question.options[one], question.options[other]):
            findings.add("ambiguous", f"{one} and {other} say the same")
    letters = _letters(question, said.answer)
    if not letters:
        findings.add("no_option_right", f"the verifier answers {said.answer[:80]}")
    elif len(letters) > 1:
        findings.add("ambiguous", f"{' and '.join(letters)} are both right")
    elif letters != (question.answer,):
        findings.add("wrong_key", f"the key is {question.answer}, but {letters[0]} is right ({said.answer[:80]})")
    assert question.verification is not None
    if said.answer != question.verification.answer:
        findings.add("wrong_key", f"the verifier answers {said.answer[:80]}, the record says another answer")
    if not _says(question.value, said.answer):
        findings.add("wrong_key", f"the record's value is not the answer, {said.answer[:80]}")
    return letters


def _letters(question: Question, answer: str) -> tuple[str, ...]:
    return tuple(letter for letter in LETTERS if same(question.options[letter], answer))


def same(option: str, answer: str) -> bool:
    """Whether an option says an answer: the same number at the option's decimals, with the same sign of dimension, or
    else the same words."""
    mine, theirs = _number(option), _number(answer)
    if mine is None or theirs is None:
        return _words(option) == _words(answer)
    decimals = len(option.partition(".")[2].rstrip("%").split(" ")[0]) if "." in option else 0
    alike = ("$" in option) == ("$" in answer) and ("%" in option) == ("%" in answer)
    return alike and abs(mine - theirs) <= 0.5 * 10.0**-decimals * (1 + 1e-9)


def _number(text: str) -> float | None:
    """The number that a text is, unit and signs aside; None for dates and words."""
    found = _NUMBER.match(text.strip())
    rest = text.strip()[found.end() :] if found else ""
    if found is None or not re.fullmatch(r"\s?(%|[A-Za-z][A-Za-z ]*)?", rest):
        return None
    minus = (found["sign"] or found["inner"]) in ("-", "\u2212")
    return (-1.0 if minus else 1.0) * float(found["digits"].replace(",", ""))


def _words(text: str) -> str:
    """Words without case and spacing; a day at midnight is the day, as libraries print it."""
    words = " ".join(text.split()).casefold()
    day = _MIDNIGHT.fullmatch(words)
    return day[1] if day else words


def _says(value: Any, answer: str) -> bool:
    """Whether a record's value, rounded as its option, is the answer."""
    number = _number(answer)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return isinstance(value, str) and _words(value) == _words(answer)
    return number is not None and abs(value - number) <= max(1e-9, 0.5 * 10.0 ** -_decimals(value)) * (1 + 1e-9)


def _decimals(value: float) -> int:
    text = repr(value)
    return 0 if isinstance(value, int) else len(text.partition(".")[2]) if "e" not in text else 12
