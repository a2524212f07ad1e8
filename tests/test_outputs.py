"""What commands write never replaces what they read, nor sealed keys, by whatever name it is called."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from backtrader_bench import api, store
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import read
from backtrader_bench.cli.main import run
from backtrader_bench.errors import StoreError, UsageError
from backtrader_bench.mcq_builder import secret
from tests.agents.exports.made import contents
from tests.agents.reports import hand, simulated

RUN = hand.RUN
PRICES = "Date,Open,High,Low,Close,Volume\n2020-01-02,1,2,1,2,5\n2020-01-03,2,3,2,3,5\n"
BUILD = "build --symbol SYNT --data synthetic -n 3 --force"
WRITERS = {
    "page": "page bank.jsonl --html OUT",
    "check": "check bank.jsonl --report OUT",
    "audit": "audit bank.jsonl --no-learned --html OUT",
    "report_page": f"report {RUN} --html OUT",
    "report_table": f"report {RUN} --csv OUT",
    "log": f"export inspect-log {RUN} --agent a --force -o OUT",
    "build": f"{BUILD} -o OUT",
    "reveal": "reveal dataset.sealed.jsonl dataset --force -o OUT",
    "dedupe": "db dedupe bank.jsonl -o OUT",
}
"""Every command that writes a file at a place of the user's; ``OUT`` is that place."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder, and the store in it, with all that commands read."""
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    bank = hand.bank(tmp_path)
    simulated.write(simulated.manifest(RUN, ("a", "b"), bank, 32, repeats=2), hand.attempts())
    (tmp_path / "prices").mkdir()
    for name in ("prices/ABC.csv", "ABC.csv"):
        (tmp_path / name).write_text(PRICES)
    (tmp_path / "secret").write_text("0123456789abcdef" * 2)
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "settings.json").write_text('{"symbol": "SYNT"}')
    secret.own_secret()
    assert run(["export", "csv", "bank.jsonl", "--no-answers", "-o", "dataset"]) == 0
    capsys.readouterr()
    return tmp_path


def alias(target: Path, how: str) -> Path:
    """``target`` by another name."""
    other = Path("alias.json").absolute()
    if how == "symbolic link":
        other.symlink_to(target)
    elif how == "hard link":
        os.link(target, other)
    elif how == "relative":
        return Path("prices", "..", os.path.relpath(target))
    return other if how.endswith("link") else target


@pytest.mark.parametrize("how", ["its name", "relative", "symbolic link", "hard link"])
@pytest.mark.parametrize(
    ("words", "target"),
    [
        (WRITERS["page"], "bank.jsonl"),
        (WRITERS["page"] + " --data prices", "prices/ABC.csv"),
        (WRITERS["check"], "bank.jsonl"),
        (WRITERS["check"] + " --data ABC.csv", "ABC.csv"),
        (WRITERS["check"] + " --data prices", "prices/ABC.csv"),
        (WRITERS["audit"], "bank.jsonl"),
        (WRITERS["audit"] + " --secret-file secret", "secret"),
        ("audit --generate 9 --no-learned --data csv:ABC.csv --html OUT", "ABC.csv"),
        (WRITERS["report_page"], "bank.jsonl"),
        (WRITERS["report_page"], f"db/attempts/{RUN}.jsonl"),
        (WRITERS["report_page"], f"db/summary/{RUN}.manifest.json"),
        (WRITERS["report_page"] + " --data ABC.csv", "ABC.csv"),
        (WRITERS["report_table"], "bank.jsonl"),
        (WRITERS["log"], f"db/summary/{RUN}.manifest.json"),
        (f"{BUILD} --exclude bank.jsonl -o OUT", "bank.jsonl"),
        (f"{BUILD} --config settings.json -o OUT", "settings.json"),
        (f"{BUILD} --scheme siblings --secret-file secret -o OUT", "secret"),
        (f"{BUILD} -o OUT", "db/secret.key"),
        ("build --symbol ABC --data csv:prices --force -o OUT", "prices/ABC.csv"),
        (WRITERS["reveal"], "dataset.sealed.jsonl"),
        (WRITERS["reveal"], "dataset/questions.public.jsonl"),
        (WRITERS["reveal"], "dataset/bench-export.json"),
    ],
)
def test_nothing_that_is_read_is_replaced(
    words: str, target: str, how: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = alias(here / target, how)
    before = contents(here)
    assert run([str(out) if word == "OUT" else word for word in words.split()]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and str(out) in told.err
    assert any(part in told.err for part in ("the same command reads", "sealed keys", "lies in the export's folder"))
    assert contents(here) == before


@pytest.mark.parametrize("how", ["its name", "symbolic link", "hard link"])
@pytest.mark.parametrize("writer", list(WRITERS))
def test_sealed_keys_are_replaced_by_nothing(
    writer: str, how: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = shutil.copy("dataset.sealed.jsonl", here / "other.json")  # of an export that the command doesn't read
    out = alias(Path(keys), how)
    before = contents(here)
    assert run([str(out) if word == "OUT" else word for word in WRITERS[writer].split()]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and "it holds sealed keys" in told.err
    assert contents(here) == before


@pytest.mark.parametrize("name", ["page", "check", "audit", "report_page", "report_table"])
@pytest.mark.parametrize("kind", ["questions", "attempts", "manifest", "export", "secret", "prices", "tape", "text"])
def test_a_report_replaces_reports_of_its_kind_alone(
    name: str, kind: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {
        "questions": hand.bank(here), "attempts": next(here.glob("db/attempts/*")),
        "manifest": next(here.glob("db/summary/*.manifest.json")), "export": here / "dataset/bench-export.json",
        "secret": here / "db/secret.key", "prices": here / "ABC.csv",
    }  # fmt: skip
    made = {"tape": gzip.compress(PRICES.encode()), "text": b"notes of mine\n"}
    (here / "other").write_bytes(found[kind].read_bytes() if kind in found else made[kind])
    before = contents(here)
    assert run(WRITERS[name].replace("OUT", "other").split()) == 2
    assert "other is no " in capsys.readouterr().err
    assert contents(here) == before


@pytest.mark.parametrize("words", [
    f"report {RUN} --csv prices/rows.csv --data prices", "page bank.jsonl --html prices/page.csv --data prices",
    "check bank.jsonl --report prices/found.csv --data prices",
])  # fmt: skip
def test_a_report_beside_prices_is_written_again(words: str, here: Path) -> None:
    codes = [run(words.split()) for _ in range(2)]
    assert codes[0] == codes[1] < 2


def test_sealed_keys_are_told_by_their_first_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for first in ({"kind": store.SEALED_KIND}, {"a": 1, "kind": store.SEALED_KIND, "schema_version": 99}):
        path.write_text(f"\n {json.dumps(first)}\nwhatever")
        with pytest.raises(StoreError, match="it holds sealed keys"):
            store.replace_file(path, b"new")
    for content in (f'{{"name": "{store.SEALED_KIND}"}}\n', store.SEALED_KIND, f"\n[]\n{json.dumps(first)}", "{", ""):
        path.write_text(content)
        store.replace_file(path, b"new")
        assert path.read_bytes() == b"new"


def test_a_manifest_beside_a_bank_replaces_nothing_that_is_read(here: Path) -> None:
    shutil.copy("settings.json", "new.manifest.json")
    assert run(f"{BUILD} --config new.manifest.json -o new.jsonl".split()) == 2
    shutil.copy("dataset.sealed.jsonl", "new.manifest.json")
    assert run(f"{BUILD} -o new.jsonl".split()) == 2
    assert Path("new.manifest.json").read_bytes() == Path("dataset.sealed.jsonl").read_bytes()
    assert not Path("new.jsonl").exists()


@pytest.mark.parametrize("place", ["dataset/keys.jsonl", "dataset/deep/keys.jsonl", "link/keys.jsonl", "dangling"])
def test_no_bank_is_revealed_into_the_folder_that_is_public(
    place: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "dataset" / "deep").mkdir()
    (here / "link").symlink_to("dataset/deep")
    (here / "dangling").symlink_to("dataset/not there yet.jsonl")
    before = contents(here)
    assert run(["reveal", "dataset.sealed.jsonl", "dataset", "-o", place]) == 2
    assert "lies in the export's folder, which is to hold no key" in capsys.readouterr().err
    assert contents(here) == before
    # Beside it is the right place, and what stands there goes by --force alone.
    assert run(["reveal", "dataset.sealed.jsonl", "dataset", "-o", "again.jsonl"]) == 0
    assert Path("again.jsonl").read_bytes().count(b"\n") == 8
    assert run(["reveal", "dataset.sealed.jsonl", "dataset", "-o", "again.jsonl"]) == 2
    assert run(["reveal", "dataset.sealed.jsonl", "dataset", "-o", "again.jsonl", "--force"]) == 0


def test_an_export_does_not_replace_the_folder_that_it_reads(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "hf", "bank.jsonl", "--no-tapes", "-o", "open"]) == 0
    shutil.copy("bank.jsonl", "open/test.jsonl")
    (here / "bank_there.jsonl").symlink_to("open/test.jsonl")
    for name in ("open/test.jsonl", "bank_there.jsonl"):
        assert run(["export", "csv", name, "-o", "open", "--force"]) == 2
        assert "lies in open, which would be replaced" in capsys.readouterr().err
    assert (here / "open" / "test.jsonl").read_bytes() == (here / "bank.jsonl").read_bytes()
    (here / "open" / "__pycache__").mkdir()
    keys = shutil.copy("dataset.sealed.jsonl", "open/__pycache__/keys")
    assert run(["export", "csv", "bank.jsonl", "-o", "open", "--force"]) == 2
    assert "sealed keys are never replaced" in capsys.readouterr().err
    Path(keys).unlink()
    assert run(["export", "csv", "bank.jsonl", "-o", "open", "--force"]) == 0


def test_page_and_table_of_a_report_are_two_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "link.csv").symlink_to("both")
    for csv in ("both", "prices/../both", "link.csv"):
        assert run(["report", RUN, "--html", "both", "--csv", csv]) == 2
        assert "page and table would both be both" in capsys.readouterr().err
    assert not (here / "both").exists()


def test_functions_refuse_the_same(here: Path) -> None:
    before = contents(here)
    for refused in (
        lambda: api.page("bank.jsonl", html="bank.jsonl"),
        lambda: api.check("bank.jsonl", report="bank.jsonl"),
        lambda: api.audit("bank.jsonl", learned=False, html="bank.jsonl"),
        lambda: api.report(RUN, html=read.attempts_path(RUN)),
        lambda: api.report(RUN, csv=manifests.manifest_path(RUN)),
        lambda: api.build("bank.jsonl", exclude=(name for name in ["bank.jsonl"]), force=True, num_questions=3),
    ):
        with pytest.raises(UsageError, match="the same command reads"):
            refused()
    assert contents(here) == before


def test_what_was_written_before_is_written_again(here: Path) -> None:
    for _ in range(2):
        assert run(["page", "bank.jsonl", "--html", "bank.html", "--data", "."]) == 0
        assert run(["report", RUN, "--html", "run.html", "--csv", "rows.csv"]) == 0
