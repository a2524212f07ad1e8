"""Which letter an option stands under in a prompt: a run may show the options in another order than the record's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from backtrader_bench.records import LETTERS, is_published

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPTION = re.compile(r"^([A-D])\. (.*?)\s*$", re.MULTILINE)
REPLY = "<<< {} >>>"


def listed(text: str) -> dict[str, str]:
    """The options that a text lists: the last four lines ``A. ...`` to ``D. ...``, empty when there are none."""
    found = _OPTION.findall(text)[-4:]
    return dict(found) if tuple(letter for letter, _ in found) == LETTERS else {}


def options_of(record: Mapping[str, Any]) -> dict[str, str]:
    """The options of a decoded record, ours or published."""
    return listed(str(record["question"])) if is_published(record) else dict(record["options"])


def shown(record: Mapping[str, Any], letter: str, prompt: str) -> str:
    """The letter under which the prompt shows the record's option ``letter``; the same where it can't be told."""
    text = " ".join(options_of(record).get(letter, "").split())
    places = [place for place, other in listed(prompt).items() if " ".join(other.split()) == text]
    return places[0] if text and len(places) == 1 else letter
