"""Exports without keys, attacked: what is written is a function of what is public, commitments hide and bind."""

from __future__ import annotations

import hashlib
import itertools
import json
import secrets
import shutil
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backtrader_bench.agents.exports import folder as folders
from backtrader_bench.agents.exports import make, sealing
from backtrader_bench.agents.runs import names
from backtrader_bench.cli.main import run
from backtrader_bench.market import pins
from backtrader_bench.mcq_builder import askers, seeds
from backtrader_bench.mcq_builder.askers import hidden_asker
from backtrader_bench.mcq_builder.build import contexts
from backtrader_bench.mcq_builder.options import siblings
from backtrader_bench.miner import journal
from backtrader_bench.miner.settings import settings_of
from backtrader_bench.records import LETTERS, MINED, PRIVATE_FIELDS, Question, public_part, to_line
from tests.agents.exports.made import bank, contents, export, lines, records
from tests.agents.runs.made import published, write_bank
from tests.helpers import bank as small_bank
from tests.helpers import settings, tape_of

SECRET = b"0123456789abcdef0123456789abcdef"


def sealed_export(form: str, file: Path, folder: Path, **more: Any) -> Path:
    """A sealed export; where its keys are."""
    made = export(form, file, folder, answers=False, **more)
    assert made.sealed is not None
    return made.sealed


@pytest.fixture
def same_nonces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nonces that count: what differs between two exports then comes from the banks."""
    numbers = itertools.count()
    monkeypatch.setattr(make.secrets, "token_hex", lambda size: f"{next(numbers):0{2 * size}x}")


@pytest.mark.usefixtures("same_nonces")
@pytest.mark.parametrize("form", make.FORMATS)
def test_another_key_changes_nothing_but_commitments(form: str, tmp_path: Path) -> None:
    """Whatever a key, a seed, a value or the order of a bank may be: the folder's bytes are the same."""
    one = [*records(12), published(1), published(2, "D")]
    other = [*records(12, seed=2), published(1, "C"), published(2, "A")]
    assert [record["answer"] for record in one] != [record["answer"] for record in other]
    assert [record.get("id") for record in one] == [record.get("id") for record in other]
    for record in other:
        record["note"] = f"the answer is {record['answer']}"
        record["config"] = {**record["config"], "answer": record["answer"]}
    seen = []
    for name, bank_records in (("one", one), ("other", other[::-1])):
        sealed_export(form, write_bank(tmp_path / f"{name}.jsonl", bank_records), tmp_path / name)
        files = contents(tmp_path / name)
        manifest = json.loads(files.pop("bench-export.json"))
        commitments = manifest.pop("commitments")
        assert list(commitments) == sorted(commitments)
        seen.append((files, manifest, list(commitments), set(commitments.values())))
    assert seen[0][:3] == seen[1][:3]
    assert not seen[0][3] & seen[1][3]


def hidden_bank(folder: Path, key: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bank of real hidden-world questions, every key drawn as ``key``."""
    monkeypatch.setattr(siblings, "draw_key", lambda secret, identity: key)
    monkeypatch.setattr(askers, "_asked", OrderedDict())
    chosen = settings(strategy="macd_crossover", scheme="siblings")
    of = contexts(chosen, tape_of(chosen), None)["macd_crossover"]
    asker = hidden_asker(of.spec, of.tape, of.config, resampled=False, seed=1, secret=SECRET)
    found = []
    for template in ("net_pnl", "trade_outcomes", "max_drawdown"):
        record = next((one for one in asker.questions(template) if isinstance(one, Question)), None)
        if record is not None:
            found.append(record)
    assert len(found) > 1
    for one in found:
        pins.save(pins.find(one.tape, one.config["symbol"], None, None))
    path = folder / f"bank{key}.jsonl"
    path.write_bytes(b"".join(map(to_line, found)))
    return path


@pytest.mark.usefixtures("same_nonces")
def test_questions_of_hidden_worlds_look_the_same_under_every_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real ones: the key decides which bars go with the question, and nothing else that is written."""
    looks, letters = set(), set()
    for key in range(4):
        file = hidden_bank(tmp_path, key, monkeypatch)
        keys = sealed_export("hf", file, tmp_path / f"out{key}", tapes=False)
        files = contents(tmp_path / f"out{key}")
        for private in lines(file):
            letters.add((private["id"], private["answer"]))
            for seed in private["private"]["seeds"]:
                assert not any(seed.encode() in data for data in files.values())
            assert not any(private["tape"]["source"].encode() in data for data in files.values())
        text = b"".join(data for name, data in files.items() if name.endswith(".jsonl")).decode()
        for private in lines(file):
            text = text.replace(private["tape"]["sha256"], "")
        looks.add(text)
        assert run(["reveal", str(keys), str(tmp_path / f"out{key}")]) == 0
    assert len(looks) == 1
    assert {letter for _, letter in letters} == set(LETTERS)


def leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Every (name, value) in a decoded file, however deep."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name, inner
            yield from leaves(inner)
    if isinstance(value, list):
        for inner in value:
            yield from leaves(inner)


@pytest.mark.parametrize("form", make.FORMATS)
def test_no_private_name_or_value_is_written(form: str, tmp_path: Path) -> None:
    file = bank(tmp_path / "bank.jsonl")
    sealed_export(form, file, tmp_path / "out")
    private = {*PRIVATE_FIELDS, "target", "value_json", "option_origins_json", "answer_index"}
    for name, data in contents(tmp_path / "out").items():
        if name.endswith((".json", ".jsonl")):
            for line in [data] if name.endswith(".json") else data.splitlines():
                assert not {key for key, _ in leaves(json.loads(line))} & private, name
        assert b"kept because" not in data
        for record in lines(file):
            for seed in record.get("private", {}).get("seeds", ()):
                assert seed.encode() not in data
    if form == "csv":
        header = (tmp_path / "out" / "questions.csv").read_text().splitlines()[0].split(",")
        assert "answer" not in header


def guesses(record: dict[str, Any], nonces: list[str], place: int) -> Iterator[tuple[str, str]]:
    """(letter, commitment) for every key a record could have, the rest known, under every nonce tried."""
    for letter, nonce in itertools.product(LETTERS, nonces):
        changed = {**record, "answer": letter}
        public = public_part(changed)
        rest = {name: value for name, value in changed.items() if name not in public or public[name] != value}
        yield letter, sealing.commitment(sealing.Sealed(id=record["id"], place=place, nonce=nonce, rest=rest))


def test_commitments_can_not_be_tried_out_without_their_nonces(tmp_path: Path) -> None:
    """An attacker who knows everything but the letter, and tries the nonces that a careless program would use."""
    made = records(6)
    keys = sealed_export("csv", write_bank(tmp_path / "bank.jsonl", made), tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "bench-export.json").read_bytes())
    sealed = {one["id"]: one for one in lines(keys)[1:]}
    assert len({one["nonce"] for one in sealed.values()}) == 6
    assert all(len(one["nonce"]) == 64 for one in sealed.values())
    easy = ["", "0" * 64, manifest["canary"], hashlib.sha256(b"").hexdigest()]
    for place, record in enumerate(made):
        promised = manifest["commitments"][record["id"]]
        tried = [*easy, record["id"], hashlib.sha256(record["id"].encode()).hexdigest()]
        assert promised not in {digest for _, digest in guesses(record, tried, place)}
        # With the nonce it is one look: that is what the nonce is for, and that the attack works when it may.
        known = [letter for letter, digest in guesses(record, [sealed[record["id"]]["nonce"]], place)
                 if digest == promised]  # fmt: skip
        assert known == [record["answer"]]


def test_nonces_are_the_systems_random_numbers(tmp_path: Path) -> None:
    assert make.secrets is secrets
    file = bank(tmp_path / "bank.jsonl")
    nonces = {one["nonce"] for name in ("one", "two")
              for one in lines(sealed_export("csv", file, tmp_path / name))[1:]}  # fmt: skip
    assert len(nonces) == 20


@pytest.mark.parametrize("form", make.FORMATS)
def test_reveal_gives_the_bank_back_byte_for_byte(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = [msgspec.convert(record, Question) for record in records(5)]
    file = tmp_path / "bank.jsonl"
    file.write_bytes(b"".join(map(to_line, questions)) + b"".join(
        json.dumps(published(number, letter)).encode() + b"\n" for number, letter in ((1, "B"), (2, "D"))))
    keys = sealed_export(form, file, tmp_path / "out")
    assert keys.stat().st_mode & 0o077 == 0
    assert run(["reveal", str(keys), str(tmp_path / "out"), "-o", str(tmp_path / "back.jsonl")]) == 0
    assert (tmp_path / "back.jsonl").read_bytes() == file.read_bytes()
    assert "7 keys are the ones" in capsys.readouterr().out
    assert run(["reveal", str(keys), str(tmp_path / "out"), "-o", str(tmp_path / "back.jsonl")]) == 2


def change_key(keys: Path, folder: Path) -> None:
    head, *rest = lines(keys)
    rest[2]["rest"]["answer"] = next(letter for letter in LETTERS if letter != rest[2]["rest"]["answer"])
    write_bank(keys, [head, *rest])


def swap_keys(keys: Path, folder: Path) -> None:
    head, *rest = lines(keys)
    rest[0]["rest"], rest[1]["rest"] = rest[1]["rest"], rest[0]["rest"]
    write_bank(keys, [head, *rest])


def leave_one_out(keys: Path, folder: Path) -> None:
    head, *rest = lines(keys)
    write_bank(keys, [head, *rest[1:]])


def change_nonce(keys: Path, folder: Path) -> None:
    head, *rest = lines(keys)
    rest[0]["nonce"] = "0" * 64
    write_bank(keys, [head, *rest])


def change_option(keys: Path, folder: Path) -> None:
    path = folder / make.PUBLIC
    path.write_bytes(path.read_bytes().replace(b"$1.50", b"$9.50"))


def change_option_and_hash(keys: Path, folder: Path) -> None:
    change_option(keys, folder)
    manifest = json.loads((folder / "bench-export.json").read_bytes())
    manifest["files"][make.PUBLIC] = hashlib.sha256((folder / make.PUBLIC).read_bytes()).hexdigest()
    (folder / "bench-export.json").write_text(json.dumps(manifest))


def change_a_table(keys: Path, folder: Path) -> None:
    (folder / "questions.csv").write_text("other")


DATA = {
    "inspect": "questions.jsonl", "lm-eval": "questions.jsonl", "hf": "test.jsonl", "csv": "questions.csv",
    "verifiers": "backtrader_bench_v1/questions.jsonl", "md": "questions.md",
}  # fmt: skip


def write_others(folder: Path, name: str, data: bytes | None, **about: Any) -> None:
    """A file of an export as a publisher can have it who changes it, or leaves it out, before the publishing."""
    manifest = {**json.loads((folder / "bench-export.json").read_bytes()), **about}
    if data is None:
        del manifest["files"][name]
    else:
        (folder / name).write_bytes(data)
        manifest["files"][name] = hashlib.sha256(data).hexdigest()
    (folder / "bench-export.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("form", make.FORMATS)
def test_what_people_load_is_held_against_the_public_records(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other options than the sealed ones in the file that people load, from the very beginning."""
    keys, out = sealed_export(form, bank(tmp_path / "bank.jsonl"), tmp_path / "out"), tmp_path / "out"
    words = ["reveal", str(keys), str(out), "--json"]
    assert run(words) == 0
    was = (out / DATA[form]).read_bytes()
    swapped = was.replace(b"$2.50", b"$x").replace(b"$1.50", b"$2.50").replace(b"$x", b"$1.50")
    if swapped == was:  # Markdown escapes them
        swapped = was.replace(b"2.50", b"x").replace(b"1.50", b"2.50").replace(b"x", b"1.50")
    assert swapped != was
    for name, data in ((DATA[form], swapped), (DATA[form], None), ("more.txt", b"")):
        capsys.readouterr()
        write_others(out, name, data)
        assert run([*words, "-o", str(tmp_path / "back.jsonl")]) == 1
        (problem,) = json.loads(capsys.readouterr().out)["problems"]
        assert problem.startswith(f"{name} is not ") and not (tmp_path / "back.jsonl").exists()
        write_others(out, DATA[form], was)
    # Another version may write other words: that is no proof of anything.
    write_others(out, "more.txt", None)
    (out / "more.txt").unlink()
    write_others(out, DATA[form], swapped, version="0.0.1")
    capsys.readouterr()
    assert run(words) == 3
    told = json.loads(capsys.readouterr().out)
    (unsure,) = told["unsure"]
    assert unsure.startswith(f"{DATA[form]} is not ") and "backtrader-bench 0.0.1 wrote it" in unsure
    assert (told["problems"], told["notes"]) == ([], [])
    assert run(words[:-1]) == 3
    assert "10 keys are the ones" in (said := capsys.readouterr().out) and "can't be told here" in said


def test_what_a_manifest_claims_and_what_was_added_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys, out = sealed_export("csv", bank(tmp_path / "bank.jsonl"), tmp_path / "out"), tmp_path / "out"
    words, was = ["reveal", str(keys), str(out), "--json"], (out / "bench-export.json").read_bytes()
    for about, said in (
        ({"questions": 11}, "says 11 questions and commits to 10"), ({"questions": None}, "says None questions"),
        ({"keys": "included"}, "says that the keys are 'included'"),
    ):  # fmt: skip
        (out / "bench-export.json").write_text(json.dumps({**json.loads(was), **about}))
        assert run(words) == 1
        (problem,) = json.loads(capsys.readouterr().out)["problems"]
        assert said in problem
    (out / "bench-export.json").write_bytes(was)
    # Hubs and tools put files beside an export: they change no question, and are named.
    (out / "sub" / "__pycache__").mkdir(parents=True)
    for name in (".gitattributes", "sub/__pycache__/x.pyc", "sub/answers.jsonl"):
        (out / name).write_text("x")
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["notes"] == ["sub/answers.jsonl is not of the export, and nobody answers for what it says"]
    assert (told["problems"], told["unsure"]) == ([], [])


CHANGES = [change_key, swap_keys, leave_one_out, change_nonce, change_option, change_option_and_hash, change_a_table]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_a_change_after_the_sealing_is_found(
    change: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = sealed_export("csv", write_bank(tmp_path / "bank.jsonl", records(6)), tmp_path / "out")
    change(keys, tmp_path / "out")
    assert run(["reveal", str(keys), str(tmp_path / "out"), "-o", str(tmp_path / "back.jsonl")]) == 1
    assert "not what was sealed" in capsys.readouterr().out
    assert not (tmp_path / "back.jsonl").exists()


def test_keys_are_never_replaced_and_never_in_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = bank(tmp_path / "bank.jsonl")
    keys = sealed_export("csv", file, tmp_path / "out")
    was = keys.read_bytes()
    assert run(["export", "csv", str(file), "-o", str(tmp_path / "out"), "--no-answers", "--force"]) == 2
    assert "never replaced" in capsys.readouterr().err
    assert keys.read_bytes() == was
    (tmp_path / "link").symlink_to(tmp_path / "out")
    for place in (tmp_path / "out" / "k", tmp_path / "link" / "k", tmp_path / "x" / ".." / "out" / "k"):
        words = ["export", "csv", str(file), "-o", str(tmp_path / "out"), "--no-answers", "--force"]
        assert run([*words, "--sealed", str(place)]) == 2
    assert run(["reveal", str(keys), str(tmp_path / "out")]) == 0


def sealed_of(records: list[dict[str, Any]], folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """A sealed export by the command line: what --json says, and what is said on stderr."""
    capsys.readouterr()
    file = write_bank(folder / f"{name}.jsonl", records)
    assert run(["export", "csv", str(file), "-o", str(folder / name), "--no-answers", "--json"]) == 0
    said = capsys.readouterr()
    return json.loads(said.out), said.err


@pytest.mark.parametrize("scheme", ["ladder", "published"])
@pytest.mark.parametrize(("seed", "warned"), [(42, 3), (2**40 + 123456, 3), (2**62 - 1, 3), (2**62, 0), (2**63 - 1, 0)])
def test_a_seed_that_can_be_guessed_is_said(
    seed: int, warned: int, scheme: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [{**record, "seed": seed, "scheme": scheme} for record in records(3)]
    said, warning = sealed_of(made, tmp_path, "out", capsys)
    assert said["guessable"] == warned
    assert ("WARNING: the keys of 3 of 3" in warning and "--seed random" in warning) == bool(warned)


def test_banks_that_give_each_other_away_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    templates = ["win_rate", "max_drawdown", "portfolio_value"]
    banks = [small_bank(num_questions=9, template=templates, seed=seed).questions for seed in (2**62, 2**62 + 1)]
    first, again = ([msgspec.to_builtins(one) for one in questions] for questions in banks)
    said, warning = sealed_of(first, tmp_path, "alone", capsys)
    assert (said["guessable"], said["linked"], warning) == (0, 0, "")
    twice = {one["stem"] for one in first} & {one["stem"] for one in again}
    said, warning = sealed_of([*first, *again], tmp_path, "together", capsys)
    assert twice and said["linked"] >= 2 * len(twice)
    assert f"WARNING: {said['linked']} of {said['questions']} questions stand here with other options" in warning
    assert "--exclude" in warning


def test_a_published_copy_of_a_question_is_the_same_question() -> None:
    templates = ["win_rate", "max_drawdown", "portfolio_value"]
    own = [msgspec.to_builtins(one) for one in small_bank(template=templates, seed=2**62).questions]
    copies = [{name: one[name] for name in ("question", "answer", "config")} for one in own]
    other = [msgspec.to_builtins(one) for one in small_bank(template=templates, seed=2**62 + 1).questions]
    assert {one["stem"] for one in own} & {one["stem"] for one in other}
    assert sealing.guessable([*copies, *other], lambda run: None).linked >= 2
    assert sealing.guessable([{"question": "What?", "answer": "A"}], lambda run: None).linked == 0


def test_hidden_worlds_need_no_large_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [{**record, "seed": 42, "scheme": "siblings"} for record in records(3)]
    said, warning = sealed_of(made, tmp_path, "out", capsys)
    assert (said["guessable"], said["seed_unknown"], warning) == (0, 0, "")


MINED_RUN = "mining_20260102_030405_rounds_1"


def mined_records(attempt: str = f"{MINED_RUN}/attempt_001") -> list[dict[str, Any]]:
    """Two mined questions, as the miner writes them."""
    found = []
    for number, record in enumerate(records(2)):
        code = f"import random\nprint({number})\n"
        digest = hashlib.sha256(code.encode()).hexdigest()
        found.append({
            **record, "scheme": MINED, "difficulty": "mined", "config": {"verifier_sha256": digest},
            "tape": {"sha256": digest, "source": "verifier", "rows": 0, "first": "", "last": ""}, "verifier": code,
            "verification": {"base_seed": 5, "answer": "1", "others": {"6": "2"}, "attempt": attempt},
        })  # fmt: skip
    return found


@pytest.mark.parametrize("form", make.FORMATS)
def test_nothing_of_a_mined_question_says_whether_a_program_is_its_own(form: str, tmp_path: Path) -> None:
    """The hash of the program would: whoever can write or guess the program is told that it is the one."""
    made = mined_records()
    file = write_bank(tmp_path / "bank.jsonl", made)
    keys = sealed_export(form, file, tmp_path / "out", tapes=True)
    texts = b"".join(contents(tmp_path / "out").values()).decode()
    public = json.dumps([public_part(record) for record in made])
    for record in made:
        for text in (texts, public):
            assert record["tape"]["sha256"][:12] not in text
            assert record["verifier"] not in text and "attempt_001" not in text
    assert run(["reveal", str(keys), str(tmp_path / "out"), "-o", str(tmp_path / "back.jsonl")]) == 0
    back = lines(tmp_path / "back.jsonl")
    assert [(one["tape"], one["config"]) for one in back] == [(one["tape"], one["config"]) for one in made]


@pytest.mark.parametrize(("seed", "small", "unknown"), [(1, 2, 0), (2**62, 0, 0), (None, 0, 2)])
def test_a_mining_session_with_a_small_or_unknown_seed_is_said(
    seed: int | None, small: int, unknown: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if seed is not None:
        names.logs_path(MINED_RUN).mkdir(parents=True)
        journal.write_session(journal.SessionFile(run=MINED_RUN, settings=settings_of({"seed": seed})))
    said, warning = sealed_of(mined_records(), tmp_path, "out", capsys)
    assert (said["guessable"], said["seed_unknown"]) == (small, unknown)
    assert ("can be found by mining again. Their session's seed is below" in warning) == bool(small)
    assert ("2 of 2 questions come of mining sessions that are not in this store" in warning) == bool(unknown)


def test_published_records_name_no_seed_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [*({**record, "seed": 2**62} for record in records(3)), published(1), published(2, "D")]
    said, warning = sealed_of(made, tmp_path, "out", capsys)
    assert (said["guessable"], said["seed_unknown"]) == (0, 2)
    assert "2 of 5 questions are published records, which name no seed" in warning and warning.count("WARNING") == 1


def test_drawn_seeds_have_62_random_bits_and_are_above_what_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def bits(count: int) -> int:
        asked.append(count)
        return 0

    drawn = [seeds.drawn_seed() for _ in range(64)]
    assert len(set(drawn)) == 64 and all(seeds.DRAWN <= one < 2**63 for one in drawn)
    monkeypatch.setattr(seeds.secrets, "randbits", bits)
    assert (seeds.drawn_seed(), asked) == (2**62, [62])


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b'{"kind": "x"}\n', b"\xff\n", b'{"kind": "backtrader-bench sealed keys"}\n']
)
def test_what_is_no_sealed_file_is_one_line(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed_export("csv", bank(tmp_path / "bank.jsonl"), tmp_path / "out")
    (tmp_path / "keys").write_bytes(content)
    assert run(["reveal", str(tmp_path / "keys"), str(tmp_path / "out")]) == 2
    assert run(["reveal", str(tmp_path / "out.sealed.jsonl"), str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 2 and "Traceback" not in said


@pytest.mark.parametrize("when", ["putting aside", "renaming", "renamed", "removing"])
def test_an_interrupt_leaves_the_export_with_its_keys_or_neither(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever export stands there after Ctrl-C: its keys are there, and no keys without one."""
    file, out = bank(tmp_path / "bank.jsonl"), tmp_path / "out"
    first = sealed_export("md", file, out)

    def interrupted(*words: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    rmtree, replace = shutil.rmtree, Path.replace

    def remove(path: Path, *words: Any, **named: Any) -> None:
        interrupted() if path.name.endswith(folders.OLD) else rmtree(path, *words, **named)

    def rename(path: Path, target: Path) -> Path:
        if path.name.endswith(folders.NEW) and when == "renaming":
            interrupted()
        found = replace(path, target)
        # The signal comes when the system call has returned.
        if (when == "renamed" and path.name.endswith(folders.NEW)) or (
            when == "putting aside" and target.name.endswith(folders.OLD)
        ):
            interrupted()
        return found

    with monkeypatch.context() as patched:
        if when == "removing":
            patched.setattr(folders.shutil, "rmtree", remove)
        else:
            patched.setattr(Path, "replace", rename)
        with pytest.raises(KeyboardInterrupt):
            export("md", file, out, answers=False, sealed=tmp_path / "second.jsonl", force=True)
    made = (tmp_path / "second.jsonl").exists()
    assert made is (when in ("renamed", "removing"))
    assert run(["reveal", str(tmp_path / "second.jsonl" if made else first), str(out)]) == 0


def test_keys_that_belong_to_no_export_are_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What kill -9 leaves between keys and folder."""
    file = bank(tmp_path / "bank.jsonl")
    keys = sealed_export("csv", file, tmp_path / "out")
    words = ["export", "csv", str(file), "-o", str(tmp_path / "out"), "--no-answers"]
    assert run([*words, "--force"]) == 2
    assert "killed" not in capsys.readouterr().err
    shutil.rmtree(tmp_path / "out")
    assert run(words) == 2
    assert "is not the export that these belong to, and one that was killed" in capsys.readouterr().err
    keys.write_text("notes of mine")
    assert run(words) == 2
    assert "killed" not in capsys.readouterr().err
