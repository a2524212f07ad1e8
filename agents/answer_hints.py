"""Lists of options that a reply repeats, and the last resorts: marks, option texts, ordinals, equal numbers."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from itertools import pairwise
from typing import TYPE_CHECKING

from backtrader_bench.agents import answer_words as words
from backtrader_bench.agents.answer_objects import LETTERS, Options, follows, sentence_start, some
from backtrader_bench.agents.answer_text import CLOSE, OPEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GAP = re.compile(r"(?:\W|_|\b(?:or|and|for|if|means|either|oder|und|o|ou|y|et)\b)*", re.IGNORECASE)
_LABEL = re.compile(
    rf"(?:(?<=\n)|(?<=^)|(?<=[ ,;.|(]))[ \t>|*-]{{0,12}}(?:\[([ xX✓✔])\][ ]?)?(?:option |choice )?[\"'(\[{OPEN}]{{0,6}}([A-D])[\"')\]{CLOSE}]{{0,6}}[ ]?(?:[.):|=-]|(?=\n|$)|(?= ))",  # noqa: E501
    re.IGNORECASE,
)


def listings(text: str, brackets: Sequence[re.Match[str]], options: Mapping[str, str]) -> set[int]:
    """Starts of strict brackets that list all four letters in their order, with nothing said between them."""
    found: set[int] = set()
    for place in range(len(brackets) - 3):
        if brackets[place][1] not in "Aa":
            continue
        four = brackets[place : place + 4]
        if "".join(one[1].upper() for one in four) == LETTERS and all(
            _says_nothing(text[one.end() : other.start()], options) for one, other in pairwise(four)
        ):
            found.update(one.start() for one in four)
    return found


def _says_nothing(gap: str, options: Mapping[str, str]) -> bool:
    if not gap or gap.isspace():
        return True
    if len(gap) > 300:
        return False
    for option in options.values():
        gap = gap.replace(option, " ") if option else gap
    return bool(_GAP.fullmatch(gap))


def masked(text: str, options: Options) -> str:
    """``text`` with repeated lists of the options blanked out, so that the last of a list is no answer."""
    lines = text.split("\n")
    labels = [_list_label(line, options) for line in lines]
    run: list[int] = []
    for at in range(len(lines) + 1):
        label = labels[at] if at < len(lines) else None
        if label and label not in {labels[place] for place in run}:
            run.append(at)
        elif at == len(lines) or lines[at].strip():
            if len(run) > 1:
                lines[run[0] : run[-1] + 1] = [""] * (run[-1] + 1 - run[0])
            run = [at] if label else []
    return _inline_masked("\n".join(lines), options)


def _list_label(line: str, options: Options) -> str | None:
    """The letter of a line such as ``B) Mars``; None for any other line."""
    found = re.match(
        rf"[ \t>|*-]*(?:(?:answers?|options?|choices?):? )?[\"'(\[{OPEN}]?([A-D])(?:[\"')\]{CLOSE}]+(?:[ .:]|-(?!\.?\d|\$))*|[ ]?(?:[.:|=]|-(?!\.?\d|\$))+|$)",  # noqa: E501
        line,
        re.IGNORECASE,
    )
    if found is None or len(line) > 400:
        return None
    rest = re.sub(r"^(?:[ |*]|-(?!\.?\d|\$))+", "", line[found.end() :]).rstrip(" |*-")
    named = options.pattern.match(rest)
    own = (
        named is not None and options.letter_of(named[0]) == found[1].upper() and not rest[named.end() :].strip(" .,;|")
    )
    return found[1].upper() if own else None


def _inline_masked(text: str, options: Options) -> str:
    if len(options.texts) < 4:
        return text
    parts = [rf"\(?{letter}[.):=]*\s*{re.escape(options.texts[letter])}" for letter in LETTERS]
    return re.sub(r"[\s,;|/]{0,9}(?:or |and )?".join(parts), " ", text)


def hints(text: str, shown: str, options: Options) -> frozenset[str] | None:
    """The last resorts, in turn; None where none of them says anything. ``shown`` is ``text`` without lists."""
    for find in (_marked, _by_exception, _in_file):
        found = find(text, options)
        if found is not None:
            return found
    for find in (_emphasised, _ordinal, _last_text, _equal_number):
        found = find(shown, options)
        if found is not None:
            return found
    return None


def _marked(text: str, options: Options) -> frozenset[str] | None:
    """A list with verdicts: the one letter that is ticked or called right while the others are not."""
    labels = list(_LABEL.finditer(text))
    if len(labels) > 40 or (len(labels) < 2 and not (labels and labels[0][1])):
        return None
    ends = [*(label.start() for label in labels[1:]), len(text)]
    ticked, right, wrong = set(), set(), set()
    for label, end in zip(labels, ends, strict=True):
        letter, rest = label[2].upper(), text[label.end() : end].split("\n", 1)[0]
        if label[1] and label[1] != " ":
            ticked.add(letter)
        own = options.texts.get(letter)
        rest = rest.replace(own, "") if own else rest
        if words.NEGATIVE.search(rest):
            wrong.add(letter)
        elif words.POSITIVE.search(rest):
            right.add(letter)
    if any(label[1] for label in labels):
        return frozenset(ticked) if ticked else None
    if len(right) == 1 and len(wrong - right) >= 1 and not right & wrong:
        return frozenset(right)
    return None


_EXCEPT = re.compile(
    rf"\b(?:all|none|every\w*|each|any|others?)\b[^.\n]{{0,80}}\b(?:except|but|besides|save|apart from)(?: for)?(?: option)? [\"'(\[{OPEN}]{{0,6}}([A-D])(?![\w'+#-])",  # noqa: E501
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:fail\w*|wrong|incorrect|false|ruled out|eliminated|excluded|impossible|invalid|don't|doesn't|can't|no)\b|\bnone\b",  # noqa: E501
    re.IGNORECASE,
)


def _by_exception(text: str, options: Options) -> frozenset[str] | None:
    found = [one for one in some(_EXCEPT.finditer(text)) if _FAILS.search(one[0])]
    return frozenset(one[1].upper() for one in found) if found else None


def _in_file(text: str, options: Options) -> frozenset[str] | None:
    """A report that the letter was written into a file."""
    found = set()
    for cue in some(words.FILE.finditer(text)):
        letter = re.compile(
            rf"[^.\n]{{0,30}}?(?:(?P<q>[\"'(\[{OPEN}])(?P<a>[A-D])[\"')\]{CLOSE}]|(?<= )(?P<b>[A-D])(?= (?:to|in|into|as|>+) |[.!]?\s*$))"  # noqa: E501
        ).match(text, cue.end())
        if letter:
            found.add(letter["a"] or letter["b"])
    return frozenset(found) if found else None


_FAULT = re.compile(
    r"\b(?:error|fail\w*|exception|limit|unauthori[sz]ed|login|denied|timeout|timed out|usage|see|cf"
    r"|pending|queued|running|waiting|loading|unclear|unknown|undecided|missing|incomplete|unfinished|progress|todo|tbd)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|gives?|gave|gets?|got|makes?|made|takes?|took|equals?|yields?|leaves?|ends?|comes?|came"
    r"|shows?|fits?|match\w*|holds?|wins?|won|agrees?|ist|est|es|è|é)\b",
    re.IGNORECASE,
)
"""A verb: the sentence says something, and the letter at its end is what."""


_BOLD = re.compile(rf"{OPEN}[\"'(\[]?([A-D])[\"')\].:]*{CLOSE}")


def _ends_or_goes_on(text: str, bold: re.Match[str]) -> bool:
    """Whether what follows a bold letter lets it be an answer: not ``**A** strategy``, and no question."""
    asked = re.compile(r"[^.!\n]{0,200}[?？]").match(text, bold.end())
    end = bold.end() + (text[bold.end() : bold.end() + 1] == "_")
    return follows(text, end) and not asked


def _emphasised(text: str, options: Options) -> frozenset[str] | None:
    """One letter, set in bold or in parentheses at the end of the last sentence, and no other like it."""
    bold = [one for one in some(_BOLD.finditer(text)) if _ends_or_goes_on(text, one)]
    if bold and "`" not in text:
        kept: set[str] = set()
        for one in bold:
            if one[1] not in kept and not _rejected(text, one.start()):
                kept.add(one[1])
            if len(kept) > 1:
                break
        if len(kept) == 1:
            return frozenset(kept)
    tail = text[-300:]
    end = re.search(r"[\s(\[]\(([A-D])\)[.!\s]*\Z", tail)
    if end is None or _FAULT.search(tail) or not _STATES.search(_last_sentence(text)[1]):
        return None
    return None if _rejected(text, len(text) - len(tail) + end.start(1) - 1) else frozenset(end[1])


def _rejected(text: str, at: int) -> bool:
    before = text[sentence_start(text, at) : at]
    return bool(
        words.NOT.search(before)
        or words.UNREAL.search(before)
        or words.NAMING.search(before)
        or words.DOUBT.search(before)
    )


_ORDINALS = {
    "first": "A",
    "1st": "A",
    "second": "B",
    "2nd": "B",
    "third": "C",
    "3rd": "C",
    "fourth": "D",
    "4th": "D",
    "last": "D",
}
_ORDINAL = re.compile(
    rf"\b({'|'.join(_ORDINALS)})\s+(?:option|choice|answer|one|alternative|item)\b|\b(?:option|choice|answer)\s+(?:number |no\.? ?|#)?([1-4])(?![\w.,]\w|\w)",  # noqa: E501
    re.IGNORECASE,
)


def _ordinal(text: str, options: Options) -> frozenset[str] | None:
    """A position in words: all of a short reply, or after a verb that chooses."""
    found = []
    for one in some(_ORDINAL.finditer(text)):
        before = text[sentence_start(text, one.start()) : one.start()]
        whole = not before.strip(" \n:") and not text[one.end() :].strip(" .!\n")
        chosen = words.VERB.search(before) or words.NOUN.search(before) or words.AFTER.match(text, one.end())
        if (whole or chosen) and not _rejected(text, one.start()):
            found.append(one)
    letters = {_ORDINALS[one[1].lower()] if one[1] else LETTERS[int(one[2]) - 1] for one in found}
    digits = {one[2] for one in found if one[2]}
    letters |= {letter for digit in digits if (letter := options.letter_of(digit))}
    return frozenset(letters) if letters else None


_COMMON = frozenset(
    {
        "yes",
        "no",
        "true",
        "false",
        "none",
        "all",
        "both",
        "neither",
        "up",
        "down",
        "other",
        "the",
        "it",
        "above",
        "below",
    }
)
_SAYS = re.compile(
    r"(?:\b(?:is|are|was|be|gives?|gave|equals?|yields?|takes|returns?|got|get|gets|makes|to|prints?|outputs?|shows?|comes? out at|am)|[=:≈~→]|->|=>)"  # noqa: E501
    r"\s*(?:(?:about|roughly|approximately|exactly|around|only|just|precisely|the value|a total of|simply|to)\s+)*[\"'(\[$]*$",  # noqa: E501
    re.IGNORECASE,
)


def _last_sentence(text: str) -> tuple[int, str]:
    end = len(text.rstrip())
    start = sentence_start(text, max(0, end - 1)) if end else 0
    if not text[start:end].strip(" .!?\n"):
        start = sentence_start(text, start - 1) if start else 0
    return start, text[start:end]


def _last_text(text: str, options: Options) -> frozenset[str] | None:
    """The full text of exactly one option: the last sentence says it, and no other option's is anywhere."""
    start, _ = _last_sentence(text)
    here = {letter: one for one in options.pattern.finditer(text, start) if (letter := options.letter_of(one[0]))}
    if len(here) != 1:
        return frozenset(here) if len(here) > 1 else None
    ((letter, one),) = here.items()
    before = text[start : one.start()]
    unclear = (
        words.NOT.search(before)
        or words.UNREAL.search(before)
        or words.DOUBT.search(before)
        or text.rstrip().endswith("?")
    )
    if unclear or one[0].lower() in _COMMON or (len(one[0]) == 1 and one[0] in LETTERS):
        return None
    closes = not re.sub(r"\s{0,3}\([^()]{0,200}\)", "", text[one.end() :]).strip(" .!)\"'$\n")
    if options.is_numeric(letter) or len(one[0]) < 4:
        return frozenset({letter}) if closes and _SAYS.search(before) else None
    elsewhere = {options.letter_of(other[0]) for other in options.pattern.finditer(text, 0, start)} - {letter}
    if closes or (not elsewhere and _asserts(text[one.end() :], before)):
        return frozenset({letter})
    return None


def _asserts(after: str, before: str) -> bool:
    """Whether a sentence that names an option says that it is the one."""
    return not words.NEGATIVE.search(after) and not words.LACKING.search(before + after)


_NUMBER = re.compile(r"(?<![\w.,])[-+]?\s?\$?\s?[-+]?\d[\d,]*(?:\.\d+)?%?(?![\w])(?![.,]\d)")


def _equal_number(text: str, options: Options) -> frozenset[str] | None:
    """A number that the last sentence comes to, equal to one option's or rounding to it and to no other's."""
    start, _ = _last_sentence(text)
    found = list(_NUMBER.finditer(text, start))
    if not found:
        return None
    stated = found[0] if len(found) == 1 or re.match(r"\s*\(", text[found[0].end() :]) else found[-1]
    whole = not text[: stated.start()].strip(" $\"'(\n") and not text[stated.end() :].strip(" .!\"')\n")
    closes = not re.sub(r"\s{0,3}\([^()]{0,200}\)", "", text[stated.end() :]).strip(" .!\"')\n")
    if not whole and not (closes and _SAYS.search(text[start : stated.start()])):
        return None
    value = _decimal(stated[0])
    values = {letter: number for letter, text_ in options.texts.items() if (number := _decimal(text_)) is not None}
    if value is None or len(values) < 4:
        return None
    equal = {letter for letter, number in values.items() if number == value}
    near = {letter for letter, number in values.items() if _rounds(value, number)}
    return frozenset(equal or near) or None


def _decimal(text: str) -> Decimal | None:
    if not _NUMBER.fullmatch(text.strip()):
        return None
    try:
        return Decimal(re.sub(r"[$,%\s]", "", text))
    except InvalidOperation:
        return None


def _rounds(value: Decimal, to: Decimal) -> bool:
    places, given = to.as_tuple().exponent, value.as_tuple().exponent
    if not isinstance(places, int) or not isinstance(given, int) or places <= given:
        return False
    return any(value.quantize(Decimal(1).scaleb(places), how) == to for how in (ROUND_HALF_EVEN, ROUND_HALF_UP))
