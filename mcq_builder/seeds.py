"""Random streams, one a purpose: never a generator shared between templates, so that adding one moves no other."""

from __future__ import annotations

import hashlib
import json
import secrets
from random import Random
from typing import Any

DRAWN = 2**62
"""Seeds from here on are taken to be drawn, with 62 random bits; those below are few enough to try them all. A question
narrows the seed down by 2 to 5 bits, and trying one takes microseconds: 2**40 are a matter of hours."""
RANDOM = "random"
"""Stands for a seed that is to be drawn."""


def drawn_seed() -> int:
    """A seed that nobody else knows, from the system's random numbers: 2**62 to 2**63 - 1."""
    return DRAWN + secrets.randbits(62)


def stream(*purpose: Any) -> Random:
    """A generator seeded by SHA-256 of ``purpose`` (numbers, texts, plain dicts); the same on every platform."""
    text = json.dumps(purpose, sort_keys=True, separators=(",", ":"))
    return Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))
