"""How a record names its bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrader_bench.records import TapeRef

if TYPE_CHECKING:
    from backtrader_bench.market.tape import Tape


def tape_ref(tape: Tape) -> TapeRef:
    """The reference to a tape, all of whose bars were run."""
    return TapeRef(sha256=tape.sha256, source=tape.source, rows=len(tape), first=tape.dates[0], last=tape.dates[-1])
