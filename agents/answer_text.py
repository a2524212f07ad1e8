"""The text of a reply made readable: noise dropped, other glyphs folded, drafts and other people's words left out.

Two stages, because a strict reading allows only the first: :func:`visible` drops what nobody sees, :func:`plain` turns
the rest into one plain form. Both are pure and take time in proportion to the text.
"""

from __future__ import annotations

import html
import re
import unicodedata

_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LINE_END = re.compile(r"\r\n?|[\x85\u2028\u2029]")

_SPELLED_ANSI = re.compile(r"(?:\^\[|\\x1b|\\033|\\e|\\u001b|\u241b)\[[0-9;?]*[A-Za-z]", re.IGNORECASE)
_SPELLED = re.compile(r"\\u00([2-7][0-9a-fA-F])|\\x([2-7][0-9a-fA-F])")
_PERCENT = re.compile(r"%(3C|3E|20|0A)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([<>*_`()\[\]!#~|.$-])")

_GLYPHS = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u300c\u300d\u300e\u300f\u2033", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63", "-"),
        **dict.fromkeys("\u2039\u3008\u27e8\u2329\u276e\u2770\u276c", "<"),
        **dict.fromkeys("\u203a\u3009\u27e9\u232a\u276f\u2771\u276d", ">"),
        **dict.fromkeys("\u00ab\u226a\u300a\u27ea", "<<"),
        **dict.fromkeys("\u00bb\u226b\u300b\u27eb", ">>"),
        **dict.fromkeys("\u3010\u3014\u3016", "["),
        **dict.fromkeys("\u3011\u3015\u3017", "]"),
        "\u22d8": "<<<", "\u22d9": ">>>",
        **{chr(start + place): letter for start in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)
           for place, letter in enumerate("ABCD")},
    }
)  # fmt: skip
_LOOKALIKES = {
    **dict.fromkeys("\u0410\u0391\u13aa\ua4ee", "A"), **dict.fromkeys("\u0412\u0392\u13f4\ua4d0", "B"),
    **dict.fromkeys("\u0421\u03f9\u13df\ua4da", "C"), **dict.fromkeys("\u13a0\ua4d3", "D"),
    # Letters of other alphabets that number a list there.
    **dict.fromkeys("\u0623\u0627\u0625\u05d0", "A"), **dict.fromkeys("\u0628\u05d1", "B"),
    **dict.fromkeys("\u062c\u05d2", "C"), **dict.fromkeys("\u062f\u05d3", "D"),
}  # fmt: skip
_WORDS = "A-Za-z0-9_\u0370-\u052f\u0590-\u06ff\u13a0-\u13ff\ua4d0-\ua4ff"
_LOOKALIKE = re.compile(f"(?<![{_WORDS}])[{''.join(_LOOKALIKES)}](?![{_WORDS}])")

_TAG = re.compile(
    r"<(/?)(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|analysis|draft)>|\[(/?)(?:think|thinking)\]",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~[^~\n]*~~|<(s|del|strike)>[^<]*</\1>", re.IGNORECASE)
_ROLE = re.compile(
    r"^[ \t]*(?:\[(?P<a>user|human|system|tool|tool[ _-]?(?:result|output|call)s?|assistant|ai|model)\][ \t]*:?"
    r"|(?P<b>user|human|system|tool|assistant)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_OWN = ("assistant", "ai", "model")
_FOUND = re.compile(r"^[ \t]*(?:[\w./-]+\.\w+[:-]\d+[:-]|\u23bf).*(?:\n[ \t]{4,}\S.*)*$", re.MULTILINE)

_STYLED = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|mathrm|mathbf|mathsf|mathit|mathtt|texttt|bf|rm|emph|underline)\s?"
    r"\{([^{}\n]{0,300})\}"
)
_EMPHASIS = re.compile(
    r"(?:(?<!\*)(?=\*)|(?<!_)(?=_)|(?<!`)(?=`))"  # a whole run of marks, not the end of a longer one
    r"(([*_`])\2{0,2})[ \t]?([\"'(\[]?[A-Da-d][\"')\].:]{0,3})[ \t]?\1(?!\2|[*_]?[A-Za-z0-9])"
)
_MARKS = re.compile(r"\*+|`+|__+|</?(?:b|strong|em|i|u|mark|code|p|span|kbd)>|<br ?/?>", re.IGNORECASE)

OPEN, CLOSE = "\u27e6", "\u27e7"
"""Stand around a letter that was emphasised (bold, italic, code)."""


def visible(text: str) -> str:
    """``text`` without what nobody sees: colour codes, zero-width and direction marks, controls. Lines end in LF."""
    return _UNSEEN.sub("", _LINE_END.sub("\n", _ANSI.sub("", text)))


def unescaped(text: str) -> str:
    """HTML entities, ``\\u003c`` and ``%3C`` written out."""
    if "&" in text:
        text = html.unescape(html.unescape(text))
    text = _SPELLED.sub(lambda found: chr(int(found[1] or found[2], 16)), _SPELLED_ANSI.sub("", text))
    if "%3c%3c" in text.lower():
        text = _PERCENT.sub(lambda found: chr(int(found[1], 16)), text)
    return text


def folded(text: str) -> str:
    """One glyph for each thing: compatibility forms, quotes, dashes, angle brackets, letters that look like A to D."""
    text = unicodedata.normalize("NFKC", text.translate(_GLYPHS))
    return _LOOKALIKE.sub(lambda found: _LOOKALIKES[found[0]], text.translate(_GLYPHS))


def undecorated(text: str) -> str:
    """Without markdown and LaTeX styling; an emphasised lone letter keeps :data:`OPEN` and :data:`CLOSE` around it."""
    for _ in range(2):
        text = _STYLED.sub(r"\1", text)
    text = _ESCAPED.sub(r"\1", text)
    text = _EMPHASIS.sub(rf"{OPEN}\3{CLOSE}", text)
    return _MARKS.sub("", text)


def own_words(text: str) -> str:
    """Without drafts (thinking tags, struck out), quoted turns of a user or a tool, and lines that a search found.

    A draft that is never closed reaches to the end; a closing tag without an opening one ends a draft that began with
    the text.
    """
    return _FOUND.sub("", _own_turns(_STRUCK.sub("", _undrafted(text))))


def _undrafted(text: str) -> str:
    kept: list[str] = []
    depth, last = 0, 0
    for tag in _TAG.finditer(text):
        if depth == 0:
            kept.append(text[last : tag.start()])
        if not (tag[1] or tag[2]):
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept.clear()
        last = tag.end()
    if depth == 0:
        kept.append(text[last:])
    return "".join(kept)


def _own_turns(text: str) -> str:
    marks = list(_ROLE.finditer(text))
    # "System: ..." alone may be prose; a dialogue has a turn of the agent's own, or bracketed roles.
    roles = [(mark["a"] or mark["b"]).lower() for mark in marks]
    if not any(mark["a"] or role in _OWN for mark, role in zip(marks, roles, strict=True)):
        return text
    kept = [text[: marks[0].start()]]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    kept += [text[mark.end() : end] for mark, role, end in zip(marks, roles, ends, strict=True) if role in _OWN]
    return "\n".join(kept)


def plain(text: str) -> str:
    """A reply's visible text in the one form that the lenient reading works on."""
    return undecorated(own_words(folded(unescaped(text))))


def plain_option(text: str) -> str:
    """An option's text in the same form, on one line."""
    bare = undecorated(folded(visible(text))).replace(OPEN, "").replace(CLOSE, "")
    return " ".join(bare.split())
