"""What a backend is: one frozen entry per agent, and the values that pass between a run and an agent.

A run makes an :class:`Ask`; the backend answers with a :class:`Reply`. Real agents are programs: their backend says
what to start (:class:`Command`) and how to read what came out (a pure function of :class:`Raw`), and
``agents.process`` does the rest. Offline agents answer in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backtrader_bench.attempts import Cost, Failure, Mode, ToolCall, Usage


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One question put to one agent."""

    prompt: str
    """The user's part: the question with its options and how to reply."""
    system: str
    """The system's part; backends without such a flag put it before the prompt."""
    mode: Mode
    model: str | None
    """The name after the colon of ``--agent``; None leaves the agent's own default."""
    workspace: Path
    """Empty but for what the agent may use; its working directory."""
    private: Path
    """Outside the workspace, for configuration and homes of this attempt alone; the program may write to it."""
    timeout: float
    """Seconds of wall time."""
    environ: Mapping[str, str]
    """The user's environment, from which a backend takes what its allow-list names."""
    own_config: bool = False
    """Use the user's own login and configuration folder instead of a private one."""
    record: Mapping[str, Any] | None = None
    """The decoded question record: for the offline agents alone, never for a program."""
    seed: int = 0
    """Of this attempt, for agents that draw."""
    repeat: int = 0
    """Which repeat of the question this is; for ``scripted`` alone."""
    output: Path | None = None
    """Where the program's streams are kept, in no room that an agent sees; None for a folder beside ``private``."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program to start."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    """The whole environment but for the marker."""
    collect: Mapping[str, Path] = field(default_factory=dict)
    """Files or folders (private to the attempt) that the parser needs besides the streams, by a name for each."""
    readable: tuple[Path, ...] = ()
    """What the program itself needs to read (its installation), where a sandbox hides the rest."""
    writable: tuple[Path, ...] = ()
    """Outside the workspace and ``Ask.private``: the user's own configuration folder with ``own_config``."""


@dataclass(frozen=True, kw_only=True)
class Raw:
    """All that an ended program left."""

    stdout: bytes
    stderr: bytes
    code: int | None
    """Exit code, negative for a signal; None when it could not be started."""
    timed_out: bool = False
    cancelled: bool = False
    """Ended by us after a tool call in no-tools mode."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Of ``Command.collect``; the files of a folder joined in the order of their names."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The one normal form. Without ``error`` it is an answer, whatever the text is worth."""

    text: str = ""
    session_id: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: Cost | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    error: Failure | None = None
    timed_out: bool = False
    refused: bool = False
    """The model declined (a stop reason of the provider's says so)."""
    seconds: float = 0.0
    raw: Mapping[str, Path] = field(default_factory=dict)
    """Raw files by name: ``stdout``, ``stderr``, and what was collected."""
    isolation: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """One agent that can be asked."""

    name: str
    title: str
    install: str
    """One line: how to get it."""
    no_tools_by: str
    """What keeps tools away in no-tools mode, for the manifest: a switch of the program, the vendor's server, nothing
    but the prompt and the watch on the stream."""
    reports: frozenset[str] = frozenset()
    """Which of ``tokens``, ``cost``, ``model`` its output states."""
    modes: tuple[Mode, ...] = ("with-tools", "no-tools")
    """The modes that it can be asked in."""
    allowed: tuple[str, ...] = ()
    """Names (or prefixes that end in ``*``) of environment variables that its process may have."""
    offline: bool = False
    """Ships in this package and needs no login, network or program."""
    check: Callable[[str | None], None] | None = None
    """Raises UsageError for a model that can't be: called before any question is asked."""
    find: Callable[[Mapping[str, str]], Path | None] | None = None
    """The program to start, from the user's environment; None for agents that run in this process, and where the
    model names the program."""
    version_argv: tuple[str, ...] = ("--version",)
    login: Callable[[Mapping[str, str]], str] | None = None
    """What can be told about the login without a request: ``key in ANTHROPIC_API_KEY``, ``unknown`` ..."""
    command: Callable[[Ask, Path], Command] | None = None
    """What to start, given the program's path; may write into ``Ask.private``. MissingError: it lacks something."""
    parse: Callable[[Raw], Reply] | None = None
    """Pure."""
    is_tool_call: Callable[[bytes], bool] | None = None
    """Whether one line of stdout shows that the model called a tool: in no-tools mode the run ends there."""
    answer: Callable[[Ask], Reply] | None = None
    """Of offline agents, instead of ``command`` and ``parse``."""
