"""Inspect AI: a JSONL dataset and a file with two tasks. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.exports.content import literal
from backtrader_bench.records import LETTERS
from backtrader_bench.templates.prompts import system_text

if TYPE_CHECKING:
    from backtrader_bench.agents.exports.content import Content, Entry

STRICT = r"\A(?s:.*)<<<\s*([A-D])\s*>>>"
"""The last ``<<< X >>>`` of a reply. Anchored: without, a reply that has none takes quadratic time."""

TASKS = '''"""Inspect tasks over questions.jsonl, written by `bench export inspect`.

    inspect eval {file}@{name}_choice --model MODEL
    inspect eval {file}@{name} --model MODEL

The first has Inspect's own prompt for multiple choice ("ANSWER: X"); the second asks as `bench run` does
("<<< X >>>"), so that its results compare with those of `bench run`.
"""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
{imports}

FILE = str(Path(__file__).parent / "questions.jsonl")
SYSTEM = {system}


def as_asked(record):
    """The whole question, options and reply form included; Inspect's choices would add them once more."""
    return Sample(id=record["id"], input=record["question"], {target}metadata=record["metadata"])


@task
def {name}_choice():
    """Inspect's multiple choice."""
    return Task(dataset=json_dataset(FILE, name={name!r}), solver=[multiple_choice()]{choice})


@task
def {name}():
    """The question as it stands, answered by <<< X >>>."""
    return Task(
        dataset=json_dataset(FILE, as_asked, name={name!r}), solver=[system_message(SYSTEM), generate()]{pattern}
    )
'''
SOLVERS = "from inspect_ai.solver import generate, multiple_choice, system_message"
SCORERS = "from inspect_ai.scorer import accuracy, choice, grouped, pattern, stderr"
METRICS = """
# Per tier, and over all questions.
METRICS = [grouped(accuracy(), "difficulty"), stderr()]
"""


def files(content: Content) -> dict[str, bytes]:
    """``questions.jsonl`` and a task file called after the bank."""
    file = f"{content.name}.py"
    lines = [json.dumps(sample(entry, content), ensure_ascii=False) for entry in content.entries]
    return {
        "questions.jsonl": "".join(line + "\n" for line in lines).encode(errors="replace"),
        file: _tasks(content, file).encode(),
        "README.md": _readme(content, file).encode(),
    }


def sample(entry: Entry, content: Content) -> dict[str, Any]:
    """One line: Inspect's fields, and ``question`` for the second task."""
    target = {} if content.sealed else {"target": entry.key}
    return {
        "id": entry.id, "input": entry.opening, "choices": [entry.options[letter] for letter in LETTERS], **target,
        "question": entry.text, "metadata": {"id": entry.id, **entry.about, "canary": content.canary},
    }  # fmt: skip


def _tasks(content: Content, file: str) -> str:
    sealed = content.sealed
    return TASKS.format(
        file=file,
        name=content.name,
        imports=SOLVERS if sealed else f"{SCORERS}\n{SOLVERS}\n{METRICS.rstrip()}",
        system=literal(system_text("no-tools")),
        target="" if sealed else 'target=record["target"], ',
        choice="" if sealed else ", scorer=choice(), metrics=METRICS",
        pattern="" if sealed else f", scorer=pattern(r\"{STRICT}\"), metrics=METRICS",
    )


def _readme(content: Content, file: str) -> str:
    name = content.name
    if content.sealed:
        score = (
            "The keys are sealed: the tasks ask and score nothing. After the reveal, `bench import LOG --questions "
            "BANK` grades the log."
        )
    else:
        score = (
            "`bench import LOG` makes a run of a log, with `bench report`'s statistics. The line `target` of "
            "`questions.jsonl` is the key: keep the folder where no agent can read it."
        )
    return (
        f"# {content.title}: Inspect tasks\n\n{len(content.entries)} questions. {content.canary}\n\n```console\n"
        f"$ inspect eval {file}@{name}_choice --model MODEL\n$ inspect eval {file}@{name} --model MODEL --epochs 3\n"
        f"```\n\n{score}\n"
    )
