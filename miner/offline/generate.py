"""The offline generator's reply to one request of a session."""

from __future__ import annotations

from random import Random

from backtrader_bench.miner.offline.program import program, stem
from backtrader_bench.miner.offline.scenario import scenario


def reply(seed: int, number: int, base_seed: int, category: str | None = None) -> str:
    """The three blocks for attempt ``number``; the same arguments give the same bytes.

    The question shows the first tape that ``base_seed`` draws; the program goes on to the next where the rules never
    trade on it, and what it prints counts.
    """
    made = scenario(seed, number, category)
    question = stem(made, made.parameters(Random(base_seed)))
    costs = f"commission {made.commission.name}, slippage {made.slippage.name}"
    pieces = f"{made.entry.name}, {made.exit.name}, {made.size.name}, {costs}"
    return (
        f"<<<QUESTION>>>\n{question}\n<<</QUESTION>>>\n\n"
        f"<<<CODE>>>\n{program(made)}<<</CODE>>>\n\n"
        f"<<<RATIONALE>>>\n{made.category}: {pieces}, asked for {made.family.name}.\n<<</RATIONALE>>>\n"
    )
