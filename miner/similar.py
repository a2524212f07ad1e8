"""Whether a stem was asked before in other numbers: MinHash over its words, numerals masked.

What is data or code (fenced blocks, rows of numbers) is no wording: two questions on the same table or the same
generator of bars are different if they ask different things.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasketch import MinHash

PERMUTATIONS = 256
THRESHOLD = 0.93
"""Estimated Jaccard similarity of the sets of word triples from which on a stem is a near-duplicate."""
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^[^\n\d]{0,20}\d[\d\-/: .]*(?:[,|;\t][ \t]*-?\d[\d.\-/: ]*){3,}.*$", re.MULTILINE)
_NUMERAL = re.compile(r"\$?\d[\d,]*(?:[.\-/:]\d+)*%?")
_NAME = re.compile(r"\b[A-Z]{2,6}\d{0,3}\b")
_TERMS = frozenset(("SMA", "EMA", "ATR", "RSI", "MACD", "SQN", "OHLCV", "CSV", "ISO", "USD", "WMA", "ADX", "CCI", "DD"))


def masked(stem: str) -> str:
    """The wording alone: small letters, numerals as ``#``, tickers as ``@``, no code or data."""
    text = _ROW.sub(" ", _FENCED.sub(" ", stem))
    text = _NAME.sub(lambda found: found[0] if found[0] in _TERMS else "@", text)
    return " ".join(re.findall(r"[a-z#@]+(?:'[a-z]+)?", _NUMERAL.sub("#", text).lower()))


def sketch(stem: str) -> MinHash:
    """The MinHash of a stem."""
    from datasketch import MinHash

    words = masked(stem).split() or [" ".join(stem.split())]
    shingles = {" ".join(words[place : place + 3]) for place in range(max(1, len(words) - 2))}
    made = MinHash(num_perm=PERMUTATIONS, seed=1)
    made.update_batch([shingle.encode() for shingle in sorted(shingles)])
    return made


class Known:
    """Stems that were asked, by the id of their question: look-ups stay flat as they grow."""

    def __init__(self) -> None:
        from datasketch import MinHashLSH

        self._index: Any = MinHashLSH(threshold=THRESHOLD - 0.05, num_perm=PERMUTATIONS)
        self._sketches: dict[str, tuple[Any, Any]] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._sketches

    def __len__(self) -> int:
        return len(self._sketches)

    def add(self, identity: str, stem: str) -> None:
        """Take a question in; one with the same id is there already."""
        if identity not in self._sketches:
            self._sketches[identity] = made = (sketch(stem), sketch(ask_of(stem)))
            self._index.insert(identity, made[0])

    def nearest(self, stem: str) -> tuple[str, float] | None:
        """The question whose wording is most alike, from THRESHOLD on in the whole and in what is asked, and how alike.

        Of equals the smallest id.
        """
        whole, ask = sketch(stem), sketch(ask_of(stem))
        near = []
        for one in self._index.query(whole):
            other, asked = self._sketches[one]
            if whole.jaccard(other) >= THRESHOLD and ask.jaccard(asked) >= THRESHOLD:
                near.append((-float(whole.jaccard(other)), str(one)))
        return (min(near)[1], -min(near)[0]) if near else None


def ask_of(stem: str) -> str:
    """The last paragraph with words in it: what is asked."""
    paragraphs = re.split(r"\n\s*\n", stem.strip())
    return next((one for one in reversed(paragraphs) if masked(one)), stem)
