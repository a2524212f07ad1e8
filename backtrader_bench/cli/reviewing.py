"""What ``bench review`` does and prints."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from backtrader_bench.errors import UsageError
from backtrader_bench.miner import review as reviews

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backtrader_bench.miner.review import Flagged

KEYS = {"a": "accept", "r": "reject", "f": "fix-needed", "s": "skip", "q": "quit"}


def review(options: Mapping[str, Any]) -> int:
    """Walk the questions for review; returns the exit code."""
    found = reviews.flagged(options["run"])
    if options["question"]:
        found = [reviews.chosen(found, options["question"])]
    if options["verdict"]:
        return _give(found, options)
    # A question that is named is shown whatever was said of it.
    todo = found if options["everything"] or options["question"] else [one for one in found if one.verdict is None]
    if options["as_json"]:
        click.echo(json.dumps(reviews.as_fields(todo), indent=2, ensure_ascii=False))
        return 0
    if options["as_list"]:
        for one in found:
            click.echo(row(one))
        return 0
    return _walk(todo, options)


def _give(found: Sequence[Flagged], options: Mapping[str, Any]) -> int:
    if len(found) != 1 or not options["question"]:
        raise UsageError("--verdict judges one question: name it with --question")
    line = reviews.give(found[0], options["verdict"], options["reason"], options["reviewer"], _now())
    click.echo(f"{line.question_id[:12]}: {line.verdict}")
    return 0


def _walk(todo: Sequence[Flagged], options: Mapping[str, Any]) -> int:
    if not todo:
        click.echo("nothing is left to review")
        return 0
    given = 0
    for number, one in enumerate(todo, 1):
        click.echo(f"\n=== {number} of {len(todo)}: {row(one)}\n")
        for line in shown(one):
            click.echo(line)
        key = click.prompt("accept, reject, fix-needed, skip or quit", type=click.Choice(list(KEYS)), show_choices=True)
        if KEYS[key] == "quit":
            break
        if KEYS[key] == "skip":
            continue
        reason = "" if key == "a" else click.prompt("reason")
        reviews.give(one, KEYS[key], reason, options["reviewer"], _now())  # type: ignore[arg-type]
        given += 1
    click.echo(f"{given} verdicts given, {len(todo) - given} questions left")
    return 0


def row(one: Flagged) -> str:
    """One line."""
    verdict = one.verdict.verdict if one.verdict else "open"
    against = ", ".join(f"{letter} {count}x" for letter, count in one.against.items())
    about = f"{one.question.id[:12]}  {one.question.category or '':14}"
    return f"{about}  key {one.question.answer}, answered {against or '-'}  {verdict}  {one.run}"


def shown(one: Flagged) -> Iterator[str]:
    """Everything that a verdict needs."""
    question = one.question
    yield question.stem
    yield ""
    for letter, text in sorted(question.options.items()):
        mark = ">" if letter == question.answer else " "
        yield f"{mark} {letter}. {text}   ({question.option_origins.get(letter, '')})"
    yield "\nverifier\n"
    yield question.verifier or "(missing)"
    if question.verification is not None:
        yield f"\nit printed at seed {question.verification.base_seed}: {json.dumps(question.verification.answer)}"
        if question.verification.second is not None:
            yield f"another program answered: {json.dumps(question.verification.second)}"
    yield "\nsolvers"
    for a in one.attempts:
        value = f", value {a.given_value}" if a.given_value is not None else ""
        yield f"  {a.agent} {a.mode}: {a.status} {a.letter or ''}{value}   {a.transcript or ''}"
    for letter, count in one.against.items():
        if count > 1:
            yield f"{count} with-tools answers agree on {letter}, against the key {question.answer}"
    for value, count in one.values.items():
        if count > 1:
            yield f"{count} with-tools answers give the value {value}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
