"""CSV and Markdown, for people: the questions, and the answers in a file of their own. Pure."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from backtrader_bench.agents.exports.content import Content, Entry

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula at the start of a cell."""


def csv_files(content: Content) -> dict[str, bytes]:
    """``questions.csv``: a row a question; the key's letter in ``answer``, but in a sealed export."""
    rows = [_row(entry, content) for entry in content.entries]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: cell(value) for name, value in row.items()})
    return {"questions.csv": text.getvalue().encode(errors="replace")}


def _row(entry: Entry, content: Content) -> dict[str, Any]:
    key = {} if content.sealed else {"answer": entry.key}
    return {
        "id": entry.id, "question": entry.opening, **entry.options, **key, **entry.about, "canary": content.canary,
    }  # fmt: skip


def cell(value: Any) -> Any:
    """A cell that no spreadsheet runs; negative amounts such as -$12.50 are left as they are."""
    if isinstance(value, str) and value.startswith(FORMULA) and not _amount(value):
        return "'" + value
    return value


def _amount(value: str) -> bool:
    bare = value[1:].removeprefix("$").removesuffix("%").replace(",", "")
    return value[0] in "+-" and bare.replace(".", "", 1).isdigit()


def markdown_files(content: Content) -> dict[str, bytes]:
    """``questions.md``, and ``answers.md`` with the keys, but in a sealed export."""
    parts = [f"# {content.title}\n\n{len(content.entries)} questions. {content.canary}\n"]
    parts += [_section(number, entry) for number, entry in enumerate(content.entries, 1)]
    files = {"questions.md": "\n".join(parts).encode(errors="replace")}
    if not content.sealed:
        rows = [_answer(number, entry) for number, entry in enumerate(content.entries, 1)]
        head = f"# Answers\n\n{content.canary}\n\n| question | key | answer | id |\n|---|---|---|---|\n"
        files["answers.md"] = (head + "\n".join(rows) + "\n").encode(errors="replace")
    return files


def _answer(number: int, entry: Entry) -> str:
    option = _escaped(entry.options[entry.key]) if entry.key else ""
    return f"| [{number}](questions.md#question-{number}) | {entry.key} | {option} | `{entry.id[:12]}` |"


def _section(number: int, entry: Entry) -> str:
    about = ", ".join(value for name, value in entry.about.items() if value and name != "symbol")
    options = "\n".join(f"- **{letter}.** {_escaped(entry.options[letter])}" for letter in LETTERS)
    return (
        f"## Question {number}\n\n{_escaped(about)} · `{entry.id}`\n\n{fenced(entry.opening)}\n\n{options}\n"
    )


def fenced(text: str) -> str:
    """A block that shows ``text`` as it is, whatever it holds."""
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _escaped(text: str) -> str:
    """``text`` on one line, with nothing that Markdown would read."""
    return "".join("\\" + c if c in "\\`*_{}[]<>#|~$&" else c for c in " ".join(text.split()))
