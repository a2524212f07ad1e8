"""Reading questions from several files, and rotating their options in the text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from backtrader_bench.agents.runs.questions import Asking, check_downloadable, check_values, choose, read_questions
from backtrader_bench.agents.runs.session import begin
from backtrader_bench.errors import RecordError, StoreError, UsageError
from backtrader_bench.records import HIDDEN_SCHEMES, MINED, to_line
from backtrader_bench.templates.prompts import access_for, published_options, system_text, user_text
from tests.agents.runs.made import published, write_bank
from tests.helpers import bank

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def ours() -> list[bytes]:
    """Three records of our own."""
    return [to_line(one) for one in bank(num_questions=3, difficulty="easy").questions]


def test_ours_and_published_ones_from_several_files(tmp_path: Path, ours: list[bytes]) -> None:
    one = tmp_path / "ours.jsonl"
    one.write_bytes(b"".join(ours))
    two = write_bank(tmp_path / "published.jsonl", [published(1), published(2), published(1)])
    found = read_questions([one, two, one])
    assert len(found.items) == 5 and found.duplicates == 4
    assert [file.questions for file in found.files] == [3, 2, 0]
    assert [item.tape is not None for item in found.items] == [True] * 3 + [False] * 2
    assert {item.id for item in found.items[:3]} == {json.loads(line)["id"] for line in ours}
    check_values(found.items[:3])
    with pytest.raises(UsageError, match=r"published.jsonl, line 1 holds no value .* leave --ask-value out"):
        check_values(found.items)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"question": "x", ', "line 2: not JSON"),
        (b"[1]", "line 2: expected an object"),
        (b'{"question": "A. 1\\nB. 2\\nC. 3", "answer": "A"}', "line 2: the text doesn't list options"),
        (json.dumps(published(1, answer="E")).encode(), "line 2: the answer must be"),
        (json.dumps({**published(1), "answer": None}).encode(), "line 2: the answer must be"),
        (json.dumps({"question": "A. 1"}).encode(), "line 2: no answer"),
        (b'{"question": "x", "answer": "A", "schema_version": 9}', "line 2: schema_version 9 is unknown"),
        (b"{\"question\": \"\xff\"}", "line 2: not UTF-8"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, says: str) -> None:
    path = tmp_path / "bank.jsonl"
    path.write_bytes(json.dumps(published(7)).encode() + b"\n" + line + b"\n")
    with pytest.raises(RecordError, match=says) as caught:
        read_questions([path])
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(StoreError):
            read_questions([path])
    with pytest.raises(RecordError, match="holds no question"):
        read_questions([tmp_path / "empty.jsonl"])


def test_one_question_with_two_keys_is_refused(tmp_path: Path) -> None:
    path = write_bank(tmp_path / "bank.jsonl", [published(1, "A"), published(1, "C")])
    with pytest.raises(RecordError, match=r"line 2: the key is C, but A in .*line 1"):
        read_questions([path])


def test_a_changed_id_is_refused(tmp_path: Path, ours: list[bytes]) -> None:
    path = tmp_path / "bank.jsonl"
    path.write_text(json.dumps({**json.loads(ours[0]), "id": "0" * 64}) + "\n")
    with pytest.raises(RecordError, match="the id is not the hash"):
        read_questions([path])


def test_a_draw_keeps_the_order_and_depends_on_the_seed(tmp_path: Path) -> None:
    items = read_questions([write_bank(tmp_path / "b.jsonl", [published(n) for n in range(30)])]).items
    drawn = choose(items, 10, 1)
    assert drawn == choose(items, 10, 1) != choose(items, 10, 2)
    assert list(drawn) == [one for one in items if one in drawn] and len(drawn) == 10
    assert choose(items, None, 1) == choose(items, 99, 1) == items


def test_published_text_changes_in_its_option_lines_alone() -> None:
    record = published(5)
    turned = {"A": "$5.20", "B": "$5.30", "C": "$5.40", "D": "$5.10"}
    text = user_text(record, turned)
    assert published_options(text) == turned
    before, after = record["question"].splitlines(), text.splitlines()
    assert [line for line in before if line[1:2] != "."] == [line for line in after if line[1:2] != "."]
    assert user_text(record, published_options(record["question"]) or {}) == record["question"]


def test_own_records_are_rendered_as_they_were(ours: list[bytes]) -> None:
    for line in ours:
        record = json.loads(line)
        assert user_text(record, record["options"]) == record["question"]
        assert "VALUE:" in user_text(record, record["options"], ask_value=True)


def test_a_reply_form_is_added_where_there_is_none() -> None:
    record = published(5)
    record["question"] = record["question"].replace("Reply as <<< X >>>.", "")
    options = published_options(record["question"]) or {}
    assert user_text(record, options).count("<<<") == 1


def test_each_mode_says_what_is_allowed() -> None:
    without = system_text("no-tools", "none")
    assert "not allowed" in without and "prices.csv" not in without
    texts = [system_text("with-tools", access) for access in ("prices", "none", "network")]
    assert ["prices.csv" in text for text in texts] == [True, False, False] and len(set(texts)) == 3


def test_prices_that_exist_nowhere_are_not_to_be_downloaded(tmp_path: Path, ours: list[bytes]) -> None:
    path = tmp_path / "ours.jsonl"

    def items(scheme: str, source: str) -> tuple[Asking, ...]:
        fields = json.loads(ours[0])
        path.write_text(json.dumps({**fields, "scheme": scheme, "tape": {**fields["tape"], "source": source}}))
        return read_questions([path]).items

    check_downloadable(items("ladder", "bundled") + items("ladder", "yfinance") + items(MINED, "synthetic"))
    refused = [(scheme, "bundled") for scheme in HIDDEN_SCHEMES]
    for scheme, source in [*refused, ("ladder", "synthetic:trend:7"), ("ladder", "synthetic"), ("ladder", "world:7")]:
        found = items(scheme, source)
        with pytest.raises(UsageError, match=r"ours.jsonl, line 1: .* --data-access prices"):
            check_downloadable(found)
        given = {"agents": ("oracle",), "mode": "with-tools"}
        with pytest.raises(UsageError, match="can't be downloaded"):
            begin([path], {**given, "data_access": "network"})
        assert begin([path], {**given, "data_access": "prices"}).manifest.questions == 1
    assert [access_for({"scheme": MINED}, access) for access in ("prices", "none", "network")] == [
        "stated", "none", "stated",
    ]  # fmt: skip


@pytest.mark.shared
def test_every_published_question_can_be_asked(shared: Path) -> None:
    found = read_questions([shared / "data" / "published" / "pool_part.jsonl"])
    assert len(found.items) + found.duplicates == 102
    for item in found.items:
        assert user_text(item.record, item.options) == item.record["question"]
