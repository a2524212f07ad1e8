"""verifiers (0.4, ``verifiers.v1``): a package with one taskset. Pure.

The package is called after the bank, with ``_v1`` behind, as the tool's own scaffold does: so that a bank called
``backtrader_bench`` doesn't hide this package from a Python that has both.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backtrader_bench.agents.exports.content import literal
from backtrader_bench.records import LETTERS
from backtrader_bench.templates.prompts import system_text

if TYPE_CHECKING:
    from backtrader_bench.agents.exports.content import Content, Entry

STRICT = r"<<<\s*([A-D])\s*>>>"
REQUIRES = "verifiers>=0.4"

TASKSET = '''"""Questions of questions.jsonl as a verifiers taskset, written by `bench export verifiers`.

    vf-eval {identity} --env.agent.runtime.type subprocess --no-push -m MODEL
"""

import json
import re
from pathlib import Path

import httpx
import verifiers.v1 as vf

FILE = Path(__file__).parent / "questions.jsonl"
SYSTEM = {system}
LETTER = re.compile(r"{strict}")


def letter(reply):
    """The last letter in the form that was asked for, or None."""
    found = LETTER.findall(reply)
    return found[-1] if found else None


class Data(vf.TaskData):
    """A question as `bench run` asks it, and what results are grouped by."""

    canary: str
    choices: list[str]
    difficulty: str
    type: str
    strategy_name: str
    category: str
    scheme: str
    symbol: str
{answer}

class Question(vf.Task[Data]):
    """One question."""

    @property
    def key(self):
        return self.data.id

    @vf.metric
    async def answered(self, trace) -> float:
        """Whether the reply gives a letter; one that doesn't is a failure, not a wrong answer."""
        return float(letter(trace.last_reply) is not None)
{reward}

class Config(vf.TasksetConfig):
    """What can be chosen."""

    difficulty: str | None = None
    """Only questions of this tier."""


class Bank(vf.Taskset[Question, Config]):
    """The questions, in the order of the file."""

    def load(self):
        with FILE.open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if self.config.difficulty in (None, row["difficulty"]):
                    yield Question(Data(**row, system_prompt=SYSTEM), self.config.task)


class NoTools(vf.Harness[vf.HarnessConfig]):
    """What the questions are asked with unless another harness is named: one request, without tools.

    It runs no program. Tools on this machine could read what stands in FILE.
    """

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        system, prompt = self.resolve_text_prompt(data)
        asked = [{{"role": "system", "content": system}}, {{"role": "user", "content": prompt}}]
        async with httpx.AsyncClient(timeout=None) as client:
            reply = await client.post(
                f"{{endpoint}}/chat/completions",
                headers={{"authorization": f"Bearer {{secret}}"}},
                json={{"model": ctx.model, "messages": asked}},
            )
        return vf.ProgramResult(exit_code=int(reply.is_error), stdout=reply.text, stderr="")


__all__ = ["Bank", "NoTools"]
'''
ANSWER = '''    answer: str
    """The key's letter."""
'''
REWARD = '''
    @vf.reward
    async def right(self, trace) -> float:
        """1 for the key's letter, 0 for another and for none: see `answered`."""
        return float(letter(trace.last_reply) == self.data.answer)
'''


def package_of(content: Content) -> str:
    """The package's name."""
    return f"{content.name.removesuffix('_v1')}_v1"


def identity_of(content: Content) -> str:
    """What the taskset is called on the command line."""
    return package_of(content).replace("_", "-")


def files(content: Content) -> dict[str, bytes]:
    """An installable package: questions, taskset."""
    package = package_of(content)
    lines = [json.dumps(row(entry, content), ensure_ascii=False) for entry in content.entries]
    return {
        "pyproject.toml": _project(content).encode(),
        "README.md": _readme(content).encode(),
        f"{package}/__init__.py": _taskset(content).encode(),
        f"{package}/questions.jsonl": "".join(line + "\n" for line in lines).encode(errors="replace"),
    }


def row(entry: Entry, content: Content) -> dict[str, Any]:
    """One line: the fields of the task's data."""
    key = {} if content.sealed else {"answer": entry.key}
    return {
        "id": entry.id, "name": entry.about["type"], "prompt": entry.text,
        "choices": [entry.options[letter] for letter in LETTERS], **key, **entry.about, "canary": content.canary,
    }  # fmt: skip


def _taskset(content: Content) -> str:
    return TASKSET.format(
        identity=identity_of(content), system=literal(system_text("no-tools")), strict=STRICT,
        answer="" if content.sealed else ANSWER, reward="" if content.sealed else REWARD,
    )  # fmt: skip


def _project(content: Content) -> str:
    package = package_of(content)
    return (
        f'[project]\nname = "{identity_of(content)}"\nversion = "0.1.0"\ndescription = "{content.title}"\n'
        f'requires-python = ">=3.11"\ndependencies = ["{REQUIRES}"]\n\n'
        f'[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[tool.setuptools]\npackages = ["{package}"]\npackage-data = {{ {package} = ["questions.jsonl"] }}\n'
    )


def _readme(content: Content) -> str:
    identity = identity_of(content)
    if content.sealed:
        score = "The keys are sealed: there is no reward. The metric `answered` says whether a reply gives a letter."
    else:
        score = (
            "The reward `right` is 1 for the key's letter, else 0; the metric `answered` tells a wrong letter from "
            "none. `questions.jsonl` holds the keys: give a harness with tools a container of its own, and never this "
            "folder."
        )
    return (
        f"# {content.title}: a verifiers taskset\n\n{len(content.entries)} questions. {content.canary}\n\n"
        f"```console\n$ pip install .\n"
        f"$ vf-eval {identity} --env.agent.runtime.type subprocess --no-push -m MODEL\n```\n\n{score}\n\n"
        "Without another `--env.agent.harness.id` the questions are asked in a chat without tools. Without `--no-push` "
        "vf-eval uploads what was asked and answered.\n"
    )
