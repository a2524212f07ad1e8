"""What a reply names when it names an option: a letter, several, an option's text, or that none will do.

Everything here works on the plain form of a reply (:mod:`backtrader_bench.agents.answer_text`);
:mod:`backtrader_bench.agents.answer_statements` says where in a reply it counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from backtrader_bench.agents import answer_words as words
from backtrader_bench.agents.answer_text import CLOSE, OPEN, plain_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LETTERS = "ABCD"
OPENERS = r"\"'(\[{$<|:=>*~#\-" + OPEN + "."
CLOSERS = r"\"')\]}$>*~" + CLOSE
ONE_LETTER = re.compile(rf"([A-Da-d])(?![^\W\u3000-\u9fff\uac00-\ud7af])([{CLOSERS}]{{0,9}})")
LEAD = re.compile(rf"[ \t{OPENERS}]{{0,20}}")
_ALSO = re.compile(
    rf"[ ]?(?:[,/&+|、]|\b(?:and|or|und|oder|et|ou|y|o|e|vs\.?)\b|[和或与])"
    rf"[ ]?(?:and |or |maybe |possibly |perhaps |option |both )?[\"'(\[{OPEN}]{{0,6}}([A-Da-d])(?![\w'+#-])(?!\s(?:is|are|was|would|has|fails|only)\b)"  # noqa: E501
)
_AFTERS = "-(=<>[]{}|*✓✔✅:;,.!?)" + CLOSE + OPEN
"""Signs that may follow a letter after a blank."""
_RUN = re.compile(r"(?=[A-D]{2,4}(?!\w))([A-D])(?!\1)[A-D]+")
_END = re.compile(r"[.!?。！？]+(?=[\s\"')\]]|$)|[。！？\n]")
LONGEST_SENTENCE = 400
"""Characters of a sentence that are looked at after an announcement."""


class Options:
    """The options of a question in plain form, ready to be found in a plain text."""

    def __init__(self, options: Mapping[str, str]) -> None:
        plain = {letter: plain_option(options[letter]) for letter in LETTERS if letter in options}
        folded = [text.casefold() for text in plain.values()]
        self.exact = len(set(folded)) < len(folded)
        """Texts that differ by case alone are compared with case."""
        kept = [self.key(text) for text in plain.values()]
        self.texts = {letter: text for letter, text in plain.items() if text and kept.count(self.key(text)) == 1}
        self.by_key = {self.key(text): letter for letter, text in self.texts.items()}
        parts = [re.escape(text).replace(r"\ ", r"\s+") for text in sorted(self.texts.values(), key=len, reverse=True)]
        # Not inside a longer word or number: 5 is not in -5, 0.5, 50 or 5%.
        bound = r"(?<![^\W\u3000-\u9fff\uac00-\ud7af])(?<![\d][.,])(?<!(?<!\w)[-+$])"
        after = r"(?![^\W\u3000-\u9fff\uac00-\ud7af])(?![.,]\d)(?![%])"
        flags = 0 if self.exact else re.IGNORECASE
        self.pattern = re.compile(
            "|".join(rf"{_front(text, bound)}{text}{_back(text, after)}" for text in parts) or r"(?!)", flags
        )

    def key(self, text: str) -> str:
        """By which texts are compared."""
        text = " ".join(text.split())
        return text if self.exact else text.casefold()

    def letter_of(self, text: str) -> str | None:
        """The option with exactly this text."""
        return self.by_key.get(self.key(text))

    def is_numeric(self, letter: str) -> bool:
        """Whether the option's text has no word of its own: a number, a price, a date."""
        return not re.search(r"[^\W\d_]{3}", self.texts.get(letter, ""))

    def ambiguous(self, letter: str) -> bool:
        """Whether ``letter`` is also the text of another option."""
        return self.letter_of(letter) not in (None, letter)


def _front(text: str, bound: str) -> str:
    return bound if re.match(r"\\?[\w.$+-]", text) else ""


def _back(text: str, after: str) -> str:
    return after if re.search(r"[\w]$", text) else ""


class Object(NamedTuple):
    """What an announcement is followed by; ``letters`` as in a statement."""

    letters: frozenset[str]
    end: int


def object_at(text: str, at: int, options: Options, *, lower: bool = True) -> Object | None:
    """The letter, letters, option text or refusal to choose that stands at ``at`` (after quotes and the like)."""
    lead = LEAD.match(text, at)
    start = lead.end() if lead else at
    found = _option_text(text, at, start, options)
    if found is not None:
        return found
    run = _RUN.match(text, start)
    if run:
        return Object(frozenset(run[0]), run.end())
    letter = ONE_LETTER.match(text, start)
    if letter is None:
        nobody = words.NOBODY.match(text, start)
        return Object(frozenset(), nobody.end()) if nobody else None
    return letter_at(text, at, letter, options, lower=lower)


def _option_text(text: str, at: int, start: int, options: Options) -> Object | None:
    """An option's text, from the first place at or after ``at`` where one starts (a minus or dollar belongs to it)."""
    for place in range(at, start + 1):
        found = options.pattern.match(text, place)
        if found and not (len(found[0]) == 1 and found[0] in LETTERS):
            letter = options.letter_of(found[0])
            if letter and not _more_words(text, found.end()):
                label = re.compile(r"[ ,]*\(([A-D])\)").match(text, found.end())
                both = {letter} | ({label[1]} if label else set())
                more = re.compile(r"[\"' ]*(?:,|/|\band\b|\bor\b)[\"' ]*(?:and |or )?").match(text, found.end())
                other = options.pattern.match(text, more.end()) if more else None
                named = options.letter_of(other[0]) if other else None
                return Object(frozenset(both | ({named} if named else set())), found.end())
    return None


def _more_words(text: str, at: int) -> bool:
    """Whether a number goes on with a unit or a name with a hyphen: it is another text then."""
    return bool(re.compile(r"-\w").match(text, at))


def letter_at(text: str, at: int, found: re.Match[str], options: Options, *, lower: bool) -> Object | None:
    letter, end = found[1].upper(), found.end()
    if found[2].startswith("'") and text[found.start() - 1 : found.start()] != "'":
        return None
    wrapped = bool(found[2]) or text[found.start() - 1 : found.start()] in tuple(f"{OPEN}\"'([$")
    if found[1].islower() and not (wrapped or (lower and closed(text, end))):
        return None
    own = re.compile(r"[ \t]*[.):,=–]*(?:-(?!\.?\d|\$))*[ \t]*[\"'(]*").match(text, end)
    named = options.pattern.match(text, own.end()) if own else None
    if named and not (len(named[0]) == 1 and named[0] in LETTERS):
        other = options.letter_of(named[0])
        if other:
            return Object(frozenset({letter, other}), named.end())
    if not wrapped and not follows(text, end):
        return None
    several = {letter}
    while (also := _ALSO.match(text, end)) is not None:
        several.add(also[1].upper())
        end = also.end()
    if len(several) == 1 and options.ambiguous(letter) and not _labelled(text, at, found.start(), wrapped):
        several.add(options.letter_of(letter) or letter)
    return Object(frozenset(several), end)


def _labelled(text: str, at: int, start: int, wrapped: bool) -> bool:
    return wrapped or bool(words.LABELLED.search(text[max(0, at - 20) : start]))


def closed(text: str, end: int) -> bool:
    return text[end : end + 1] in ("", "\n", ".", "!", ")", ",", ";")


def follows(text: str, end: int) -> bool:
    """Whether what comes after a letter lets it be one: not ``C++``, ``D's``, ``A good``."""
    rest = text[end : end + 24]
    if not rest or rest[0] == "\n":
        return True
    if rest[0] in ".,;:!?":
        return len(rest) == 1 or not rest[1].isalnum() or ord(rest[1]) > 0x2FFF
    if rest[0].isspace():
        word = rest.split()[0] if rest.split() else ""
        return not word or word[0] in _AFTERS or ord(word[0]) > 0x36F or word.rstrip(".,:;").lower() in words.CONNECTORS
    return ord(rest[0]) > 0x2FFF or rest[0] in "\u2713\u2714\u2705\u2611|" or rest[0] in CLOSERS.replace("'", "")


def sentence_end(text: str, at: int) -> int:
    """Where the sentence that goes on at ``at`` ends, at most :data:`LONGEST_SENTENCE` characters on."""
    found = _END.search(text, at, at + LONGEST_SENTENCE)
    return found.start() if found else min(len(text), at + LONGEST_SENTENCE)


def sentence_start(text: str, at: int) -> int:
    """Where the sentence that ``at`` lies in begins, at most 200 characters before."""
    low = max(0, at - 200)
    start = low
    for found in _END.finditer(text, low, at):
        start = found.end()
    return start


def some(found: Iterator[re.Match[str]]) -> list[re.Match[str]]:
    """The first 100 and the last 300 places: what bounds the work on a reply that repeats itself."""
    places = list(found)
    return places if len(places) <= 400 else places[:100] + places[-300:]
