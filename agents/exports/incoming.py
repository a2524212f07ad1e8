"""Other tools' logs, read into one form: what was asked, and what was replied. Graded by nothing of theirs."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from backtrader_bench.attempts import Cost, ErrorKind, Failure, ToolCall, Usage
from backtrader_bench.errors import BenchError, MissingError, RecordError, StoreError
from backtrader_bench.records import LETTERS, mended, mended_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Tool = Literal["inspect", "lm-eval"]
Kind = Literal["inspect", "lm-eval", "questions"]
LONGEST_NAME = 200
"""Characters of a name: of a model, a task, a version."""
NO_READER = (
    "{path}: reading .eval logs needs Inspect: pip install 'backtrader-bench[inspect]', or let the Inspect that wrote "
    "it convert it: inspect log convert {path} --to json --output-dir ."
)


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One reply in a log."""

    question: str
    """As the log names it; may end in ``+1`` to ``+3`` for options shown in another order."""
    model: str
    text: str
    options: Mapping[str, str] | None = None
    """As they were shown, where the log says."""
    epoch: int = 1
    error: Failure | None = None
    timed_out: bool = False
    refused: bool = False
    usage: Usage = field(default_factory=Usage)
    cost: Cost | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    started: str | None = None
    seconds: float | None = None
    their_verdict: bool | None = None
    """Whether the tool's own scorer called it right."""
    where: str = ""


@dataclass(frozen=True)
class Log:
    """What a log holds."""

    tool: Tool
    task: str
    version: str | None
    """Of the tool."""
    created: str | None
    heard: tuple[Heard, ...]


def kind_of(path: Path) -> Kind:
    """What a file is by its content. RecordError: nothing that can be taken in. StoreError: it can't be read."""
    try:
        with path.open("rb") as file:
            begin = file.read(4)
            file.seek(0)
            line = file.readline(2**26)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    if begin == b"PK\x03\x04":
        return "inspect"
    if path.suffix == ".json":
        return "inspect"
    fields = _lm_line(line, f"{path}, line 1")
    if isinstance(fields, dict) and "doc" in fields and "resps" in fields:
        return "lm-eval"
    if isinstance(fields, dict) and "question" in fields:
        return "questions"
    raise RecordError(
        f"{path}: this is no question file (a record a line), no Inspect log (.eval, .json) and no samples_*.jsonl of "
        "lm_eval --log_samples"
    )


def read_log(path: Path, model: str | None = None) -> Log:
    """The log in ``path``. ``model``: what to call the model, else as the log, or the results beside it, say.

    RecordError: it is none, or of a version that is unknown. MissingError: ``.eval`` without Inspect.
    """
    return _inspect(path, model) if kind_of(path) == "inspect" else _lm_eval(path, model)


def name_of(value: Any, what: str, where: str) -> str | None:
    """A name in a log, None for none; RecordError: it can't be one."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        hint = "; --agent NAME gives another" if what == "model" else ""
        raise RecordError(f"{where}: the {what} is no text of at most {LONGEST_NAME} characters{hint}")
    return value


def _when(value: Any, where: str, read: Callable[[Any], datetime] = datetime.fromisoformat) -> str | None:
    """A time as attempts have it: UTC, ISO 8601, to the second."""
    if value is None:
        return None
    try:
        found = read(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, TypeError, OverflowError, OSError):
        raise RecordError(f"{where}: {str(value)[:40]!r} is no time") from None


def _options(listed: Any, where: str) -> dict[str, str] | None:
    """The options as they were shown, None where the log doesn't say."""
    if not listed:
        return None
    if not isinstance(listed, list) or len(listed) != len(LETTERS) or not all(isinstance(one, str) for one in listed):
        raise RecordError(f"{where}: the choices are not four texts, as those of the questions are")
    return dict(zip(LETTERS, listed, strict=True))


# Inspect ----------------------------------------------------------------------------------------------------------


def _inspect(path: Path, model: str | None) -> Log:
    fields = _log_fields(path)
    if not isinstance(fields, dict) or not isinstance(fields.get("eval"), dict):
        raise RecordError(f"{path}: this is no Inspect log")
    if fields.get("version") != 2:
        raise RecordError(f"{path}: version {fields.get('version')!r} of Inspect logs is unknown; 2 is read")
    spec, samples = fields["eval"], fields.get("samples")
    if not isinstance(samples, list) or not samples:
        raise RecordError(f"{path}: the log holds no samples; it was written with --no-log-samples, or is not finished")
    name = name_of(model or spec.get("model"), "model", str(path)) or "unknown"
    heard = tuple(_sample(one, name, f"{path}, sample {place}") for place, one in enumerate(samples, 1))
    packages = spec.get("packages")
    version = name_of(packages.get("inspect_ai"), "version", str(path)) if isinstance(packages, dict) else None
    task = name_of(spec.get("task"), "task", str(path)) or ""
    return Log("inspect", task, version, _when(spec.get("created"), str(path)), heard)


def _log_fields(path: Path) -> Any:
    if not zipfile.is_zipfile(path):
        # Inspect writes NaN for values that aren't numbers, which is fine in what isn't read here.
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from None
        return mended_json(data, str(path))
    try:
        return _unzipped(path)
    except RecordError as error:
        raise RecordError(f"{path}: this is no whole Inspect log: {error}") from None
    except NotImplementedError:  # a compression that this Python's zipfile doesn't know
        return _by_inspect(path)
    except (
        zipfile.BadZipFile, zlib.error, KeyError, ValueError, OSError, EOFError, RuntimeError, TypeError,
    ) as error:  # fmt: skip
        raise RecordError(f"{path}: this is no whole Inspect log: {error}") from None


def _unzipped(path: Path) -> Any:
    with zipfile.ZipFile(path) as file:
        fields = mended_json(file.read("header.json"), "header.json")
        if not isinstance(fields, dict):
            raise ValueError("its header is no object")
        names = sorted(name for name in file.namelist() if name.startswith("samples/"))
        fields["samples"] = [mended_json(file.read(name), name) for name in names]
    return fields


def _by_inspect(path: Path) -> Any:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise MissingError(NO_READER.format(path=path)) from None
    try:
        log = read_eval_log(str(path))
    except Exception as error:  # the library says in many ways that a file is broken
        raise RecordError(f"{path}: Inspect can't read it: {error}") from error
    return mended_json(log.model_dump_json(exclude_none=True).encode(errors="replace"), str(path))


def _sample(sample: Any, model: str, where: str) -> Heard:
    try:
        output = sample.get("output") or {}
        choices = output.get("choices") or [{}]
        first = choices[0]
        message = first.get("message") or {}
        if isinstance(sample["epoch"], bool) or not isinstance(sample["epoch"], int):
            raise RecordError(f"{where}: the epoch is no whole number")
        return Heard(
            question=str(sample["id"]), model=model, text=_text(message.get("content")), epoch=sample["epoch"],
            options=_options(sample.get("choices"), where),
            error=_failure(sample.get("error") or {"message": output["error"]} if _failed(sample, output) else None),
            timed_out=(sample.get("limit") or {}).get("type") in ("time", "working"),
            refused=first.get("stop_reason") == "content_filter",
            usage=_tokens(output.get("usage")), cost=_cost(output.get("usage")),
            tool_calls=_calls(sample.get("messages") or ()),
            started=_when(sample.get("started_at"), where), seconds=sample.get("total_time") or output.get("time"),
            their_verdict=_verdict(sample.get("scores") or {}), where=where,
        )  # fmt: skip
    except BenchError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise RecordError(f"{where}: not as Inspect writes samples: {type(error).__name__} {error}") from None


def _failed(sample: Mapping[str, Any], output: Mapping[str, Any]) -> bool:
    return bool(sample.get("error") or output.get("error"))


def _text(content: Any) -> str:
    """A message's text: its text parts, without those that are thoughts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content or () if part.get("type") == "text")


def _failure(error: Mapping[str, Any] | None) -> Failure | None:
    if error is None:
        return None
    message = " ".join(str(error.get("message")).split())
    return Failure(kind=_error_kind(message), message=message[:500])


_SIGNS: tuple[tuple[ErrorKind, tuple[str, ...]], ...] = (
    ("rate_limit", ("ratelimit", "rate limit", "rate_limit", "429")),
    ("auth", ("authentication", "unauthorized", "401", "api key", "permissiondenied")),
    ("overloaded", ("overloaded", "503", "529", "internalserver")),
    ("quota", ("quota", "insufficient_quota", "billing")),
    ("context", ("context length", "context_length", "context window")),
    ("network", ("connecterror", "connection", "timed out", "timeout")),
)


def _error_kind(message: str) -> ErrorKind:
    low = message.lower()
    return next((kind for kind, signs in _SIGNS if any(sign in low for sign in signs)), "other")


def _tokens(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        input=usage.get("input_tokens"), output=usage.get("output_tokens"),
        cache_read=usage.get("input_tokens_cache_read"), cache_write=usage.get("input_tokens_cache_write"),
        reasoning=usage.get("reasoning_tokens"),
    )  # fmt: skip


def _cost(usage: Any) -> Cost | None:
    known = usage.get("total_cost") if isinstance(usage, dict) else None
    return Cost(usd=known, source="computed") if known is not None else None


def _calls(messages: Sequence[Any]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name=str(call.get("function")), arguments=json.dumps(call.get("arguments"))[:2000])
        for message in messages if message.get("role") == "assistant" for call in message.get("tool_calls") or ()
    )  # fmt: skip


def _verdict(scores: Mapping[str, Any]) -> bool | None:
    value = next((one.get("value") for one in scores.values()), None)
    return {"C": True, "I": False}.get(value) if isinstance(value, str) else None


# lm-evaluation-harness --------------------------------------------------------------------------------------------


def _lm_eval(path: Path, model: str | None) -> Log:
    from backtrader_bench import store

    about = _results_beside(path)
    config = about.get("config")
    # Without arguments the harness makes up a model name.
    made_up = isinstance(config, dict) and not config.get("model_args")
    said = model or (None if made_up else about.get("model_name")) or about.get("model_source")
    name = name_of(said, "model", str(path)) or "unknown"
    heard: dict[tuple[Any, int], Heard] = {}
    for number, line in store.read_lines(path):
        where = f"{path}, line {number}"
        fields = _lm_line(line, where)
        for one in _doc(fields, name, where):
            # A line a filter: the reply is the same in each.
            heard.setdefault((one.question, one.epoch), one)
    task = mended(path.stem).removeprefix("samples_").rsplit("_", 1)[0]
    version = name_of(about.get("lm_eval_version"), "version", f"the results beside {path}")
    created = _when(about.get("date"), f"the results beside {path}", lambda stamp: datetime.fromtimestamp(stamp, UTC))
    return Log("lm-eval", task, version, created, tuple(heard.values()))


def _lm_line(line: bytes, where: str) -> Any:
    """A line of samples: likelihoods may be infinite, and NaN, which is none, reads as null."""
    return mended_json(line, where, lambda name: None if name == "NaN" else float(name))


def _results_beside(path: Path) -> dict[str, Any]:
    """The results that lm_eval wrote with the samples: the one with their time stamp, else the only one."""
    stamp = path.stem.rsplit("_", 1)[-1]
    beside = path.absolute().parent
    exact = beside / f"results_{stamp}.json"
    found = [exact] if exact.exists() else sorted(beside.glob("results_*.json"))
    if len(found) != 1:
        return {}
    try:
        fields = mended_json(found[0].read_bytes(), str(found[0]))
    except (OSError, RecordError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _doc(fields: Any, model: str, where: str) -> Iterator[Heard]:
    try:
        doc, responses = fields["doc"], fields["resps"]
        if not isinstance(doc.get("id"), str):
            raise RecordError(f"{where}: the document names no question id; export the task with bench export lm-eval")
        options = _options(doc.get("choices"), where)
        verdict = next((bool(fields[name]) for name in ("exact_match", "acc") if name in fields), None)
        for epoch, text in enumerate(_replies(responses, f"{where} (question {doc['id'][:12]})"), 1):
            yield Heard(question=doc["id"], model=model, text=text, options=options, epoch=epoch,
                        their_verdict=verdict, where=where)  # fmt: skip
    except BenchError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise RecordError(f"{where}: not as lm_eval writes samples: {type(error).__name__} {error}") from None


def _replies(responses: Any, where: str) -> list[str]:
    """The texts of a document, one a repeat; of likelihoods a text that names the likeliest letter, where one is."""
    if len(responses) == 4 and all(isinstance(one[0], list) for one in responses):
        likelihoods = [_likelihood(one[0][0], letter, where) for letter, one in zip(LETTERS, responses, strict=True)]
        largest = max(likelihoods)
        best = [letter for letter, value in zip(LETTERS, likelihoods, strict=True) if value == largest]
        said = ", ".join(f"{letter} {value:.6g}" for letter, value in zip(LETTERS, likelihoods, strict=True))
        # None that is the likeliest alone is no answer, whatever letter comes first.
        answer = f"<<< {best[0]} >>>" if len(best) == 1 else "(several are the largest)"
        return [f"(log-likelihoods of the letters: {said})\n{answer}"]
    (texts,) = responses
    return [str(text) for text in texts]


def _likelihood(value: Any, letter: str, where: str) -> float:
    """A log-likelihood as lm_eval logs it, a number or its text; RecordError for none, NaN included."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if math.isnan(found):
        raise RecordError(f"{where}: the log-likelihood of {letter} is no number")
    return found
