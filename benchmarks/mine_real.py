"""Every decision and reason of `bench mine` through the real claude and codex, tokens by role against the stub's count.

    python benchmarks/mine_real.py [claude] [codex] [waiting]

The agents are the pinned ones that tests use, installed once into a cache folder; a stub on loopback plays their
models, so nothing is asked of a provider. Generator, solvers and second verifier are all real programs. Prints where
each reason came up, and what each role used by the session's last line and by the stub's count. Ends with 1 when an
attempt ended otherwise than its case says, tokens differ, or `bench db check` finds a fault.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from backtrader_bench.cli.main import run as bench
from tests.miner.real_sessions import SESSIONS, UNREACHABLE, Played, play
from tests.miner.reasons import ENDINGS, Ending
from tests.real_clis import installed
from tests.stubs.server import StubServer


def main(names: list[str]) -> int:
    """Play the sessions; 1 where something differed."""
    clis = installed("claude", "codex")
    seen: dict[Ending, list[str]] = defaultdict(list)
    faults = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder, StubServer() as stub:
            home = Path(folder)
            os.environ |= {"HOME": folder, "BENCH_HOME": str(home / "bench")}
            for part in SESSIONS[name]:
                began = time.monotonic()
                played = play(part, clis, stub, home)
                faults += told(played, seen, time.monotonic() - began)
            faults += bench(["db", "check"]) != 0
    whole = set(names) == set(SESSIONS)
    for decision, reason in sorted(ENDINGS):
        where = ", ".join(seen.get((decision, reason), [])) or UNREACHABLE.get((decision, reason), "NOT REACHED")
        faults += whole and where == "NOT REACHED"
        print(f"{decision:20} {reason:36} {where}")
    print(f"{len(seen)} of {len(ENDINGS)} reached, {len(UNREACHABLE)} can't be, {faults} faults")
    return 1 if faults else 0


def told(played: Played, seen: dict[Ending, list[str]], seconds: float) -> int:
    """One session: note where its attempts came to, print what was used; how many things differ."""
    part = played.part
    for number, case in enumerate(part.cases, 1):
        for ending in case.endings:
            seen[ending].append(f"{part.writer} {part.seed}/{number}")
    wrong = list(played.differences())
    calls = sum(one.calls for one in played.done.spending.values())
    print(f"{part.writer} writes, {part.solver} solves: {len(part.cases)} attempts, {calls} calls, {seconds:.0f} s")
    for role, (counted, served) in played.by_role().items():
        print(f"  {role:16} {counted:8,} tokens by the session, {served:8,} served")
        wrong += [f"{role}: tokens differ"] if counted != served else []
    for line in wrong:
        print(f"  WRONG {line}")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(SESSIONS)))
