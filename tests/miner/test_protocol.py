"""The three blocks, in every dress that agents give them."""

from __future__ import annotations

import time

import pytest

from backtrader_bench.miner.protocol import LONGEST, Blocks, Malformed, read_blocks, read_code

Q, NQ = "<<<QUESTION>>>", "<<</QUESTION>>>"
C, NC = "<<<CODE>>>", "<<</CODE>>>"
R, NR = "<<<RATIONALE>>>", "<<</RATIONALE>>>"
CODE = "import os\n\nif True:\n    print(os.environ['MCQ_SEED'])\n"
PLAIN = f"{Q}\nWhat is x?\n{NQ}\n{C}\n{CODE}{NC}\n{R}\nwhy\n{NR}\n"
WANTED = Blocks("What is x?\n", CODE, "why\n")


def indented(text: str, by: str = "    ") -> str:
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


DRESSES = {
    "plain": PLAIN,
    "chatter around": f"Sure! Here it is.\n\n{PLAIN}\nLet me know if the verifier should change.",
    "carriage returns": PLAIN.replace("\n", "\r\n"),
    "colours": PLAIN.replace(Q, f"\x1b[1;32m{Q}\x1b[0m").replace("import", "\x1b[34mimport\x1b[39m"),
    "invisible marks": PLAIN.replace("<<<CODE", "\u200b<<<CODE").replace("What", "\ufeffWhat"),
    "all indented": indented(PLAIN),
    "tabs": indented(PLAIN, "\t"),
    "one fence around all": f"```text\n{PLAIN}```\n",
    "fence inside the blocks": f"{Q}\n```\nWhat is x?\n```\n{NQ}\n{C}\n```python\n{CODE}```\n{NC}\n{R}\nwhy\n{NR}",
    "tilde fence": f"{Q}\nWhat is x?\n{NQ}\n{C}\n~~~python\n{CODE}~~~\n{NC}\n{R}\nwhy\n{NR}",
    "fence in a fence": f"{Q}\nWhat is x?\n{NQ}\n{C}\n```\n```python\n{CODE}```\n```\n{NC}\n{R}\nwhy\n{NR}",
    "fence around the tokens": PLAIN.replace(C, f"```python\n{C}").replace(NC, f"{NC}\n```"),
    "quoted": "".join(f"> {line}" for line in PLAIN.splitlines(keepends=True)),
    "as a diff": "".join(f"+{line}" for line in PLAIN.splitlines(keepends=True)),
    "as a diff with a blank": "".join(f"+ {line}" for line in PLAIN.splitlines(keepends=True)),
    "bold tokens": PLAIN.replace("<<<", "**<<<").replace(">>>", ">>>**"),
    "in a heading": PLAIN.replace(Q, f"### {Q}").replace(C, f"### `{C}`"),
    "spaces in the tokens": PLAIN.replace("<<<", "<<< ").replace(">>>", " >>>"),
    "small letters": PLAIN.replace("CODE", "code").replace("QUESTION", "question"),
    "question on the token's line": PLAIN.replace(f"{Q}\nWhat is x?\n{NQ}", f"{Q} What is x? {NQ}"),
    "said twice, the last counts": f"{Q}\nWhat is y?\n{NQ}\n{C}\nprint(1)\n{NC}\n\nA better one:\n\n{PLAIN}",
    "given up and begun again": f"{Q}\nWhat is y?\n{C}\nprint(\n\nLet me start over.\n\n{PLAIN}",
    "talk of the tokens first": f"I will answer between {Q} and {NQ}, code in {C} ... {NC}.\n\n{PLAIN}",
    "talk of the tokens last": f"{PLAIN}\nThe block between {C} and {NC} needs only backtrader.",
    "an unfinished block last": f"{PLAIN}\n\n{C}\nprint('cut",
    "other order": f"{R}\nwhy\n{NR}\n{C}\n{CODE}{NC}\n{Q}\nWhat is x?\n{NQ}\n",
}


@pytest.mark.parametrize("dress", DRESSES)
def test_the_blocks_are_found(dress: str) -> None:
    found = read_blocks(DRESSES[dress])
    assert isinstance(found, Blocks)
    assert (found.question.strip(), found.code, found.rationale.strip()) == ("What is x?", WANTED.code, "why")


@pytest.mark.parametrize(("reply", "reason"), [
    ("", "empty_reply"),
    (" \n\x1b[0m\n", "empty_reply"),
    ("I can't do that.", "no_question_block"),
    (f"{C}\n{CODE}{NC}", "no_question_block"),
    (f"{Q}\nWhat?\n{NQ}", "no_code_block"),
    (f"{Q}\nWhat?\n{NQ}\n```python\n{CODE}```", "no_code_block"),
    (f"{Q}\nWhat?\n{NQ}\n{C}\n{CODE}", "unclosed_code_block"),
    (f"{Q}\nWhat?\n{C}\n{CODE}{NC}", "unclosed_question_block"),
    (f"{Q}\n \n{NQ}\n{C}\n{CODE}{NC}", "empty_question_block"),
    (f"{Q}\nWhat?\n{NQ}\n{C}\n```python\n```\n{NC}", "empty_code_block"),
    (f"{Q}\nWhat?\n{NQ}\n{C}{NC}", "empty_code_block"),
    (f"{NQ}\nWhat?\n{Q}\n{C}\n{CODE}{NC}", "unclosed_question_block"),
])  # fmt: skip
def test_what_is_missing_has_a_name(reply: str, reason: str) -> None:
    found = read_blocks(reply)
    assert isinstance(found, Malformed)
    assert (found.reason, bool(found.detail)) == (reason, True)


def test_the_rationale_may_be_absent() -> None:
    assert read_blocks(f"{Q}\nWhat is x?\n{NQ}\n{C}\n{CODE}{NC}") == Blocks(WANTED.question, CODE)


def test_fences_inside_a_question_stay() -> None:
    stem = "Bars:\n\n```python\ndef bars():\n    return 1\n```\n\nWhat is x?\n"
    for text in (stem, f"```markdown\n{stem}```\n"):
        assert read_blocks(f"{Q}\n{text}{NQ}\n{C}\n{CODE}{NC}") == Blocks(stem, CODE)
    two = "```python\na\n```\nand\n```python\nb\n```\n"
    assert read_blocks(f"{Q}\n{two}{NQ}\n{C}\n{CODE}{NC}") == Blocks(two, CODE)


def test_white_space_inside_the_code_stays() -> None:
    code = 'text = """a  \n\tb\n\n\nc"""\n'
    assert read_code(f"{C}\n{code}{NC}") == code


def test_a_token_in_a_string_of_the_program_is_the_program_s() -> None:
    code = f'text = """\n{C}\n"""\nprint(text)\n'
    assert read_code(f"{C}\n{code}{NC}") == code
    # A program that was given up and begun again is not taken up with the new one.
    assert read_code(f"{C}\nprint(\n{C}\nprint(2)\n{NC}") == "print(2)\n"
    assert read_code(f"{C}\nprint(1)\n{C}\nprint(2\n{NC}") == "print(2\n"


def test_blocks_count_wherever_they_stand_in_a_long_reply() -> None:
    chatter = "so it goes\n" * (LONGEST // 11 + 1)
    for text in (PLAIN + chatter, chatter + PLAIN, PLAIN + chatter + PLAIN.replace("x?", "y?")):
        found = read_blocks(text)
        assert isinstance(found, Blocks)
        assert found.question == ("What is y?\n" if "y?" in text else WANTED.question)
    # What is cut between the beginning and the end is no block.
    cut = read_blocks(f"{Q}\nWhat is x?\n{NQ}\n{C}\n{'#' * LONGEST}\n{NC}")
    assert isinstance(cut, Malformed)


def test_code_alone_may_be_the_only_fence() -> None:
    assert read_code(f"Here:\n```python\n{CODE}```\n") == CODE
    two = read_code(f"```python\n{CODE}```\nor\n```python\n{CODE}```\n")
    assert isinstance(two, Malformed)


@pytest.mark.parametrize("piece", [
    "<<<CODE>>>", "<<</CODE>>>", "<<<", "```\n", "```a\n", "> ", ">", "\n", " ", "<<< QUESTION", "\x1b]", "\x1b[",
    "<<<QUESTION>>><<<CODE>>>", "<<<QUESTION>>>\n```\n", "a\n",
])  # fmt: skip
def test_a_hostile_reply_takes_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        body = piece * (length // len(piece))
        began = time.process_time()
        read_blocks(f"{Q}\n{body}\n{NQ}\n{C}\n{body}\n{NC}")
        return time.process_time() - began

    small = max(min(seconds(20_000) for _ in range(2)), 0.002)
    assert seconds(400_000) < 150 * small  # twenty times the text; its square would be 400 times
