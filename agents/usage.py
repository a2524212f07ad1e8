"""Tokens and dollars: counting where an agent reports nothing, and prices from a file of the user's."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backtrader_bench.attempts import Cost, Usage
from backtrader_bench.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PARTS = ("input", "cache_read", "cache_write", "output")
"""What has a price; reasoning tokens are part of the output."""
TOKENS_A_CHUNK = 1.25
_CHUNK = re.compile(r"\w+|[^\w\s]")
_MILLION = 1_000_000


def count_tokens(text: str) -> int:
    """An estimate: chunks of word characters and single punctuation marks, times 1.25."""
    return math.ceil(TOKENS_A_CHUNK * sum(1 for _ in _CHUNK.finditer(text)))


def estimate(asked: str, replied: str) -> Usage:
    """Usage counted from the texts."""
    return Usage(input=count_tokens(asked), output=count_tokens(replied), estimated=True)


def is_known(usage: Usage) -> bool:
    """Whether anything was reported."""
    return any(getattr(usage, name) is not None for name in (*PARTS, "reasoning"))


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens, by model and part."""

    models: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def cost(self, usage: Usage, names: Iterable[str | None]) -> Cost | None:
        """What ``usage`` costs at the first of ``names`` (of the model, as reported, as asked for) that has prices.

        None where no name has, where input or output are unknown, or where a part that was used has no price.
        """
        price = next((self.models[name] for name in names if name and name in self.models), None)
        if price is None or usage.input is None or usage.output is None:
            return None
        used = {name: tokens for name in PARTS if (tokens := getattr(usage, name))}
        if not used.keys() <= price.keys():
            return None
        return Cost(usd=sum(price[name] * tokens for name, tokens in used.items()) / _MILLION, source="computed")


def read_prices(path: Path) -> Prices:
    """The price table of a TOML or JSON file: by model, ``input``, ``cache_read``, ``cache_write``, ``output``.

    StoreError: not readable. UsageError: anything else in it, with the place.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; give a file of prices") from None
    table = _parsed(path, data)
    if not isinstance(table, dict) or not table:
        raise UsageError(f"{path}: expected a table of models with their prices")
    return Prices({model: _model(path, model, parts) for model, parts in table.items()})


def _parsed(path: Path, data: bytes) -> Any:
    from backtrader_bench.records import parse_json

    if path.suffix.casefold() == ".json":
        return parse_json(data, str(path))
    try:
        return tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not TOML: {error} (JSON needs a name that ends in .json)") from None


def _model(path: Path, model: str, parts: Any) -> dict[str, float]:
    where = f"{path}: model {model[:80]!r}"
    if not isinstance(parts, dict) or not parts:
        raise UsageError(f"{where}: expected prices such as input = 3.0; a name with dots needs quotes")
    for name, price in parts.items():
        if name not in PARTS:
            raise UsageError(f"{where}: {str(name)[:80]!r} is none of {', '.join(PARTS)}")
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < math.inf:
            raise UsageError(f"{where}: {name} is {str(price)[:40]!r}; it must be US dollars per million tokens")
    return {name: float(price) for name, price in parts.items()}
