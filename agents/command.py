"""``command:TEMPLATE``: any program; prompt on stdin, answer on stdout, success by exit code.

The template is split into words as a shell would, but no shell runs. ``{workspace}`` is replaced by the attempt's
folder, ``{model}`` by the name before a leading ``=``: ``command:llama3=ollama run {model}``.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from backtrader_bench.agents import environment, locate, streams
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.errors import MissingError, UsageError

ALLOW = "BENCH_COMMAND_ENV"
"""Names of further variables that the program may have, separated by commas; one may end in ``*``."""
READ = "BENCH_COMMAND_READ"
"""Files and folders that the program needs to read beside itself and those that it is given, separated by colons."""
_NAMED = re.compile(r"([\w.:/@-]+)=(?=\S)(.*)", re.DOTALL)


def split(template: str | None) -> tuple[str | None, list[str]]:
    """The model's name, where there is one, and the words; UsageError: no words, or quotes that don't close."""
    if template is None:
        raise UsageError("write command:TEMPLATE, such as 'command:python3 my_agent.py'")
    named = _NAMED.fullmatch(template)
    model, text = (named[1], named[2]) if named else (None, template)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"command: {text[:80]!r} can't be split into words: {error}") from None
    if not words:
        raise UsageError("command: the template is empty")
    if model is None and "{model}" in text:
        raise UsageError("command: {model} needs a name in front: command:NAME=" + text[:80])
    return model, words


def command(ask: Ask, _: Path) -> Command:
    """The words with their holes filled; those that name files of the user's here are made absolute."""
    model, words = split(ask.model)
    argv = [_absolute(word).replace("{workspace}", str(ask.workspace)) for word in words]
    argv = [word.replace("{model}", model or "") for word in argv]
    program = locate.which(argv[0], ask.environ)
    if program is None:
        raise MissingError(f"there is no program {argv[0]}; correct the template or the PATH")
    files = [Path(word) for word in argv[1:] if Path(word).is_absolute() and Path(word).is_file()]
    folders = [Path(name).absolute() for name in _listed(ask, READ, ":")]
    return Command(
        argv=(str(program), *argv[1:]),
        stdin=f"{ask.system}\n\n{ask.prompt}".encode(),
        env=environment.base(ask, _listed(ask, ALLOW, ",")),
        readable=(*locate.installation(program), *files, *folders),
    )


def absolute(template: str) -> str:
    """The template with the files that it names here by their full paths: for a command that is to run elsewhere.

    UsageError as :func:`split`.
    """
    model, words = split(template)
    text = shlex.join(_absolute(word) for word in words)
    return text if model is None else f"{model}={text}"


def _listed(ask: Ask, name: str, separator: str) -> list[str]:
    return [part.strip() for part in ask.environ.get(name, "").split(separator) if part.strip()]


def _absolute(word: str) -> str:
    """The agent's working directory is another: ``my_agent.py`` means the one here."""
    if "{" in word or not word or word.startswith("-"):
        return word
    path = Path(word)
    try:
        return str(path.absolute()) if path.is_file() and (path.suffix or "/" in word) else word
    except OSError:
        return word


def parse(raw: Raw) -> Reply:
    """All of stdout; what went wrong from the last lines of stderr."""
    error = None if raw.code == 0 else streams.unended(raw, "the program")
    return Reply(text=raw.stdout.decode(errors="replace").strip(), error=error)


def _check(model: str | None) -> None:
    split(model)


COMMAND = Backend(
    name="command",
    title="Any program",
    install="command:TEMPLATE starts TEMPLATE, prompt on stdin, answer on stdout",
    no_tools_by="nothing but the prompt: what the program does isn't seen",
    check=_check,
    command=command,
    parse=parse,
)
