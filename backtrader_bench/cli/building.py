"""What ``bench build`` does and prints. Apart from build.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from backtrader_bench import store
from backtrader_bench.backtest.strategies import REGISTRY
from backtrader_bench.cli import configuration
from backtrader_bench.errors import BenchError, StoreError, UsageError
from backtrader_bench.market import sources
from backtrader_bench.mcq_builder import output
from backtrader_bench.mcq_builder.build import build_bank, cache_folder, fetch
from backtrader_bench.mcq_builder.secret import own_secret, read_secret
from backtrader_bench.mcq_builder.settings import SETTINGS, Settings, read_config
from backtrader_bench.parallel import spread
from backtrader_bench.records import HIDDEN_SCHEMES, parse_json
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from pathlib import Path

    from backtrader_bench.market.tape import Tape
    from backtrader_bench.mcq_builder.build import Bank

GUARANTEES = {
    "diagnostic": "options are true and mistaken answers of two hidden worlds; which true one is the key is drawn last",
    "siblings": "options are true answers of four hidden worlds, the key drawn last: text and options alone give 1/4",
    "ladder": "options are a ladder around the key (rank drawn uniformly); not certified against guessing",
    "published": "options are jittered as published: for comparison only, they can be guessed without the data",
}


def build(options: dict[str, Any], command: list[str]) -> int:
    """Build what the command line asks for; returns the exit code."""
    settings = chosen(options)
    target: Path | None = options["output"]
    if target is not None:
        store.check_target(target)
    tape = sources.load(settings.data, settings.symbol, settings.start_date, settings.end_date)
    path = target or store.folder("mcq") / output.default_name(settings, tape)
    with store.lock(path):
        bank = run(settings, tape, options)
        if not bank.questions:
            raise UsageError(f"no question can be asked: {_reasons(bank) or 'everything is excluded'}")
        state = output.write(bank, path, settings, tape, command, force=options["force"])
    if options["as_json"]:
        report = {"path": str(path), "manifest": str(output.manifest_path(path)), "state": state,
                  "scheme": settings.scheme, "tape": tape.sha256, **output.counts(bank)}  # fmt: skip
        click.echo(json.dumps(report, indent=2))
    else:
        show(bank, path, settings, tape, state)
    return 0


def chosen(options: dict[str, Any]) -> Settings:
    """The settings of the command line, over those of a configuration file, over the defaults."""
    given = read_config(options["config_file"]) if options["config_file"] else {}
    if options["config_file"] and configuration.said_on_command_line("config_file"):
        # A file that is named now counts more than the project's defaults, but less than the flags beside it.
        options = configuration.only_given(options, SETTINGS)
    flags = {name: options[name] for name in SETTINGS if options[name] not in (None, ())}
    merged = {**{output_name(name): value for name, value in given.items()}, **flags}
    if options["interactive"]:
        return converse(merged)
    try:
        return Settings.of(merged)
    except UsageError as error:
        if not given:
            raise
        raise UsageError(f"{error} (settings from {options['config_file']})") from None


def output_name(name: str) -> str:
    """A configuration file's name of a setting as ours: published aliases and dashes are understood."""
    from backtrader_bench.mcq_builder.settings import ALIASES

    plain = name.replace("-", "_")
    return ALIASES.get(plain, plain)


def run(settings: Settings, tape: Tape, options: dict[str, Any]) -> Bank:
    """Build the bank, with a word on progress where someone watches."""
    parallel = spread(fetch, options["jobs"], options["cluster"])
    cache = None if options["no_cache"] else _cache()
    exclude = frozenset(question for path in options["exclude"] for question in ids(path))
    console = Console(stderr=True)
    with console.status("building") as status:
        return build_bank(
            settings, tape, parallel, cache=cache, exclude=exclude, secret=_secret(settings, options),
            progress=lambda done: status.update(f"building: {done} questions"),
        )  # fmt: skip


def _cache() -> Path | None:
    """The builder's cache, or none where the home can't be written to: that costs time, never an answer."""
    try:
        return cache_folder()
    except StoreError:
        return None


def _secret(settings: Settings, options: dict[str, Any]) -> bytes | None:
    """The secret of hidden worlds, where they are wanted."""
    if settings.scheme not in HIDDEN_SCHEMES:
        if options["secret_file"]:
            raise UsageError(f"scheme {settings.scheme} hides no worlds, so --secret-file has nothing to do")
        return None
    return read_secret(options["secret_file"]) if options["secret_file"] else own_secret()


def ids(path: Path) -> list[str]:
    """The ids of a question file; RecordError for a line that has none."""
    found = []
    for number, line in store.read_lines(path):
        fields = parse_json(line, f"{path}:{number}")
        if not isinstance(fields, dict) or not isinstance(fields.get("id"), str):
            raise UsageError(f"{path}:{number}: no question record with an id")
        found.append(fields["id"])
    return found


def converse(given: dict[str, Any]) -> Settings:
    """Ask for every setting, its default (or the value given already) offered; a wrong answer is asked again."""
    if sys.stdin is None:
        raise UsageError("--interactive needs an open standard input")
    answers: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        default = given.get(name, setting.default)
        while True:
            typed = click.prompt(f"{name} ({setting.about})", default=_shown(default), show_default=True, err=True)
            try:
                answers[name] = setting.check(name, _typed(typed, setting.default))
                Settings.of(answers)  # what has been answered so far must agree, too
                break
            except BenchError as error:
                click.echo(f"  {error}", err=True)
    return Settings.of(answers)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value) if value else ""
    if isinstance(value, tuple | list):
        return ",".join(value)
    return {None: "", True: "yes", False: "no"}.get(value, str(value)) if not isinstance(value, str) else value


def _typed(text: str, default: Any) -> Any:
    """What was typed, as the type that the default has; left as text (for the check to refuse) when it is not one."""
    text = text.strip()
    if isinstance(default, bool):
        return {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}.get(text.lower(), text)
    if isinstance(default, int | float):
        try:
            return int(text) if isinstance(default, int) else float(text)
        except ValueError:
            return text
    return text


def show(bank: Bank, path: Path, settings: Settings, tape: Tape, state: str) -> None:
    """The summary of a build."""
    console = Console()
    made = output.counts(bank)
    tiers = ", ".join(f"{count} {tier}" for tier, count in made["tiers"].items())
    plural = "s" if len(bank.questions) > 1 else ""
    console.print(f"{len(bank.questions)} question{plural} ({tiers}), {state}: {path}", soft_wrap=True, highlight=False)
    console.print(f"bars: {tape.symbol} from {tape.source}, {len(tape)} from {tape.dates[0]} to {tape.dates[-1]}, "
                  f"sha256 {tape.sha256[:16]}", soft_wrap=True, highlight=False)  # fmt: skip
    console.print(f"scheme {settings.scheme}: {GUARANTEES[settings.scheme]}", soft_wrap=True, highlight=False)
    for warning in tape.warnings:
        console.print(f"note: {warning}", soft_wrap=True, highlight=False, markup=False)
    if made["skipped"]:
        _show_skipped(console, made["skipped"])
    if len(bank.questions) < bank.wanted:
        missing = bank.wanted - len(bank.questions)
        console.print(f"{missing} of the {bank.wanted} wanted can't be asked here (see the reasons above)",
                      soft_wrap=True, highlight=False)  # fmt: skip
    console.print(f"next: bench check {path}", soft_wrap=True, highlight=False)


def _show_skipped(console: Console, skipped: dict[str, dict[str, int]]) -> None:
    table = Table(title="skipped", title_justify="left", box=None, pad_edge=False)
    table.add_column("template")
    table.add_column("times", justify="right")
    table.add_column("reason")
    for template, reasons in skipped.items():
        for reason, times in reasons.items():
            table.add_row(template, str(times), reason)
    console.print(table)


def _reasons(bank: Bank) -> str:
    return "; ".join(f"{template}: {reason}" for template, reason in sorted(bank.skipped)[:3])


def list_templates(*, as_json: bool) -> int:
    """Print the templates."""
    if as_json:
        listed = [{"name": t.name, "difficulty": t.tier, "summary": t.summary} for t in TEMPLATES.values()]
        click.echo(json.dumps(listed, indent=2))
        return 0
    for tier in dict.fromkeys(t.tier for t in TEMPLATES.values()):
        click.echo(f"{tier}:")
        for template in TEMPLATES.values():
            if template.tier == tier:
                click.echo(f"  {template.name:28} {template.summary}")
    return 0


def list_strategies(*, as_json: bool) -> int:
    """Print the strategies."""
    if as_json:
        listed = [{"name": s.name, "summary": s.summary, "parameters": s.defaults} for s in REGISTRY.values()]
        click.echo(json.dumps(listed, indent=2))
        return 0
    for strategy in REGISTRY.values():
        click.echo(f"{strategy.name}: {strategy.summary}")
        click.echo("  " + ", ".join(f"{name}={value}" for name, value in strategy.defaults.items()))
    return 0
