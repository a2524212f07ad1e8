"""``scripted:FILE``: plays replies from a file, each in a process of its own, faults included.

A line of FILE is a JSON object: which asks it is for (``id``, the beginning of a question's id; ``repeat``; ``mode``;
all asks where left out) and what to do (the fields of :class:`Step`, or ``steps``, a list of them: the first when the
question is first put in this process, the second when it is put again after an error, the last from then on). The
first line that fits counts.
"""

from __future__ import annotations

import hashlib
import random
import sys
import threading
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench.agents import environment, letters, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.attempts import Cost, Failure, Mode, ToolCall, Usage
from backtrader_bench.errors import HarnessError, UsageError
from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

CHILD = Path(__file__).with_name("scripted_child.py")


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent does when it is asked."""

    text: str = "<<< {key} >>>"
    """The answer; ``{key}`` becomes the right letter as shown, ``{wrong}`` one of the others."""
    accuracy: float | None = None
    """With this probability ``{key}`` is the right letter, else one of the others; drawn by the attempt's seed."""
    delay: float = 0.0
    """Seconds before it says anything but that it started."""
    exit: int = 0
    stderr: str = ""
    stdout: str = ""
    """Raw text before the events."""
    tool_calls: tuple[ToolCall, ...] = ()
    hang: bool = False
    """It never ends."""
    truncated: bool = False
    """It ends without its last event."""
    ignore_term: bool = False
    orphan: float = 0.0
    """Seconds that a process lives which it leaves behind, in a session of its own and with the output open."""
    flood: int = 0
    """Bytes of noise on stdout."""
    usage: Usage | None = None
    cost: float | None = None
    """US dollars, as reported."""
    model: str = "scripted"
    session_id: str | None = None
    error: Failure | None = None
    refused: bool = False


class _Line(Step, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str = "*"
    repeat: int | None = None
    mode: Mode | None = None
    steps: tuple[Step, ...] = ()

    def fits(self, ask: Ask, question: str) -> bool:
        return (
            (self.id == "*" or question.startswith(self.id))
            and self.repeat in (None, ask.repeat)
            and self.mode in (None, ask.mode)
        )


class _Result(msgspec.Struct, frozen=True, kw_only=True):
    """The last event of the program's stream."""

    text: str = ""
    usage: Usage | None = None
    cost: float | None = None
    error: Failure | None = None
    refused: bool | None = None


_asked: Counter[tuple[str, ...]] = Counter()
_lock = threading.Lock()


def _script(text: str | None) -> tuple[_Line, ...]:
    """The lines of a script; UsageError names the file, the line and the fault."""
    if text is None:
        raise UsageError("write scripted:FILE, a file of replies; docs/agents.md says what it holds")
    path = Path(text).absolute()
    try:
        state = path.stat()
        return _read(path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise UsageError(f"scripted: cannot read {path}: {error.strerror}") from None


@lru_cache(maxsize=8)
def _read(path: Path, _modified: int, _size: int) -> tuple[_Line, ...]:
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=_Line))
            except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
                raise UsageError(f"{path}, line {number}: {error}") from None
    if not found:
        raise UsageError(f"{path}: no line; a reply such as " + '{"text": "<<< A >>>"} is needed')
    return tuple(found)


def step_for(ask: Ask) -> Step:
    """The step to play now; counts the ask. HarnessError: no record, or no line for it."""
    if ask.record is None:
        raise HarnessError("scripted needs the question's record")
    question = str(ask.record.get("id", ""))
    line = next((line for line in _script(ask.model) if line.fits(ask, question)), None)
    if line is None:
        raise HarnessError(f"scripted: no line of {ask.model} is for question {question[:12]}, {ask.mode}")
    prompt = hashlib.sha256(ask.prompt.encode()).hexdigest()
    key = (str(ask.model), question, ask.mode, str(ask.repeat), prompt)
    with _lock:
        nth = _asked[key]
        _asked[key] += 1
    steps = line.steps or (line,)
    return steps[min(nth, len(steps) - 1)]


def _spoken(step: Step, ask: Ask) -> str:
    """The step's text with its letters filled in, here and not in the program, which must not know a key."""
    assert ask.record is not None
    key = letters.shown(ask.record, str(ask.record["answer"]), ask.prompt)
    draw = random.Random(ask.seed)
    wrong = draw.choice([letter for letter in LETTERS if letter != key])
    said = key if step.accuracy is None or draw.random() < step.accuracy else wrong
    return step.text.replace("{key}", said).replace("{wrong}", wrong)


def command(ask: Ask, program: Path) -> Command:
    """The step goes to the program in a file of the attempt's private folder."""
    step = step_for(ask)
    fields = {name: value for name, value in msgspec.to_builtins(step).items() if name in Step.__struct_fields__}
    file = ask.private / "step.json"
    file.write_bytes(msgspec.json.encode({**fields, "text": _spoken(step, ask)}))
    return Command(
        argv=(str(program), "-I", "-S", str(CHILD), str(file)),
        stdin=f"{ask.system}\n\n{ask.prompt}".encode(),
        env=environment.base(ask),
        readable=(CHILD,),
    )


def parse(raw: Raw) -> Reply:
    """The normal form of the program's events."""
    events = [event for event in streams.events(raw.stdout) if "type" in event]
    first = next((event for event in events if event["type"] == "start"), {})
    calls = tuple(msgspec.convert(_rest(event), ToolCall) for event in events if event["type"] == "tool_call")
    session, model = first.get("session_id"), first.get("model")
    last = next((event for event in events if event["type"] == "result"), None)
    if last is None:
        return Reply(session_id=session, model=model, tool_calls=calls, error=streams.unended(raw, "the program"))
    result = msgspec.convert({name: value for name, value in _rest(last).items() if value is not None}, _Result)
    return Reply(
        text=result.text, session_id=session, model=model, tool_calls=calls, usage=result.usage or Usage(),
        cost=None if result.cost is None else Cost(usd=result.cost, source="reported"),
        error=result.error, refused=bool(result.refused),
    )  # fmt: skip


def _rest(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "type"}


def is_tool_call(line: bytes) -> bool:
    """Whether the line is the event of a tool call."""
    event = streams.decoded(line)
    return event is not None and event.get("type") == "tool_call"


def _check(model: str | None) -> None:
    _script(model)


SCRIPTED = Backend(
    name="scripted",
    title="Scripted agent",
    install="ships with this package; scripted:FILE plays the replies in FILE",
    no_tools_by="the script decides; a tool call in its stream ends the attempt",
    reports=frozenset({"tokens", "cost", "model"}),
    offline=True,
    check=_check,
    find=lambda environ: Path(sys.executable),
    version_argv=("--version",),
    command=command,
    parse=parse,
    is_tool_call=is_tool_call,
)
