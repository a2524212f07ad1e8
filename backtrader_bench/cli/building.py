"""What ``bench build`` does and prints. Apart from build.py so that its help needs none of these imports."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from backtrader_bench.api import building as api
from backtrader_bench.backtest.strategies import REGISTRY
from backtrader_bench.cli import configuration
from backtrader_bench.errors import BenchError, UsageError
from backtrader_bench.mcq_builder import output
from backtrader_bench.mcq_builder.seeds import DRAWN
from backtrader_bench.mcq_builder.settings import GUARANTEES, SETTINGS, Settings, read_config
from backtrader_bench.templates.registry import TEMPLATES

if TYPE_CHECKING:
    from backtrader_bench.api.building import Built


def build(options: dict[str, Any], command: list[str]) -> int:
    """Build what the command line asks for; returns the exit code."""
    settings = chosen(options)
    if options["config_file"] and options["output"]:
        output.check_place(options["output"], [options["config_file"]])
    with Console(stderr=True).status("building") as status:
        made = api.build(
            options["output"], settings=settings, force=options["force"], exclude=options["exclude"],
            secret_file=options["secret_file"], jobs=options["jobs"], cluster=options["cluster"],
            cache=not options["no_cache"], command=command,
            progress=lambda done: status.update(f"building: {done} questions"),
        )  # fmt: skip
    if options["as_json"]:
        report = {"path": str(made.path), "manifest": str(made.manifest), "state": made.state,
                  "scheme": made.settings.scheme, "tape": made.tape.sha256, **output.counts(made.bank)}  # fmt: skip
        click.echo(json.dumps(report, indent=2))
    else:
        show(made)
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


def show(built: Built) -> None:
    """The summary of a build."""
    console, bank, path, tape = Console(), built.bank, built.path, built.tape
    made = output.counts(bank)
    tiers = ", ".join(f"{count} {tier}" for tier, count in made["tiers"].items())
    plural = "s" if len(bank.questions) > 1 else ""
    console.print(f"{len(bank.questions)} question{plural} ({tiers}), {built.state}: {path}",
                  soft_wrap=True, highlight=False)  # fmt: skip
    console.print(f"bars: {tape.symbol} from {tape.source}, {len(tape)} from {tape.dates[0]} to {tape.dates[-1]}, "
                  f"sha256 {tape.sha256[:16]}", soft_wrap=True, highlight=False)  # fmt: skip
    scheme = built.settings.scheme
    console.print(f"scheme {scheme}: {GUARANTEES[scheme]}", soft_wrap=True, highlight=False)
    if built.settings.seed >= DRAWN:
        console.print(f"seed {built.settings.seed}, in every record and in the manifest: with it the bank can be built "
                      "again, and keys can be found; it is as secret as they are", soft_wrap=True, highlight=False)
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
