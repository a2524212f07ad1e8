"""``guesser``: never runs a backtest. A draw among the letters, or what a rule of the audit sees in the options."""

from __future__ import annotations

import difflib
import random
from typing import TYPE_CHECKING

from backtrader_bench.agents import letters
from backtrader_bench.agents.backend import Ask, Backend, Reply
from backtrader_bench.errors import HarnessError, RecordError, UsageError
from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrader_bench.mcq_builder.audit.registry import RuleAttacker

UNIFORM = "uniform"


def answer(ask: Ask) -> Reply:
    """A letter drawn by ``Ask.seed``: among all, or among those that the rule ``Ask.model`` holds for likely."""
    if ask.record is None:
        raise HarnessError("guesser needs the question's record")
    name = ask.model or UNIFORM
    likely = _likely(ask, _rule(name)) if name != UNIFORM else LETTERS
    letter = random.Random(ask.seed).choice(likely or LETTERS)
    return Reply(text=letters.REPLY.format(letter), model=f"guesser: {name}")


def _likely(ask: Ask, rule: RuleAttacker) -> Sequence[str]:
    """The letters, as shown, that the rule picks; empty where it has no opinion, all where it can't read the record."""
    from backtrader_bench.mcq_builder.audit.bank import Bank
    from backtrader_bench.mcq_builder.audit.items import item_of

    assert ask.record is not None
    try:
        item = item_of(ask.record, "the question")
    except RecordError:
        return LETTERS
    return [letters.shown(ask.record, LETTERS[place], ask.prompt) for place in rule.pick(item, Bank([item]))]


def _rule(name: str) -> RuleAttacker:
    from backtrader_bench.mcq_builder.audit.attackers import RULES

    if name not in RULES:
        near = difflib.get_close_matches(name, RULES, 3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are uniform, {', '.join(RULES)}"
        raise UsageError(f"guesser knows no rule {name[:80]!r}; {hint}")
    return RULES[name]


def _check(model: str | None) -> None:
    if model not in (None, UNIFORM):
        _rule(str(model))


GUESSER = Backend(
    name="guesser",
    title="Guesser",
    install="ships with this package; guesser:closest_to_mean and the audit's other rules look at the options",
    no_tools_by="runs in this process and has no tools",
    reports=frozenset({"model"}),
    offline=True,
    check=_check,
    answer=answer,
)
