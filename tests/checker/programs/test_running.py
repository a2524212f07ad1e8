"""Verifiers run: a part of the suite at each level, and what a worker keeps apart. benchmarks/verifiers.py has all."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backtrader_bench.checker.programs import processes
from backtrader_bench.checker.programs.judge import judge_runs
from backtrader_bench.checker.programs.program import run_program
from backtrader_bench.checker.programs.worker import Worker, check_store_hidden, library_folders
from backtrader_bench.errors import SandboxError
from backtrader_bench.sandbox.room import Isolation, Level
from backtrader_bench.sandbox.selftest import LEVELS, holds
from tests.checker.verifiers import Case, Outside, cases

SUITE = {case.name: case for kind in ("faulty", "clean") for case in cases(kind)}
QUICK = (
    "answer_at_exit", "crashes_on_some_seeds", "hash_join", "kills_bench", "kills_parent", "memory_8_gib",
    "memory_empty", "needs_warm", "network_hidden", "orphan_hiding", "parent_environment", "prints_10_mb",
    "random_global", "reads_store_hidden", "writes_outside", "limits_bench", "limits_parent", "permissions_of_store",
    "state_in_shared_memory", "disk_without_names", "closes_output_file", "csv_feed", "filled_arrays", "sets_in_order",
)  # fmt: skip
PRINT = "import json, os\nprint('QUESTION_JSON: ' + json.dumps(os.environ['MCQ_SEED']))\n"


@pytest.fixture(scope="module", params=["L3", "L2"])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A worker a level."""
    found = holds(request.param)
    if not isinstance(found, Isolation):
        pytest.skip(found)
    with Worker(level=found.level) as worker:
        yield worker


@pytest.mark.parametrize("case", [SUITE[name] for name in QUICK], ids=lambda case: case.name)
def test_the_faulty_are_caught_and_the_clean_kept(worker: Worker, case: Case, tmp_path: Path) -> None:
    with Outside(tmp_path) as outside:
        runs = worker.verify(outside.told(case).code, 1001, [2010, 3019, 4028], timeout=30.0)
        reasons = {reason.name for reason in judge_runs(runs).reasons}
        assert bool(reasons & case.runs) if case.faulty else not reasons, (reasons, runs[-1])
        assert outside.harm("".join(run.stdout + run.stderr for run in runs)) == []


def test_a_run_that_never_ends_is_ended(worker: Worker) -> None:
    begun = time.monotonic()
    (run,) = [worker.run("import time\nprint('begun', flush=True)\nwhile True: time.sleep(1)", 1, timeout=1.0)]
    assert run.timed_out and run.code is None and run.stdout == "begun\n"
    assert time.monotonic() - begun < 20


def test_runs_do_not_see_each_other(worker: Worker) -> None:
    code = (
        "import os\nopen('mine', 'w').close()\n"
        "for place in ('/tmp', '/dev/shm'):\n"
        "    try: open(place + '/mine', 'w').close()\n"
        "    except OSError: pass\n"
        "seen = []\n"
        "for place in ('.', '..', '/tmp', '/dev/shm'):\n"
        "    try: seen += os.listdir(place)\n"
        "    except OSError: pass\n"
        "print(sorted(name for name in seen if name.startswith(('run-', 'mine'))))"
    )
    first, second = worker.run(code, 1), worker.run(code, 2)
    assert first.code == second.code == 0
    assert first.stdout.count("run-") <= 1 and second.stdout.count("run-") <= 1
    assert first.stdout.count("mine") == second.stdout.count("mine")


def test_the_environment_is_built_from_nothing(worker: Worker) -> None:
    allowed = {
        "PATH", "LANG", "MCQ_SEED", "HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "MALLOC_PERTURB_", "PYTHONPATH",
        "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "LC_CTYPE",
    }  # fmt: skip
    for fresh in (False, True):
        run = worker.run("import os, json\nprint(json.dumps(dict(os.environ)))", 7, fresh=fresh)
        seen = json.loads(run.stdout)
        assert set(seen) <= allowed and seen["MCQ_SEED"] == "7"


def test_forks_of_a_warm_interpreter_draw_different_numbers(worker: Worker) -> None:
    code = "import random, numpy\nprint(random.random(), numpy.random.rand())"
    drawn = {worker.run(code, 1).stdout for _ in range(3)}
    assert len(drawn) == 3


def test_a_warm_run_is_what_the_interpreter_would_do(worker: Worker) -> None:
    code = (
        PRINT + "import sys, atexit, threading\nprint(__name__, sys.argv, len(sys.stdin.read()))\n"
        "atexit.register(print, 'at exit')\n"
        "threading.Thread(target=lambda: (threading.Event().wait(0.1), print('from a thread'))).start()\n"
        "sys.exit('said at the end')"
    )
    warm, fresh = worker.run(code, 5), worker.run(code, 5, fresh=True)
    assert (warm.stdout, warm.stderr, warm.code) == (fresh.stdout, fresh.stderr, fresh.code)
    assert warm.stderr == "said at the end\n" and warm.code == 1 and "from a thread\n" in warm.stdout
    failing = [worker.run("def f():\n    return 1 / 0\nf()", 1, fresh=fresh) for fresh in (False, True)]
    errors = [run.stderr.replace(f"run-{run_number(run.stderr)}", "run") for run in failing]
    assert errors[0] == errors[1] and "line 2, in f" in errors[0]


def offered() -> Level:
    for level in LEVELS[:2]:
        if isinstance(holds(level), Isolation):
            return level
    pytest.skip("this machine keeps nothing in")


def run_number(text: str) -> str:
    return text.split("run-")[1].split("/")[0]


def test_nothing_is_left_of_a_closed_worker() -> None:
    level = offered()
    with Worker(level=level) as worker:
        worker.run("print(1)", 1)
        base, process = worker.base, worker.process
        assert process is not None and len(processes.descendants(process.pid)) >= 1
        worker.room.chmod(0o700)
        (worker.room / "closed").mkdir(mode=0)
    assert not base.exists()
    assert process.poll() is not None
    assert processes.sweep(base, None) == 0


def test_runs_stop_at_the_first_failure_where_asked() -> None:
    level = offered()
    code = "import os\nassert os.environ['MCQ_SEED'] != '2'"
    runs = run_program(code, [1, 2, 3], level=level, stop_at_failure=True)
    assert [(run.seed, run.failed) for run in runs] == [(1, False), (2, True)]


def test_a_sweep_ends_what_names_the_room_and_nothing_else(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    options = {"stdin": subprocess.PIPE}
    by_variable = subprocess.Popen(["cat"], env={"HOME": str(room)}, **options)
    by_folder = subprocess.Popen(["cat"], env={}, cwd=room, **options)
    other = subprocess.Popen(["cat"], env={"HOME": str(tmp_path)}, cwd=tmp_path, **options)
    try:
        assert processes.sweep(room, None) == 2
        assert by_variable.wait(10) == by_folder.wait(10) == -9
        assert other.poll() is None
    finally:
        for process in (by_variable, by_folder, other):
            process.communicate()


def test_a_run_that_can_not_be_confined_is_no_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    order = Worker._order
    broken = {"landlock": None, "seccomp": "00"}
    monkeypatch.setattr(Worker, "_order", lambda self, *given: {**order(self, *given), **broken})
    with Worker(level=offered()) as worker, pytest.raises(SandboxError, match="a run could not be confined: "):
        worker.run("print(1)", 1)


def test_a_store_in_what_runs_are_shown_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    check_store_hidden([tmp_path / "other"])
    with pytest.raises(SandboxError, match=r"db is in it; set BENCH_HOME"):
        check_store_hidden([tmp_path])
    # What every room shows, whether the store is there already or not.
    monkeypatch.setenv("BENCH_HOME", "/usr/local/share/bench-of-nobody")
    with pytest.raises(SandboxError, match=r"runs are shown /usr, and /usr/local/share/bench-of-nobody/db is in it"):
        check_store_hidden([])


def test_nothing_can_be_put_beside_a_run(worker: Worker) -> None:
    code = (
        "import os\n"
        "for place in ('../run-2', '../note', '/tmp/note', '/dev/shm/note'):\n"
        "    try: os.mkdir(place)\n"
        "    except OSError: continue\n"
        "    print(place)"
    )
    run = worker.run(code, 1)
    assert (run.code, run.stdout) == (0, "")
    assert list(worker.room.iterdir()) == []


def test_descriptors_stay_outside_whatever_the_limit() -> None:
    """At the lowest level, where a run can lower the limits of the interpreter that it came from."""
    lower = "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (14, 256))"
    code = (
        "import os\n"
        "def there(fd):\n"
        "    try: return bool(os.fstat(fd))\n"
        "    except OSError: return False\n"
        "print(os.sysconf('SC_OPEN_MAX'), [fd for fd in range(3, 1000) if there(fd)])"
    )
    with contextlib.ExitStack() as held:
        for _ in range(30):  # so that the socket's number is high
            held.enter_context(Path("/dev/null").open())
        worker = held.enter_context(Worker(level="L1"))
        assert worker.run(lower, 1).code == 0
        assert worker.run(code, 1).stdout == "14 []\n"


def test_libraries_and_their_files_work_without_permissions_to_change(worker: Worker) -> None:
    code = (
        "import os, shutil, sqlite3, tempfile, pandas as pd, numpy as np, backtrader\n"
        "with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:\n"
        "    pd.DataFrame({'a': [1, 2]}).to_csv(folder + '/a.csv')\n"
        "    shutil.copyfile(folder + '/a.csv', 'b.csv')\n"
        "base = sqlite3.connect('a.db'); base.execute('create table t(x)'); base.commit()\n"
        "np.savez('a.npz', a=np.ones(3)); np.memmap('m', mode='w+', shape=(9,), dtype='f8')[:] = 1\n"
        "print(len(pd.read_csv('b.csv')), np.load('a.npz')['a'].sum(), os.nice(0))\n"
        "try: os.chmod('b.csv', 0)\n"
        "except PermissionError: print('refused')"
    )
    run = worker.run(code, 1)
    assert (run.code, run.stdout) == (0, f"2 3.0 {os.nice(0)}\nrefused\n"), run.stderr


def test_files_of_the_working_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrader_bench.agents.api import API
    from backtrader_bench.agents.cursor import CURSOR

    for name in ("re", "json", "os", "compileall", "importlib", "anthropic", "backtrader", "pandas", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the user was run')\n")
    before = library_folders.__wrapped__(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert library_folders.__wrapped__(sys.executable) == before
    for backend in (API, CURSOR):
        done = subprocess.run([sys.executable, *backend.version_argv], capture_output=True, text=True, check=False)
        assert "a file of the user" not in done.stderr
        assert "PackageNotFoundError" in done.stderr or not done.returncode
