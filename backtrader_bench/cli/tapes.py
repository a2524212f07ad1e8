"""What ``bench data`` does, apart from its options."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backtrader_bench import store
from backtrader_bench.errors import BenchError, DataError, MissingError
from backtrader_bench.market import bundled, facts, pins, sources, synthetic
from backtrader_bench.market.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SUFFIXES = (".csv", ".gz", ".txt", ".tsv")
_HASH = re.compile(r"[0-9a-f]{8,64}")
_SHOWN = 5
"""Gaps and jumps that are listed one by one; the others are counted."""


def listing(*, as_json: bool) -> list[str]:
    """The lines of ``bench data list``."""
    whole = [bundled.bundled(symbol) for symbol in bundled.HASHES]
    kept = [_pin_entry(path) for path in pins.pinned()]
    if as_json:
        regimes = [{"regime": name, "about": regime.about} for name, regime in synthetic.REGIMES.items()]
        return [json.dumps({"bundled": [_entry(t) for t in whole], "synthetic": regimes, "pinned": kept}, indent=2)]
    lines = ["Bundled: real daily bars, unadjusted", *_table(map(_entry, whole)), ""]
    lines += ["Synthetic: any symbol, --data synthetic:REGIME:SEED"]
    lines += [f"  {name:<8} {regime.about}" for name, regime in synthetic.REGIMES.items()]
    lines += ["", f"Pinned in {_short(store.home() / 'db' / 'tapes')}"]
    return lines + (_table(kept) or ["  none yet; bench build and bench data fetch pin what they use"])


def _entry(tape: Tape) -> dict[str, Any]:
    return {
        "symbol": tape.symbol, "source": tape.source, "first": tape.dates[0], "last": tape.dates[-1],
        "rows": len(tape), "sha256": tape.sha256,
    }  # fmt: skip


def _pin_entry(path: Path) -> dict[str, Any]:
    try:
        return _entry(pins.read_pin(path))
    except BenchError as error:
        return {"symbol": "?", "sha256": path.name.removesuffix(".csv.gz"), "problem": str(error)}


def _table(entries: Iterable[dict[str, Any]]) -> list[str]:
    rows = list(entries)
    width = max((len(row["symbol"]) for row in rows), default=0)
    return [
        f"  {row['symbol']:<{width}}  {row['sha256'][:12]}  DAMAGED: see bench data verify" if "problem" in row else
        f"  {row['symbol']:<{width}}  {row['first']} to {row['last']}  {row['rows']:>6,} bars  {row['sha256'][:12]}"
        for row in rows
    ]  # fmt: skip


def open_target(target: str, data: str, start: str | None, end: str | None) -> Tape:
    """The tape that a symbol, a file or the beginning of a hash means."""
    if _is_file_name(target):
        return sources.load(f"csv:{target}", "", start, end)
    if _HASH.fullmatch(target):
        path = store.home() / "db" / "tapes" / f"{pins.complete(target)}.csv.gz"
        sources.check_window(start, end)
        return sources.cut(pins.read_pin(path), start, end)
    return sources.load(data, target, start, end)


def _is_file_name(text: str) -> bool:
    return text.casefold().endswith(_SUFFIXES) or "/" in text or "\\" in text


def description(tape: Tape, *, as_json: bool) -> list[str]:
    """The lines of ``bench data show``."""
    gaps, jumps = facts.gaps(tape), facts.jumps(tape)
    if as_json:
        more = {
            "gaps": [gap._asdict() for gap in gaps],
            "jumps": [jump._asdict() for jump in jumps],
            "warnings": tape.warnings,
        }
        return [json.dumps({**_entry(tape), **more}, indent=2)]
    top, bottom = max(tape.high), min(tape.low)
    return [
        f"{tape.symbol}  {tape.source}  {tape.dates[0]} to {tape.dates[-1]}  {len(tape):,} bars",
        *chart(tape),
        f"close   {tape.close[0]:,.10g} to {tape.close[-1]:,.10g}",
        f"range   {bottom:,.10g} ({tape.dates[tape.low.index(bottom)]}) to "
        f"{top:,.10g} ({tape.dates[tape.high.index(top)]})",
        f"volume  {sum(tape.volume) // len(tape):,} a day on average",
        f"gaps    {len(gaps) or 'none'} above {facts.LONGEST_BREAK} days" + (":" if gaps else ""),
        *_first([f"{g.days} days from {g.after} to {g.before}" for g in sorted(gaps, key=lambda g: -g.days)]),
        f"jumps   {len(jumps) or 'none'} like a split" + (":" if jumps else ""),
        *_first([f"{j.day} opens at {j.ratio:.4g} times the close before, like {j.like}" for j in jumps]),
        *(f"warning {text}" for text in tape.warnings),
        f"sha256  {tape.sha256}",
    ]


def _first(texts: Sequence[str]) -> list[str]:
    more = [f"and {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return [f"        {text}" for text in (*texts[:_SHOWN], *more)]


def chart(tape: Tape) -> list[str]:
    """The closes over time, as wide as the terminal up to 110 columns; no colours, so that pipes take it as it is."""
    width = min(shutil.get_terminal_size((80, 24)).columns, 110)
    if width < 30 or len(tape) < 2:
        return []
    plain = not _can_print("\u2800\u2502")
    marks = max(2, min(6, width // 18))
    at = [round(i * (len(tape) - 1) / (marks - 1)) for i in range(marks)]
    labels = [tape.dates[i][:7] if len(tape) > 120 else tape.dates[i][5:] for i in at]
    drawn = _draw(list(tape.close), at, labels, width, "*" if plain else "braille")
    if plain:
        drawn = drawn.translate(str.maketrans("\u2502\u2500\u250c\u2510\u2514\u2518\u2524\u252c\u251c\u2534\u253c",
                                              "|-++++++++" + "+"))  # fmt: skip
    return [line.rstrip() for line in drawn.splitlines() if line.strip()]


def _draw(closes: list[float], at: list[int], labels: list[str], width: int, marker: str) -> str:
    import plotext

    days = list(range(len(closes)))
    if hasattr(plotext, "plotsize"):  # plotext 5; its successor has another interface altogether
        plotext.clear_figure()
        plotext.plot(days, closes, marker=marker)
        plotext.plotsize(width, 16)
        plotext.xticks(at, labels)
        return str(plotext.uncolorize(plotext.build()))
    figure = plotext.figure
    figure.clear()
    figure.plot_size(width, 16)
    figure.draw(figure.signal(days, closes, marker=marker).lines())
    figure.ruler("x").ticks(at, labels)
    return str(figure.build().string(colorless=True))


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def fetch(symbols: Sequence[str], data: str, start: str | None, end: str | None, *, as_json: bool) -> int:
    """Pin every symbol that can be had; the exit code of the last one that can't, 0 when there is none."""
    code, entries = 0, []
    for symbol in symbols:
        try:
            kept = pins.recall(symbol, start, end)
            tape = sources.load(data, symbol, start, end, again=True)
            path = pins.save(tape)
            if tape.source == "yfinance":
                pins.remember(tape, start, end)
            if kept is not None and kept.sha256 != tape.sha256:
                click.echo(f"warning: {symbol} drifted since it was downloaded: {pins.compare(kept, tape)}", err=True)
        except BenchError as error:
            click.echo(f"error: {error}", err=True)
            code = error.exit_code
            continue
        entries.append({**_entry(tape), "path": str(path), "warnings": tape.warnings})
        for warning in tape.warnings:
            click.echo(f"warning: {warning}", err=True)
        if not as_json:
            click.echo(f"{symbol}  {tape.dates[0]} to {tape.dates[-1]}  {len(tape):,} bars from {tape.source}\n"
                       f"  {_short(path)}")  # fmt: skip
    if as_json:
        click.echo(json.dumps({"tapes": entries}, indent=2))
    return code


def verify(targets: Sequence[str], *, as_json: bool) -> int:
    """Hash tapes again; 1 when one is not what its name says."""
    checks = list(_checks(targets))
    bad = [check for check in checks if check["status"] == "mismatch"]
    if as_json:
        click.echo(json.dumps({"tapes": checks, "mismatches": len(bad)}, indent=2))
        return 1 if bad else 0
    for check in checks:
        click.echo(f"{check['status']:<8} {check['name']}  {check['note']}")
    click.echo(f"{len(checks)} checked, {len(bad)} not as named")
    return 1 if bad else 0


def _checks(targets: Sequence[str]) -> Iterator[dict[str, str]]:
    if not targets:
        for symbol in bundled.HASHES:
            yield _bundled_check(symbol)
        for path in pins.pinned():
            yield _pin_check(path)
    for target in targets:
        path = Path(target)
        if not _is_file_name(target) and target in bundled.HASHES:
            yield _bundled_check(target)
        elif not _is_file_name(target):
            if not _HASH.fullmatch(target):
                raise DataError(f"{target!r} is neither a file nor a hash (8 to 64 hexadecimal digits)")
            yield _pin_check(store.home() / "db" / "tapes" / f"{pins.complete(target)}.csv.gz")
        elif pins.SHA256.fullmatch(path.name.removesuffix(".csv.gz")):
            yield _pin_check(path)
        else:
            yield _file_check(path)


def _bundled_check(symbol: str) -> dict[str, str]:
    try:
        tape = bundled.bundled(symbol)
    except DataError as error:
        return {"status": "mismatch", "name": f"bundled {symbol}", "sha256": bundled.HASHES[symbol], "note": str(error)}
    return {"status": "ok", "name": f"bundled {symbol}", "sha256": tape.sha256, "note": f"{len(tape):,} bars"}


def _pin_check(path: Path) -> dict[str, str]:
    sha = path.name.removesuffix(".csv.gz")
    try:
        tape = pins.read_pin(path)
    except pins.DataDrift as error:
        return {"status": "mismatch", "name": f"pinned {sha[:12]}", "sha256": sha, "note": str(error)}
    return {"status": "ok", "name": f"pinned {sha[:12]}", "sha256": sha, "note": f"{tape.symbol}, {len(tape):,} bars"}


def _file_check(path: Path) -> dict[str, str]:
    """A file without a hash in its name: there is only the store to compare with."""
    tape = sources.load(f"csv:{path}", "")
    try:
        pins.load_pin(tape.sha256, tape.symbol, tape.source)
        note = "as pinned"
    except MissingError:
        note = "not pinned, nothing to compare with"
    return {"status": "ok", "name": path.name, "sha256": tape.sha256, "note": f"{tape.sha256}, {note}"}


def _short(path: Path) -> str:
    """The path from the current folder where it lies in there."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
