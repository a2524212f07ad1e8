"""Whole files: order, processes, memory, and lines that are no records."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from backtrader_bench import store
from backtrader_bench.checker import run as runner
from backtrader_bench.checker.run import check_chunk, check_files, chunks, survey
from backtrader_bench.checker.verify import Checker, Settings
from backtrader_bench.errors import BenchError, MissingError, RecordError, StoreError
from backtrader_bench.market import pins
from tests.checker.hand import record
from tests.checker.worlds import tape as random_tape

if TYPE_CHECKING:
    from pathlib import Path

    from backtrader_bench.checker.verdict import Verdict

TAPE = random_tape(Random(5), 120)


def lines(count: int, configurations: int = 5) -> list[bytes]:
    """Records in order but for every seventh, over some configurations in turn."""
    made = []
    for number in range(count):
        options = tuple(f"${TAPE.close[0] * factor:,.2f}" for factor in (1, 1.1, 1.2, 1.3))
        one = record("first_close", options, round(TAPE.close[0], 2), TAPE)  # type: ignore[arg-type]
        one["config"]["initial_cash"] = 10_000.0 + number % configurations
        one["answer"] = "B" if number % 7 == 6 else "A"
        made.append(json.dumps(one).encode())
    return made


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A file of 40 records whose tape is in the store."""
    pins.save(TAPE)
    path = tmp_path / "bank.jsonl"
    path.write_bytes(b"\n".join(lines(40)) + b"\n")
    return path


def verdicts(*paths: Path, **options: Any) -> list[Verdict]:
    """All verdicts of some files."""
    return list(check_files(paths, **options))


def test_verdicts_come_in_the_order_of_the_lines(bank: Path) -> None:
    found = verdicts(bank)
    assert [verdict.line for verdict in found] == list(range(1, 41))
    assert [v.line for v in found if v.verdict == "wrong_key"] == [7, 14, 21, 28, 35]
    assert all(v.verdict in ("match", "wrong_key") for v in found)


def test_processes_change_nothing(bank: Path) -> None:
    assert verdicts(bank, jobs=2, cache=False) == verdicts(bank, jobs=1, cache=False)


def test_each_backtest_runs_once_however_the_file_is_ordered(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_checkers", {})
    settings = Settings()
    runner._checkers[settings] = checker = Checker(settings, keep=1)
    check_chunk([("bank", n, line) for n, line in enumerate(lines(40), 1)], settings)
    assert {name: engine.runs for name, engine in checker.engines.items()} == {"backtrader": 5, "second": 5}


def test_results_are_kept_apart_from_the_builder_s(bank: Path) -> None:
    verdicts(bank)
    kept = {path.relative_to(store.folder("cache")).parts[:2] for path in store.folder("cache").rglob("*.msgpack")}
    assert kept == {("check", "backtrader"), ("check", "second")}


def test_nothing_is_kept_when_told_so(bank: Path) -> None:
    verdicts(bank, cache=False)
    assert not list(store.home().rglob("*.msgpack"))


BAD = {
    "twice": (b'{"a": 1, "a": 2}', "duplicate key"),
    "nan": (b'{"a": NaN}', "NaN"),
    "cut": (lines(1)[0][:200], "not JSON"),
    "list": (b"[1, 2]", "object"),
    "number": (b"7", "object"),
    "latin1": (b'{"a": "\xe9"}', "UTF-8"),
    "deep": (b"[" * 100_000, "deep"),
    "other": (b'{"some": "thing"}', "schema_version"),
    "null byte": (b'{"a": "\x00"}', "not JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_has_its_verdict_and_the_rest_goes_on(name: str, bank: Path) -> None:
    line, word = BAD[name]
    good = lines(3)
    bank.write_bytes(b"\n".join([good[0], line, b"", good[1], good[2]]) + b"\n")
    found = verdicts(bank)
    assert [(v.line, v.verdict) for v in found] == [(1, "match"), (2, "unverifiable"), (4, "match"), (5, "match")]
    assert re.search(word, found[1].reason) and found[1].cause == "unreadable"
    assert str(bank) not in found[1].reason


def test_a_file_cut_in_its_last_line(bank: Path) -> None:
    bank.write_bytes(b"\n".join(lines(3))[:-50])
    assert [v.verdict for v in verdicts(bank)] == ["match", "match", "unverifiable"]
    assert not list(store.home().rglob("*.msgpack"))


def test_several_files_keep_their_names(bank: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines(1)[0])
    assert [(v.file, v.line) for v in verdicts(other, bank)][:2] == [(str(other), 1), (str(bank), 1)]


NO_RECORDS = [
    ("none", None, StoreError), ("folder", "", StoreError),
    ("empty", b"", RecordError), ("blank", b"\n \n", RecordError),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "kind"), NO_RECORDS)
def test_a_file_without_records_is_refused_at_once(
    name: str, content: Any, kind: type[BenchError], bank: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.mkdir()
    with pytest.raises(kind, match=name) as caught:
        check_files([bank, path])
    assert caught.value.exit_code == 2


def test_prices_that_are_not_there_are_refused_at_once(bank: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere\.csv"):
        check_files([bank], data=tmp_path / "nowhere.csv")


def test_progress_counts_to_the_end(bank: Path) -> None:
    seen: list[tuple[int, int]] = []
    verdicts(bank, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 40) for done in range(0, 41, 5)]


def test_a_cluster_needs_its_extra(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingError, match=r"backtrader-bench\[cluster\]"):
        verdicts(bank, cluster="dask://127.0.0.1:1")


def test_chunks_are_bounded_in_lines_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CHUNK_BYTES", 10)
    sizes = [1, 1, 1, 1, 20, 1, 9, 1]
    made = list(chunks((("f", n, b"x" * size) for n, size in enumerate(sizes)), 3))
    assert [[len(line[2]) for line in group] for group in made] == [[1, 1, 1], [1, 20], [1, 9], [1]]


def test_survey_counts(bank: Path) -> None:
    assert survey([bank, bank]) == (80, True)


MEASURE = """
import re, sys
from pathlib import Path
from backtrader_bench.checker.run import check_files
count = sum(verdict.verdict in ("match", "wrong_key") for verdict in check_files([Path(sys.argv[1])], cache=False))
# Not ru_maxrss: it has in it what the process that started this one held.
peak = re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())
print(count, int(peak[1]) // 1024)
"""


@pytest.mark.slow
def test_memory_stays_flat(bank: Path) -> None:
    part = b"\n".join(lines(1000)) + b"\n"
    peaks = []
    for times in (2, 20):
        with bank.open("wb") as file:
            for _ in range(times):
                file.write(part)
        done = subprocess.run([sys.executable, "-c", MEASURE, str(bank)], capture_output=True, text=True, check=True)
        count, peak = map(int, done.stdout.split())
        assert count == times * 1000
        peaks.append(peak)
    assert peaks[1] < peaks[0] * 1.1 + 5, peaks
    assert peaks[1] < 400
