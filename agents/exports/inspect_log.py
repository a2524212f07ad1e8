"""A run's attempts as an Inspect log (format version 2), one log an agent: for ``inspect view`` and Inspect's readers.

Only right and wrong answers get a score. What kept a model from answering is an error, a limit or nothing, and the
attempt's record is in the sample's metadata: no failure counts as a wrong answer there either.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backtrader_bench import __version__, store
from backtrader_bench.agents.answers import rotated
from backtrader_bench.agents.reports import questions
from backtrader_bench.agents.reports.shares import shown_key
from backtrader_bench.agents.runs import read
from backtrader_bench.attempts import ANSWERS
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.records import LETTERS
from backtrader_bench.templates.prompts import access_for, system_text, user_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backtrader_bench.agents.runs.manifest import Manifest
    from backtrader_bench.attempts import Attempt, Usage
    from backtrader_bench.mcq_builder.pages.facts import Facts

SCORER = "backtrader_bench"
SUFFIXES = (".eval", ".json")
EPOCH_OF_ZIP = (1980, 1, 1, 0, 0, 0)
"""A zip's earliest time: the same run gives the same bytes."""


@dataclass(frozen=True)
class Written:
    """One log."""

    path: Path
    agent: str
    samples: int


def export(
    run: str, output: Path, question_files: Sequence[Path] = (), agent: str | None = None, *, force: bool = False
) -> list[Written]:
    """Write the log of a run (a name, its file, or ``last``): ``output`` is a ``.eval`` or ``.json`` file or, for a
    log an agent, an existing folder.

    UsageError: no such run or agent, or a file for several agents. RecordError: a question's record is not found.
    """
    found = read.read_run(run)
    standing = list(read.effective(found.attempts).values())
    agents = [name for name in found.manifest.settings.agents if any(one.agent == name for one in standing)]
    if agent is not None:
        if agent not in agents:
            known = ", ".join(agents) or "nobody"
            raise UsageError(f"{found.manifest.run} has no attempt of {agent}; it has of {known}")
        agents = [agent]
    if not agents:
        raise UsageError(f"{found.manifest.run}: no attempt is stored yet")
    targets = _targets(output, found.manifest.run, agents)
    for path in targets.values():
        store.check_target(path, [*question_files, *read.files_of(found.manifest)])
        if path.exists() and not force:
            raise StoreError(f"{path} exists; --force replaces it, or name another file")
    facts = questions.find([found.manifest], {one.question_id for one in standing}, question_files).facts
    logs = {}
    for name, path in targets.items():
        mine = [one for one in standing if one.agent == name]
        for one in mine:
            if one.question_id not in facts:
                raise RecordError(f"question {one.question_id[:12]} is in no file of the run; name it with --questions")
        logs[path] = (log_of(found.manifest, name, mine, facts), name, len(mine))
    for path, (log, _, _) in logs.items():
        store.replace_file(path, encoded(log, path.suffix))
    return [Written(path, name, count) for path, (_, name, count) in logs.items()]


def _targets(output: Path, run: str, agents: Sequence[str]) -> dict[str, Path]:
    if output.is_dir():
        return {name: output / f"{run}_{re.sub(r'[^A-Za-z0-9.-]+', '-', name).strip('-.')}.eval" for name in agents}
    if output.suffix not in SUFFIXES:
        raise UsageError(f"{output}: name a file that ends in {' or '.join(SUFFIXES)}, or a folder that exists")
    if len(agents) > 1:
        raise UsageError(
            f"{run} asked {', '.join(agents)}; a log has one agent: choose by --agent, or name a folder that exists"
        )
    return {agents[0]: output}


def log_of(manifest: Manifest, agent: str, attempts: Sequence[Attempt], facts: Mapping[str, Facts]) -> dict[str, Any]:
    """The whole log of one agent, as Inspect writes it in JSON."""
    model = model_name(agent)
    samples = [_sample(one, facts[one.question_id], manifest, model) for one in attempts]
    ids = list(dict.fromkeys(sample["id"] for sample in samples))
    session = manifest.sessions[0]
    planned = manifest.planned // len(manifest.settings.agents)
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": f"{manifest.run}-{agent}", "run_id": manifest.run, "task_id": manifest.run,
            "created": session.started, "task": f"backtrader_bench ({manifest.settings.mode})", "task_version": 0,
            "dataset": {
                "name": Path(manifest.files[0].path).stem if manifest.files else "", "samples": len(ids),
                "sample_ids": ids, "shuffled": False,
            },
            "model": model, "config": {"epochs": manifest.settings.repeats},
            "packages": {"backtrader-bench": __version__},
            "metadata": {
                "agent": agent, "mode": manifest.settings.mode, "settings": msgspec.to_builtins(manifest.settings),
                "attempts_planned": planned, "attempts_made": len(attempts),
            },
        },
        "plan": {"name": "bench run", "steps": [{"solver": "bench run", "params": {}}], "config": {}},
        "results": _results(attempts, planned),
        "stats": {
            "started_at": session.started, "completed_at": manifest.ended or max(_ended(one) for one in attempts),
            "model_usage": _summed(model, [one.usage for one in attempts]),
        },
        "samples": samples,
    }  # fmt: skip


def model_name(agent: str) -> str:
    """An agent's name as Inspect writes models: ``provider/model``."""
    backend, _, model = agent.partition(":")
    return f"{backend}/{model}" if model else f"bench/{backend}"


def _results(attempts: Sequence[Attempt], planned: int) -> dict[str, Any]:
    answered = [one for one in attempts if one.status in ANSWERS]
    failed = sum(one.status in ("agent_error", "harness_error") for one in attempts)
    right = sum(one.status == "correct" for one in answered)
    metrics: dict[str, Any] = {}
    if answered:
        metrics = {"accuracy": {"name": "accuracy", "value": right / len(answered), "params": {}}}
    score = {
        "name": SCORER, "scorer": SCORER, "params": {}, "scored_samples": len(answered),
        "unscored_samples": len(attempts) - len(answered), "metrics": metrics,
    }  # fmt: skip
    return {"total_samples": planned, "completed_samples": len(attempts) - failed, "scores": [score]}


def _sample(attempt: Attempt, facts: Facts, manifest: Manifest, model: str) -> dict[str, Any]:
    settings = manifest.settings
    shown = rotated(facts.options, attempt.shift)
    asked = [
        {"role": "system", "content": system_text(attempt.mode, access_for(facts.record, settings.data_access))},
        {"role": "user", "content": user_text(facts.record, shown, ask_value=settings.ask_value)},
    ]
    said = {"role": "assistant", "content": attempt.reply, "model": attempt.model or model, "source": "generate"}
    usage = _usage(attempt.usage)
    sample: dict[str, Any] = {
        "id": attempt.question_id if not attempt.shift else f"{attempt.question_id}+{attempt.shift}",
        "epoch": attempt.repeat + 1,
        "input": asked,
        "choices": [shown[letter] for letter in LETTERS],
        "target": shown_key(facts.key, attempt.shift),
        "messages": [*asked, said] if attempt.reply else asked,
        "output": _output(attempt, said, usage, model),
        "scores": _scores(attempt),
        "metadata": {
            "difficulty": str(facts.record.get("difficulty") or ""), "type": str(facts.record.get("type") or ""),
            "strategy_name": str(facts.record.get("strategy_name") or ""), "status": attempt.status,
            "attempt": msgspec.to_builtins(attempt),
        },
        "store": {}, "events": [], "attachments": {},
        "model_usage": {model: usage} if usage else {},
        "started_at": attempt.started, "completed_at": _ended(attempt), "total_time": attempt.seconds,
        "uuid": attempt.id,
    }  # fmt: skip
    if attempt.error is not None:
        message = f"{attempt.status} ({attempt.error.kind}): {attempt.error.message}"
        sample["error"] = {"message": message, "traceback": "", "traceback_ansi": ""}
    if attempt.status == "timeout":
        sample["limit"] = {"type": "time", "limit": settings.timeout}
    return sample


def _output(attempt: Attempt, said: Mapping[str, Any], usage: Mapping[str, Any] | None, model: str) -> dict[str, Any]:
    reason = "content_filter" if attempt.status == "refused" else "stop"
    choices = [{"message": said, "stop_reason": reason}] if attempt.reply else []
    output = {"model": attempt.model or model, "choices": choices, "completion": attempt.reply, "time": attempt.seconds}
    return {**output, "usage": usage} if usage else output


def _scores(attempt: Attempt) -> dict[str, Any]:
    if attempt.status not in ANSWERS:
        return {}
    value = "C" if attempt.status == "correct" else "I"
    return {SCORER: {
        "value": value, "answer": attempt.shown, "explanation": f"read {attempt.method} by bench",
        "metadata": {"letter": attempt.letter, "method": attempt.method, "verified": attempt.verified},
    }}  # fmt: skip


def _usage(usage: Usage) -> dict[str, Any] | None:
    """None where the tokens are unknown: Inspect has no word for that but leaving them out."""
    if usage.input is None or usage.output is None:
        return None
    parts = (usage.input, usage.output, usage.cache_read or 0, usage.cache_write or 0)
    return {
        "input_tokens": usage.input, "output_tokens": usage.output, "total_tokens": sum(parts),
        "input_tokens_cache_read": usage.cache_read, "input_tokens_cache_write": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
    }  # fmt: skip


def _summed(model: str, usages: Iterable[Usage]) -> dict[str, Any]:
    known = [found for found in map(_usage, usages) if found is not None]
    if not known:
        return {}
    return {model: {name: sum(one[name] or 0 for one in known) for name in known[0]}}


def _ended(attempt: Attempt) -> str:
    """When the last try ended."""
    try:
        return (datetime.fromisoformat(attempt.started) + timedelta(seconds=attempt.seconds)).isoformat()
    except ValueError:
        return attempt.started


SUMMARY = (
    "id", "epoch", "input", "choices", "target", "metadata", "scores", "model_usage", "started_at", "completed_at",
    "total_time", "uuid",
)  # fmt: skip


def encoded(log: Mapping[str, Any], suffix: str) -> bytes:
    """The log as one JSON text, or as the zip that Inspect calls ``.eval``."""
    if suffix == ".json":
        return _json(log)
    target = io.BytesIO()
    samples = log["samples"]
    header = {name: value for name, value in log.items() if name != "samples"}
    members = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    members |= {"summaries.json": [_summary(one) for one in samples], "header.json": header}
    start = {"version": log["version"], "eval": log["eval"], "plan": log["plan"]}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in {"_journal/start.json": start, **members}.items():
            entry = zipfile.ZipInfo(name, EPOCH_OF_ZIP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, _json(value))
    return target.getvalue()


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: sample[name] for name in SUMMARY}
    found["metadata"] = {name: value for name, value in sample["metadata"].items() if name != "attempt"}
    error, limit = sample.get("error"), sample.get("limit")
    return {
        **found, "completed": True, "message_count": len(sample["messages"]),
        "error": error["message"] if error else None, "limit": limit["type"] if limit else None,
    }  # fmt: skip


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode(errors="replace")
