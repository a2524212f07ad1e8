"""lm-evaluation-harness: JSON lines and two task files. Pure.

Values in the task files are JSON, which YAML reads: no text needs quoting rules of its own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backtrader_bench.records import LETTERS
from backtrader_bench.templates.prompts import system_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrader_bench.agents.exports.content import Content, Entry

DATA = "questions.jsonl"
TASK_VERSION = 1
STRICT = r"<<<\s*([A-D])\s*>>>"
MOST_TOKENS = 4096
"""Of a reply: models that think aloud need room."""


def files(content: Content) -> dict[str, bytes]:
    """``questions.jsonl``, a task that is answered in text, and, where there are keys, one by likelihood."""
    lines = [json.dumps(_line(entry, content), ensure_ascii=False) for entry in content.entries]
    tasks = {content.name: text_task(content)}
    if not content.sealed:
        tasks[f"{content.name}_choice"] = choice_task(content)
    return {
        DATA: "".join(line + "\n" for line in lines).encode(errors="replace"),
        "utils.py": _UTILS.encode(),
        **{f"{name}.yaml": _yaml(task).encode() for name, task in tasks.items()},
        "README.md": _readme(content, list(tasks)).encode(),
    }


def _line(entry: Entry, content: Content) -> dict[str, Any]:
    key = {} if content.sealed else {"answer": entry.key}
    listed = "\n".join(f"{letter}. {entry.options[letter]}" for letter in LETTERS)
    return {
        "id": entry.id, "question": entry.text, "opening": f"{entry.opening}\n\n{listed}",
        "choices": [entry.options[letter] for letter in LETTERS], **key, **entry.about, "canary": content.canary,
    }  # fmt: skip


_UTILS = '''"""Finds the questions beside this file, wherever lm_eval is started."""

from pathlib import Path

import datasets


def questions(**_):
    """The one split."""
    file = str(Path(__file__).parent / "questions.jsonl")
    return datasets.load_dataset("json", data_files={"test": file})
'''


def _common(content: Content) -> dict[str, Any]:
    return {
        "dataset_path": "json",
        "dataset_kwargs": None,
        "custom_dataset": Function("utils.questions"),
        "test_split": "test",
        "metadata": {"version": TASK_VERSION, "canary": content.canary},
    }


class Function(str):
    """A name of a function beside the task file."""


def choice_task(content: Content) -> dict[str, Any]:
    """The likeliest letter."""
    return {
        "task": f"{content.name}_choice", **_common(content), "output_type": "multiple_choice",
        "doc_to_text": "{{opening}}\n\nAnswer:", "doc_to_choice": list(LETTERS), "doc_to_target": "answer",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
    }  # fmt: skip


def text_task(content: Content) -> dict[str, Any]:
    """The question as ``bench run`` asks it, answered in text."""
    task: dict[str, Any] = {
        "task": content.name, **_common(content), "output_type": "generate_until",
        "description": system_text("no-tools") + "\n\n", "doc_to_text": "{{question}}",
        "generation_kwargs": {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": MOST_TOKENS},
    }  # fmt: skip
    if content.sealed:
        return task | {"doc_to_target": "", "metric_list": [{"metric": "bypass"}]}
    # group_select -1: the last one, as bench run reads replies.
    last = {"function": "regex", "regex_pattern": STRICT, "group_select": -1}
    return task | {
        "doc_to_target": "answer",
        "filter_list": [{"name": "strict", "filter": [last, {"function": "take_first"}]}],
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }


def _yaml(task: Mapping[str, Any]) -> str:
    lines = []
    for name, value in task.items():
        if value is not None:
            shown = f"!function {value}" if isinstance(value, Function) else json.dumps(value)
            lines.append(f"{name}: {shown}\n")
    return "".join(lines)


def _readme(content: Content, tasks: list[str]) -> str:
    lines = "\n".join(
        f"$ lm_eval --model MODEL --tasks {task} --include_path . --output_path out --log_samples" for task in tasks
    )
    note = (
        "The keys are sealed: the task scores nothing. After the reveal, `bench import SAMPLES --questions BANK` "
        "grades the logged samples." if content.sealed
        else "`bench import out/*/samples_*.jsonl` makes a run of the logged samples, with `bench report`'s statistics."
    )  # fmt: skip
    return (
        f"# {content.title}: lm-evaluation-harness tasks\n\n{len(content.entries)} questions. {content.canary}\n\n"
        f"```console\n{lines}\n```\n\nChat models need `--apply_chat_template`. {note}\n"
    )
