"""The command line as a whole: help, versions, one-line errors, closed pipes, Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest

from backtrader_bench import __version__
from backtrader_bench.cli import main as cli

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Words = tuple[str, ...]

BENCH = [sys.executable, "-m", "backtrader_bench"]


def commands(group: click.Group = cli.cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command's words, groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        yield (*path, name)
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


COMMANDS = list(commands())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_and_an_example(words: Words, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: bench {' '.join(words)}")
    # The usage line names the command without arguments of its own: an example is another line that does.
    assert re.search(rf"^ +(\$ )?bench {' '.join(words)}\b", text, re.MULTILINE), "no example"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_says_what_it_does(words: Words) -> None:
    command: click.Command | None = cli.cli
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    for parameter in command.params:
        assert not isinstance(parameter, click.Option) or parameter.help, parameter.name


def test_help_names_every_verb_and_the_table_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    text = capsys.readouterr().out
    for name, (_, line) in cli.COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}", text, re.MULTILINE)
        command = cli.cli.get_command(click.Context(cli.cli), name)
        assert command is not None
        assert command.name == name


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"bench, version {__version__}\n"


@pytest.mark.parametrize(
    "line", ["bild", "--wrong", "build --wrong", "check --wrong", "data bild", "data show --wrong"]
)
def test_unknown_words_end_with_2_and_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(line.split()) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert re.fullmatch(r"error: bench[^\n]*--help'\)\n", told.err)


def test_no_argument_shows_the_help() -> None:
    done = subprocess.run(BENCH, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2)
    assert "Commands:" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def unread(*argv: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A command whose stdout nobody reads."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as gone:
        return subprocess.run(
            argv, stdout=gone, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "BENCH_HOME": str(home), **more},
        )  # fmt: skip


# What writes by click, by rich and as JSON.
@pytest.mark.parametrize("words", [["--help"], ["data", "list"], ["config", "build", "--json"]], ids=" ".join)
def test_a_reader_that_goes_away_is_no_error(words: list[str], tmp_path: Path) -> None:
    done = unread(*BENCH, *words, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("code", [0, 5])
def test_without_its_reader_a_command_ends_with_its_own_exit_code(code: int, unbuffered: str, tmp_path: Path) -> None:
    program = f"""
import click, sys
from rich.console import Console
from backtrader_bench.cli import main, streams
@click.command()
def work():
    for number in range(20_000):
        click.echo(number)
    Console().print("done")
    assert streams.reader_gone()
    open({str(tmp_path / "done")!r}, "w").close()
    return {code}
main.cli.get_command = lambda context, name: work
main.main(["work"])
"""
    done = unread(sys.executable, "-c", program, home=tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (code, "")
    assert (tmp_path / "done").exists()


def test_ctrl_c_ends_with_130_and_one_line() -> None:
    code = """
import signal, sys, time, click
from backtrader_bench.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs inherit it ignored
@main.cli.command("wait")
def wait():
    print("waiting", flush=True)
    time.sleep(60)
main.cli.get_command = lambda context, name: wait
sys.exit(main.run(["wait"]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting\n"
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=20)
    assert child.returncode == 130
    # click ends the terminal's line with the ^C in it first.
    assert told.lstrip("\n") == "error: interrupted; what was finished is kept\n"
