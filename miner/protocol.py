"""A generator's reply: three blocks between fixed tokens, wherever in its chatter they stand.

    <<<QUESTION>>> ... <<</QUESTION>>>      the stem, without options
    <<<CODE>>> ... <<</CODE>>>              the verifier
    <<<RATIONALE>>> ... <<</RATIONALE>>>    may be absent

The last complete block of a kind counts, since agents try, repeat and correct themselves. Pure functions, linear in
the reply's length.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import Literal

Kind = Literal["QUESTION", "CODE", "RATIONALE"]
Fault = Literal[
    "empty_reply", "no_question_block", "unclosed_question_block", "empty_question_block", "no_code_block",
    "unclosed_code_block", "empty_code_block",
]  # fmt: skip
LONGEST = 4_000_000
"""Characters of a reply that are looked at, from its end: blocks stand at the end."""

# Colours, cursor moves, titles and links of terminals; zero-width and direction marks; the byte order mark.
_NOISE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[@-Z\\^_]"
    r"|[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_TOKEN = re.compile(r"<<<[ \t]{0,8}(/?)[ \t]{0,8}(QUESTION|CODE|RATIONALE)[ \t]{0,8}>>>", re.IGNORECASE)
_DECORATION = frozenset(" \t>*_`#~|-:")
"""What may stand beside a token on a line of its own: quoting, emphasis, headings."""
_REACH = 120
"""How far that is looked for; more of it is no decoration."""
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
    text = clean(reply)
    if not text.strip():
        return Malformed("empty_reply", "the reply is empty")
    found = {kind: last_block(text, kind) for kind in ("QUESTION", "CODE", "RATIONALE")}
    for kind in _FAULTS:
        if (problem := _problem(text, kind, found[kind])) is not None:
            return problem
    return Blocks(found["QUESTION"] or "", found["CODE"] or "", found["RATIONALE"] or "")


def read_code(reply: str) -> str | Malformed:
    """The CODE block alone, of a reply that was asked for nothing else; without one, the only fenced block."""
    text = clean(reply)
    code = last_block(text, "CODE")
    problem = _problem(text, "CODE", code)
    if problem is None:
        return code or ""
    fenced = re.findall(r"^```[a-zA-Z0-9]*[ \t]*\n(.*?)^```[ \t]*$", text, re.MULTILINE | re.DOTALL)
    return fenced[0].strip("\n") + "\n" if len(fenced) == 1 and fenced[0].strip() else problem


def clean(reply: str) -> str:
    """The reply's end without terminal codes and invisible characters, lines ended by a newline."""
    text = reply[-LONGEST:].replace("\r\n", "\n").replace("\r", "\n")
    return _NOISE.sub("", text.encode(errors="replace").decode())


_FAULTS: dict[Kind, tuple[Fault, Fault, Fault]] = {
    "QUESTION": ("no_question_block", "unclosed_question_block", "empty_question_block"),
    "CODE": ("no_code_block", "unclosed_code_block", "empty_code_block"),
}


def _problem(text: str, kind: Kind, block: str | None) -> Malformed | None:
    if block:
        return None
    none, unclosed, empty = _FAULTS[kind]
    if block is not None:
        return Malformed(empty, f"the last {kind} block is empty")
    if any(found[2].upper() == kind and not found[1] for found in _TOKEN.finditer(text)):
        return Malformed(unclosed, f"<<<{kind}>>> is never closed by <<</{kind}>>>")
    return Malformed(none, f"there is no <<<{kind}>>> block")


def last_block(text: str, kind: str) -> str | None:
    """The inside of the last complete block of a kind, None where there is none.

    Tokens that stand at the edge of a line are the block's; those amid a sentence only talk of it, and count where no
    others make a block. Of several openings before a closing the last counts: the others were given up.
    """
    tokens = [found for found in _TOKEN.finditer(text) if found[2].upper() == kind]
    for chosen in ([token for token in tokens if _at_edge(text, token)], tokens):
        span, start = None, None
        for token in chosen:
            if not token[1]:
                start = token.end()
            elif start is not None:
                span, start = (start, token.start()), None
        if span is not None:
            return peeled(text[span[0] : span[1]])
    return None


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
