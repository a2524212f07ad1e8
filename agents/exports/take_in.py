"""``bench import``: question files into the store, other tools' logs as a new run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import store
from backtrader_bench.agents.answers import rotated
from backtrader_bench.agents.exports.incoming import Heard, Log, kind_of, read_log
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import names, outcome, read
from backtrader_bench.agents.runs import session as sessions
from backtrader_bench.agents.runs.manifest import AgentFacts, Manifest, Settings
from backtrader_bench.agents.runs.plan import digest
from backtrader_bench.agents.runs.questions import read_questions, tape_hashes
from backtrader_bench.attempts import Attempt, attempt_id, attempt_line, to_attempt
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.mcq_builder.audit.items import item_of
from backtrader_bench.records import parse_json

if TYPE_CHECKING:
    from backtrader_bench.agents.runs.questions import Asking, Questions
    from backtrader_bench.attempts import Mode

LONGEST_FILE_NAME = 240
"""Characters, which become as many bytes or fewer; most systems end at 255."""
_SHIFTED = re.compile(r"(.*)\+([123])")


@dataclass(frozen=True)
class TakenBank:
    """A question file that is in the store now."""

    path: Path
    questions: int
    duplicates: int
    state: str
    """``written`` or ``unchanged``."""


@dataclass(frozen=True)
class TakenRun:
    """Logs that are a run now."""

    run: str
    attempts: int
    agents: tuple[str, ...]
    statuses: Mapping[str, int]
    graded_alike: int
    """Answers that their scorer and ours judge the same."""
    graded_apart: int


def sort(paths: Sequence[Path]) -> str:
    """``questions`` or ``logs``. UsageError: some of both."""
    kinds = {"questions" if kind_of(path) == "questions" else "logs" for path in paths}
    if len(kinds) > 1:
        raise UsageError("some files hold questions and some are logs; import the questions first, then the logs")
    return kinds.pop()


def bank(path: Path, name: str | None = None, *, force: bool = False) -> TakenBank:
    """Copy a question file to ``db/mcq`` as it is, once every line is found to be a question.

    RecordError: the first line that is none. StoreError: another file has the name.
    """
    found = read_questions([path])
    for one in found.items:
        item_of(one.record, one.where)  # what an audit or a report needs
    target = store.folder("mcq") / _file_name(name or path.name)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    same = store.holds(target, data)
    if same is False and not force:
        raise StoreError(f"{target} exists and holds other questions; --force replaces it, --name gives another name")
    if not same:
        store.replace_file(target, data)
    return TakenBank(target, len(found.items), found.duplicates, "unchanged" if same else "written")


def _file_name(name: str) -> str:
    if len(name) > LONGEST_FILE_NAME:
        most = f"{LONGEST_FILE_NAME} are the most; --name gives another one"
        raise UsageError(f"the name {name[:20]!r}... has {len(name):,} characters, {most}")
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", name.removesuffix(".jsonl")).strip("._-")
    if not stem:
        raise UsageError(f"{name!r} holds no letter or digit that a file name could keep; --name gives another one")
    return f"{stem}.jsonl"


def logs(
    paths: Sequence[Path], question_files: Sequence[Path], *, agent: str | None = None, name: str | None = None,
    mode: Mode | None = None, command: Sequence[str] = (),
) -> TakenRun:  # fmt: skip
    """A new run from the replies in ``paths``, read and graded as ``bench run`` does.

    ``mode``: whether tools were allowed; None: they were if one was called.

    RecordError: a log is none, or asks a question that is in none of the question files.
    """
    found = [read_log(path, agent) for path in paths]
    banks = list(question_files) or sorted((store.home() / "db" / "mcq").glob("*.jsonl"))
    if not banks:
        raise UsageError("name the bank that the questions come from: --questions FILE")
    questions = read_questions(banks)
    known = questions.by_id()
    heard = [(log, one, *_asked(one, known)) for log in found for one in sorted(log.heard, key=lambda one: one.epoch)]
    mode = mode or ("with-tools" if any(one.tool_calls for log in found for one in log.heard) else "no-tools")
    taken = _attempts(heard, mode)
    manifest = _manifest(found, taken, questions, mode, command)
    # Nothing is written before all of it could be read again.
    manifests.encoded(manifest)
    run = names.claim(names.run_name(datetime.now(UTC), name or f"import-{found[0].tool}"))
    attempts = [msgspec.structs.replace(
        one, run=run, id=attempt_id(run, one.question_id, one.agent, one.mode, one.repeat, one.shift)) for one in taken]
    # A session that is open: what ends between these writes is seen as an interrupted run, never as a whole one.
    manifest = msgspec.structs.replace(manifest, run=run)
    try:
        manifests.write(manifest)
        store.replace_file(read.attempts_path(run), (attempt_line(one) for one in attempts))
        manifests.write(sessions.closed(manifest, "done"))
    except BaseException:
        names.let_go(run)
        raise
    verdicts = Counter(
        (one.their_verdict == (attempt.status == "correct"))
        for (_, one, _, _), attempt in zip(heard, attempts, strict=True)
        if one.their_verdict is not None and attempt.status in ("correct", "wrong")
    )
    return TakenRun(
        run, len(attempts), tuple(dict.fromkeys(one.agent for one in attempts)),
        dict(Counter(one.status for one in attempts)), verdicts[True], verdicts[False],
    )  # fmt: skip


def _asked(heard: Heard, known: Mapping[str, Asking]) -> tuple[Asking, int]:
    """The question and by how many places its options were rotated; RecordError."""
    name, shift = heard.question, 0
    if found := _SHIFTED.fullmatch(name):
        name, shift = found[1], int(found[2])
    if name not in known:
        raise RecordError(
            f"{heard.where}: question {name[:40]} is in none of the question files; --questions FILE names the bank "
            "that it was exported from"
        )
    question = known[name]
    if heard.options is None:
        return question, shift
    for shift in range(4):
        if {letter: _plain(text) for letter, text in rotated(question.options, shift).items()} == {
            letter: _plain(text) for letter, text in heard.options.items()
        }:
            return question, shift
    raise RecordError(
        f"{heard.where}: the options were shown in an order that is no rotation of the question's; run the task "
        "without shuffling choices"
    )


def _plain(text: Any) -> str:
    return " ".join(str(text).split())


def _attempts(heard: Iterable[tuple[Log, Heard, Asking, int]], mode: Mode) -> list[Attempt]:
    """The attempts, still without a run. What was asked again, in this log or another, is a further repeat."""
    seen: Counter[tuple[str, str, int]] = Counter()
    found = []
    for log, one, question, shift in heard:
        place = (one.model, question.id, shift)
        found.append(_attempt(log, one, question, shift, mode, seen[place]))
        seen[place] += 1
    return found


def _attempt(log: Log, one: Heard, question: Asking, shift: int, mode: Mode, repeat: int) -> Attempt:
    return _read_back(_judged(log, one, question, shift, mode, repeat), one.where)


def _read_back(attempt: Attempt, where: str) -> Attempt:
    """The attempt as the store will give it back: what a log says is held against the record's types before it is
    written. RecordError."""
    try:
        found = to_attempt(parse_json(attempt_line(attempt), where), where)
    except ValueError:  # what JSON can't say
        raise RecordError(f"{where}: a number of tokens, dollars or seconds is not finite") from None
    used, cost = found.usage, found.cost
    counts = (used.input, used.output, used.cache_read, used.cache_write, used.reasoning)
    if any(count is not None and not 0 <= count < 2**63 for count in counts):
        raise RecordError(f"{where}: a number of tokens is negative or beyond all measure")
    if found.seconds < 0 or (cost is not None and cost.usd < 0):
        raise RecordError(f"{where}: a time or cost is negative")
    return found


def _judged(log: Log, one: Heard, question: Asking, shift: int, mode: Mode, repeat: int) -> Attempt:
    plain = Attempt(
        id="", run="", question_id=question.id, agent=one.model, backend=log.tool, mode=mode, repeat=repeat,
        shift=shift, status="unparsed", error=one.error, model=one.model, usage=one.usage, cost=one.cost,
        tool_calls=one.tool_calls,
        started=one.started or log.created or sessions.utc_now(), seconds=one.seconds or 0.0,
        reply=one.text[: outcome.LONGEST_REPLY],
    )  # fmt: skip
    if mode == "no-tools" and one.tool_calls:
        return msgspec.structs.replace(plain, status="tool_attempted")
    if one.timed_out:
        return msgspec.structs.replace(plain, status="timeout")
    if one.error is not None:
        return msgspec.structs.replace(plain, status="agent_error")
    if one.refused:
        return msgspec.structs.replace(plain, status="refused")
    return outcome.with_reading(plain, outcome.read(one.text, question, shift, ask_value=False))


def _manifest(
    found: Sequence[Log], attempts: Sequence[Attempt], questions: Questions, mode: Mode,
    command: Sequence[str],
) -> Manifest:  # fmt: skip
    asked = list(dict.fromkeys(one.question_id for one in attempts))
    known = questions.by_id()
    agents = tuple(dict.fromkeys(one.agent for one in attempts))
    settings = Settings(
        agents=agents, mode=mode, repeats=1 + max(one.repeat for one in attempts), data_access="none",
        rotate=any(one.shift for one in attempts),
    )  # fmt: skip
    tools = {log.tool: log.version for log in found}
    facts = tuple(
        AgentFacts(
            agent=name, backend=", ".join(tools), model=name, version=None, program=None, reports=(),
            no_tools_by=f"not known: asked by {', '.join(tools)}",
        ) for name in agents
    )  # fmt: skip
    versions = {tool: version for tool, version in tools.items() if version}
    session = sessions.session(command, agents=facts, isolation={}, running={})
    session = msgspec.structs.replace(session, versions={**session.versions, **versions})
    manifest = Manifest(
        run="", given={"imported": [log.task for log in found]}, settings=settings, files=questions.files,
        questions_sha256=digest(asked), questions=len(asked), planned=len(attempts),
        prompts_sha256="", tapes=tape_hashes(known[name] for name in asked), sessions=(),
    )  # fmt: skip
    return sessions.opened(manifest, session)
