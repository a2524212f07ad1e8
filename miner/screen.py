"""Screens: what can be answered without computing is no question for this bank. Pure functions.

Arithmetic: an item that can't be guessed is answered right by one draw in four, and one draw of one throws a quarter of
such items away; of five draws, three are right for one in ten.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrader_bench.attempts import ANSWERS
from backtrader_bench.records import LETTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from backtrader_bench.attempts import Attempt
    from backtrader_bench.mcq_builder.audit.items import Account

BASELINES = (
    "closest_to_mean", "closest_to_median", "closest_to_geometric_mean", "hub_ratio", "hub_absolute", "ladder_ratio",
    "component_vote", "sign_of_most", "lot_lattice", "weekday", "window", "date_order", "budget", "arithmetic",
    "operands", "stated_denominator", "anchor_cash",
)  # fmt: skip
"""Rules of the audit that look at options and text, and that don't contradict each other by construction."""
FEWEST = 3
"""So many of them must have an opinion."""


def free_screen(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The marks of a decoded question record: ``choices_only`` where the baselines agree on one option, the key.

    Baselines without an opinion are left out; they agree when exactly one option is in what all others pick.
    """
    from dataclasses import replace

    from backtrader_bench.mcq_builder.audit.attackers import RULES
    from backtrader_bench.mcq_builder.audit.bank import Bank
    from backtrader_bench.mcq_builder.audit.items import item_of

    item = item_of(fields, "the question")
    item = replace(item, account=stated_account(item.stem))
    bank = Bank([item])
    picks = [set(pick) for name in BASELINES if (pick := RULES[name].pick(item, bank))]
    common = set(range(len(LETTERS))).intersection(*picks)
    return ("choices_only",) if len(picks) >= FEWEST and common == {item.key} else ()


def stated_account(stem: str) -> Account:
    """What a reader takes for cash and window: the largest amount of dollars, and the first and last date."""
    from backtrader_bench.mcq_builder.audit.items import Account

    amounts = [float(text.replace(",", "")) for text in re.findall(r"\$\s?(\d[\d,]{0,14}(?:\.\d+)?)", stem)]
    days = sorted(re.findall(r"\b\d{4}-\d{2}-\d{2}\b", stem))
    window = (days[0], days[-1]) if len(days) > 1 else (None, None)
    return Account(cash=max(amounts, default=None), start=window[0], end=window[1])


@dataclass(frozen=True)
class Drawn:
    """What became of each draw: the attempt that counts for it, the last where none was an answer."""

    attempts: tuple[Attempt, ...]

    @property
    def right(self) -> int:
        """Draws that were right."""
        return sum(one.status == "correct" for one in self.attempts)

    @property
    def answered(self) -> int:
        """Draws that were answers."""
        return sum(one.status in ANSWERS for one in self.attempts)

    @property
    def missing(self) -> tuple[str, ...]:
        """The statuses of those that were not, sorted, each once."""
        return tuple(sorted({one.status for one in self.attempts if one.status not in ANSWERS}))

    @property
    def counts(self) -> dict[str, int]:
        """Draws by status."""
        return dict(sorted(Counter(one.status for one in self.attempts).items()))


def discards(drawn: Drawn, threshold: int) -> bool | None:
    """Whether at least ``threshold`` draws are right; None where those without an answer could decide it."""
    if drawn.right >= threshold:
        return True
    unknown = len(drawn.attempts) - drawn.answered
    return None if drawn.right + unknown >= threshold else False


def confirms(drawn: Drawn) -> bool | None:
    """Whether most with-tools runs are right; None where those without an answer could decide it."""
    total = len(drawn.attempts)
    unknown = total - drawn.answered
    if 2 * drawn.right > total:
        return True
    return None if 2 * (drawn.right + unknown) > total else False


def last_answers(tries: Sequence[Sequence[Attempt]]) -> Drawn:
    """The draws of several sequences of tries: of each the first answer, or else its last try."""
    return Drawn(tuple(next((one for one in draw if one.status in ANSWERS), draw[-1]) for draw in tries))
