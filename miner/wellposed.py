"""Whether a question can be asked: stage 4 of an attempt. Every failure is a word for counting and a sentence. Pure.

What the program itself does wrong (network, clock, unseeded draws) is found by the checker; here its words are held
against what it computes.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from backtrader_bench.agents.answer_text import folded, unescaped
from backtrader_bench.miner import folding
from backtrader_bench.miner.stated import states
from backtrader_bench.miner.told import added, begun_sums, told
from backtrader_bench.miner.values import unkept
from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from backtrader_bench.miner.convert import Converted
    from backtrader_bench.miner.told import Told

SHORTEST = 20
"""Characters that a question must have."""
LONGEST = 60_000
"""Characters that it may have: more is no question but a data file."""
_LISTED = re.compile(r"^[ \t]*(?:[-*>][ \t]*)?[(\[]?\*{0,2}([A-D])\*{0,2}[.):\]]+\*{0,2}[ \t]+\S", re.MULTILINE)
_MARK = re.compile(r"(?<![\w.,$])[(\[]?\*{0,2}([A-Da-d1-4])\*{0,2}[.):\]]+\*{0,2}[ \t]+(?=\S)")
_VALUE = re.compile(
    r"[-+(\u2212]{0,2}[$\u20ac\u00a3]?[-+\u2212]?\d[\d,.:-]*\)?\s?(?:%|[A-Za-z]+)?[\s.;,|]*(?:(?:and|or)\s*)?"
)
_OFFER = re.compile(r"\b(options?|choices?|alternatives|choose|pick|select|answers|candidates)\b", re.IGNORECASE)
_REPLY = re.compile(r"<<<[ \t]{0,8}/?[ \t]{0,8}[A-Za-z]{1,12}[ \t]{0,8}>>>")
_LETTER = re.compile(
    r"\b(?i:letter|option|choice|(?:the|correct|right|final|best) answer|answer (?:is|with|by)|answer[:=])"
    r"(?i:\s{1,3}(?:is|with|the|letter|option|choice|as)){0,3}\s{0,3}[:=]?\s{0,3}[\"'(*]{0,3}[A-D][\"')*]{0,3}"
    r"(?=\s*(?:$|[.,;:!?)\]]|\n))"
)
_ORDER = re.compile(
    r"\b(?:system (?:note|prompt|message)|(?:note|message|instructions?|hint) (?:to|for) (?:the |any |all )?"
    r"(?:solvers?|models?|assistants?|agents?|ai|llms?|test[- ]takers?)|(?:ignore|disregard|forget) (?:all |any |the )?"
    r"(?:your )?(?:previous|earlier|above|prior) (?:instructions?|prompts?|rules?))\b",
    re.IGNORECASE,
)
SHORT = 60
"""Characters of an option that stands among others in a line."""
_NUMERAL = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w]|[.,]\d)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_HOLE = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[sdfr]")
_WORD = re.compile(r"[A-Za-z]{2,}")
SMALL = frozenset((0.0, 1.0, 2.0, 3.0, 100.0))
"""Numerals of language rather than of the scenario."""
DEFAULTS: tuple[tuple[str, frozenset[float]], ...] = (
    (r"RSI|ATR|AverageTrueRange|ADX|Stochastic|WilliamsR|DirectionalMovement", frozenset((14.0, 30.0, 70.0))),
    (r"MACD", frozenset((9.0, 12.0, 26.0))),
    (r"Bollinger", frozenset((20.0,))),
    (r"CCI|CommodityChannel", frozenset((20.0,))),
    (r"Cerebro", frozenset((10_000.0,))),
    (r"Sharpe|Returns|annual|Calmar|VWR", frozenset((12.0, 52.0, 252.0, 365.0))),
)
"""Numbers that a library takes without being told, so that a question may state them and the code not."""


Name = Literal[
    "no_question", "question_too_long", "question_not_text", "options_in_stem", "option_in_stem", "not_four_options",
    "not_one_key", "options_too_close", "stem_ignores_seed", "stem_and_code_differ", "answer_not_usable",
    "speaks_to_solver",
]  # fmt: skip


@dataclass(frozen=True)
class Flaw:
    """One thing that is wrong."""

    reason: Name
    detail: str


@dataclass(frozen=True)
class Printed:
    """What a verifier printed at one seed."""

    seed: int
    question: str
    answer: str


def unkept_flaw(every: Iterable[Printed]) -> Flaw | None:
    """What no record can hold, at whatever seed: all answers are kept, whether they become options or not."""
    for one in every:
        if fault := unkept(one.answer):
            return Flaw("answer_not_usable", f"the answer at seed {one.seed} {fault}")
        if len(one.question) > LONGEST:
            many = f"{len(one.question):,} characters, more than {LONGEST:,}"
            return Flaw("question_too_long", f"the question at seed {one.seed} has {many}")
    return None


def flaws(code: str, base: Printed, others: Sequence[Printed], converted: Converted) -> list[Flaw]:
    """Everything wrong with a question whose options were made."""
    found = [*stem_flaws(base.question), *option_flaws(base.question, converted)]
    if flaw := seed_flaw(base, others):
        found.append(flaw)
    if strange := strange_numerals(code, base.question):
        said = ", ".join(strange[:5])
        found.append(Flaw("stem_and_code_differ", f"the question says {said}, which the program doesn't use"))
    return found


def stem_flaws(stem: str) -> list[Flaw]:
    """What is wrong with a question's words alone."""
    if len(stem) > LONGEST:
        return [Flaw("question_too_long", f"the question has {len(stem):,} characters, more than {LONGEST:,}")]
    if strange := next((char for char in stem if _is_strange(char)), None):
        return [Flaw("question_not_text", f"the question holds the character U+{ord(strange):04X}")]
    prose = _FENCED.sub(" ", stem)
    if len(" ".join(prose.split())) < SHORTEST:
        return [Flaw("no_question", f"the question is {' '.join(stem.split())[:SHORTEST]!r}")]
    if _lists_options(prose):
        return [Flaw("options_in_stem", "the question lists options of its own")]
    if said := _speaks_to_solver(stem):
        return [Flaw("speaks_to_solver", f"the question says {said!r}, which concerns the one who answers")]
    return []


def _speaks_to_solver(stem: str) -> str | None:
    """The form of a reply, a letter to answer, or an order to whoever reads it: a question has no say in these."""
    text = folded(unescaped(stem))
    found = next((one for pattern in (_REPLY, _LETTER, _ORDER) if (one := pattern.search(text))), None)
    return None if found is None else " ".join(found[0].split())


def _lists_options(prose: str) -> bool:
    """Whether a question offers answers: capital letters at the beginnings of lines, or four marks in their order.

    Rules are listed as well, by ``1.`` or ``a)``: there the items must be values, or be called options.
    """
    if len({found[1] for found in _LISTED.finditer(prose)}) >= 3:
        return True
    marks = list(_MARK.finditer(prose))
    for wanted in ("ABCD", "abcd", "1234"):
        chosen: list[re.Match[str]] = []
        for mark in marks:
            if mark[1] == wanted[0]:
                chosen = [mark]
            elif chosen and mark[1] == wanted[len(chosen)]:
                chosen.append(mark)
            if len(chosen) == 4:
                if _are_offered(prose, chosen, capitals=wanted == "ABCD"):
                    return True
                chosen = []
    return False


def _are_offered(prose: str, marks: Sequence[re.Match[str]], *, capitals: bool) -> bool:
    ends = [*(mark.start() for mark in marks[1:]), marks[-1].end() + 2 * SHORT]
    items = [prose[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    items[-1] = items[-1].partition("\n")[0]
    if all(_VALUE.fullmatch(item) for item in items[:-1]) and _VALUE.match(items[-1]):
        return True
    before = prose[max(0, marks[0].start() - 2 * SHORT) : marks[0].start()]
    return (capitals and all(len(item) <= SHORT for item in items[:-1])) or _OFFER.search(before) is not None


def _is_strange(char: str) -> bool:
    """Half and unassigned characters, and what would steer a terminal, or the order and the lines of what is shown."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") and char not in "\n\r\t"


def option_flaws(stem: str, made: Converted) -> list[Flaw]:
    """What is wrong with the options, whoever made them."""
    texts = [made.options.get(letter, "").strip() for letter in LETTERS]
    found = []
    if sorted(made.options) != list(LETTERS) or not all(texts) or len({text.casefold() for text in texts}) < 4:
        return [Flaw("not_four_options", "there are not four different options")]
    key = made.form.text(made.value)
    if [letter for letter in LETTERS if made.options[letter] == key] != [made.answer]:
        found.append(Flaw("not_one_key", "not exactly one option is the answer"))
    if made.form.kind != "date":
        values: list[float | str] = [text if made.form.kind == "text" else _number(text) for text in texts]
        if not all(made.form.apart(one, other) for one, other in combinations(values, 2)):
            found.append(Flaw("options_too_close", "two options are closer than rounding and one percent"))
    for text in texts:
        if states(stem, made.form, text):
            found.append(Flaw("option_in_stem", f"the question holds the option {text}"))
            break
    return found


def _number(text: str) -> float:
    found = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    number = float(found[0].replace(",", "")) if found else 0.0
    return -number if text.startswith("-") else number


def seed_flaw(base: Printed, others: Sequence[Printed]) -> Flaw | None:
    """Two seeds with the same words and different answers: what makes the difference isn't stated."""
    said: dict[str, Printed] = {}
    for one in (base, *others):
        words = " ".join(one.question.split())
        before = said.setdefault(words, one)
        if before.answer != one.answer:
            return Flaw(
                "stem_ignores_seed",
                f"seeds {before.seed} and {one.seed} give the same question and different answers",
            )
    return None


def strange_numerals(code: str, stem: str) -> list[str]:
    """Numerals that stand in a string of the program and in the stem, but nowhere in what the program computes with.

    What is printed from a variable that the program computes with is true by itself. A number that is written into the
    sentence, or kept in a name that only the sentence uses, is a claim about the code: it must be one of the numbers
    that are computed with, as it is or as a percentage, or what arithmetic on them amounts to; whole numbers may be off
    by one, since what is decided on the tenth bar is bought on the eleventh.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    pieces = _pieces(tree)
    only = told(tree, " ".join(stem.split()))
    texts, numbers = _constants(tree, pieces, only.nodes)
    stated = _stated(texts, stem) | _spoken(pieces.values(), stem) | _claimed(only, stem)
    if not stated:
        return []
    allowed = numbers | _folded(tree, only) | SMALL | _defaults(tree)
    allowed |= {one + step for one in numbers if one < 1e15 and one == int(one) for step in (-1.0, 1.0)}
    dates = {part for text in texts for found in _DATE.findall(text) for part in found.split("-")}
    return [
        token for token, (value, percent) in stated.items()
        if not _near(value, allowed) and not (percent and _near(value / 100, allowed)) and token not in dates
    ]  # fmt: skip


def _constants(tree: ast.AST, pieces: Container[int], only: Container[int]) -> tuple[list[str], set[float]]:
    """The strings and the numbers of a program; docstrings and comments are neither, nor are pieces of a sentence.

    Numbers that are ``only`` told are not among them, in digits or in strings.
    """
    texts, numbers = [], set()
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body and isinstance(node.body[0], ast.Expr)
    }  # fmt: skip
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docs or id(node) in pieces:
            continue
        if isinstance(node.value, str):
            if id(node) not in only or not _is_data(node.value):
                texts.append(node.value)
        elif isinstance(node.value, int | float) and not isinstance(node.value, bool) and id(node) not in only:
            try:
                numbers.add(abs(float(node.value)))
            except OverflowError:
                continue
    # Strings that are data (rows of a table, dates) are computed with as well.
    for text in texts:
        if _is_data(text):
            numbers.update(float(_plain(found)) for found in _NUMERAL.finditer(text))
    return texts, numbers


def _pieces(tree: ast.AST) -> dict[int, str]:
    """Strings with little but a numeral that stand between the words of a sentence: node id -> with a word around.

    A sentence may be put together from a list, from arguments, by ``+`` or in an f-string; a numeral that is a string
    of its own there is said, not computed with.
    """
    found = {}
    begun = begun_sums(tree)
    for node in ast.walk(tree):
        parts = _parts(node) if id(node) not in begun else []
        if not any(len(_WORD.findall(text)) >= 3 for _, text in parts):
            continue
        for place, (part, text) in enumerate(parts):
            if part is None or not _is_data(text) or len(text) > 24 or not 1 <= len(_NUMERAL.findall(text)) <= 2:
                continue
            before = parts[place - 1][1] if place else " "
            after = parts[place + 1][1] if place + 1 < len(parts) else " "
            # Glued to something that is only known when the program runs, it may be half a number or of a day.
            if (before or text[0].isspace()) and (after or text[-1].isspace()):
                words = (*before.split()[-1:], text, *after.split()[:1])
                found[id(part)] = " ".join(" ".join(words).split())
    return found


def _parts(node: ast.AST) -> list[tuple[ast.AST | None, str]]:
    """What a sentence may be put together from: strings with their nodes, an empty one for what isn't known."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [part for side in added(node) for part in (_parts(side) or [_part(side)])]
    if isinstance(node, ast.JoinedStr):
        return [_part(one.value if isinstance(one, ast.FormattedValue) else one) for one in node.values]
    if isinstance(node, ast.List | ast.Tuple):
        return [_part(one) for one in node.elts]
    return [_part(one) for one in node.args] if isinstance(node, ast.Call) else []


def _part(node: ast.AST) -> tuple[ast.AST | None, str]:
    known = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return (node, node.value) if known else (None, "")  # type: ignore[attr-defined]


def _spoken(pieces: Iterable[str], stem: str) -> dict[str, tuple[float, bool]]:
    """Numerals of such pieces that the stem shows, as :func:`_stated` gives them."""
    shown = "".join(_FENCED.sub(" ", stem).split())
    found = {}
    for piece in pieces:
        words = _DATE.sub(" ", piece)
        if "".join(piece.split()) in shown:
            found.update({numeral[0]: _said(numeral, words) for numeral in _NUMERAL.finditer(words)})
    return found


def _said(numeral: re.Match[str], words: str) -> tuple[float, bool]:
    """A numeral's value, and whether it is a percentage."""
    percent = re.match(r"\s?(%|percent|basis)", words[numeral.end() :]) is not None
    return float(_plain(numeral)), percent


def _is_data(text: str) -> bool:
    """Whether a string holds values rather than a sentence."""
    letters = sum(char.isalpha() for char in text)
    digits = sum(char.isdigit() for char in text)
    return digits > letters


def _stated(texts: Iterable[str], stem: str) -> dict[str, tuple[float, bool]]:
    """Numerals of literal pieces of strings that the stem shows word for word: token -> (value, is a percentage)."""
    shown = " ".join(_FENCED.sub(" ", stem).split())
    found: dict[str, tuple[float, bool]] = {}
    for text in texts:
        if _is_data(text):
            continue
        for piece in _HOLE.split(_FENCED.sub(" ", text)):
            words = " ".join(piece.split())
            if len(words) < 4 or words not in shown:
                continue
            words = _DATE.sub(" ", words)
            for numeral in _NUMERAL.finditer(words):
                found[numeral[0]] = _said(numeral, words)
    return found


def _plain(found: re.Match[str]) -> str:
    return found[0].replace(",", "")


def _claimed(only: Told, stem: str) -> dict[str, tuple[float, bool]]:
    """Numbers that are only told and that the stem shows, rounded or not, as :func:`_stated` gives them."""
    shown = [(_plain(one), one[0]) for one in _NUMERAL.finditer(_FENCED.sub(" ", stem))]
    found = {}
    for claim in only.claims:
        for plain, token in shown:
            if abs(float(plain) - claim.value) <= 0.5001 * 10 ** -len(plain.partition(".")[2]):
                found[token] = (claim.value, claim.percent)
                break
    return found


def _folded(tree: ast.AST, only: Told) -> set[float]:
    """What the program's arithmetic on numbers, and on names that are set to one number each, amounts to.

    What is only told is left out.
    """
    names: dict[str, float | None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            names[name] = None if name in names else folding.value(node.value, {})
    known = {name: value for name, value in names.items() if value is not None and name not in only.names}
    sums = (node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and id(node) not in only.nodes)
    return {abs(value) for node in sums if (value := folding.value(node, known)) is not None}


def _defaults(tree: ast.AST) -> set[float]:
    used = " ".join(
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name)
    )  # fmt: skip
    return {number for pattern, defaults in DEFAULTS if re.search(pattern, used) for number in defaults}


def _near(value: float, allowed: set[float]) -> bool:
    return any(abs(value - one) <= 1e-9 * max(1.0, abs(value)) for one in allowed)
