"""A crontab line and a systemd timer that mine every night. Pure.

cron runs commands with almost no environment and in the home folder, so every path is absolute, and PATH is the one of
the shell that printed the line: it is where agents were found.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HOUR, MINUTE = 2, 17
"""When: not on the hour, when everybody's jobs start."""


def command(python: str, options: Sequence[str]) -> list[str]:
    """The command as an argv list: by the interpreter's full path, whatever is or isn't on cron's PATH."""
    return [python, "-m", "backtrader_bench", "mine", *options, "--quiet"]


def crontab(argv: Sequence[str], variables: Mapping[str, str]) -> str:
    """The line for ``crontab -e``; ``%`` would end the command, and so is escaped."""
    words = ["env", *(f"{name}={value}" for name, value in variables.items()), *argv]
    text = " ".join(shlex.quote(word) for word in words).replace("%", r"\%")
    return f"{MINUTE} {HOUR} * * * {text}"


def systemd(argv: Sequence[str], variables: Mapping[str, str]) -> dict[str, str]:
    """The two unit files of a user's timer, by name."""
    # In a command a dollar sign means a variable, in Environment= it doesn't.
    line = " ".join(_quoted(word.replace("$", "$$")) for word in argv)
    settings = "\n".join(f"Environment={_quoted(f'{name}={value}')}" for name, value in variables.items())
    return {
        "bench-mine.service": (
            f"[Unit]\nDescription=Mine backtrader questions\n\n[Service]\nType=oneshot\n{settings}\nExecStart={line}\n"
        ),
        "bench-mine.timer": (
            "[Unit]\nDescription=Mine backtrader questions every night\n\n"
            f"[Timer]\nOnCalendar=*-*-* {HOUR:02}:{MINUTE:02}:00\nPersistent=true\n\n"
            "[Install]\nWantedBy=timers.target\n"
        ),
    }  # fmt: skip


def _quoted(word: str) -> str:
    """A word for a unit file: ``%`` is doubled, as it means something there."""
    safe = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{safe}"'


def options_without(given: Sequence[str], left_out: Mapping[str, int]) -> list[str]:
    """The options of the command line but those in ``left_out`` (option -> number of its values)."""
    kept: list[str] = []
    skip = 0
    for word in given:
        name, _, value = word.partition("=")
        if skip:
            skip -= 1
        elif name in left_out:
            skip = 0 if value else left_out[name]
        else:
            kept.append(word)
    return kept


def elsewhere(given: Sequence[str], readers: Mapping[str, Callable[[str], str]]) -> list[str]:
    """The options of the command line, those in ``readers`` with their value as it reads in another folder."""
    kept: list[str] = []
    reader: Callable[[str], str] | None = None
    for word in given:
        name, mark, value = word.partition("=")
        if reader is not None:
            kept.append(reader(word))
            reader = None
        elif mark and name in readers:
            kept.append(f"{name}={readers[name](value)}")
        else:
            kept.append(word)
            reader = readers.get(word)
    return kept


def unquotable(argv: Sequence[str], variables: Mapping[str, str]) -> str | None:
    """A word that no line of a crontab or unit file can hold: one with a line break or another control character."""
    words = (*argv, *(f"{name}={value}" for name, value in variables.items()))
    return next((word for word in words if any(ord(char) < 32 or ord(char) == 127 for char in word)), None)


def shown(argv: Sequence[str], variables: Mapping[str, str], left: Sequence[str] = ()) -> str:
    """Everything that ``--print-cron`` prints; ``left``: names of variables that are set here and would be missed."""
    units = systemd(argv, variables)
    missed = f" Set here now: {', '.join(left)}." if left else ""
    parts = [
        f"# Of your shell's variables only {_listed(list(variables))} are in these lines.",
        "# API keys, BENCH_BWRAP, BENCH_COMMAND_ENV, BENCH_COMMAND_READ and others that your agents need are not:",
        f"# write them above the line in the crontab as NAME=value, or as Environment= lines of the service.{missed}",
        "",
        "# crontab -e: every night, quiet but for one line that sums up (cron mails it)",
        crontab(argv, variables),
        "",
        "# or a systemd timer of your own: put the two files below into ~/.config/systemd/user/, then",
        "#   systemctl --user enable --now bench-mine.timer",
    ]
    for name, text in units.items():
        parts += ["", f"# {name}", text.rstrip()]
    return "\n".join(parts)


def _listed(names: Sequence[str]) -> str:
    """``A, B and C``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
