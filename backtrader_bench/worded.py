"""Answers in words: whether a text says what a record's internal word stands for. Pure functions.

A solver sees the options' phrases and never the word, so any usual way to write the same is as right as the phrase.
What isn't understood from end to end says nothing: a word left over may be a ``not``.
"""

from __future__ import annotations

import re

_NAMES = r"\b(?:sma|ma|ema)[0-9]*\b|\b[0-9]+\b"
_FILL = {
    "state": "a an the is was are were and but with while its it of has have had there strategy average averages "
             "moving simple line recorded at that than to one",
    "action": "a an the was were is are has been got and but with on that this date day there in account strategy it",
    "exit": "a an the its it was is on at by in via through with from of exit exited exits closed order child leg "
            "filled fill executed hit triggered kind date bracket resting",
}  # fmt: skip
_LARGER, _SMALLER = "(?:above|over|greater|higher|larger|>)", "(?:below|under|less|lower|smaller|<)"
_ABOVE = rf"(?:(?:fast )?(?:strictly )?{_LARGER}(?: slow)?|slow (?:strictly )?{_SMALLER} fast)"
_BELOW = (
    rf"(?:(?:fast )?(?:not (?:strictly )?{_LARGER}|(?:or |equal or |strictly )?{_SMALLER}(?: or equal)?|<=|≤)"
    rf"(?: slow)?|slow (?:not (?:strictly )?{_SMALLER}|(?:or |equal or |strictly )?{_LARGER}(?: or equal)?|>=|≥) fast)"
)
_IN = r"(?:(?:long )?position(?: held| open| yes)|(?:in |holds |holding |held |open )(?:long )?position|held|holding)"
_OUT = (
    r"(?:(?:no|not in|not holding|not hold|does not hold|doesn t hold|without|holds no|holding no|held no) "
    r"(?:open |any |long )?position(?: held| open)?|position (?:not held|not open|no|none|closed)|not held|not holding"
    r"|not long|flat|out market|out)"
)
_LONG, _FLAT = rf"(?:{_IN}|long|invested|in market|position|yes)", rf"(?:{_OUT}|none|no)"
_FILLED = r"(?: (?:orders?|side|shares|fill|filled|executed|completed))*"
_BUY, _SELL = rf"(?:buy|bought|purchase|purchased){_FILLED}", rf"(?:sell|sold|sale){_FILLED}"
_DONE = "(?: (?:filled|executed|happened))*"
_NONE = rf"(?:no (?:orders?|fills?|trades?|filled|action){_DONE}|nothing{_DONE})"
_HOLD = rf"(?:hold|kept position|{_IN}|hold position)"


def _both(one: str, other: str) -> str:
    return rf"{one} {other}|{other} {one}"


_SAYS: dict[str, tuple[str, str]] = {
    "above_long": ("state", _both(_ABOVE, _LONG)),
    "above_flat": ("state", _both(_ABOVE, _FLAT)),
    "below_long": ("state", _both(_BELOW, _LONG)),
    "below_flat": ("state", _both(_BELOW, _FLAT)),
    "buy": ("action", _BUY),
    "sell": ("action", _SELL),
    "hold": ("action", rf"{_HOLD}|{_both(_NONE, _HOLD)}"),
    "flat": ("action", rf"{_OUT}|{_both(_NONE, _OUT)}"),
    "stop": ("exit", r"(?:protective )?(?:stop|sl|stoploss)(?: loss)?"),
    "limit": ("exit", r"(?:sell )?limit|(?:limit )?(?:take profit|takeprofit|tp)(?: limit)?|(?:profit )?target"),
}
"""By word: whose fillers are left out, and what the rest must be from end to end."""
WORDS = frozenset(_SAYS)
"""Words that more than themselves can say."""


_CHOSEN = re.compile(
    r"^\W*(?:(?:option|choice|answer)\W+[a-d]\b\W*|[a-d]\s?[.):\]]\)?\s+)"
    r"|^\W*(?:the\s+)?(?:(?:final|correct)\s+)?answer\s*(?:is\b|[:=])"
    r"|\b(?:option|choice|answer|letter)\W+[a-d]\W*$"
)
"""An option's letter before its text or behind it, or "the answer is"."""


def says(text: str, word: str) -> bool:
    """Whether ``text``, folded, says ``word``: the word itself, or for a known one any usual way to write it."""
    if " ".join(text.casefold().split()).strip(" .") == " ".join(word.casefold().split()).strip(" ."):
        return True
    if word not in _SAYS:
        return False
    kind, form = _SAYS[word]
    spaced = re.sub(r"([<>=]+|[≤≥])", r" \1 ", _CHOSEN.sub(" ", text.casefold()))
    bare = re.sub(_NAMES, " ", re.sub(r"[^\w<>=≤≥]", " ", spaced))
    fillers = ["=", *_FILL[kind].split()]
    return re.fullmatch(form, " ".join(one for one in bare.split() if one not in fillers)) is not None
