"""No option of any command takes what is a number in name only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from backtrader_bench.cli.main import COMMANDS, LazyGroup, run
from backtrader_bench.cli.numbers import Finite


def commands() -> Iterator[tuple[list[str], click.Command]]:
    """Every command, those of groups included, by its words."""
    group = LazyGroup("bench")
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield [name], command
        if isinstance(command, click.Group):
            yield from (([name, below], one) for below, one in command.commands.items())


def options() -> list[tuple[str, str]]:
    """Every option that takes a fraction: the command's words and the option's name."""
    return [
        (" ".join(words), option.opts[0]) for words, command in commands() for option in command.params
        if isinstance(option.type, (click.types.FloatParamType, click.FloatRange))
    ]  # fmt: skip


def test_the_known_ones_are_among_them() -> None:
    known = {("run", "--timeout"), ("run", "--max-cost"), ("run", "--max-hours"), ("mine", "--max-hours"),
             ("audit", "--min-p"), ("report", "--floor"), ("agents test", "--timeout"),
             ("build", "--initial-cash")}  # fmt: skip
    assert known <= set(options())


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999", "NaN"])
@pytest.mark.parametrize(("words", "option"), options())
def test_nan_and_infinity_are_refused_in_one_line(
    words: str, option: str, value: str, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words.split(), f"{option}={value}"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert option.removeprefix("--").replace("-", "_") in err.replace("-", "_")
    assert not [path for path in own_home.rglob("*") if path.is_file()]


def test_numbers_still_pass() -> None:
    assert Finite(0, 1).convert("0.25", None, None) == 0.25
    with pytest.raises(click.BadParameter, match="finite"):
        Finite().convert("inf", None, None)
    with pytest.raises(click.BadParameter, match="range"):
        Finite(0, 1).convert("2", None, None)
