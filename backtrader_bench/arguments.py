"""What arguments and settings may be, said once for the command line and for Python.

A check takes a name and a value, and gives the value to go on with or raises UsageError. ``bounds`` has those of each
setting; click's types are made of them in ``cli/numbers.py``. Only the standard library is loaded.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from backtrader_bench.errors import UsageError

Check = Callable[[str, Any], Any]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Whole:
    """An integer of ``low`` to ``high``."""

    low: int
    high: int | None = None

    def __call__(self, name: str, value: Any) -> int:
        """The number."""
        try:
            found = None if isinstance(value, bool) else operator.index(value)
        except TypeError:
            found = None
        if found is None or found < self.low or (self.high is not None and found > self.high):
            to = "on" if self.high is None else f"to {self.high}"
            raise UsageError(f"{name} is {shown(value)}; it must be an integer from {self.low} {to}")
        return found


@dataclass(frozen=True)
class Number:
    """A finite number from ``low`` to ``high``; ``above`` and ``below`` leave the bounds themselves out."""

    low: float
    high: float | None = None
    above: bool = False
    below: bool = False

    def __call__(self, name: str, value: Any) -> float:
        """The number."""
        try:
            found = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
        except OverflowError:
            found = math.nan
        if not math.isfinite(found) or not self._holds(found):
            low = f"{'above' if self.above else 'from'} {self.low:g}"
            high = "" if self.high is None else f" {'to below' if self.below else 'up to'} {self.high:g}"
            raise UsageError(f"{name} is {shown(value)}; it must be a number {low}{high}")
        return found

    def _holds(self, found: float) -> bool:
        if found < self.low or (self.above and found == self.low):
            return False
        return self.high is None or found < self.high or (found == self.high and not self.below)


@dataclass(frozen=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    def __call__(self, name: str, value: Any) -> str:
        """The word."""
        if not isinstance(value, str) or value not in self.words:
            raise UsageError(f"{name} is {shown(value)}; it must be one of {', '.join(filter(None, self.words))}")
        return value


def shown(value: Any) -> str:
    """A value in a message: short, and nothing in it that no terminal could show."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} is {shown(value)}; it must be true or false")
    return value


def text(name: str, value: Any) -> str:
    """A text, without half characters."""
    if not isinstance(value, str):
        raise UsageError(f"{name} is {shown(value)}; it must be a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name} is {ascii(value)[:80]}, which holds half a character; it must be a text") from None
    return value


def path(name: str, value: Any) -> Path:
    """A path, or its text. Bytes of a file's name that are no text are as Python spells them."""
    try:
        if not isinstance(value, str | os.PathLike) or not isinstance(spelled := os.fspath(value), str):
            raise UsageError(f"{name} is {shown(value)}; it must be a path")
        os.fsencode(spelled)
    except UnicodeEncodeError:
        raise UsageError(f"{name} is {ascii(value)[:80]}, which holds half a character; it must be a path") from None
    return Path(spelled)


def function(name: str, value: Any) -> Callable[..., Any]:
    """Something to call."""
    if not callable(value):
        raise UsageError(f"{name} is {shown(value)}; it must be a function")
    return value  # type: ignore[no-any-return]


def several(check: Check) -> Check:
    """A list, or anything to iterate over, of what ``check`` takes; a text is none, though it has letters."""

    def checked_all(name: str, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | bytes | os.PathLike | Mapping) or not isinstance(value, Iterable):
            raise UsageError(f"{name} is {shown(value)}; it must be a list")
        return tuple(check(name, one) for one in value)

    return checked_all


def optional(check: Check) -> Check:
    """What ``check`` takes, or None."""
    return lambda name, value: None if value is None else check(name, value)


def instance(kind: str, read: Callable[[], type]) -> Check:
    """An object of the class that ``read`` gives, which is not imported before there is one to look at."""

    def checked_one(name: str, value: Any) -> Any:
        if not isinstance(value, read()):
            raise UsageError(f"{name} is {shown(value)}; it must be made by {kind}(...)")
        return value

    return checked_one


def word(name: str, value: Any) -> str:
    """A word of a command line, to be noted: bytes in it that are no text read as ``?``."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else text(name, value)


texts = several(text)
words = several(word)
paths = several(path)


def settings(given: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """Those of ``given`` that there are checks for, checked; None is not given."""
    return {name: checks[name](name, value) for name, value in given.items() if name in checks and value is not None}


def hold(made: Any, checks: Mapping[str, Check]) -> None:
    """Check the fields of a frozen dataclass that is being made; for its ``__post_init__``."""
    for name, check in checks.items():
        object.__setattr__(made, name, check(name, getattr(made, name)))


def checked(**checks: Check) -> Callable[[F], F]:
    """A function that checks its arguments before it does anything; ``**given`` it checks itself.

    Every parameter needs a check: one without is an error where the function is defined.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        named = [one.name for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        if set(named) != set(checks):
            raise TypeError(f"{function.__qualname__}: checks for {sorted(set(named) ^ set(checks))}")

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            for name, value in bound.arguments.items():
                if name in checks:
                    bound.arguments[name] = checks[name](name, value)
            return function(*bound.args, **bound.kwargs)

        return call  # type: ignore[return-value]

    return decorate
