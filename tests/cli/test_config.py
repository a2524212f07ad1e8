"""``bench.toml``, variables and flags: who wins, what is refused, and what ``bench config`` says of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from backtrader_bench.cli import configuration, kinds
from backtrader_bench.cli.main import COMMANDS, cli, run
from backtrader_bench.errors import UsageError

BENCH = [sys.executable, "-m", "backtrader_bench"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an inner folder, from which commands run."""
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    monkeypatch.delenv("BENCH_CONFIG", raising=False)
    return tmp_path


def write(project: Path, text: str) -> Path:
    path = project / "bench.toml"
    path.write_text(text)
    return path


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["config", "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_flags_before_variables_before_the_file_before_defaults(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(project, "[run]\nrepeats = 2\njobs = 2\nretries = 2\n")
    monkeypatch.setenv("BENCH_RUN_JOBS", "3")
    monkeypatch.setenv("BENCH_RUN_RETRIES", "3")
    found = shown(capsys, "run", "--retries", "4")
    told = {name: (one["value"], one["from"], one["where"]) for name, one in found["commands"]["run"].items()}
    assert told["retries"] == (4, "command line", "")
    assert told["jobs"] == (3, "variable", "$BENCH_RUN_JOBS")
    assert told["repeats"] == (2, "bench.toml", str(path))
    assert told["timeout"][1] == "default"
    assert found["file"] == str(path)


def test_a_command_runs_with_what_config_shows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, '[build]\nnum-questions = 2\ndata = "synthetic:calm:3"\nsymbol = "SYNA"\ndifficulty = "easy"\n'
                   "start_date = 2016-01-04\nend-date = 2016-09-01\nscheme = 'ladder'\njson = true\n")  # fmt: skip
    assert run(["build", "-o", "bank.jsonl", "-n", "1"]) == 0
    capsys.readouterr()
    (record,) = [json.loads(line) for line in Path("bank.jsonl").read_text().splitlines()]
    assert (record["config"]["symbol"], record["config"]["start_date"]) == ("SYNA", "2016-01-04")


def test_every_type_of_option(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, """
        [run]
        agent = ["oracle", "command:python3 my.py"]
        rotate = true
        max_cost = 5
        [build]
        strategy = "all"
        strategy-params = {pfast = 8}
        start-date = 2010-01-01
        [agents.test]
        timeout = 9
        [data.show]
        json = true
    """)
    commands = shown(capsys)["commands"]
    assert commands["run"]["agent"]["value"] == ["oracle", "command:python3 my.py"]
    assert (commands["run"]["rotate"]["value"], commands["run"]["max-cost"]["value"]) == (True, 5)
    assert commands["build"]["strategy"]["value"] == ["all"]
    assert json.loads(commands["build"]["strategy-params"]["value"]) == {"pfast": 8}
    assert commands["build"]["start-date"]["value"] == "2010-01-01"
    assert commands["agents test"]["timeout"]["value"] == 9
    assert list(commands["data show"]) == ["json"]


# what stands in the file -> what must be said of it
WRONG = {
    "[run]\nrepeat = 2": "[run]: 'repeat' is no option of it; did you mean 'repeats'?",
    "[rum]\njobs = 2": "[rum] is no command; did you mean 'run'?",
    "jobs = 2": "'jobs' stands in no table; settings stand under their command, as [run]",
    "[run]\nrotate = 1": "[run]: rotate is 1; it must be true or false",
    "[run]\njobs = [1]": "[run]: jobs is a list; it takes one value",
    "[run]\njobs = true": "[run]: jobs is true; it is no switch",
    "[run]\ndry-run = true\ndry_run = true": "'dry_run' is there twice, with - and with _",
    "[run]\nhelp = true": "'help' is no option of it",
    "[agents.tset]\ntimeout = 2": "[agents]: 'tset' is no option of it; did you mean 'test'?",
    "[agents.test]\nmodel = 2": "[agents.test]: 'model' is no option of it; did you mean 'mode'?",
    "[agents]\ntest = 5": "[agents]: 'test' is a command, no option; its settings stand in [agents.test]",
    "[run": "not TOML",
    "[run]\njobs = 'x'": '[run]: jobs is "x"; it must be a whole number',
    "[run]\njobs = 1.0": "[run]: jobs is 1.0; it must be a whole number",
    "[run]\njobs = 0": "Invalid value for '--jobs'",
    "[run]\nmax-cost = '5'": '[run]: max-cost is "5"; it must be a number',
    "[run]\nmax-cost = inf": "Invalid value for '--max-cost'",
    "[run]\ndata = 5": "[run]: data is 5; it must be a path in quotes",
    '[run]\ndata = "a\\u0000b"': "[run]: data holds a null byte",
    "[run]\ndata = {a = 1}": '[run]: data is {"a": 1}; it must be a path in quotes',
    "[run]\nagent = ['oracle', 3]": "[run]: agent is 3; it must be a text in quotes",
    "[run]\nagent = [['oracle']]": "[run]: agent is a list; it takes one value",
    "[run]\nrun-name = 2026-01-02": '[run]: run-name is 2026-01-02; it must be a text in quotes',
    "[run]\nmode = 1": "[run]: mode is 1; it must be a text in quotes",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said_in_a_line(text: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(project, text)
    words = ["agents", "test", "oracle"] if "agents" in text else ["run", "bank.jsonl"]
    for command in (words, ["config"]):
        assert run(command) == 2
        told = capsys.readouterr()
        assert WRONG[text] in told.err and str(path) in told.err and told.err.count("\n") == 1
    assert run(["run", "--help"]) == 0  # help is there whatever the file says


# of bench build; each was taken for something else, or ended in a traceback
MISTAKEN = {
    "seed = 1.9": "whole number", "num-questions = 2.9": "num-questions is 2.9; it must be a whole number",
    "output = 7": "output is 7; it must be a path", "output = {a = 1}": 'output is {"a": 1}; it must be a path',
    "symbol = 5": "symbol is 5; it must be a text", "strategy-params = 5": "strategy-params is 5; it must be a table",
    "start-date = 2016": "start-date is 2016; it must be a date", "exclude = [1]": "exclude is 1; it must be a path",
    "start-date = 2016-01-04T00:00:00": 'start-date is 2016-01-04T00:00:00; it must be a date',
    "initial-cash = '5'": 'initial-cash is "5"; it must be a number', "seed = true": "seed is true; it is no switch",
}  # fmt: skip


@pytest.mark.parametrize("text", MISTAKEN, ids=range(len(MISTAKEN)))
def test_no_value_is_taken_for_another(text: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, f"[build]\n{text}\n")
    for command in (["build", "-n", "1"], ["config"]):
        assert run(command) == 2
        told = capsys.readouterr()
        assert MISTAKEN[text] in told.err and told.err.count("\n") == 1
    assert list(Path().iterdir()) == []


def test_every_option_refuses_what_is_not_of_its_type() -> None:
    def options(command: click.Command) -> list[click.Option]:
        inner = command.commands.values() if isinstance(command, click.Group) else ()
        return [*configuration.settable(command), *(one for other in inner for one in options(other))]

    found = [one for word in COMMANDS for one in options(cli.get_command(click.Context(cli), word))]
    for option in found:
        name = configuration.flag(option)
        wrong: list[Any] = [True, [[]]]
        if option.is_flag:
            wrong = [1, "x"]
        elif isinstance(option.type, click.types.IntParamType | click.types.FloatParamType):
            wrong += ["1", {}]
        elif isinstance(option.type, configuration.TEXTS):
            wrong += [1, 1.5]
        if not isinstance(option.type, kinds.JsonObject):
            wrong.append({})
        for value in wrong:
            with pytest.raises(UsageError, match=f"f: {name} is "):
                configuration.defaults(click.Command("x", params=[option]), {name: value}, "f")


def test_what_was_changed_is_shown_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "[build]\nbundle = 3\nseed = 7\n")
    assert run(["config", "build", "--jobs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()[3:]
    assert [line.split()[1] for line in lines[:4]] == ["seed", "bundle", "jobs", "symbol"]


def test_bytes_that_are_no_text(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bench.toml").write_bytes(b"[run]\nrun-name = '\xff'")
    assert run(["config"]) == 2
    assert "not UTF-8 (byte 18)" in capsys.readouterr().err


def test_the_nearest_file_counts_and_the_variable_names_another(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "[run]\njobs = 1")
    write(project / "inner", "[run]\njobs = 2")
    assert shown(capsys)["commands"]["run"]["jobs"]["value"] == 2
    monkeypatch.setenv("BENCH_CONFIG", str(project / "bench.toml"))
    assert shown(capsys)["commands"]["run"]["jobs"]["value"] == 1
    monkeypatch.setenv("BENCH_CONFIG", "")
    assert (shown(capsys)["commands"], shown(capsys)["file"]) == ({}, None)
    monkeypatch.setenv("BENCH_CONFIG", "nowhere.toml")
    assert run(["config"]) == 2
    assert "BENCH_CONFIG names nowhere.toml, and there is no such file" in capsys.readouterr().err


def test_a_file_of_somebody_else_above_is_not_taken(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(project, "[run]\njobs = 2")
    own = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    monkeypatch.setattr(configuration, "ROOT", -1)
    assert run(["config"]) == 2
    assert f"{path} belongs to another user" in capsys.readouterr().err
    monkeypatch.chdir(project)
    assert run(["config"]) == 0


def test_a_variable_that_sets_nothing_is_noted(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCH_RUN_AGNET", "oracle")
    assert shown(capsys)["notes"] == ["BENCH_RUN_AGNET sets nothing; did you mean 'BENCH_RUN_AGENT'?"]


def test_no_two_options_share_a_variable() -> None:
    def variables(command: click.Command) -> list[str]:
        inner = command.commands.values() if isinstance(command, click.Group) else ()
        own = [str(one.envvar) for one in configuration.settable(command)]
        return own + [name for one in inner for name in variables(one)]

    found = [name for word in COMMANDS for name in variables(cli.get_command(click.Context(cli), word))]
    assert len(found) == len(set(found)) > 100


def test_a_file_given_by_a_flag_counts_more_than_project_defaults(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "[build]\nnum-questions = 3\nseed = 3\nscheme = 'ladder'\n")
    Path("mine.toml").write_text('num_questions = 2\ndifficulty = "easy"\ndata = "synthetic:calm:3"\nsymbol = "SYNA"\n'
                                 'start_date = "2016-01-04"\nend_date = "2016-09-01"\nscheme = "ladder"\n')  # fmt: skip
    assert run(["build", "--config", "mine.toml", "--seed", "9", "-o", "bank.jsonl", "--json"]) == 0
    records = [json.loads(line) for line in Path("bank.jsonl").read_text().splitlines()]
    assert (len(records), {one["seed"] for one in records}) == (2, {9})


def test_project_defaults_do_not_change_a_run_that_is_resumed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = Path(__file__).resolve().parents[1] / "data" / "store_v1" / "db" / "mcq" / "v1.jsonl"
    assert run(["run", str(bank), "--agent", "guesser", "-q"]) == 0
    write(project, '[run]\nagent = ["oracle"]\nrun-name = "other"\nrepeats = 3\nquiet = true\n')
    assert run(["run", "--resume", "last"]) == 0
    capsys.readouterr()
    assert run(["run", "--resume", "last", "--repeats", "3"]) == 2  # a flag still is a wish, and refused
    assert "repeats" in capsys.readouterr().err


def test_a_night_finds_the_same_settings(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(project, "[mine]\nattempts = 3\n")
    monkeypatch.setenv("BENCH_MINE_JOBS", "2")
    monkeypatch.setattr(sys, "argv", ["bench", "mine", "--print-cron"])
    assert run(["mine", "--print-cron"]) == 0
    text = capsys.readouterr().out
    assert f"BENCH_CONFIG={path} BENCH_MINE_JOBS=2 " in text
    assert f'Environment="BENCH_CONFIG={path}"' in text
    # With a seed, wherever it is from, every night would mine the same.
    assert run(["mine", "--print-cron", "--seed", "7"]) == 2
    assert "--print-cron: seed 7 would mine the same every night" in capsys.readouterr().err
    write(project, "[mine]\nseed = 6\n")
    assert run(["mine", "--print-cron"]) == 2
    assert f"seed 6 (from {path}) would" in capsys.readouterr().err
    monkeypatch.setenv("BENCH_MINE_SEED", "5")
    assert run(["mine", "--print-cron"]) == 2
    assert "seed 5 (from $BENCH_MINE_SEED) would" in capsys.readouterr().err


def offered(words: str, *, light: bool = True) -> list[str]:
    """What a shell is offered for a line; the last word is being typed. ``light``: nothing heavy may be loaded."""
    code = (
        "import sys\nfrom backtrader_bench.cli.main import run\n"
        "try:\n    run([])\nexcept SystemExit:\n    pass\n"
        "print('MODULES', *{name.split('.')[0] for name in sys.modules})"
    )
    count = str(words.count(" "))
    env = {**os.environ, "_BENCH_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    lines, _, loaded = done.stdout.partition("MODULES ")
    assert not set(loaded.split()) & {"rich", "msgspec", "numpy", "pandas", "backtrader", "jinja2", "filelock"}
    return [line.partition(",")[2] for line in lines.splitlines()]


def test_completion_offers_verbs_options_and_choices(project: Path) -> None:
    write(project, "[nonsense")  # a faulty file is no reason to complete nothing
    assert offered("bench re") == [name for name in COMMANDS if name.startswith("re")]
    assert offered("bench db s") == ["stats"]
    assert "--max-cost" in offered("bench run --max")
    assert offered("bench run --mode ") == ["no-tools", "with-tools"]
    assert offered("bench build --strategy sma") == ["sma_crossover"]


def completed(words: str) -> list[str]:
    """The same in this process, by click's own completion."""
    *before, typed = words.split(" ")
    return [one.value for one in ShellComplete(cli, {}, "bench", "X").get_completions(before[1:], typed)]


def test_completion_offers_what_is_registered(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backtrader_bench.agents.registry import BACKENDS
    from backtrader_bench.backtest.strategies import REGISTRY
    from backtrader_bench.mcq_builder.settings import SCHEMES, SETTINGS
    from backtrader_bench.miner.categories import CATEGORIES
    from backtrader_bench.templates.registry import TEMPLATES

    assert completed("bench build --scheme ") == completed("bench audit --scheme ") == list(SCHEMES)
    assert completed("bench build --worlds ") == ["resampled"]
    assert completed("bench build --sizing ") == ["capped", "fixed"]
    assert completed("bench build --strategy ") == [*REGISTRY, "all"]
    assert completed("bench build --template ") == completed("bench audit --template ") == list(TEMPLATES)
    assert completed("bench build --difficulty ") == ["easy", "medium", "hard", "all"]
    assert completed("bench build --difficulty easy,h") == ["easy,hard"]
    assert completed("bench run --agent ") == completed("bench agents test ") == list(BACKENDS)
    assert completed("bench mine --generator-agent o") == ["offline", "oracle"]
    assert completed("bench mine --category ") == list(CATEGORIES)
    # What is offered must be taken.
    for name, words in {"scheme": kinds.schemes, "sizing": kinds.sizings, "worlds": kinds.worlds,
                        "difficulty": kinds.tiers, "strategy": kinds.strategies, "template": kinds.templates}.items():
        for word in words():
            SETTINGS[name].check(name, word)
    old = Path(__file__).resolve().parents[1] / "data" / "store_v1"
    monkeypatch.setenv("BENCH_HOME", str(old))
    (one,) = [path.stem for path in (old / "db" / "attempts").glob("run_*.jsonl")]
    assert completed("bench report run") == completed("bench run --resume run") == [one]
    assert [name[:7] for name in completed("bench mine --resume ")] == ["last", "mining_"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str, tmp_path: Path) -> None:
    env = {**os.environ, "_BENCH_COMPLETE": f"{shell}_source"}
    done = subprocess.run(BENCH, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "_BENCH_COMPLETE" in done.stdout and "bench" in done.stdout
