"""What a record's options, key and value are worth, given the answer."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from backtrader_bench.checker.answers import (
    Answer,
    Count,
    Label,
    Money,
    Number,
    Params,
    Part,
    Percent,
    Undefined,
    near,
    right,
    show,
    tolerance,
)
from backtrader_bench.checker.reading import alike
from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from backtrader_bench.checker.claim import Claim
    from backtrader_bench.checker.verdict import Findings


def judge(claim: Claim, answer: Answer | Undefined, findings: Findings) -> tuple[str, ...]:
    """Hold options, key and value of a record against the answer; the letters that are right."""
    if twins := _twins(claim):
        findings.add("ambiguous", twins)
    if isinstance(answer, Undefined):
        truth = answer.filler if answer.filler and _is_words(answer.filler) else None
        if truth is None or not _letters(claim, truth):
            findings.add("no_option_right", f"undefined: {answer.reason}")
            return ()
        answer = truth
    letters = _letters(claim, answer)
    if problem := _ambiguity(claim, answer, letters):
        findings.add("ambiguous", problem)
    if not letters:
        findings.add("no_option_right", f"the answer is {show(answer)}")
    elif letters == (claim.key,):
        if findings.found:
            findings.notes.append(f"the key {claim.key} is right")
    elif len(letters) == 1:
        findings.add("wrong_key", f"the key is {claim.key}, but {letters[0]} is right ({show(answer)})")
    if claim.question is not None and not says(claim.question.value, answer):
        findings.add("wrong_key", f"the record's value is not the answer, {show(answer)}")
    return letters


def _is_words(answer: Answer) -> bool:
    return any(isinstance(part, Label) for part in answer.parts)


def _letters(claim: Claim, answer: Answer) -> tuple[str, ...]:
    return tuple(letter for letter in LETTERS if (parts := claim.options[letter]) and right(answer, parts))


def _twins(claim: Claim) -> str:
    """Two options that say the same, right or not; empty when there are none."""
    for one, other in combinations(LETTERS, 2):
        texts = {" ".join(claim.texts[letter].split()) for letter in (one, other)}
        if len(texts) == 1 or alike(claim.options[one], claim.options[other]):
            return f"{one} and {other} say the same"
    return ""


def _ambiguity(claim: Claim, answer: Answer, letters: tuple[str, ...]) -> str:
    """Why more than one option could be meant, empty when only one can."""
    if len(letters) > 1:
        return f"{' and '.join(letters)} are both right"
    close = [letter for letter in LETTERS if (parts := claim.options[letter]) and near(answer, parts)]
    if letters and set(close) - set(letters):
        other = next(letter for letter in close if letter not in letters)
        return f"{letters[0]} is right, and {other} lies within one unit of the answer too"
    return ""


def says(value: Any, answer: Answer) -> bool:
    """Whether a record's ``value`` is ``answer``, rounded as shown."""
    if answer.names == ("",):
        return _says_part(value, answer.parts[0])
    if not isinstance(value, dict) or set(value) != set(answer.names):
        return False
    return all(_says_part(value[name], part) for name, part in zip(answer.names, answer.parts, strict=True))


def _says_part(value: Any, part: Part) -> bool:
    if isinstance(part, Params):
        return isinstance(value, dict) and tuple(sorted(value.items())) == part.value
    if isinstance(part, Money | Percent | Number | Count):
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
            return False
        if isinstance(part, Count):
            return isinstance(value, int) and value == part.value
        return abs(value - part.value) <= tolerance(part)
    return bool(value == part.value)
