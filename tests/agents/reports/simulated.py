"""Runs made up for tests and benchmarks: manifests and attempts as ``bench run`` stores them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from backtrader_bench import store
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs.manifest import AgentFacts, Manifest, QuestionFile, Session, Settings
from backtrader_bench.attempts import Attempt, Cost, Failure, Usage, attempt_id, attempt_line
from backtrader_bench.mcq_builder.audit.items import item_of
from backtrader_bench.records import LETTERS

Reply = str | Callable[[Random], str]
"""What agents say; empty for a sentence that ends with the letter."""
STARTED = "2026-01-02T03:04:05Z"
FAILURES = ("unparsed", "refused", "timeout", "agent_error", "harness_error")


def records(bank: Path) -> list[dict[str, Any]]:
    """The decoded lines of a bank."""
    return [json.loads(line) for line in bank.read_bytes().splitlines()]


def manifest(run: str, agents: tuple[str, ...], bank: Path | None, planned: int, **settings: Any) -> Manifest:
    """The manifest of a finished run."""
    chosen = Settings(agents=agents, **settings)
    files: tuple[QuestionFile, ...] = ()
    if bank is not None:
        data = bank.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        files = (QuestionFile(path=str(bank.absolute()), sha256=digest, questions=data.count(b"\n")),)
    facts = [
        AgentFacts(
            agent=name, backend=name, model=None, version="1", program=None, login=None, no_tools_by="", isolation="",
            reports=(),
        )
        for name in agents
    ]  # fmt: skip
    session = Session(
        started=STARTED, process=1, command=("bench", "run"), versions={"backtrader-bench": "0"}, host={}, isolation={},
        agents=tuple(facts), running={}, mark="", workspaces="", ended="2026-01-02T04:04:05Z", outcome="done",
    )  # fmt: skip
    return Manifest(
        run=run, given={}, settings=chosen, files=files, questions_sha256="", questions=0, planned=planned,
        prompts_sha256="", tapes={}, sessions=(session,),
    )  # fmt: skip


def attempt(run: str, question: str, agent: str, letter: str | None, key: str, **more: Any) -> Attempt:
    """An attempt that picked ``letter``, right where that is ``key``; ``status`` says otherwise."""
    mode, repeat, shift = more.get("mode", "no-tools"), more.get("repeat", 0), more.get("shift", 0)
    fields: dict[str, Any] = {
        "id": attempt_id(run, question, agent, mode, repeat, shift), "run": run, "question_id": question,
        "agent": agent, "backend": agent.partition(":")[0], "mode": mode, "started": STARTED, "seconds": 2.0,
        "status": "correct" if letter == key else "wrong", "letter": letter, "shown": shown(letter, shift),
        "method": "strict" if letter else "unparsed",
    }  # fmt: skip
    return Attempt(**{**fields, **more})


def shown(letter: str | None, shift: int) -> str | None:
    """Where the option stood, rotated by ``shift``."""
    return LETTERS[(LETTERS.index(letter) - shift) % 4] if letter else None


def write(manifest: Manifest, attempts: list[Attempt]) -> None:
    """Put a run into the store."""
    manifests.write(manifest)
    path = store.folder("attempts") / f"{manifest.run}.jsonl"
    path.write_bytes(b"".join(attempt_line(one) for one in attempts))


def simulate(
    run: str, bank: Path, abilities: dict[str, float], *, repeats: int = 1, shifts: tuple[int, ...] = (0,),
    mode: str = "no-tools", ask_value: bool = False, seed: int = 1, reply: Reply = "", transcripts: bool = True,
) -> None:  # fmt: skip
    """A run in which each agent is right with about its ability, harder on harder questions, and fails now and then."""
    found = []
    for fields in records(bank):
        item = item_of(fields, "bank")
        for agent, repeat, shift in product(abilities, range(repeats), shifts):
            draw = Random(f"{seed} {run} {item.id} {agent} {repeat} {shift}")
            place = {"mode": mode, "repeat": repeat, "shift": shift}
            found.append(_one(draw, run, fields, item.id, agent, abilities[agent], place, ask_value, reply))
    chosen = manifest(
        run, tuple(abilities), bank, len(found), mode=mode, repeats=repeats, ask_value=ask_value,
        rotate=len(shifts) > 1,
    )  # fmt: skip
    if transcripts:
        found = [msgspec.structs.replace(one, transcript=f"logs/{run}/{one.id[:12]}") for one in found]
    write(chosen, found)


def _one(
    draw: Random, run: str, fields: dict[str, Any], question: str, agent: str, ability: float, place: dict[str, Any],
    ask_value: bool, reply: Reply,
) -> Attempt:  # fmt: skip
    key = fields["answer"]
    harder = {"easy": 0.12, "medium": 0.0, "hard": -0.15}.get(fields["difficulty"], 0.0)
    right = draw.random() < ability + harder
    letter = key if right else draw.choice([one for one in LETTERS if one != key])
    tokens = draw.randint(300, 4000)
    more: dict[str, Any] = {
        **place, "seconds": round(draw.lognormvariate(2.5, 0.6), 2),
        "model": f"{agent.partition(':')[2] or agent}-2026", "method": draw.choice(["strict"] * 9 + ["lenient"]),
        "reply": (reply(draw) if callable(reply) else reply) or f"The nearest is {letter}.\n\n<<< {letter} >>>",
    }  # fmt: skip
    if not agent.startswith("guess"):
        more["usage"] = Usage(input=tokens, output=tokens // 5, cache_read=tokens // 2, estimated=draw.random() < 0.1)
        more["cost"] = Cost(usd=round(tokens * 2e-6, 6), source="reported") if agent.startswith("claude") else None
    if ask_value and fields.get("value") is not None:
        good = right and draw.random() < 0.7
        more |= {"given_value": str(fields["value"]), "value_right": good, "verified": right and good}
        prints = (fields.get("private") or {}).get("fingerprints") or {}
        if not good and prints:
            more["mistake"] = draw.choice(sorted(prints))
    if draw.random() < 0.06:
        status = draw.choice([*FAILURES, *(["tool_attempted"] if place["mode"] == "no-tools" else [])])
        kind = draw.choice(["rate_limit", "overloaded", "network", "auth"])
        error = Failure(kind=kind, message=f"the provider said {kind}")  # type: ignore[arg-type]
        more |= {"status": status, "method": "unparsed", "verified": None, "mistake": None, "value_right": None}
        return attempt(run, question, agent, None, key, **more, error=error if status.endswith("error") else None)
    return attempt(run, question, agent, letter, key, **more)
