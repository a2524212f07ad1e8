"""A generator's reply: three blocks between fixed tokens, wherever in its chatter they stand.

    <<<QUESTION>>> ... <<</QUESTION>>>      the stem, without options
    <<<CODE>>> ... <<</CODE>>>              the verifier
    <<<RATIONALE>>> ... <<</RATIONALE>>>    may be absent

The last complete block of a kind counts, since agents try, repeat and correct themselves. Pure functions, linear in
the reply's length.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["QUESTION", "CODE", "RATIONALE"]
Fault = Literal[
    "empty_reply", "no_question_block", "unclosed_question_block", "empty_question_block", "no_code_block",
    "unclosed_code_block", "empty_code_block",
]  # fmt: skip
LONGEST = 4_000_000
"""Characters of a reply that are looked at together: its end, where blocks stand, and failing that its beginning."""

# Colours, cursor moves, titles and links of terminals; zero-width and direction marks; the byte order mark.
_NOISE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[@-Z\\^_]"
    r"|[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_TOKEN = re.compile(r"<<<[ \t]{0,8}(/?)[ \t]{0,8}(QUESTION|CODE|RATIONALE)[ \t]{0,8}>>>", re.IGNORECASE)
_DECORATION = frozenset(" \t>*_`#~|-:+")
"""What may stand beside a token on a line of its own: quoting, emphasis, headings, a diff's mark."""
_REACH = 120
"""How far that is looked for; more of it is no decoration."""
_TRIES = 4
"""Openings of a block that are tried."""
_LAYERS = 6
"""Of quoting and fences that are peeled."""
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)[ \t]*$")


@dataclass(frozen=True)
class Blocks:
    """What a generator said; texts without surrounding blank lines, indentation or fences."""

    question: str
    code: str
    rationale: str = ""


@dataclass(frozen=True)
class Malformed:
    """Why a reply has no usable blocks: a word for counting, and a sentence."""

    reason: Fault
    detail: str


def read_blocks(reply: str) -> Blocks | Malformed:
    """The blocks of a reply, or what is missing."""
    found = [_blocks(text) for text in _windows(reply)]
    return next((one for one in found if isinstance(one, Blocks)), found[0])


def _blocks(text: str) -> Blocks | Malformed:
    if not text.strip():
        return Malformed("empty_reply", "the reply is empty")
    tokens = _tokens(text)
    found = {kind: last_block(text, tokens[kind]) for kind in tokens}
    for kind in _FAULTS:
        if (problem := _problem(tokens[kind], kind, found[kind])) is not None:
            return problem
    return Blocks(found["QUESTION"] or "", found["CODE"] or "", found["RATIONALE"] or "")


def read_code(reply: str) -> str | Malformed:
    """The CODE block alone, of a reply that was asked for nothing else; without one, the only fenced block."""
    found = [_code(text) for text in _windows(reply)]
    return next((one for one in found if isinstance(one, str)), found[0])


def _code(text: str) -> str | Malformed:
    tokens = _tokens(text)["CODE"]
    code = last_block(text, tokens)
    problem = _problem(tokens, "CODE", code)
    if problem is None:
        return code or ""
    fenced = re.findall(r"^```[a-zA-Z0-9]*[ \t]*\n(.*?)^```[ \t]*$", text, re.MULTILINE | re.DOTALL)
    return fenced[0].strip("\n") + "\n" if len(fenced) == 1 and fenced[0].strip() else problem


def _windows(reply: str) -> list[str]:
    """The parts of a reply that are read, each for itself: a block that is cut between them is none."""
    parts = [reply] if len(reply) <= LONGEST else [reply[-LONGEST:], reply[:LONGEST]]
    return [clean(part) for part in parts]


def clean(reply: str) -> str:
    """A reply without terminal codes and invisible characters, lines ended by a newline."""
    text = reply.replace("\r\n", "\n").replace("\r", "\n")
    return _NOISE.sub("", text.encode(errors="replace").decode())


def _tokens(text: str) -> dict[Kind, list[re.Match[str]]]:
    """All tokens by kind, in one pass."""
    found: dict[Kind, list[re.Match[str]]] = {"QUESTION": [], "CODE": [], "RATIONALE": []}
    for token in _TOKEN.finditer(text):
        kind: Kind = token[2].upper()  # type: ignore[assignment]
        found[kind].append(token)
    return found


_FAULTS: dict[Kind, tuple[Fault, Fault, Fault]] = {
    "QUESTION": ("no_question_block", "unclosed_question_block", "empty_question_block"),
    "CODE": ("no_code_block", "unclosed_code_block", "empty_code_block"),
}


def _problem(tokens: Sequence[re.Match[str]], kind: Kind, block: str | None) -> Malformed | None:
    if block:
        return None
    none, unclosed, empty = _FAULTS[kind]
    if block is not None:
        return Malformed(empty, f"the last {kind} block is empty")
    if any(not token[1] for token in tokens):
        return Malformed(unclosed, f"<<<{kind}>>> is never closed by <<</{kind}>>>")
    return Malformed(none, f"there is no <<<{kind}>>> block")


def last_block(text: str, tokens: Sequence[re.Match[str]]) -> str | None:
    """The inside of the last complete block, given the ``tokens`` of its kind; None where there is none.

    Tokens that stand at the edge of a line are the block's; those amid a sentence only talk of it, and count where no
    others make a block. Of several openings before a closing the last counts, the others were given up; unless what
    follows it is no program and what follows an earlier one is: then it stands in a string of that program.
    """
    for chosen in ([token for token in tokens if _at_edge(text, token)], tokens):
        starts: list[int] = []
        last: tuple[list[int], int] | None = None
        for token in chosen:
            if not token[1]:
                starts.append(token.end())
            elif starts:
                last, starts = (starts, token.start()), []
        if last is not None:
            blocks = [peeled(text[start : last[1]]) for start in reversed(last[0][-_TRIES:])]
            if len(blocks) > 1 and tokens[0][2].upper() == "CODE":
                return next(filter(_is_program, blocks), blocks[0])
            return blocks[0]
    return None


def _is_program(block: str) -> bool:
    try:
        return bool(ast.parse(block).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _at_edge(text: str, token: re.Match[str]) -> bool:
    """Whether nothing but decoration stands before an opening, or after a closing, on its line."""
    if token[1]:
        end = text.find("\n", token.end(), token.end() + _REACH)
        beside = text[token.end() : end if end >= 0 else token.end() + _REACH]
    else:
        start = text.rfind("\n", max(0, token.start() - _REACH), token.start())
        beside = text[start + 1 if start >= 0 else max(0, token.start() - _REACH) : token.start()]
    return _DECORATION.issuperset(beside)


def peeled(block: str) -> str:
    """A block's text without blank lines around it, common quoting or indentation, and fences around the whole."""
    lines = _trimmed(block.split("\n"))
    for _ in range(_LAYERS):
        if lines and all(line.startswith(">") for line in lines):
            lines = [line.removeprefix("> ") if line.startswith("> ") else line[1:] for line in lines]
        elif lines and all(line.startswith("+") for line in lines):
            lines = [line[1:] for line in lines]
        elif _fenced(lines):
            lines = lines[1:-1]
        else:
            break
        lines = _trimmed(lines)
    return textwrap.dedent("\n".join(lines)).strip("\n") + "\n" if lines else ""


def _trimmed(lines: list[str]) -> list[str]:
    """Without the lines at both ends that are blank or hold only what decorated a token (``**<<<CODE>>>**``)."""
    solid = [place for place, line in enumerate(lines) if line.strip(" \t*_>") not in ("", "`")]
    return lines[solid[0] : solid[-1] + 1] if solid else []


def _fenced(lines: list[str]) -> bool:
    """Whether the first line opens a fence that the last one closes, others inside balanced."""
    if len(lines) < 2 or not _FENCE.match(lines[0]):
        return False
    depth = 0
    for place, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        depth += 1 if fence[2] or depth == 0 else -1
        if depth == 0:
            return place == len(lines) - 1
    return False
