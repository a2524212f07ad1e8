"""What is said to an agent beside the question itself, by mode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from backtrader_bench.records import LETTERS, MINED, is_published
from backtrader_bench.templates.render import REPLY, REPLY_VALUE, question_text

if TYPE_CHECKING:
    from collections.abc import Mapping

OPENING = "You are asked one multiple-choice question about the backtest of a trading strategy."
NO_TOOLS = (
    "Tools are not allowed. Don't run code or commands, don't read or write files, don't search the web and don't call "
    "any function, even where the question speaks of running a backtest: the first tool call ends the question without "
    "an answer. Work it out in your head from the text. Where that can't be done, choose the option that you hold most "
    "likely."
)
WITH_TOOLS = (
    "You may use your tools. Your working directory is yours alone; a Python with backtrader, pandas and numpy is on "
    "the path there as `python`. Backtest with it rather than guess."
)
DATA = {
    "prices": "The file prices.csv in your working directory holds the daily bars of the backtest, all of them and no "
    "others (columns Date, Open, High, Low, Close, Volume).",
    "none": "No prices are given.",
    "network": "No prices are given; you may download them.",
    "stated": "The question itself says which prices there are, or by which code they are made.",
}
CLOSING = (
    "Nobody can answer questions of yours. Give one answer, in the form that the question asks for, on the last line "
    "of your reply."
)
OPTION = re.compile(r"^([A-D])\. (.*?)(?=[ \t\r]*$)", re.MULTILINE)
REPLY_MARK = "<<<"


def system_text(mode: str, data_access: str = "prices") -> str:
    """The system's part of a prompt. ``mode``: ``no-tools`` or ``with-tools``; ``data_access``: a key of DATA."""
    if mode == "no-tools":
        return f"{OPENING}\n\n{NO_TOOLS}\n\n{CLOSING}"
    return f"{OPENING}\n\n{WITH_TOOLS} {DATA[data_access]}\n\n{CLOSING}"


def access_for(record: Mapping[str, Any], data_access: str) -> str:
    """How a question's prices reach a solver: mined questions state theirs, so that there is no file to hand out."""
    return "stated" if record.get("scheme") == MINED and data_access != "none" else data_access


def user_text(record: Mapping[str, Any], options: Mapping[str, str], *, ask_value: bool = False) -> str:
    """The question of a decoded record as it is put to an agent, showing ``options`` (by the letter shown).

    Records of ours are rendered from stem and options. The text of a published one stays as it is but for its option
    lines, and the reply form where it has none.
    """
    if not is_published(record):
        return question_text(record["stem"], options, ask_value=ask_value)
    text = OPTION.sub(lambda found: f"{found[1]}. {options[found[1]]}", str(record["question"]))
    if ask_value:
        return f"{text}\n\n{REPLY}\n{REPLY_VALUE}"
    return text if REPLY_MARK in text else f"{text}\n\n{REPLY}"


def published_options(text: str) -> dict[str, str] | None:
    """The options of a published question's text by letter; None unless it lists A to D, each on one line, once."""
    found = OPTION.findall(text)
    return dict(found) if tuple(letter for letter, _ in found) == LETTERS else None


def stem_of_published(text: str) -> str:
    """Everything before the first option: the configuration is part of what is asked."""
    first = OPTION.search(text)
    return text[: first.start()].rstrip() if first else text
