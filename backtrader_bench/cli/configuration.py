"""Where an option's value comes from: the command line, the environment, ``bench.toml``, the default; in this order.

click does the precedence itself. This module reads ``bench.toml`` into click's ``default_map`` and gives every option
its variable, ``BENCH_COMMAND_OPTION``. Only click and the standard library are loaded here.
"""

from __future__ import annotations

import json
import os
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from backtrader_bench.cli import kinds
from backtrader_bench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = "bench.toml"
VARIABLE = "BENCH_CONFIG"
"""Names the file to read instead of the one that is found; empty for none."""
ROOT = 0
LARGEST = 2**20
ONCE = ("help", "version")
"""Options that stand for a command of their own and so have no default."""
TEXTS = (click.types.StringParamType, click.Path, click.Choice)
WANTED = {kinds.JsonObject: "a table", kinds.Day: "a date", click.Path: "a path in quotes"}
"""What a value must be, in words, where it is more than a text."""


class Found(NamedTuple):
    """A configuration file."""

    path: Path
    tables: dict[str, Any]


def find(start: Path, environ: Mapping[str, str]) -> Path | None:
    """The file that ``BENCH_CONFIG`` names, else the first ``bench.toml`` in ``start`` and its parents; None without.

    UsageError: the file that is named is not there, or one above belongs to somebody else.
    """
    if VARIABLE in environ:
        named = Path(environ[VARIABLE])
        if environ[VARIABLE] and not named.is_file():
            raise UsageError(f"{VARIABLE} names {named}, and there is no such file")
        return named if environ[VARIABLE] else None
    for folder in (start, *start.parents):
        path = folder / NAME
        try:
            if not path.is_file():
                continue
            owner = path.stat().st_uid
        except OSError:
            continue
        # Settings can name programs to run: a file that others put above a shared folder is not taken unseen.
        if folder != start and owner not in (ROOT, os.geteuid()):
            raise UsageError(f"{path} belongs to another user; {VARIABLE}={path} uses it, {VARIABLE}= none at all")
        return path
    return None


def load(start: Path, environ: Mapping[str, str]) -> Found | None:
    """The configuration file as tables by command; None where there is none. UsageError names file and fault."""
    import tomllib

    path = find(start, environ)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > LARGEST:
        raise UsageError(f"{path} is larger than {LARGEST >> 20} MiB; is it a configuration file?")
    try:
        tables = tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 (byte {error.start})") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    return Found(path, tables)


def apply(context: click.Context, name: str, command: click.Command, commands: Iterable[str]) -> None:
    """Lay out the file's defaults for one command of ``bench``, whose context this is."""
    found = load(Path.cwd(), os.environ)
    if found is None:
        return
    check_tables(found, commands)
    context.meta[NAME] = str(found.path)
    context.default_map = {name: defaults(command, found.tables.get(name, {}), f"{found.path} [{name}]")}


def check_tables(found: Found, commands: Iterable[str]) -> None:
    """UsageError unless every top-level entry is the table of a command."""
    known = list(commands)
    for name, table in found.tables.items():
        if not isinstance(table, dict):
            raise UsageError(f"{found.path}: {name!r} stands in no table; settings stand under their command, as [run]")
        if name not in known:
            raise UsageError(f"{found.path}: [{name}] is no command{meant(name, known)}")


def defaults(command: click.Command, table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """click's ``default_map`` of a command from its table. UsageError names the key that is unknown or of a wrong type.

    ``where``: file and table, for messages. Keys are the options' names, with ``-`` or ``_``; a group's commands are
    tables in it.
    """
    options = {flag(option): option for option in settable(command)}
    groups = dict(command.commands) if isinstance(command, click.Group) else {}
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("_", "-")
        if key in groups and isinstance(value, dict):
            found[key] = defaults(groups[key], value, f"{where[:-1]}.{key}]")
        elif key in groups:
            raise UsageError(f"{where}: {key!r} is a command, no option; its settings stand in {_inner(where, key)}")
        elif name in options:
            option = options[name]
            if option.name in found:
                raise UsageError(f"{where}: {key!r} is there twice, with - and with _")
            found[str(option.name)] = _value(option, value, f"{where}: {key}")
        else:
            raise UsageError(f"{where}: {key!r} is no option of it{meant(name, [*options, *groups])}")
    return found


def _inner(where: str, key: str) -> str:
    """The table of a group's command: ``[db.query]``."""
    return f"{where[where.rindex('['):-1]}.{key}]"


def meant(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or nothing."""
    import difflib

    close = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def settable(command: click.Command) -> list[click.Option]:
    """The options that may have a default of the user's."""
    return [one for one in command.params if isinstance(one, click.Option) and one.name not in ONCE]


def flag(option: click.Option) -> str:
    """``dry-run`` for ``--dry-run``: what the option is called wherever it is no flag."""
    return max(option.opts, key=len).lstrip("-")


def _value(option: click.Option, value: Any, where: str) -> Any:
    """A TOML value as click takes it. UsageError: of a type that the option can't have."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{where} is {_said(value)}; it must be true or false")
        return value
    if option.multiple:
        return [_one(option.type, part, where) for part in (value if isinstance(value, list) else [value])]
    return _one(option.type, value, where)


def _one(kind: click.ParamType[Any], value: Any, where: str) -> Any:
    """One value, for click to look at its range and spelling. Nothing is converted: 1.9 is no 1, and 5 no name."""
    if isinstance(value, list):
        raise UsageError(f"{where} is a list; it takes one value")
    if isinstance(value, bool):
        raise UsageError(f"{where} is {_said(value)}; it is no switch")
    if isinstance(value, dict) and isinstance(kind, kinds.JsonObject):
        return json.dumps(value, default=str)
    if isinstance(kind, kinds.Day) and type(value) is date:
        return value.isoformat()
    if isinstance(kind, click.types.IntParamType):
        ok, wanted = isinstance(value, int), "a whole number"
    elif isinstance(kind, click.types.FloatParamType):
        ok, wanted = isinstance(value, int | float), "a number"
    elif isinstance(kind, TEXTS):
        ok, wanted = isinstance(value, str), WANTED.get(type(kind), "a text in quotes")
    else:  # a type of our own that says itself what it takes
        ok, wanted = isinstance(value, str | int | float), "a text or a number"
    if not ok:
        raise UsageError(f"{where} is {_said(value)}; it must be {wanted}")
    if isinstance(value, str) and "\0" in value:
        raise UsageError(f"{where} holds a null byte")
    return value


def _said(value: Any) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    return json.dumps(value, default=str)[:60]


def name_variables(command: click.Command, words: tuple[str, ...]) -> None:
    """Give every option of ``bench WORDS`` its environment variable."""
    for option in settable(command):
        option.envvar = variable(words, option)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            name_variables(inner, (*words, name))


def variable(words: tuple[str, ...], option: click.Option) -> str:
    """``BENCH_RUN_DRY_RUN``."""
    return "_".join(("BENCH", *words, flag(option))).replace("-", "_").upper()


def origin(context: click.Context, name: str) -> str:
    """In words, where a parameter's value comes from: a variable, a file; empty for the command line and defaults."""
    source = context.get_parameter_source(name)
    if source is click.core.ParameterSource.ENVIRONMENT:
        option = next(one for one in context.command.params if one.name == name)
        return f"${option.envvar}"
    if source is click.core.ParameterSource.DEFAULT_MAP:
        return str(context.meta.get(NAME, NAME))
    return ""


def refused(error: click.ClickException) -> str:
    """In brackets, where a value that click refuses stands; empty for the command line."""
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return ""
    found = origin(error.ctx, str(error.param.name))
    return f" (from {found})" if found else ""


def only_given(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """``options`` of the running command, with those of ``names`` that the command line doesn't give made empty.

    For what a resumed run keeps: project defaults are no wish to change it.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return dict(options)
    by_name = {one.name: one for one in context.command.params}
    empty: dict[str, Any] = {}
    for name in names:
        if name in options and context.get_parameter_source(name) in (
            click.core.ParameterSource.ENVIRONMENT, click.core.ParameterSource.DEFAULT_MAP,
        ):  # fmt: skip
            empty[name] = _nothing(by_name[name])
    return {**options, **empty}


def _nothing(option: click.Parameter) -> Any:
    """What the option is when nobody gives it; those with a default of their own keep it elsewhere."""
    if isinstance(option, click.Option) and option.is_flag:
        return None if option.default is None else False
    return () if getattr(option, "multiple", False) else None


def said_on_command_line(name: str) -> bool:
    """Whether the running command was given a parameter by a flag; True outside of a command."""
    context = click.get_current_context(silent=True)
    return context is None or context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def in_effect(command: str) -> dict[str, str]:
    """The variables that make ``bench COMMAND`` find the same settings anywhere: the file's, and those that are set."""
    found = find(Path.cwd(), os.environ)
    named = {VARIABLE: str(found.absolute())} if found else {}
    prefix = f"BENCH_{command.replace('-', '_').upper()}_"
    return {**named, **{name: text for name, text in sorted(os.environ.items()) if name.startswith(prefix)}}
