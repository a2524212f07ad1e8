"""What the stub's model does: chosen by a mark in the question, the same for every protocol.

A question that contains ``[case NAME]`` is answered as that case says. The cases:

``plain``      the answer at once
``shell``      calls a shell tool, then answers B if the tool printed 42 and D if it did not
``forced``     calls a shell tool though none is offered, then answers C
``refuse-401`` ``refuse-429`` (asks to wait 2 s) ``refuse-500``   the provider's errors
``hang``       never answers
anything else  a case of the test's own: the shell command it was registered with, then the answer C
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

MARK = re.compile(rb"\[case ([a-z0-9-]+)\]")
SHELL = "python3 -c 'print(6*7)'"
RETRY_AFTER = 2
CASES: dict[str, str | None] = {"plain": None, "shell": SHELL, "forced": SHELL}
ERRORS = {"refuse-401": 401, "refuse-429": 429, "refuse-500": 500}


@dataclass(frozen=True)
class Tokens:
    """What one served turn costs: ``fresh`` input that no cache had to do with."""

    fresh: int = 0
    read: int = 0
    written: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.fresh + other.fresh, self.read + other.read, self.written + other.written,
            self.output + other.output, self.reasoning + other.reasoning,
        )  # fmt: skip

    @property
    def prompt(self) -> int:
        """All input, as OpenAI's protocols count it."""
        return self.fresh + self.read + self.written


FIRST, LATER = Tokens(103, 29, 13, 17, 5), Tokens(41, 151, 7, 23, 3)
"""Of a question's first turn and of each after it; all numbers differ, so that none can be taken for another."""


@dataclass(frozen=True)
class Say:
    """Answer with this text."""

    text: str


@dataclass(frozen=True)
class Call:
    """Call the shell tool with this command."""

    command: str


@dataclass(frozen=True)
class Fail:
    """Refuse with this HTTP status."""

    status: int
    retry_after: int | None = None
    message: str = ""
    """In the vendor's words; empty for the stub's."""
    code: str = ""
    """The vendor's word for it; empty for the one that goes with the status."""

    @property
    def words(self) -> str:
        """The message to send."""
        return self.message or f"stubbed {self.status}"


@dataclass(frozen=True)
class Hang:
    """Say nothing, for ever."""


@dataclass(frozen=True)
class Drop:
    """Close the connection without a word."""


@dataclass(frozen=True)
class Decline:
    """Stop as a model that declines to answer, where the protocol has a word for that (Messages)."""


Act = Say | Call | Fail | Hang | Drop | Decline


@dataclass(frozen=True)
class Turn:
    """One request for the model, whatever its protocol."""

    protocol: str
    case: str
    results: tuple[str, ...] = ()
    """What the tools that were called so far gave."""
    tools: tuple[str, ...] = ()
    """Names of the tools on offer."""
    text: str = ""
    """The whole request, for tests that look at what the model was told."""


@dataclass(frozen=True)
class Served:
    """One answered request."""

    turn: Turn
    act: Act
    tokens: Tokens


@dataclass
class Script:
    """The cases of one server and what it served; many threads may ask at once."""

    commands: Mapping[str, str] = field(default_factory=dict)
    """Shell commands of a test's own cases."""
    served: list[Served] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    def act(self, turn: Turn) -> Act:
        """What the model does now; noted in ``served``."""
        act = self._decide(turn)
        tokens = Tokens() if isinstance(act, Fail | Hang | Drop) else LATER if turn.results else FIRST
        with self.lock:
            self.served.append(Served(turn, act, tokens))
        return act

    def _decide(self, turn: Turn) -> Act:
        if turn.case in ERRORS:
            status = ERRORS[turn.case]
            return Fail(status, RETRY_AFTER if status == 429 else None)
        if turn.case == "hang":
            return Hang()
        command = self.commands[turn.case] if turn.case in self.commands else CASES[turn.case]
        offered = turn.case == "forced" or turn.protocol == "cursor" or bool(turn.tools)
        if command and offered and not turn.results:
            return Call(command)
        if turn.case == "shell":
            return Say("<<< B >>>" if any("42" in result for result in turn.results) else "<<< D >>>")
        return Say("<<< C >>>")

    def of(self, case: str) -> list[Served]:
        """What was served for one case, in order."""
        with self.lock:
            return [one for one in self.served if one.turn.case == case]

    def tokens(self, case: str) -> Tokens:
        """Their sum."""
        return sum((one.tokens for one in self.of(case)), Tokens())


def case_of(body: bytes) -> str:
    """The case that a request is about: the first mark in it."""
    found = MARK.search(body)
    return found[1].decode() if found else "plain"


def tokens_of(turn: Turn) -> Tokens:
    """What this turn costs."""
    return LATER if turn.results else FIRST
