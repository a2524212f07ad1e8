"""What exports hold, without the tools that read them; and that one is written whole or not at all."""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import keyword
import runpy
import signal
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.agents.exports import content, hugging_face, make, tables
from backtrader_bench.agents.exports import folder as folders
from backtrader_bench.cli.main import run
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.market import pins
from backtrader_bench.records import LETTERS, question_id, to_line
from tests import helpers
from tests.agents.exports.made import bank, contents, export, lines, records
from tests.agents.runs.made import published, write_bank

CODE = ("utils.py", "backtrader_bench.py", "pyproject.toml", "backtrader_bench_v1/__init__.py")
"""Files of exports that say nothing of the questions."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return bank(tmp_path / "bank.jsonl")


def test_inspect_lines_say_what_the_records_say(file: Path, tmp_path: Path) -> None:
    export("inspect", file, tmp_path / "out", name="Our bank!")
    assert set(contents(tmp_path / "out")) == {"README.md", "bench-export.json", "our_bank.py", "questions.jsonl"}
    for record, line in zip(lines(file), lines(tmp_path / "out" / "questions.jsonl"), strict=True):
        assert line["target"] == record["answer"]
        if "options" in record:
            assert line["id"] == record["id"]
            assert line["choices"] == [record["options"][letter] for letter in LETTERS]
            assert line["question"] == record["question"]
        # The part that Inspect adds its own list of choices and reply form to has neither.
        assert "<<<" not in line["input"] and not any(f"{letter}. " in line["input"] for letter in LETTERS)
        assert line["metadata"]["difficulty"] == record["difficulty"]
    tasks = {node.name for node in ast.parse((tmp_path / "out" / "our_bank.py").read_text()).body
             if isinstance(node, ast.FunctionDef) and node.decorator_list}  # fmt: skip
    assert tasks == {"our_bank", "our_bank_choice"}


def test_lm_eval_has_two_tasks_over_one_file(file: Path, tmp_path: Path) -> None:
    export("lm-eval", file, tmp_path / "out")
    assert {"backtrader_bench.yaml", "backtrader_bench_choice.yaml"} <= set(contents(tmp_path / "out"))
    for record, line in zip(lines(file), lines(tmp_path / "out" / "questions.jsonl"), strict=True):
        assert line["answer"] == record["answer"]
        assert line["question"].count("A. ") == line["opening"].count("A. ") == 1
        assert "<<<" in line["question"] and "<<<" not in line["opening"]


@pytest.mark.parametrize("sealed", [False, True])
def test_verifiers_gets_a_package_with_one_taskset(sealed: bool, file: Path, tmp_path: Path) -> None:
    export("verifiers", file, tmp_path / "out", answers=not sealed)
    package = tmp_path / "out" / "backtrader_bench_v1"
    tree = ast.parse((package / "__init__.py").read_text())
    classes = {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.ClassDef)}
    assert ("answer: str" in classes["Data"]) is ("vf.reward" in classes["Question"]) is not sealed
    project = tomllib.loads((tmp_path / "out" / "pyproject.toml").read_text())
    assert project["tool"]["setuptools"]["packages"] == [package.name]
    by = {record.get("id"): record for record in lines(file)}
    for line in lines(package / "questions.jsonl"):
        assert ("answer" in line) is not sealed
        if line["id"] in by:
            assert line["prompt"] == by[line["id"]]["question"]
            assert sealed or line["answer"] == by[line["id"]]["answer"]


def test_every_row_of_the_data_set_has_every_column_with_one_type(file: Path, tmp_path: Path) -> None:
    export("hf", file, tmp_path / "out")
    rows = lines(tmp_path / "out" / "test.jsonl")
    names = [column.name for column in (*hugging_face.PUBLIC_COLUMNS, *hugging_face.KEY_COLUMNS)]
    assert all(list(row) == names for row in rows)
    for name in names:
        assert len({type(row[name]) for row in rows} - {type(None)}) <= 1, name
    assert [row["answer"] for row in rows] == [record["answer"] for record in lines(file)]
    assert all(row["choices"][row["answer_index"]] in row["question"] for row in rows)
    assert json.loads(rows[0]["strategy_params_json"]) == {"pfast": 10, "pslow": 30, "target_percent": 1.0}


def test_the_metadata_names_files_by_their_hash_and_columns_that_are_there(tmp_path: Path) -> None:
    made = helpers.bank(num_questions=3)
    for tape in made.tapes.values():
        pins.save(tape)
    file = tmp_path / "bank.jsonl"
    file.write_bytes(b"".join(map(to_line, made.questions)))
    export("hf", file, tmp_path / "out", tapes=True)
    there = contents(tmp_path / "out")
    about = json.loads(there["croissant.json"])
    for entry in about["distribution"]:
        data = there[entry["contentUrl"]]
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert entry["contentSize"] == f"{len(data)} B"
    columns = {field["source"]["extract"]["column"] for field in about["recordSet"][0]["field"]}
    rows = lines(tmp_path / "out" / "test.jsonl")
    assert columns == set(rows[0]) - {"strategy_params"}
    for row in rows:
        # A tape's name is the hash of the file, and the record's.
        assert hashlib.sha256(there[row["tape_file"]]).hexdigest() == row["tape_sha256"]
    assert {row["tape_sha256"] for row in rows} == set(made.tapes)


def test_the_card_has_the_fields_that_the_hub_reads(file: Path, tmp_path: Path) -> None:
    export("hf", file, tmp_path / "out", license="cc-by-4.0", name="our bank")
    head = (tmp_path / "out" / "README.md").read_text().split("---\n")[1]
    found = {name: json.loads(value) for name, value in (line.split(": ", 1) for line in head.splitlines())}
    assert found["license"] == "cc-by-4.0"
    assert found["pretty_name"] == "our bank"
    assert found["size_categories"] == ["n<1K"]
    assert found["configs"] == [{"config_name": "default", "data_files": [{"split": "test", "path": "test.jsonl"}]}]
    assert {"language", "task_categories", "tags"} <= set(found)


def test_csv_reads_back_and_starts_no_formula(tmp_path: Path) -> None:
    record = records(1)[0]
    record["strategy_name"] = "=HYPERLINK(1)"
    file = write_bank(tmp_path / "bank.jsonl", [record])
    export("csv", file, tmp_path / "out")
    (row,) = csv.DictReader(io.StringIO((tmp_path / "out" / "questions.csv").read_text()))
    assert row["answer"] == record["answer"]
    assert [row[letter] for letter in LETTERS] == [record["options"][letter] for letter in LETTERS]
    assert row["strategy_name"] == "'=HYPERLINK(1)"
    assert [tables.cell(text) for text in ("-$1,234.50", "-12.5%", "+3", "-1+cmd")] == [
        "-$1,234.50", "-12.5%", "+3", "'-1+cmd"
    ]  # fmt: skip


def test_markdown_keeps_answers_apart_and_shows_text_as_it_is(tmp_path: Path) -> None:
    record = records(1)[0]
    record["question"] = record["question"].replace("- symbol", "```\n<b>bold</b>\n````\n- symbol")
    record = published(1, question=record["question"])
    export("md", write_bank(tmp_path / "bank.jsonl", [record]), tmp_path / "out")
    text = (tmp_path / "out" / "questions.md").read_text()
    assert "`````text\n" in text and "<b>bold</b>" in text
    assert "| [1](questions.md#question-1) | B | \\$2.50 |" in (tmp_path / "out" / "answers.md").read_text()


def test_the_same_bank_gives_the_same_bytes(file: Path, tmp_path: Path) -> None:
    for form in make.FORMATS:
        export(form, file, tmp_path / f"one-{form}")
        export(form, file, tmp_path / f"two-{form}")
        assert contents(tmp_path / f"one-{form}") == contents(tmp_path / f"two-{form}")


@pytest.mark.parametrize("form", make.FORMATS)
def test_the_canary_stands_in_every_file_of_content_and_in_no_question(form: str, file: Path, tmp_path: Path) -> None:
    made = export(form, file, tmp_path / "out", canary="our own canary 123")
    assert made.canary == "our own canary 123"
    for name, data in contents(tmp_path / "out").items():
        if name not in CODE:
            assert b"our own canary 123" in data, name
    if form == "inspect":
        assert all("canary" not in line["question"] for line in lines(tmp_path / "out" / "questions.jsonl"))
    with pytest.raises(RecordError, match="shows the canary"):
        export(form, file, tmp_path / "other", canary="close number 1?")


KILLED = """
import os, signal, sys
from pathlib import Path
from backtrader_bench.agents.exports import folder, make

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at_the_manifest(path, data):
    die() if path.name == folder.MANIFEST else path.write_bytes(data)

def die_at_the_second(path, target, seen=[]):
    die() if seen else seen.append(path) or os.replace(path, target)

if sys.argv[1] == "writing":
    folder._write_file = die_at_the_manifest
elif sys.argv[1] == "swapping":
    Path.replace = die_at_the_second
else:
    folder.shutil.rmtree = die
make.export(make.Wish(format="csv", files=(Path(sys.argv[2]),), folder=Path(sys.argv[3]), force=True))
"""


@pytest.mark.parametrize(("when", "left", "stands"), [
    ("writing", {".export"}, True), ("swapping", {".export", ".old"}, False), ("removing", {".old"}, True),
])  # fmt: skip
def test_what_a_killed_export_left_goes_with_the_next_one(
    when: str, left: set[str], stands: bool, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "x" / "out"
    out.parent.mkdir()
    export("md", file, out)
    was = contents(out)
    done = subprocess.run([sys.executable, "-c", KILLED, when, str(file), str(out)], check=False, cwd=tmp_path)
    assert done.returncode == -signal.SIGKILL
    assert {one.suffix for one in out.parent.glob(".bench-*")} == left and out.exists() is stands
    # One that is being written by a process that lives is let alone.
    (out.parent / ".bench-1-00.export").mkdir()
    export("csv", file, out.parent / "other")
    there = [one for one in out.parent.iterdir() if one.name not in ("other", ".bench-1-00.export")]
    # What was put aside and not replaced is the only copy: it waits for the next export to its own place.
    assert [one.suffix for one in there] == ["" if stands else ".old"]
    with pytest.raises(UsageError, match="--force"):
        export("csv", file, out)
    assert {one.name for one in out.parent.iterdir()} == {"out", "other", ".bench-1-00.export"}
    assert (contents(out) == was) is (when != "removing")
    export("lm-eval", file, out, force=True)
    assert "utils.py" in contents(out) and len(list(out.parent.iterdir())) == 3


def test_an_export_replaces_an_export_alone_and_only_when_told(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export("csv", file, out)
    with pytest.raises(UsageError, match="--force"):
        export("md", file, out)
    assert "questions.csv" in contents(out)
    (out / "__pycache__").mkdir()
    (out / "__pycache__" / "x.pyc").write_text("")
    export("md", file, out, force=True)
    assert set(contents(out)) == {"questions.md", "answers.md", "bench-export.json"}
    (out / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt"):
        export("csv", file, out, force=True)
    other = tmp_path / "photos"
    other.mkdir()
    (other / "me.jpg").write_text("")
    with pytest.raises(UsageError, match="no export of bench"):
        export("csv", file, other, force=True)
    assert set(contents(other)) == {"me.jpg"}


def test_a_failure_leaves_nothing(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = contents(tmp_path)
    monkeypatch.setattr(folders, "_write_file", full)
    with pytest.raises(StoreError, match="No space left"):
        export("csv", file, tmp_path / "out", answers=False)
    assert contents(tmp_path) == before
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    export("csv", file, tmp_path / "out")
    was = contents(tmp_path)
    calls: list[Path] = []
    replace = Path.replace

    def second_fails(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", second_fails)
    with pytest.raises(StoreError, match="Input/output error"):
        export("md", file, tmp_path / "out", force=True)
    assert contents(tmp_path) == was


BAD: dict[str, Callable[[Path, Path], list[str]]] = {
    "no_folder_above": lambda file, out: [str(file), "-o", str(out / "a" / "b")],
    "a_file_is_there": lambda file, out: [str(file), "-o", str(file)],
    "no_such_bank": lambda file, out: [str(file) + "x", "-o", str(out)],
    "short_canary": lambda file, out: [str(file), "-o", str(out), "--canary", "x"],
    "sealed_with_answers": lambda file, out: [str(file), "-o", str(out), "--sealed", "k"],
    "sealed_inside": lambda file, out: [str(file), "-o", str(out), "--no-answers", "--sealed", str(out / "k")],
    "long_name": lambda file, out: [str(file), "-o", str(out), "--name", "n" * 300],
    "foreign_option": lambda file, out: [str(file), "-o", str(out), "--license", "mit"],
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_nothing_written(
    case: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(tmp_path)
    assert run(["export", "csv", *BAD[case](file, tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1
    assert contents(tmp_path) == before
    assert not (tmp_path / "out").exists()


def test_bars_that_are_nowhere_are_missing(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "hf", str(file), "-o", str(tmp_path / "out")]) == 3
    assert not (tmp_path / "out").exists()
    assert run(["export", "hf", str(file), "-o", str(tmp_path / "out"), "--no-tapes", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["questions"] == 10 and said["sealed"] is None


def test_a_question_whose_options_a_tool_could_not_tell_apart_is_refused(tmp_path: Path) -> None:
    record = records(1)[0]
    record["options"]["A"] = "one\ntwo"
    record["id"] = question_id(record["stem"], record["options"])
    with pytest.raises(RecordError, match="line 1: an option"):
        export("csv", write_bank(tmp_path / "bank.jsonl", [record]), tmp_path / "out")


@pytest.mark.parametrize("before", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("answers", [True, False], ids=["keys", "sealed"])
def test_of_two_exports_to_one_place_one_is_told_that_it_lost(
    before: bool, answers: bool, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    if before:
        export("csv", file, out)
    write = folders.write

    def overtaken(*words: Any) -> Any:
        with monkeypatch.context() as alone:
            alone.setattr(folders, "write", write)
            export("md", file, out, force=before, answers=answers, sealed=None if answers else tmp_path / "theirs")
        return write(*words)

    monkeypatch.setattr(folders, "write", overtaken)
    with pytest.raises(StoreError, match="another export was written there meanwhile"):
        export("inspect", file, out, force=before, answers=answers, sealed=None if answers else tmp_path / "ours")
    assert "questions.md" in contents(out)
    there = {"bank.jsonl", "out"} | (set() if answers else {"theirs"})
    assert {one.name for one in tmp_path.iterdir() if one.is_dir() or one.name in there or one.name == "ours"} == there


TASK_FILES = {"inspect": "{}.py", "lm-eval": "{}.yaml", "verifiers": "{}_v1/__init__.py"}


@pytest.mark.parametrize("form", TASK_FILES)
def test_no_name_makes_a_task_that_can_not_be_run(form: str, file: Path, tmp_path: Path) -> None:
    """Names that a task file imports or defines, Python's own, and what is no name at all."""
    export(form, file, tmp_path / "plain", name="plain")
    used = {"class", "json", "inspect", "str", "lambda"}
    for one in (tmp_path / "plain").rglob("*.py"):
        tree = ast.parse(one.read_text())
        used |= {node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
        modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        used |= {module.split(".")[0] for module in modules}
        if form == "inspect":
            used |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} - {"plain", "plain_choice"}
    assert form != "inspect" or {"generate", "json_dataset", "multiple_choice", "as_asked", "inspect_ai"} <= used
    names = {content.task_name(name) for name in used | {"multiple", "123", "2024-bank", "None!"}}
    assert not names & used and all(name.isidentifier() and not keyword.iskeyword(name) for name in names)
    assert not any(f"{name}_choice" in used for name in names)
    assert content.task_name("Plain bank") == "plain_bank" and content.task_name("bench_123") == "bench_123"
    export(form, file, tmp_path / "out", name="123")
    assert (tmp_path / "out" / TASK_FILES[form].format("bench_123")).exists()


def stand_in(called: str) -> Callable[..., Any]:
    return lambda *words, **more: (called, words, more)


def test_a_name_that_shadows_an_import_gives_a_task_file_that_runs(file: Path, tmp_path: Path) -> None:
    """Run with stand-ins for Inspect: the decorator and what the tasks call."""
    for name in ("class", "generate", "json_dataset", "multiple"):
        export("inspect", file, tmp_path / name, name=name)
        path = tmp_path / name / f"bench_{name}.py"
        modules = {one: types.ModuleType(one) for one in
                   ("inspect_ai", "inspect_ai.dataset", "inspect_ai.scorer", "inspect_ai.solver")}  # fmt: skip
        for module in modules.values():
            module.__getattr__ = stand_in  # type: ignore[method-assign]
        modules["inspect_ai"].task = lambda function: function  # type: ignore[attr-defined]
        with pytest.MonkeyPatch.context() as patched:
            for known, module in modules.items():
                patched.setitem(sys.modules, known, module)
            space = runpy.run_path(str(path))
            for task in (f"bench_{name}", f"bench_{name}_choice"):
                called, _, more = space[task]()
                assert called == "Task" and more["dataset"][0] == "json_dataset"
                assert more["solver"][-1][0] == ("multiple_choice" if task.endswith("_choice") else "generate")
