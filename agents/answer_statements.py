"""Statements of an answer in the plain form of a reply, and what they come to together.

A statement is a place where the reply says which option it takes: after an announcement (``the answer is``), before a
verdict (``C is correct``), alone on a line, in a bracket. Its ``letters`` are one letter, several (it doesn't decide),
or none (it says that no option is the answer). A letter that only occurs is no statement.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from backtrader_bench.agents import answer_words as words
from backtrader_bench.agents.answer_objects import (
    CLOSERS,
    LEAD,
    LETTERS,
    LONGEST_SENTENCE,
    ONE_LETTER,
    OPENERS,
    Object,
    closed,
    follows,
    letter_at,
    object_at,
    sentence_end,
    sentence_start,
    some,
)
from backtrader_bench.agents.answer_text import CLOSE, OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrader_bench.agents.answer_objects import Options

BRACKET, FINAL, PLAIN, WEAK, HINT = 4, 3, 2, 1, 0
"""How much a statement weighs: in angle brackets; called final; announced or alone on a line; ``so it's C``; the text
of an option, an ordinal, a mark."""


class Statement(NamedTuple):
    """One statement; ``start`` and ``end`` are its place in the text."""

    start: int
    end: int
    letters: frozenset[str]
    weight: int


def announced(text: str, options: Options) -> Iterator[Statement]:
    """What follows announcing nouns and verbs."""
    for pattern in (words.NOUN, words.CJK_NOUN, words.VERB):
        for cue in some(pattern.finditer(text)):
            found = _after(text, cue, options)
            # Three or four letters are the choices named, as in the instruction.
            if found is not None and len(found.letters) < 3:
                yield _weighed(text, cue, found)


def _weighed(text: str, cue: re.Match[str], found: Object) -> Statement:
    start = sentence_start(text, cue.start())
    before = text[start : cue.start()]
    tail = text[found.end : found.end + 3].lstrip("\"')] ")
    weight = FINAL if words.FINAL.search(before[-40:]) or words.FINAL.search(cue[0]) else PLAIN
    clause = words.BUT.split(before)[-1]
    conditional = words.WOULD.search(text[cue.end() : found.end]) and words.PROVIDED.match(text, found.end)
    if conditional or words.UNREAL.search(clause) or words.NOT.search(clause) or tail[:1] in ("?", "？"):
        weight = -1
    elif words.DOUBT.search(clause) or words.DOUBT.search(text[cue.end() : found.end]):
        weight = HINT
    return Statement(start, found.end, found.letters, weight)


def _after(text: str, cue: re.Match[str], options: Options) -> Object | None:
    """The object of an announcement: right after it, on the line after a heading, or at the sentence's end."""
    at = _past_words(text, cue.end())
    small = text[cue.end() : at].rstrip().endswith((":", "=", "|")) or text[at : at + 1] in tuple("bcd")
    near = object_at(text, at, options, lower=small)
    if near is not None and _bare_name(text, cue, at):
        return None
    if near is not None:
        if words.NOT.search(text[cue.end() - 1 : at]) and len(near.letters) == 1:
            return _instead(text, near.end, options)
        return near
    heading = re.compile(r"[ \t:#=|*-]*\n\s*").match(text, at)
    if heading:
        line_end = text.find("\n", heading.end())
        line = text[heading.end() : line_end if line_end >= 0 else len(text)]
        near = alone(line, options) if len(line) < LONGEST_SENTENCE else None
        return near and Object(near.letters, heading.end() + near.end)
    return _last_in_sentence(text, cue.end(), options)


def _bare_name(text: str, cue: re.Match[str], at: int) -> bool:
    """``answer A`` inside a sentence, without a word or sign that says it is one."""
    if (
        cue.re is not words.NOUN
        or not words.ENGLISH.fullmatch(cue[0])
        or text[cue.end() : at].strip()
        or not re.match(r"[ ]?[A-Da-d]\b", text[at : at + 3])
    ):
        return False
    return bool(re.search(r"\w", text[sentence_start(text, cue.start()) : cue.start()]))


def _instead(text: str, at: int, options: Options) -> Object | None:
    """After ``not B``: what the sentence says in its place."""
    but = re.compile(
        r"[,;]? ?(?:but|it's|it is|rather|instead|sondern|sino|mais)[ ,]+(?:rather |instead |it's |it is )?"
    ).match(text, at)
    return object_at(text, but.end(), options) if but else None


def _past_words(text: str, at: int) -> int:
    """Past copulas, labels, particles and marks, to where an object may stand."""
    for _ in range(8):
        space = re.compile(r"[ \t]*").match(text, at)
        at = space.end() if space else at
        for pattern in (words.BE, words.LABEL, words.FILLER, words.PARTICLE, _MARK):
            found = pattern.match(text, at)
            if found and found.end() > at and not _is_letter_word(text, at, found.end()):
                at = found.end()
                break
        else:
            negated = re.compile(r"(?:definitely |certainly )?(?:not|n't)(?: be)?(?= )").match(text, at)
            if negated is None:
                return at
            at = negated.end()
    return at


_MARK = re.compile(r"[:=|→⇒_]+|->|=>|\?:|-(?= )")


def _is_letter_word(text: str, at: int, end: int) -> bool:
    """``a`` as a label: ``Answer: a``."""
    return end - at == 1 and (text[at] == "A" or (text[at] == "a" and closed(text, end)))


def _last_in_sentence(text: str, at: int, options: Options) -> Object | None:
    """The only option that the rest of the sentence takes, where it does so in so many words."""
    end = sentence_end(text, at)
    found: dict[str, int] = {}
    for letter in re.compile(rf"(?<![A-Za-z0-9_'/.+-])[\"'(\[{{$<{OPEN}]{{0,6}}([A-D])(?![A-Za-z0-9_])").finditer(
        text, at, min(len(text), end + 1)
    ):
        taken = ONE_LETTER.match(text, letter.start(1))
        before = text[max(at, letter.start() - 60) : letter.start()]
        if taken is None or words.NOT.search(before + " ") or words.NAMING.search(before):
            continue
        if _capital_before(before) or not follows(text, taken.end()):
            continue
        found[letter[1]] = taken.end()
    if len(found) == 1:
        ((letter_found, stop),) = found.items()
        final = stop >= end - 1 or not text[stop:end].strip(" .,;:!)\"'" + CLOSE)
        lead = text[at:stop].rstrip(CLOSERS + LETTERS)
        led = re.search(
            r"(?:[:=→]|\b(?:is|be|on|with|to|for|option|letter|choice|as|la|die|letra|é|è|es|est|ist))[ \"'(\[]*$", lead
        )
        ended = final and re.search(r"(?:[,:]|[^\x00-\x7f])[ \"'(\[]*$", lead)
        if (ended or led) and not options.ambiguous(letter_found):
            return Object(frozenset({letter_found}), stop)
        return None
    if found:
        colon = re.search(rf"[:→][ ]?[\"'(\[{OPEN}]{{0,6}}([A-D])[{CLOSERS}]{{0,9}}[ .!]*$", text[at:end])
        return Object(frozenset(colon[1]) if colon else frozenset(found), end)
    named = {options.letter_of(text_[0]): text_.end() for text_ in options.pattern.finditer(text, at, end)
             if len(text_[0]) > 1 and not words.NOT.search(text[at : text_.start()])}  # fmt: skip
    if len(named) == 1:
        ((only, stop),) = named.items()
        if only and not text[stop:end].strip(" .,;:!)\"'"):
            return Object(frozenset({only}), stop)
    return None


def _capital_before(before: str) -> bool:
    """A capitalised word right before a letter makes a name of it, unless the word is a label."""
    word = re.search(r"([A-Z][a-z]+)\s+$", before)
    return bool(word) and not words.LABELLED.search(before)


_BULLET = re.compile(r"(?:[ \t.!,;:*~#>|✅✔✓→👉🎯●•⏺]|-(?!\.?\d|\$))*")
"""Marks before a line's own words; a minus right before a number is no mark."""


def alone(line: str, options: Options) -> Object | None:
    """The object that a line consists of: a letter, a letter with its own text, an option's text."""
    bullet = _BULLET.match(line)
    bare = line[bullet.end() if bullet else 0 :].rstrip(" \t.!,;:*~>|-✅✔✓→👉🎯●•⏺")
    bare = re.sub(rf"^(?:{words.LABEL.pattern})[ :]+(?=\W*[A-D]\W*$)", "", bare, flags=re.IGNORECASE)
    offset = line.find(bare) if bare else 0
    whole = options.letter_of(bare.strip("\"'()[]{}$" + OPEN + CLOSE).rstrip(".")) or options.letter_of(bare)
    if whole and (len(bare) > 1 or bare not in LETTERS):
        minus = options.letter_of(f"-{bare}") if bullet and "-" in bullet[0] else None
        if minus:
            # "- 4.2" where 4.2 and -4.2 are options.
            return Object(frozenset({whole, minus}), offset + len(bare))
        return Object(frozenset({whole}), offset + len(bare))
    after = re.fullmatch(r"(.+?)[ ,:-]*[(\[]([A-D])[)\]]", bare)
    named = options.letter_of(after[1]) if after else None
    if after and named:
        return Object(frozenset({named, after[2]}), offset + len(bare))
    lead = LEAD.match(bare)
    letter = ONE_LETTER.match(bare, lead.end() if lead else 0)
    if letter is None:
        return None
    if letter[1].islower() and not letter[2]:
        return None
    found = letter_at(bare, 0, letter, options, lower=False)
    if found is None:
        return None
    rest = bare[found.end :].strip(" .,;:!?*|<>()[]{}$\"'/\\" + CLOSE + OPEN)
    if rest and not _same_text(rest, found.letters, options):
        return None
    return Object(found.letters, offset + len(bare))


def _same_text(rest: str, letters: frozenset[str], options: Options) -> bool:
    return options.letter_of(rest) in letters


def lines_alone(text: str, options: Options) -> Iterator[Statement]:
    """Lines that are nothing but an answer. Several in a row are a list, and among other scraps they are noise.

    Of very many lines the first 200 and the last 800 are looked at. A letter without emphasis counts
    only as the first or last line or as a paragraph of its own.
    """
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip(" \t-=_.~")]
    looked = set(filled if len(filled) <= 1000 else filled[:200] + filled[-800:])
    at = 0
    found: list[tuple[int, Statement]] = []
    for number, line in enumerate(lines):
        if (
            number in looked
            and 0 < len(line) < LONGEST_SENTENCE
            and not line.isspace()
            and not line.rstrip().endswith(("?", "？"))
        ):
            one = alone(line, options)
            if one is not None and one.letters and (len(line.strip()) > 8 or _stands_out(lines, filled, number)):
                found.append((number, Statement(at, at + len(line), one.letters, PLAIN)))
        at += len(line) + 1
    place = {number: at for at, number in enumerate(filled)}
    near = {place[number] for number, _ in found if number in place}
    same = len({one.letters for _, one in found}) == 1
    for number, statement in found:
        here = place.get(number, -9)
        if same or not {here - 1, here + 1} & near:
            yield statement


def _stands_out(lines: list[str], filled: list[int], number: int) -> bool:
    line = lines[number].strip()
    if OPEN in line:
        return True
    around = (lines[number - 1] if number else "", lines[number + 1] if number + 1 < len(lines) else "")
    scraps = [place for place in filled[:60] + filled[-60:] if place != number and len(lines[place].strip()) <= 2]
    others = {lines[place].strip(" ().*") for place in scraps} - {line.strip(" ().*"), "", "{", "}", "[", "]", "$$"}
    return not others and (number in (filled[0], filled[-1]) or not (around[0].strip() or around[1].strip()))


def judged(text: str, options: Options) -> Iterator[Statement]:
    """Letters and option texts that a verdict follows: ``Option C is the correct one``."""
    letters = re.compile(
        rf"(?<![A-Za-z0-9_'/.+-])[\"'(\[{{$<{OPEN}]{{0,6}}([A-D])[{CLOSERS}]{{0,9}}(?![A-Za-z0-9_])"
    ).finditer(text)
    for found in some(one for one in letters if words.AFTER.match(text, one.end())):
        if not options.ambiguous(found[1]):
            yield from _verdict(text, found, found[1])
    named = (one for one in options.pattern.finditer(text) if len(one[0]) > 1)
    for found in some(one for one in named if words.AFTER.match(text, one.end())):
        letter = options.letter_of(found[0])
        if letter:
            yield from _verdict(text, found, letter)


def _verdict(text: str, found: re.Match[str], letter: str) -> Iterator[Statement]:
    start, verdict = sentence_start(text, found.start()), words.AFTER.match(text, found.end())
    assert verdict is not None
    before = text[start : found.start()]
    end = verdict.end()
    asked = text[sentence_end(text, end) :][:1] in ("?", "？")
    listed = re.search(r"\b(?:and|or|both|nor|neither)[ \"'(]*$|[,/&][ ]?$", before) and re.search(
        r"(?<!\w)[A-D]\W", before
    )
    if (
        not asked
        and not listed
        and not words.UNREAL.search(words.BUT.split(before)[-1])
        and not words.NOT.search(before)
        and not words.NAMING.search(before)
    ):
        yield Statement(start, end, frozenset({letter}), PLAIN)


_REASONED = re.compile(rf"^[\"'(\[{OPEN}]{{0,3}}([A-D])[\"')\].,{CLOSE}]{{0,4}} (?:because|since)\b", re.MULTILINE)


def reasoned(text: str, options: Options) -> Iterator[Statement]:
    """``B because ...`` at the start of a line."""
    for found in _REASONED.finditer(text):
        if not options.ambiguous(found[1]):
            yield Statement(found.start(), found.end(), frozenset(found[1]), WEAK)


_LABELS = re.compile(rf"[ ]?(?:the )?(?:{words.LABEL.pattern})?[ ]?", re.IGNORECASE)


def weak(text: str, options: Options) -> Iterator[Statement]:
    """``So C.``, ``it's (C)``, ``→ C``: with nothing else in the sentence after the letter."""
    for cue in chain(some(words.WEAK.finditer(text)), some(words.REPLACING.finditer(text))):
        label = _LABELS.match(text, cue.end())
        found = object_at(text, label.end() if label else cue.end(), options, lower=False)
        if found is None or len(found.letters) != 1:
            continue
        (letter,) = found.letters
        rest = text[found.end : sentence_end(text, found.end)].strip(" .,;:!)\"'" + CLOSE)
        start = sentence_start(text, cue.start())
        before = text[start : cue.start()]
        tail = text[sentence_end(text, found.end) :][:1]
        numeric = (
            options.is_numeric(letter) and text[cue.end() : found.end].strip(OPENERS + CLOSERS + " ") not in LETTERS
        )
        clause = words.BUT.split(before)[-1]
        if rest or tail == "?" or words.UNREAL.search(clause) or words.DOUBT.search(clause):
            continue
        weight = HINT if numeric else PLAIN if cue.re is words.REPLACING else WEAK
        yield Statement(cue.start() if weight == PLAIN else start, found.end, found.letters, weight)


_TABLES = 40
"""Tables looked at, from the end."""


def tabled(text: str, options: Options) -> Iterator[Statement]:
    """A table with a column of answers: what its cells say."""
    for head in list(re.finditer(r"^[ \t]*\|.*\|[ \t]*\n[ \t]*\|[ :|-]+\|[ \t]*\n", text, re.MULTILINE))[-_TABLES:]:
        names = head[0].split("\n", 1)[0].strip().strip("|").split("|")
        column = next((place for place, name in enumerate(names) if words.NOUN.fullmatch(name.strip())), None)
        if column is None:
            continue
        said: set[str] = set()
        end = head.end()
        for line in text[end : end + 2000].split("\n"):
            if not line.strip().startswith("|"):
                break
            cells = line.strip().strip("|").split("|")
            one = alone(cells[column], options) if column < len(cells) else None
            said |= one.letters if one else set()
            end += len(line) + 1
        if said:
            yield Statement(head.start(), end, frozenset(said), PLAIN)


_BOXED = re.compile(r"\\(?:boxed|fbox|framebox)\s*\{((?:[^{}\n]|\{[^{}\n]*\}){0,300})\}")
_TAGGED = re.compile(
    rf"<((?:(?:final|my|correct|selected|chosen|best)[_ -]?)?(?:{words.TAG})|final|correct|selected|chosen)>"
    r"([^<]{0,300})</\1",
    re.IGNORECASE,
)
_ANGLED = re.compile(r"(?<!<)(?<!< )<(?: ?<)++\s*+([^<>]{1,200}?)\s*(?:>(?: ?>)*|\Z)")
_HOLDERS = frozenset(
    {
        "x",
        "letter",
        "your answer",
        "answer",
        "?",
        "...",
        "_",
        "your letter",
        "option",
        "a/b/c/d",
        "a|b|c|d",
        "a-d",
        "a..d",
        "a to d",
    }
)


def boxed(text: str, options: Options) -> Iterator[Statement]:
    """``\\boxed{C}`` and ``<answer>C</answer>``."""
    for pattern in (_BOXED, _TAGGED):
        for found in some(pattern.finditer(text)):
            inner = inside(found[pattern.groups], options)
            if inner is not None:
                yield Statement(found.start(), found.end(), inner, FINAL)


def angled(text: str, options: Options) -> Iterator[Statement]:
    """Angle brackets that are not the strict form: decorated, of another shape, cut off."""
    for found in some(_ANGLED.finditer(text)):
        inner = inside(found[1], options)
        whole = found[0].endswith(">") or len(found[1].strip()) == 1
        if inner is not None and whole and not _in_code(text, found.start()):
            yield Statement(found.start(), found.end(), inner, BRACKET)


def _in_code(text: str, at: int) -> bool:
    """A name right before: a launch or a shift, not a bracket."""
    return bool(re.search(r"[A-Za-z0-9_]$", text[max(0, at - 1) : at]))


def inside(content: str, options: Options) -> frozenset[str] | None:
    """The letters that a bracket's content says; None for what is no answer at all, such as the placeholder."""
    content = content.strip()
    if content.lower().strip(OPENERS + CLOSERS + " ") in _HOLDERS:
        return None
    if re.fullmatch(r"[a-d]", content):
        return frozenset(content.upper())
    one = alone(content, options)
    if one is not None:
        return one.letters
    whole = object_at(content, _past_words(content, 0), options)
    if whole is not None and not content[whole.end :].strip(" .,;:!?()[]\"'" + CLOSE):
        return whole.letters
    cue = words.NOUN.search(content)
    found = _after(content, cue, options) if cue else None
    return found.letters if found else None


def fold(text: str, statements: list[Statement]) -> frozenset[str] | None:
    """What the statements come to: the letters of the one that stands, None when there are none.

    A later one stands when it weighs more or when words between the two take the first back; two of one weight that
    contradict each other leave both letters.
    """
    brackets = [one for one in statements if one.weight == BRACKET]
    if brackets:
        return max(brackets, key=lambda one: one.start).letters
    counted = sorted((one for one in statements if one.weight > HINT), key=lambda one: (one.end, -one.weight))
    if not counted:
        counted = [one for one in statements if one.weight == HINT]
    state: Statement | None = None
    for one in counted:
        state = one if state is None else _next(text, state, one)
    return state.letters if state else None


def withdrawn(text: str, at: int) -> bool:
    """Whether the reply says after ``at`` that it has no answer after all, and what it says last is not another."""
    found = list(words.WITHDRAWN.finditer(text, max(at, len(text) - 4 * LONGEST_SENTENCE)))
    denied = words.DENIED.match(text, at)
    found += [denied] if denied and not found else []
    return bool(found) and not words.STILL.search(text, found[-1].end())


def _next(text: str, state: Statement, one: Statement) -> Statement:
    if state.letters == one.letters:
        return one._replace(weight=max(state.weight, one.weight))
    between = text[max(state.end, one.start - 300) : one.end]
    if one.start >= state.start and words.TURN.search(between) and one.weight >= min(state.weight, PLAIN):
        return one
    if one.weight != state.weight:
        return one if one.weight > state.weight else state._replace(end=max(state.end, one.end))
    return Statement(state.start, one.end, state.letters | one.letters, state.weight)
