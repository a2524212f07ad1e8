"""The Python API: its example as printed, its names, its lightness, its errors."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backtrader_bench import api
from backtrader_bench.errors import BenchError, RecordError, StoreError, UsageError

CHECKOUT = Path(__file__).resolve().parents[1]
VERBS = ("build", "check", "audit", "run", "report", "compare", "mine", "show", "page")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and the home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BENCH_HOME")
    return tmp_path


def test_the_example_runs_as_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (CHECKOUT / "docs" / "python.md").read_text()
    cells = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(cells) > 8
    names: dict[str, object] = {}
    for cell in cells:
        # A mining session of four attempts takes half a minute.
        cell = cell.replace("attempts=4, jobs=2", "attempts=1")
        exec(compile(cell, "docs/python.md", "exec"), names)
    told = capsys.readouterr().out
    assert "wrong_key" in told and "too small" in told and "oracle 12 1.0" in told
    for name in ("bank.html", "public.html", "report.html", "attempts.csv"):
        assert (here / name).stat().st_size > 1000
    assert (here / "db" / "attempts").is_dir()


def test_every_verb_is_a_documented_function_with_types() -> None:
    for name in VERBS:
        verb = getattr(api, name)
        assert inspect.getdoc(verb), name
        assert verb.__annotations__["return"] not in (None, "None", "Any"), name
    assert set(VERBS) <= set(dir(api))
    page = (CHECKOUT / "docs" / "python.md").read_text()
    assert all(f"| `{name}(" in page for name in VERBS)
    with pytest.raises(AttributeError, match="no attribute 'brew'"):
        api.brew  # noqa: B018


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import sys, backtrader_bench\n"
        "from backtrader_bench import api\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}), '|',"
        " *(name for name in sys.modules if name.startswith('backtrader_bench')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots, ours = done.stdout.split("|")
    assert not {"numpy", "pandas", "backtrader", "msgspec", "click", "rich"} & set(roots.split())
    assert ours.split() == ["backtrader_bench", "backtrader_bench.api"]


def test_nothing_is_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built = api.build("bank.jsonl", num_questions=3, data="synthetic:calm:3", symbol="SYNP", scheme="ladder")
    assert api.check(built.path, report="verdicts.jsonl").ok
    assert capsys.readouterr() == ("", "")
    verdicts = [json.loads(line)["verdict"] for line in (here / "verdicts.jsonl").read_text().splitlines()]
    assert verdicts == ["match"] * 3 and built.manifest.is_file()


def test_what_can_not_be_done_is_an_error_of_ours(here: Path) -> None:
    with pytest.raises(UsageError, match="unknown setting 'colour'"):
        api.build("bank.jsonl", colour="red")
    with pytest.raises(StoreError, match="there is no folder"):
        api.build("nowhere/bank.jsonl", num_questions=3)
    with pytest.raises(BenchError, match=r"no such file|cannot read"):
        api.check("nothing.jsonl")
    with pytest.raises(UsageError, match="one of the two"):
        api.audit()
    with pytest.raises(UsageError, match="unknown setting 'speed'"):
        api.run("bank.jsonl", agents=["oracle"], speed=3)
    with pytest.raises(UsageError, match="no run"):
        api.report("last")
    with pytest.raises(UsageError, match="unknown setting 'colour'"):
        api.mine(colour="red")
    with pytest.raises(UsageError, match="kept with a session"):
        api.mine(resume="last", attempts=3)
    (here / "odd.jsonl").write_text('{"question": "?"}\n')
    with pytest.raises(RecordError, match="line 1"):
        api.page("odd.jsonl", html="odd.html")
    with pytest.raises(UsageError, match="another name"):
        api.page("odd.jsonl", html="odd.jsonl")
    with pytest.raises(UsageError, match="no question 7"):
        api.show("odd.jsonl", 7)
    assert not (here / "odd.html").exists()
