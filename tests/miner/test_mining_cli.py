"""``bench mine`` as a person, a script and cron start it: real processes, the real sandbox."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backtrader_bench.cli import mining
from backtrader_bench.cli.main import run as bench
from backtrader_bench.cli.mine import mine as command
from backtrader_bench.errors import SandboxError
from backtrader_bench.miner import cron, journal
from backtrader_bench.sandbox import selftest
from tests.miner.sessions import agents, generator, mine, script, verifier


@pytest.fixture(autouse=True)
def sandbox() -> None:
    try:
        selftest.best()
    except SandboxError as error:
        pytest.skip(str(error))


def in_cron(line: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """A crontab line as cron runs it: almost no environment, no terminal, the root folder."""
    command = line.split(" ", 5)[5].replace(r"\%", "%")
    return subprocess.run(
        ["/bin/sh", "-c", command], env={"HOME": str(tmp_path), "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", timeout=600,
    )  # fmt: skip


def cron_line(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    # The options come from the process's own command line, as the user wrote them.
    code = bench(["mine", *options, "--print-cron"])
    assert code == 0
    return next(line for line in capsys.readouterr().out.splitlines() if line[:1].isdigit())


@pytest.fixture(autouse=True)
def command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """``sys.argv`` as it would be: the command reads what to repeat from there."""
    from backtrader_bench.cli import main

    whole = main.cli.main

    def told(argv: list[str] | None = None, **more: object) -> object:
        monkeypatch.setattr(sys, "argv", ["bench", *(argv or [])])
        return whole(argv, **more)

    monkeypatch.setattr(main.cli, "main", told)


def test_the_printed_crontab_line_works_in_cron_s_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "night store"
    home.mkdir()
    monkeypatch.setenv("BENCH_HOME", str(home))
    line = cron_line(capsys, "--attempts", "1", "--run-name", "100% sure", "--no-fsync")
    assert line.startswith("17 2 * * * env ")
    done = in_cron(line, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    [told] = done.stdout.splitlines()
    [run] = journal.sessions()
    assert told.startswith(f"{run}: ")
    assert run.endswith("_rounds_1_100-sure")
    assert len(journal.open_journal(run).lines) == 2


def test_exit_codes_of_nights_that_went_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    bare = script(tmp_path, {"id": "generator", "text": "nothing", "usage": {"input": 50, "output": 1}})
    quick = ("--generator-agent", bare, "--no-tools-agent", "guesser", "--with-tools-agent", "oracle", "--no-fsync")
    nothing = in_cron(cron_line(capsys, *quick, "--attempts", "1"), tmp_path)
    assert (nothing.returncode, nothing.stdout.count("\n")) == (0, 1)
    assert "0 of 1 accepted" in nothing.stdout
    wanted = in_cron(cron_line(capsys, *quick, "--attempts", "1", "--until-accepted", "1"), tmp_path)
    assert (wanted.returncode, "fewer accepted than wanted" in wanted.stdout) == (5, True)
    budget = in_cron(cron_line(capsys, *quick, "--attempts", "9", "--max-tokens", "60"), tmp_path)
    assert (budget.returncode, "--max-tokens ended it" in budget.stdout) == (5, True)
    # An agent that is installed when the line is printed, and gone at night.
    here = cron_line(capsys, *quick, "--attempts", "1").replace(bare, "claude")
    gone = in_cron(here.replace(f"PATH={os.environ['PATH']}", "PATH=/nowhere:/usr/bin"), tmp_path)
    assert (gone.returncode, gone.stdout) == (3, "")
    assert gone.stderr.startswith("error: claude: ")


def test_files_are_named_so_that_cron_finds_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("BENCH_COMMAND_ENV", "MY_OWN_KEY")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gen.py").write_text("import sys; sys.stdin.read(); print('nothing')")
    (tmp_path / "my agent").write_text("")
    for name in ("prices", "night", "codex", "replies"):
        (tmp_path / name).write_text("")
    (tmp_path / "replies").write_text('{"id": "x", "text": "nothing"}\n')
    (tmp_path / "prices").write_text("[m]\ninput = 3.0\n")
    options = ["--generator-agent", "command:python3 gen.py --flag", "--no-tools-agent=scripted:replies",
               "--with-tools-agent", "command:m=python3 './my agent' {model}", "--prices", "prices",
               "--run-name", "night", "--attempts", "1", "--no-fsync"]  # fmt: skip
    assert bench(["mine", *options, "--print-cron"]) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line[:1].isdigit())
    words = shlex.split(line.split(" ", 5)[5])
    for word in (f"command:python3 {tmp_path}/gen.py --flag", f"--no-tools-agent=scripted:{tmp_path}/replies",
                 f"command:m=python3 '{tmp_path}/my agent' '{{model}}'", f"{tmp_path}/prices", "night"):  # fmt: skip
        assert word in words
    # What the line doesn't carry is said, by name alone.
    told = " ".join(one for one in out.splitlines() if one.startswith("#"))
    for word in ("API keys", "BENCH_BWRAP", "BENCH_COMMAND_READ", "Set here now: BENCH_COMMAND_ENV"):
        assert word in told
    assert "MY_OWN_KEY" not in out


def test_a_night_without_a_generator_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gen.py").write_text("raise SystemExit('out of order')")
    roles = ("--generator-agent", "command:python3 gen.py", "--no-tools-agent", "guesser", "--with-tools-agent",
             "oracle", "--no-fsync", "--attempts", "1")  # fmt: skip
    done = in_cron(cron_line(capsys, *roles), tmp_path)
    assert (done.returncode, "1 generator failed" in done.stdout) == (3, True), done
    assert "the agents answered in few attempts or none" in done.stdout
    # It is started from the root folder and found nevertheless.
    (tmp_path / "gen.py").write_text("import sys; sys.stdin.read(); print('nothing')")
    done = in_cron(cron_line(capsys, *roles), tmp_path)
    assert (done.returncode, "1 malformed" in done.stdout) == (0, True), done


def test_cron_words() -> None:
    argv = cron.command("/opt/a b/python", ["--run-name", "50%", "--prices", "/x/$p.toml"])
    line = cron.crontab(argv, {"BENCH_HOME": "/srv/bench", "PATH": "/usr/bin:/bin"})
    assert r"50\%" in line
    assert shlex.split(line.replace(r"\%", "%"))[5:8] == ["env", "BENCH_HOME=/srv/bench", "PATH=/usr/bin:/bin"]
    units = cron.systemd(argv, {"BENCH_HOME": "/srv/100%", "PATH": "/usr/bin"})
    assert 'Environment="BENCH_HOME=/srv/100%%"' in units["bench-mine.service"]
    assert '"/x/$$p.toml"' in units["bench-mine.service"]
    assert "OnCalendar=*-*-* 02:17:00" in units["bench-mine.timer"]
    left = cron.options_without(["--print-cron", "--seed=3", "-q", "--attempts", "5"], {"--print-cron": 0, "-q": 0})
    assert left == ["--seed=3", "--attempts", "5"]


def test_cron_lines_say_which_variables_they_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_MINE_ATTEMPTS", "3")
    assert bench(["mine", "--print-cron"]) == 0
    head, *_ = capsys.readouterr().out.splitlines()
    assert head == "# Of your shell's variables only BENCH_HOME, PATH and BENCH_MINE_ATTEMPTS are in these lines."
    assert bench(["mine", "--print-cron", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"crontab", "systemd", "not_carried_over"}
    assert found["crontab"].endswith("mine --quiet")
    assert set(found["systemd"]) == {"bench-mine.service", "bench-mine.timer"}


def test_a_quiet_session_that_a_cap_ended_prints_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    options = ["--attempts", "2", "--no-steer", "--generator-agent", f"command:{sys.executable} -c pass"]
    assert bench(["mine", *options, "--quiet", "--max-hours", "0.0000001"]) == 5
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.count("\n") == 1
    assert "--max-hours ended it" in told.out


def started(tmp_path: Path, home: Path, *options: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "backtrader_bench", "mine", *options]
    environ = {**os.environ, "BENCH_HOME": str(home)}
    return subprocess.Popen(
        words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        # A shell's background jobs inherit the signal ignored, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def waiting(tmp_path: Path) -> list[str]:
    """Options of a session whose generator takes its time."""
    slow = script(tmp_path, {"id": "generator", "text": "nothing", "delay": 60})
    return ["--generator-agent", slow, "--no-tools-agent", "guesser", "--with-tools-agent", "oracle", "--attempts", "2"]


def standing(home: Path) -> list[Path]:
    """What is in the store, less what the sandbox's self-test lays out there for a moment."""
    return sorted(path for path in home.rglob("*") if path.suffix != ".tmp")


def until_begun(home: Path) -> None:
    for _ in range(600):
        if list(home.glob("logs/mining_*/attempt_001/generator/try1/prompt.txt")):
            return
        time.sleep(0.1)
    raise AssertionError("the session did not begin")


def test_a_second_session_exits_4_and_names_the_holder_and_a_killed_one_is_no_obstacle(tmp_path: Path) -> None:
    home = tmp_path / "store"
    home.mkdir()
    first = started(tmp_path, home, *waiting(tmp_path))
    try:
        until_begun(home)
        before = standing(home)
        second = started(tmp_path, home, "--attempts", "1", "-q")
        out, err = second.communicate(timeout=300)
        assert (second.returncode, out) == (4, "")
        [run] = (path.name for path in home.glob("logs/mining_*"))
        assert f"process {first.pid} ({run}) since" in err
        assert standing(home) == before
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate()
    # What the killed one left holds nobody up, and is spoken of.
    quick = script(tmp_path, {"id": "generator", "text": "nothing"})
    third = started(tmp_path, home, "--generator-agent", quick, "--no-tools-agent", "guesser", "--with-tools-agent",
                    "oracle", "--attempts", "1", "-q")  # fmt: skip
    out, err = third.communicate(timeout=300)
    assert third.returncode == 0, err
    assert err.startswith(f"took over the lock that process {first.pid} ")
    assert len(out.splitlines()) == 1


def test_ctrl_c_exits_130_and_the_session_can_be_resumed(tmp_path: Path) -> None:
    home = tmp_path / "store"
    home.mkdir()
    first = started(tmp_path, home, *waiting(tmp_path))
    until_begun(home)
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=300)
    assert first.returncode == 130, err
    assert "what was finished is kept" in err
    again = started(tmp_path, home, "--resume", "last", "--attempts", "5")
    _, err = again.communicate(timeout=300)
    assert (again.returncode, "--attempts is kept with the session" in err) == (2, True)


def test_a_session_with_its_tables_and_its_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = agents(tmp_path, verifier())
    written = generator(tmp_path, verifier(), "print(1)\n")
    options = ["--generator-agent", written, "--attempts", "2", "--seed", "7", "--no-tools-agent",
                given["no_tools_agents"][0], "--with-tools-agent", given["with_tools_agent"]]  # fmt: skip
    assert bench(["mine", *options]) == 0
    told = capsys.readouterr()
    assert "attempt 1 of 2: accepted" in told.err
    assert "attempt 2 of 2: verifier failed (no_seed)" in told.err
    for word in ("decision", "accepted", "verifier failed", "category", "role", "with tools", "~", "questions: "):
        assert word in told.out or word == "~"
    assert bench(["mine", "--resume", "last", "--json"]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert found["decisions"] == {"tool_solver_correct": 1, "verifier_failed": 1}
    assert found["exit_code"] == 0
    assert Path(found["questions_file"]).is_file()
    assert found["spending"]["generator"]["usage"]["input"] == 200
    assert bench(["check", found["questions_file"]]) == 0
    assert "1 of 1 match, their verifiers" in capsys.readouterr().out


def test_a_mining_session_is_no_run_to_report_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = mine(agents(tmp_path, verifier())).run
    for name in (run, f"db/summary/{run}.jsonl"):
        assert bench(["report", name]) == 2
        assert f"{run} is a mining session; bench review {run}" in capsys.readouterr().err


def test_help_needs_no_agent(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("mine", "review"):
        assert bench([verb, "--help"]) == 0
    assert "bracket, trail, atr" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("options", "code", "word"), [
    (["--category", "nonsense"], 2, "bracket"),
    (["--generator-agent", "nonsense"], 2, "nonsense"),
    (["--generator-agent", "oracle"], 2, "writes no programs"),
    (["--resume", "mining_1"], 2, "no mining session"),
    (["--resume", "last", "--print-cron"], 2, "don't go together"),
    # As a script has it whose variable is not set: no new session of ten attempts.
    (["--resume", ""], 2, "no mining session"),
    (["--resume", "", "--print-cron"], 2, "don't go together"),
    (["--run-name", "a\nb", "--print-cron"], 2, "line break"),
    (["--run-name", "a\x1bb", "--print-cron"], 2, "control character"),
    (["--run-name", "///"], 2, "--run-name"),
    (["--attempts", "0"], 2, "--attempts"),
])  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_written(
    options: list[str], code: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    assert bench(["mine", *options]) == code
    told = capsys.readouterr()
    assert word in told.err
    assert told.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_session_without_a_seed_draws_one_that_can_not_be_tried_out() -> None:
    drawn = {mining._derived({"seed": None, "no_steer": False, "own_config": False})["seed"] for _ in range(20)}
    assert len(drawn) == 20 and min(drawn) >= 2**62 and max(drawn) < 2**63
    assert mining._derived({"seed": 0, "no_steer": False, "own_config": False})["seed"] == 0
    # A drawn seed can be given again.
    (seed,) = [one for one in command.params if one.name == "seed"]
    assert seed.type.convert(str(max(drawn)), seed, None) == max(drawn)
