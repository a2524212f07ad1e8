"""Random streams, one a purpose: never a generator shared between templates, so that adding one moves no other."""

from __future__ import annotations

import hashlib
import json
from random import Random
from typing import Any


def stream(*purpose: Any) -> Random:
    """A generator seeded by SHA-256 of ``purpose`` (numbers, texts, plain dicts); the same on every platform."""
    text = json.dumps(purpose, sort_keys=True, separators=(",", ":"))
    return Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))
