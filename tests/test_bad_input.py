"""Bad input, case by case: one line, the exit code, and nothing written or lost.

A case is a command line, the exit code and a word that the line must hold. ``{d}`` is a folder with the files
made by ``inputs``; every build goes to ``{d}/out.jsonl``, which exists and must come through as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backtrader_bench import store
from backtrader_bench.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator

Captured = pytest.CaptureFixture[str]
HEADER = "Date,Open,High,Low,Close,Volume"
CSV = "build --data csv:{d}/NAME.csv --symbol ABC"


def bars(count: int) -> list[str]:
    """Valid lines of a price file, one a day from 2020-01-01 on (28 days to each month)."""
    days = [f"20{20 + n // 336}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}" for n in range(count)]
    prices = [",".join(str(price + n % 17) for price in (50, 52, 49, 51)) for n in range(count)]
    return [f"{day},{price},{1000 + n}" for n, (day, price) in enumerate(zip(days, prices, strict=True))]


def price_files() -> dict[str, str]:
    """File name -> content; all but ``good`` break a rule of tapes."""
    good = bars(300)

    def with_bar(number: int, text: str) -> list[str]:
        return [*good[:number], text, *good[number + 1 :]]

    day = good[100].split(",")[0]
    files = {
        "good": good,
        "nan": with_bar(100, f"{day},50,52,49,nan,1000"),
        "hole": with_bar(100, f"{day},50,52,49,,1000"),
        "negative": with_bar(100, f"{day},-50,52,-51,51,1000"),
        "zero": with_bar(100, f"{day},50,52,0,51,1000"),
        "infinite": with_bar(100, f"{day},50,inf,49,51,1000"),
        "text": with_bar(100, f"{day},50,52,49,abc,1000"),
        "high_below_low": with_bar(100, f"{day},50,48,49,51,1000"),
        "duplicate": with_bar(100, good[99]),
        "unsorted": [*good[:100], good[101], good[100], *good[102:]],
        "no_such_day": with_bar(100, "2020-02-30,50,52,49,51,1000"),
        "short": good[:25],
        "header_only": [],
    }
    texts = {name: "\n".join([HEADER, *lines]) + "\n" for name, lines in files.items()}
    return texts | {"empty": "", "no_close": "Date,Open,High,Low,Volume\n2020-01-01,1,2,1,5\n"}


CONFIGS: dict[str, str] = {
    "broken.json": '{"symbol": ',
    "twice.json": '{"stake": 5, "stake": 6}',
    "unknown.json": '{"stakes": 5}',
    "list.json": "[1, 2]",
    "types.json": '{"initial_cash": "lots"}',
    "nan.json": '{"initial_cash": NaN}',
    "flag.json": '{"num_questions": true}',
    "broken.toml": "stake = = 5\n",
    "twice.toml": "stake = 5\nstake = 6\n",
    "config.yaml": "stake: 5\n",
    "null.json": '{"output": "nul\\u0000byte"}',
}

BUILDS = [
    # price files
    (CSV.replace("NAME", "missing"), 2, "missing.csv"),
    (CSV.replace("NAME", "nan"), 2, "nan.csv"),
    (CSV.replace("NAME", "hole"), 2, "hole.csv"),
    (CSV.replace("NAME", "negative"), 2, "-5"),
    (CSV.replace("NAME", "zero"), 2, "Low"),
    (CSV.replace("NAME", "infinite"), 2, "High"),
    (CSV.replace("NAME", "text"), 2, "abc"),
    (CSV.replace("NAME", "high_below_low"), 2, "High"),
    (CSV.replace("NAME", "duplicate"), 2, "duplicate"),
    (CSV.replace("NAME", "unsorted"), 2, "unsorted.csv"),
    (CSV.replace("NAME", "no_such_day"), 2, "2020-02-30"),
    (CSV.replace("NAME", "short"), 2, "bars"),
    (CSV.replace("NAME", "header_only"), 2, "header_only.csv"),
    (CSV.replace("NAME", "empty"), 2, "empty"),
    (CSV.replace("NAME", "no_close"), 2, "[Cc]lose"),
    (CSV.replace("NAME", "binary"), 2, "binary.csv"),
    (CSV.replace("NAME", "latin1"), 2, "latin1.csv"),
    ("build --data csv:{d}/folder --symbol ABC", 2, "ABC"),
    ("build --data csv: --symbol ABC", 2, "path"),
    ("build --data nasdaq --symbol ABC", 2, "nasdaq"),
    ("build --data synthetic:wild --symbol SYN1", 2, "wild"),
    ("build --data synthetic:calm:x --symbol SYN1", 2, "seed"),
    ("build --data bundled --symbol XYZZY", 2, "XYZZY"),
    # symbol and window
    ("build --symbol ../../etc/passwd --data csv:{d}/folder", 2, "symbol"),
    ("build --symbol a/b --data bundled", 2, "symbol"),
    ("build --symbol '' --data bundled", 2, "symbol"),
    ("build --symbol '-x' --data bundled", 2, "symbol"),
    (f"build --symbol {'A' * 300} --data bundled", 2, "symbol"),
    ("build --symbol 'A\nB' --data bundled", 2, "symbol"),
    ("build --start-date 2010-01-01 --end-date 2009-01-01", 2, "2009-01-01"),
    ("build --start-date 2010-01-01 --end-date 2010-01-01", 2, "2010-01-01"),
    ("build --start-date 2010-02-30", 2, "2010-02-30"),
    ("build --start-date yesterday", 2, "yesterday"),
    ("build --data bundled --start-date 1980-01-01 --end-date 1981-01-01", 2, "bars"),
    ("build --data bundled --start-date 2010-01-01 --end-date 2010-01-20", 2, "bars"),
    # account
    ("build --initial-cash 0", 2, "cash"),
    ("build --initial-cash -5", 2, "cash"),
    ("build --initial-cash nan", 2, "cash"),
    ("build --initial-cash inf", 2, "cash"),
    ("build --initial-cash lots", 2, "cash"),
    ("build --commission-rate 2", 2, "commission"),
    ("build --commission-rate -0.1", 2, "commission"),
    ("build --commission-rate nan", 2, "commission"),
    ("build --stake 0", 2, "stake"),
    ("build --stake 1.5", 2, "stake"),
    ("build --sizing half", 2, "half"),
    # what to ask
    ("build --strategy moon", 2, "moon"),
    ("build --template moon", 2, "moon"),
    ("build --difficulty moon", 2, "moon"),
    ("build --difficulty ,", 2, "difficulty"),
    ("build --scheme moon", 2, "moon"),
    ("build --seed soon", 2, "seed"),
    ("build --num-questions 0", 2, "num.questions"),
    ("build --num-questions -3", 2, "num.questions"),
    ("build --num-questions many", 2, "num.questions"),
    ("build --num-questions 1000000000", 2, "num.questions"),
    ("build --strategy-params nonsense", 2, "strategy.params"),
    ("build --strategy-params '[1]'", 2, "strategy.params"),
    ("build --strategy-params '{{\"pfast\": \"ten\"}}'", 2, "pfast"),
    ("build --strategy-params '{{\"pfast\": 2.5}}'", 2, "pfast"),
    ("build --strategy-params '{{\"pfast\": 0}}'", 2, "pfast"),
    ("build --strategy-params '{{\"pfast\": NaN}}'", 2, "NaN"),
    ("build --strategy-params '{{\"pfast\": true}}'", 2, "pfast"),
    ("build --strategy-params '{{\"speed\": 3}}'", 2, "speed"),
    ("build --strategy-params '{{\"pfast\": 3, \"pfast\": 4}}'", 2, "duplicate"),
    ("build --jobs 0", 2, "jobs"),
    ("build --jobs many", 2, "jobs"),
    ("build extra", 2, "extra"),
    # configuration files
    ("build --config {d}/missing.json", 2, "missing.json"),
    ("build --config {d}/folder", 2, "folder"),
    ("build --config {d}/binary.json", 2, "binary.json"),
    *[(f"build --config {{d}}/{name}", 2, re.escape(name)) for name in CONFIGS if name != "null.json"],
    ("build --config {d}/null.json --output-from-config", 2, "output"),
    # output
    ("build -o {d}/folder", 2, "folder"),
    ("build -o {d}/none/out.jsonl", 2, "none"),
    ("build -o {d}/good.csv/out.jsonl", 2, "good.csv"),
    ("build -o /dev/full", 2, "/dev/full"),
    (f"build -o {{d}}/{'x' * 300}", 2, "long"),
]  # fmt: skip

CHECKS = [
    ("check", 2, "FILE"),
    ("check {d}/missing.jsonl", 2, "missing.jsonl"),
    ("check {d}/folder", 2, "folder"),
    ("check {d}/empty.jsonl", 2, "empty.jsonl"),
    ("show {d}/empty.jsonl", 2, "empty.jsonl: empty"),
    ("show {d}/empty.jsonl 1", 2, "empty.jsonl: empty"),
    ("show {d}/bank.jsonl ''", 2, "id or line is empty"),
    ("show {d}/bank.jsonl ' '", 2, "id or line is empty"),
    ("check {d}/binary.jsonl", 2, "binary.jsonl"),
    ("check {d}/truncated.jsonl", 2, "truncated.jsonl.* 3"),
    ("check {d}/twice.jsonl", 2, "duplicate key"),
    ("check {d}/nan.jsonl", 2, "NaN"),
    ("check {d}/list.jsonl", 2, "list.jsonl.* 1"),
    ("check {d}/other.jsonl", 2, "other.jsonl.* 1"),
    ("check {d}/deep.jsonl", 2, "deep"),
    ("check {d}/version.jsonl", 2, "schema_version"),
    ("check {d}/missing_field.jsonl", 2, "value|tape"),
    ("check {d}/wrong_type.jsonl", 2, "seed"),
    ("check {d}/three_options.jsonl", 2, "options"),
    ("check {d}/bank.jsonl {d}/missing.jsonl", 2, "missing.jsonl"),
    ("check {d}/bank.jsonl --report {d}/folder", 2, "folder"),
    ("check {d}/bank.jsonl --report {d}/none/report.json", 2, "none/report.json"),
    ("check {d}/bank.jsonl --data {d}/missing.csv", 2, "missing.csv"),
    ("check {d}/bank.jsonl --jobs 0", 2, "jobs"),
]

DATA = [
    ("data show", 2, "SYMBOL"),
    ("data show {d}/missing.csv", 2, "missing.csv"),
    ("data show {d}/nan.csv", 2, "nan.csv"),
    ("data show {d}/unsorted.csv", 2, "unsorted.csv"),
    ("data show {d}/empty.csv", 2, "empty.csv"),
    ("data show {d}/binary.csv", 2, "binary.csv"),
    ("data show --data csv:{d}/missing.csv ABC", 2, "missing.csv"),
    ("data show --data bundled ../../etc/passwd", 2, "passwd"),
    ("data show --data bundled XYZZY", 2, "XYZZY"),
    ("data show --data moon AAPL", 2, "moon"),
    ("data show AAPL --start-date 2010-02-30", 2, "2010-02-30"),
    ("data fetch", 2, "SYMBOL"),
    ("data fetch --data bundled a/b", 2, "a/b"),
    ("data fetch --data bundled AAPL --start-date 2010-01-01 --end-date 2009-01-01", 2, "2009-01-01"),
    ("data fetch --data bundled AAPL --start-date 1980-01-01 --end-date 1981-01-01", 2, "bars"),
    ("data verify {d}/missing.csv.gz", 2, "missing"),
    ("data verify {d}/nan.csv", 2, "nan.csv"),
]


def mutants(lines: list[bytes]) -> dict[str, bytes]:
    """Broken question files by name, made of the lines of a good one."""
    first = json.loads(lines[0])

    def first_with(**changes: Any) -> bytes:
        return json.dumps(first | changes).encode() + b"\n"

    return {
        "bank": b"".join(lines),
        "empty": b"",
        "binary": b"\x89PNG\r\n\x1a\n\x00\xff\xfe" * 20,
        "truncated": b"".join(lines[:2]) + lines[2][: len(lines[2]) // 2],
        "twice": lines[0].replace(b"{", b'{"answer": "A", ', 1),
        "nan": first_with(value=float("nan")),
        "list": b"[1, 2]\n",
        "other": b'{"some": "thing"}\n',
        "deep": b"[" * 200_000 + b"\n",
        "version": first_with(schema_version=99),
        "missing_field": json.dumps({k: v for k, v in first.items() if k not in ("value", "tape")}).encode(),
        "wrong_type": first_with(seed="soon"),
        "three_options": first_with(options={"A": "1", "B": "2", "C": "3"}),
    }


@pytest.fixture(scope="module")
def bank_lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The lines of a good question file."""
    folder = tmp_path_factory.mktemp("bank")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(folder))
        assert run(["build", "--num-questions", "6", "-o", str(folder / "bank.jsonl")]) == 0
    return (folder / "bank.jsonl").read_bytes().splitlines(keepends=True)


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """The folder ``{d}``, without question files."""
    for name, text in price_files().items():
        (tmp_path / f"{name}.csv").write_text(text)
    for name, text in CONFIGS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "binary.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe" * 20)
    (tmp_path / "latin1.csv").write_bytes("Date,Open,High,Low,Close,Größe\n".encode("latin-1"))
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder").mkdir()
    (tmp_path / "out.jsonl").write_bytes(b"old\n")
    return tmp_path


@pytest.fixture
def bank_files(inputs: Path, bank_lines: list[bytes]) -> Path:
    """The folder ``{d}``, with question files."""
    for name, content in mutants(bank_lines).items():
        (inputs / f"{name}.jsonl").write_bytes(content)
    return inputs


def snapshot(*folders: Path) -> dict[str, str]:
    """Every file and link below, by content."""
    files = [file for folder in folders for file in folder.rglob("*") if not file.is_dir()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def refused(line: str, code: int, word: str, folder: Path, home: Path, told: Captured) -> None:
    """Run ``line`` and hold it to one line, the code, the word, and an unchanged disk."""
    arguments = [part.format(d=folder) if "{" in part else part for part in shlex.split(line)]
    before = snapshot(folder, home)
    outcome = run(arguments)
    out, err = told.readouterr()
    assert re.fullmatch(r"error: [^\n]+\n", err), f"{outcome} {err or out}"
    assert re.search(word, err), err
    assert outcome == code, err
    assert "Errno" not in err
    assert snapshot(folder, home) == before


def to_out(line: str) -> str:
    """``line`` with the output file that must survive, where the case is not about the output."""
    if "--output-from-config" in line:
        return line.replace(" --output-from-config", "")
    return line if " -o " in line else f"{line} -o {{d}}/out.jsonl"


@pytest.mark.parametrize(("line", "code", "word"), BUILDS, ids=[line[6:86] for line, _, _ in BUILDS])
def test_build(line: str, code: int, word: str, inputs: Path, own_home: Path, capfd: Captured) -> None:
    refused(to_out(line), code, word, inputs, own_home, capfd)


@pytest.mark.parametrize(("line", "code", "word"), CHECKS, ids=[line[:80] for line, _, _ in CHECKS])
def test_check(line: str, code: int, word: str, bank_files: Path, own_home: Path, capfd: Captured) -> None:
    refused(line, code, word, bank_files, own_home, capfd)


@pytest.mark.parametrize(("line", "code", "word"), DATA, ids=[line for line, _, _ in DATA])
def test_data(line: str, code: int, word: str, inputs: Path, own_home: Path, capfd: Captured) -> None:
    refused(line, code, word, inputs, own_home, capfd)


@pytest.mark.parametrize("line", ["build -o {d}/out.jsonl", "build", "data fetch --data bundled AAPL"])
def test_a_home_that_is_a_file(
    line: str, inputs: Path, own_home: Path, capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(inputs / "good.csv"))
    refused(line, 2, "good.csv", inputs, own_home, capfd)


def test_two_builds_to_one_file(inputs: Path, own_home: Path, capfd: Captured) -> None:
    with store.lock(inputs / "out.jsonl"):
        refused("build -o {d}/out.jsonl", 4, f"process {os.getpid()}", inputs, own_home, capfd)


def no_room() -> None:
    """No file may grow beyond 2 KiB: the disk is full for all that matters here."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


def test_a_full_disk(inputs: Path) -> None:
    home = inputs / "home"
    home.mkdir()
    command = [sys.executable, "-m", "backtrader_bench", "build", "-o", str(inputs / "out.jsonl")]
    environment = os.environ | {"BENCH_HOME": str(home)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, preexec_fn=no_room
    )
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(r"error: [^\n]+\n", done.stderr)
    assert (inputs / "out.jsonl").read_bytes() == b"old\n"
    assert not [name for name in snapshot(inputs) if name.endswith(".tmp") or "/mcq/" in name]


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder that can't be written: by its mode or, since root ignores that, by a read-only mount."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    if os.geteuid() != 0:
        yield folder
        return
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("root without the right to mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("line", ["build", "build -o {d}/closed/out.jsonl", "data fetch --data bundled AAPL"])
def test_a_read_only_folder(
    line: str, closed: Path, inputs: Path, capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(closed))
    refused(line, 2, "closed.*(Read-only|Permission)", inputs, closed, capfd)
