"""Reading an answer out of a reply: a letter, how it was read, and the value that was computed.

Strict is the last ``<<< X >>>`` with X in A to D. Lenient is everything else that states one option, and recorded as
such. What states none, or two, is unparsed: never a letter by chance, and never wrong. Pure functions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from backtrader_bench.agents import answer_text, answer_words
from backtrader_bench.agents.answer_hints import hints, listings, masked
from backtrader_bench.agents.answer_json import from_json
from backtrader_bench.agents.answer_objects import LETTERS, Options
from backtrader_bench.agents.answer_statements import (
    Statement,
    angled,
    announced,
    boxed,
    fold,
    judged,
    lines_alone,
    reasoned,
    tabled,
    weak,
    withdrawn,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Mapping

Method = Literal["strict", "lenient", "unparsed", "refused"]
_STRICT = re.compile(r"<<<\s*([A-Da-d])\s*>>>")
_HALF = 100_000
"""Characters at either end of a very long reply that the lenient reading looks at; the strict one looks at all."""


class Answer(NamedTuple):
    """``letter`` is None exactly where ``method`` is ``unparsed`` or ``refused`` (the reply declines to answer)."""

    letter: str | None
    method: Method


def read_answer(reply: str, options: Mapping[str, str]) -> Answer:
    """The letter that ``reply`` gives to a question whose options were shown as ``options`` (letter to text).

    Takes time in proportion to the reply's length.
    """
    seen = answer_text.visible(reply)
    brackets = list(_STRICT.finditer(seen))
    listed = listings(seen, brackets, options)
    own = [bracket for bracket in brackets if bracket.start() not in listed]
    if own:
        return Answer(own[-1][1].upper(), "strict")
    return _lenient(_ends(_STRICT.sub(" ", seen)), Options(options))


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]}\n\n{text[-_HALF:]}"


def _lenient(seen: str, options: Options) -> Answer:
    letters = from_json(seen, lambda text: _letters(answer_text.plain(text), options), options)
    text = answer_text.plain(seen)
    if letters is None:
        letters = _letters(text, options)
    if letters is not None and len(letters) == 1:
        return Answer(next(iter(letters)), "lenient")
    return Answer(None, "refused" if letters is None and _refuses(text) else "unparsed")


def _letters(text: str, options: Options) -> frozenset[str] | None:
    """The letters that a plain text comes to; None when it states nothing."""
    whole = text.strip()
    if re.fullmatch(r"[a-d]\W*", whole):
        return frozenset(whole[0].upper())
    shown = masked(text, options)
    statements: list[Statement] = []
    for find in (angled, boxed, announced, judged, lines_alone, reasoned, tabled, weak):
        statements += find(shown, options)
    found = fold(shown, [one for one in statements if one.weight >= 0])
    said = max((one.end for one in statements), default=0)
    if found is None:
        found, said = hints(text, shown, options), 0
    return frozenset() if found and withdrawn(shown, said) else found


def _refuses(text: str) -> bool:
    if not answer_words.REFUSAL.search(text):
        return False
    return not answer_words.LACKING.search(text) or bool(answer_words.DECLINES.search(text))


def rotated(options: Mapping[str, str], shift: int) -> dict[str, str]:
    """The options as they are shown with ``shift``: each place has the text of the option ``shift`` places on."""
    return {shown: options[LETTERS[(place + shift) % 4]] for place, shown in enumerate(LETTERS)}


def unrotate(shown: str | None, shift: int) -> str | None:
    """The record's letter of the option that was shown as ``shown``."""
    return None if shown is None else LETTERS[(LETTERS.index(shown) + shift) % 4]


_VALUE = re.compile(
    r"^[ \t>#*_`\"'{,|-]*(?P<name>value)\b[*_`\"' ]*[:=|]+(.*)$|\bVALUE[*_`\"' ]*:(.*)$", re.IGNORECASE | re.MULTILINE
)
_CUT = re.compile(r"<<.*|\\n.*", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:answer|letter|choice|option)\b\W", re.IGNORECASE)
_NO_LEAD = re.compile(
    r"\b(?!(?:so|the|my|our|final|correct|right|is|therefore|thus|hence|i|we|think|believe|answer|letter|choice|option"
    r"|[a-d])\b)\w",
    re.IGNORECASE,
)
"""Where a value begins, behind "the answer is" and "option B"."""
_ASKED = re.compile(r"\W*and the answer\b", re.IGNORECASE)
"""The instruction itself, repeated."""
_NO_VALUE = re.compile(
    r"(?:none|null|n/?a|nan|unknown|not (?!above|over|greater|higher|long|in\b|hold|held).*"
    r"|(?:(?:i|we) )?(?:can(?:no|')t|could|(?:am |was |were )?(?:unable|not able)) .*|\?+|-+|\.\.\.|x|)",
    re.IGNORECASE,
)
_EDGE = " \t.,;\"'|}{"
_POINT = re.compile(r"\.[0-9]")
"""A decimal point that a number begins with, not a full stop at the edge."""
_INLINE = re.compile(r"\\[()]")
"""Around a formula; without the backslash it would be the brackets of a negative amount."""
_LONGEST_WORDED = 16
"""Words of an answer without a digit; the longest option of them has nine."""


def read_value(reply: str) -> str | None:
    """The last value that ``reply`` states on a line ``VALUE: ...``; None where there is none.

    As text, for :func:`backtrader_bench.grading.grade`, without decoration.
    """
    text = answer_text.own_words(answer_text.folded(answer_text.unescaped(_ends(answer_text.visible(reply)))))
    last: str | None = None
    stating = [found for found in _VALUE.finditer(text) if not _ASKED.match(_rest(found))]
    # Lines as they were asked for count before "Final portfolio value: ...".
    for found in [found for found in stating if found["name"] == "VALUE"] or stating:
        rest = _rest(found)
        if not _bare(rest):
            rest = text[found.end() : found.end() + 200].strip().split("\n", 1)[0]
        stated = _bare(rest)
        if _NO_VALUE.fullmatch(stated):
            last = None
        elif any(sign.isdigit() for sign in stated) or len(stated.split()) <= _LONGEST_WORDED:
            last = stated
    return last


def _rest(found: re.Match[str]) -> str:
    return found[2] if found["name"] else found[3]


def _before_choice(text: str) -> str:
    """``text`` up to where it names its choice behind the value; a choice named before the value stays."""
    begins = _NO_LEAD.search(text)
    choice = _CHOICE.search(text, begins.end()) if begins else None
    return text[: choice.start()].rstrip(" ,;") if choice else text


def _bare(text: str) -> str:
    text = _before_choice(_CUT.sub("", text))
    text = _INLINE.sub(" ", text)
    text = answer_text.undecorated(text).replace(answer_text.OPEN, "").replace(answer_text.CLOSE, "")
    text = re.sub(r"\\boxed\s*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"^\$([^$]*)\$$", r"\1", text.strip())
    text = text.rstrip(_EDGE).lstrip(_EDGE.replace(".", ""))
    return text if _POINT.match(text) else text.lstrip(_EDGE)
