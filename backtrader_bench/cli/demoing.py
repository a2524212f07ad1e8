"""What ``bench demo`` does and prints: the commands themselves, one after the other, in a folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backtrader_bench.cli import main
from backtrader_bench.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = "bench-demo"
MOST_FOLDERS = 1000
INTERRUPTED = 130


@dataclass(frozen=True)
class Step:
    """A command with what it is for."""

    about: str
    command: str
    """As typed in a shell in the demo's folder, which may expand a ``*`` in it."""
    needs: str = ""
    """Files, as a pattern, without which the step makes no sense."""
    page: str = ""
    """The page that it writes."""


@dataclass(frozen=True)
class Done:
    """How a step ended."""

    step: Step
    code: int | None
    """None: left out, because what it needs was not made."""
    seconds: float


def steps(*, learned: bool) -> tuple[Step, ...]:
    """The demo; ``learned``: with the trained attackers of the audit, which need an extra."""
    mined = "db/mcq/mining_*.jsonl"
    bank = "bank.jsonl"
    return (
        Step("30 questions from backtests of nine strategies, on bundled prices",
             "bench build --strategy all -n 30 -o bank.jsonl"),
        Step("every key again, from the file alone, with two engines", "bench check bank.jsonl", bank),
        Step("can a script guess the keys without a backtest? (30 questions are too few to certify anything)",
             f"bench audit bank.jsonl{'' if learned else ' --no-learned'} --html audit.html", bank, "audit.html"),
        Step("two offline agents answer: oracle knows the keys, guesser guesses",
             "bench run bank.jsonl --agent oracle --agent guesser --quiet", bank),
        Step("hard questions with programs that answer them, from the offline generator",
             "bench mine --attempts 3 --jobs 2 --seed 7"),
        Step("what the run shows: accuracy with intervals, agents compared",
             "bench report last --html report.html", "db/attempts/run_*.jsonl", "report.html"),
        Step("the bank to browse", "bench page bank.jsonl --html bank.html", bank, "bank.html"),
        Step("the mined questions to browse", f"bench page {mined} --html mined.html", mined, "mined.html"),
    )  # fmt: skip


def demo(output: Path | None, *, as_json: bool) -> int:
    """Make every step; the exit code of the first that failed."""
    folder = fresh(output)
    began = time.monotonic()
    # With --json the object alone goes to stdout.
    aside: Any = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
    with aside, inside(folder):
        click.echo(f"everything goes to {folder}; to type the commands yourself: cd {shlex.quote(str(folder))}")
        done = perform(steps(learned=find_spec("sklearn") is not None))
    seconds = time.monotonic() - began
    code = next((one.code for one in done if one.code), 0)
    if as_json:
        click.echo(json.dumps(summary(folder, done, seconds, code), indent=2))
    else:
        click.echo("\n" + "\n".join(ending(folder, done, seconds)))
    return code


def fresh(output: Path | None) -> Path:
    """The demo's folder, made now. UsageError: something is in it; StoreError: it can't be made."""
    named = output or next(
        path for number in range(1, MOST_FOLDERS)
        if not (path := Path(FOLDER if number == 1 else f"{FOLDER}-{number}")).exists()
    )  # fmt: skip
    try:
        named.mkdir(parents=True, exist_ok=True)
        if any(named.iterdir()):
            raise UsageError(f"{named} is not empty; name a folder that is not there yet, or leave --output out")
    except OSError as error:
        raise StoreError(f"cannot make the folder {named}: {error.strerror}; --output names another place") from None
    return named.resolve()


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Be in ``folder``, with everything of ours kept there, as for someone who types ``cd`` and no BENCH_HOME."""
    place, home, words = Path.cwd(), os.environ.pop("BENCH_HOME", None), sys.argv
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(place)
        sys.argv = words
        if home is not None:
            os.environ["BENCH_HOME"] = home


def perform(todo: Sequence[Step]) -> list[Done]:
    """The steps in order, those left out whose files are not there. Ctrl-C ends them."""
    done: list[Done] = []
    for number, step in enumerate(todo, 1):
        click.echo(f"\n[{number}/{len(todo)}] {step.about}\n$ {step.command}")
        if step.needs and not list(Path().glob(step.needs)):
            click.echo("left out: a step before it failed")
            done.append(Done(step, None, 0.0))
            continue
        began = time.monotonic()
        # What the commands put into manifests is the command line.
        sys.argv = ["bench", *expanded(step.command)]
        code = main.run(sys.argv[1:])
        sys.stdout.flush()
        done.append(Done(step, code, time.monotonic() - began))
        if code == INTERRUPTED:
            break
    return done


def expanded(command: str) -> list[str]:
    """The words of a command after ``bench``, a ``*`` replaced by the files here that it stands for."""
    words = shlex.split(command)[1:]
    return [one for word in words for one in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]


def ending(folder: Path, done: Sequence[Done], seconds: float) -> list[str]:
    """Times, what failed, and where the pages are."""
    words = {None: "left out", 0: ""}
    lines = [
        f"{one.seconds:6.1f} s  {shlex.split(one.step.command)[1]:7}"
        f"{words.get(one.code, f'ended with {one.code}, see above')}".rstrip()
        for one in done
    ]  # fmt: skip
    lines.append(f"{seconds:6.1f} s  in all")
    if pages := made(folder, done):
        lines += ["", "pages, to open in a browser:", *(f"  {path}" for path in pages)]
    return lines


def made(folder: Path, done: Sequence[Done]) -> list[Path]:
    """The pages of steps that went through."""
    return [folder / one.step.page for one in done if one.step.page and (folder / one.step.page).is_file()]


def summary(folder: Path, done: Sequence[Done], seconds: float, code: int) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "folder": str(folder), "exit_code": code, "seconds": round(seconds, 3),
        "steps": [
            {"command": one.step.command, "about": one.step.about, "exit_code": one.code,
             "seconds": round(one.seconds, 3)} for one in done
        ],
        "pages": [str(path) for path in made(folder, done)],
    }  # fmt: skip
