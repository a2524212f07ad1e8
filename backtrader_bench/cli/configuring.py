"""What ``bench config`` prints. Values are resolved by click, as they are when the command runs."""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from backtrader_bench import store
from backtrader_bench.cli import configuration
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backtrader_bench.cli.configuration import Found

SOURCES = {"COMMANDLINE": "command line", "ENVIRONMENT": "variable", "DEFAULT_MAP": "bench.toml"}
OTHER = (
    configuration.VARIABLE, "BENCH_HOME", "BENCH_BWRAP", "BENCH_PYTHON", "BENCH_INSTALL", "BENCH_MARK", "BENCH_CLAUDE",
    "BENCH_CODEX", "BENCH_COPILOT", "BENCH_CURSOR", "BENCH_CURSOR_CLI", "BENCH_COMMAND_ENV", "BENCH_COMMAND_READ",
    "BENCH_TEST_CACHE", "BENCH_REAL_CLI", "BENCH_REAL_TOOLS",
)  # fmt: skip
"""Variables that are no option's."""


class Setting(NamedTuple):
    """An option as a command would get it."""

    command: str
    option: str
    value: Any
    source: str
    """``command line``, ``variable``, ``bench.toml`` or ``default``."""
    place: str
    """The variable or file."""
    variable: str
    stated: str
    """The default as the help states it, where the value itself is made later."""


def show(words: Sequence[str], *, everything: bool, as_json: bool) -> int:
    """Print the settings of all commands, or of the one that ``words`` begin with."""
    context = click.get_current_context().find_root()
    group = context.command
    assert isinstance(group, click.Group)
    found = configuration.load(Path.cwd(), os.environ)
    prepare(context, group, found)
    settings = list(_of_words(context, group, words) if words else _of_all(context, group))
    shown = [one for one in settings if one.source != "default" or everything or words]
    unknown = unknown_variables(context, group, os.environ)
    if as_json:
        _print_json(found, shown, unknown)
    else:
        _print(found, shown, unknown)
    return 0


def prepare(context: click.Context, group: click.Group, found: Found | None) -> None:
    """Lay out the whole file as click's defaults; UsageError for anything in it that is no command's or option's."""
    if found is None:
        return
    names = group.list_commands(context)
    configuration.check_tables(found, names)
    context.meta[configuration.NAME] = str(found.path)
    made: dict[str, Any] = {}
    for name, table in found.tables.items():
        command = group.get_command(context, name)
        assert command is not None
        made[name] = configuration.defaults(command, table, f"{found.path} [{name}]")
    context.default_map = made


def _of_all(context: click.Context, group: click.Group) -> Iterator[Setting]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from _resolved(context, command, name, [], deep=True)


def _of_words(context: click.Context, group: click.Group, words: Sequence[str]) -> Iterator[Setting]:
    name, *rest = words
    command = group.get_command(context, name)
    if command is None:
        raise UsageError(f"there is no command {name!r}{configuration.meant(name, group.list_commands(context))}")
    while isinstance(command, click.Group) and rest and rest[0] in command.commands:
        context = _context(context, command, name, [])
        name, command = rest[0], command.commands[rest[0]]
        rest = rest[1:]
    yield from _resolved(context, command, name, rest, deep=not rest)


def _resolved(
    parent: click.Context, command: click.Command, name: str, words: list[str], *, deep: bool
) -> Iterator[Setting]:
    """The options of a command with ``words`` behind it, and (``deep``) those of its own commands."""
    context = _context(parent, command, name, words)
    called = context.command_path.removeprefix("bench ")
    for option in configuration.settable(command):
        key = str(option.name)
        source = context.get_parameter_source(key)
        stated = re.search(r"\[([^\[\]]*)\]$", option.help or "")
        yield Setting(
            called, configuration.flag(option), context.params.get(key),
            SOURCES.get(source.name if source else "", "default"), configuration.origin(context, key),
            str(option.envvar), stated.group(1) if stated else "",
        )  # fmt: skip
    if deep and isinstance(command, click.Group):
        for inner, one in command.commands.items():
            yield from _resolved(context, one, inner, [], deep=True)


def parameters(context: click.Context, group: click.Group, name: str) -> dict[str, Any]:
    """The options of a command by their names in code, as it would get them when nothing stands behind it."""
    command = group.get_command(context, name)
    assert command is not None
    return _context(context, command, name, []).params


def faults(context: click.Context, group: click.Group) -> Iterator[str]:
    """Every value of the file, and of variables, that click would refuse: one line each, with where it is from."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from _faults(context, command, name)


def _faults(parent: click.Context, command: click.Command, name: str) -> Iterator[str]:
    for option in configuration.settable(command):
        try:
            _context(parent, command, name, [], only=option)
        except click.UsageError as error:
            where = error.ctx.command_path if error.ctx else f"bench {name}"
            yield f"{where}: {error.format_message()}{configuration.refused(error)}"
    if isinstance(command, click.Group):
        context = click.Context(command, parent=parent, info_name=name)
        for inner, one in command.commands.items():
            yield from _faults(context, one, inner)


def _context(
    parent: click.Context, command: click.Command, name: str, words: list[str], only: click.Option | None = None
) -> click.Context:
    """What click makes of the command's options; its arguments, and what it requires, may be missing here."""
    stripped = copy.copy(command)
    options = [only] if only else [one for one in command.params if isinstance(one, click.Option)]
    stripped.params = [copy.copy(one) for one in options]
    for option in stripped.params:
        option.required = False
    stripped.no_args_is_help = False
    # A group would take the words for a command of its own.
    settings = {"allow_extra_args": True, "ignore_unknown_options": False}
    return stripped.make_context(name, list(words), parent=parent, **settings)


def unknown_variables(context: click.Context, group: click.Group, environ: Mapping[str, str]) -> list[str]:
    """Variables that look as if they were ours and set nothing, each with what may be meant."""
    commands = [group.get_command(context, name) for name in group.list_commands(context)]
    known = {*OTHER, *(name for one in commands if one is not None for name in _variables(one))}
    return [
        f"{name} sets nothing{configuration.meant(name, known)}"
        for name in sorted(environ)
        if name.startswith("BENCH_") and name not in known
    ]


def _variables(command: click.Command) -> Iterator[str]:
    for option in configuration.settable(command):
        yield str(option.envvar)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from _variables(inner)


def _print_json(found: Found | None, settings: Sequence[Setting], unknown: Sequence[str]) -> None:
    commands: dict[str, dict[str, Any]] = {}
    for one in settings:
        told = {"value": one.value, "from": one.source, "where": one.place, "variable": one.variable}
        commands.setdefault(one.command, {})[one.option] = told
    about = {"file": str(found.path) if found else None, "home": str(store.home()), "commands": commands,
             "notes": list(unknown)}  # fmt: skip
    click.echo(json.dumps(about, indent=2, default=str))


def _print(found: Found | None, settings: Sequence[Setting], unknown: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    by = "$BENCH_HOME" if os.environ.get("BENCH_HOME") else "the current folder"
    click.echo(f"file  {found.path if found else f'no bench.toml in {Path.cwd()} or above it'}")
    click.echo(f"home  {store.home()} ({by})")
    if settings:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("command", "option", "value", "from"):
            table.add_column(name, overflow="fold")
        for one in sorted(settings, key=lambda one: one.source == "default"):  # what was changed comes first
            source = one.place if one.source == "variable" else one.source
            table.add_row(*(Text(text) for text in (one.command, one.option, _value(one), source)))
        Console().print(table)
    else:
        click.echo("every option has its default; bench config --all lists them")
    for text in unknown:
        click.echo(f"note: {text}")


def _value(one: Setting) -> str:
    if one.source == "default" and one.value in (None, ()):
        return one.stated or "-"
    value = list(one.value) if isinstance(one.value, tuple) else one.value
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
