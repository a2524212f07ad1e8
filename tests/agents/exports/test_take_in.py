"""``bench import``: question files, and logs as Inspect and lm_eval write them (shapes taken from real ones)."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench import store
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import read
from backtrader_bench.cli.main import run
from tests.agents.exports.made import bank, lines, records
from tests.agents.runs.made import published, write_bank


def inspect_sample(record: dict[str, Any], text: str, epoch: int = 1, **more: Any) -> dict[str, Any]:
    """A sample as Inspect logs it, with the fields that matter."""
    parts = [{"type": "reasoning", "reasoning": "<<< A >>>"}, {"type": "text", "text": text}]
    said = {"role": "assistant", "content": parts}
    return {
        "id": record["id"], "epoch": epoch, "input": record["stem"], "choices": list(record["options"].values()),
        "target": record["answer"], "messages": [{"role": "user", "content": record["stem"]}, said],
        "output": {
            "model": "m-1", "choices": [{"message": said, "stop_reason": "stop"}], "completion": text,
            "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10, "input_tokens_cache_read": 2},
        },
        "scores": {"choice": {"value": "C", "answer": "A"}}, "started_at": "2026-01-02T03:04:05+00:00",
        "total_time": 1.5, **more,
    }  # fmt: skip


def inspect_log(path: Path, samples: list[Any], **more: Any) -> Path:
    """A JSON log."""
    spec = {"task": "t", "model": "openai/m-1", "created": "2026-01-02T03:04:05+00:00",
            "packages": {"inspect_ai": "0.3.285"}}  # fmt: skip
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": spec, "samples": samples, **more}))
    return path


def imported(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[dict[str, Any], list[Any]]:
    capsys.readouterr()
    assert run(["import", *map(str, words), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    return said, list(read.read_run(said["run"]).attempts)


def test_replies_of_an_inspect_log_are_read_and_graded_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, made = bank(tmp_path / "bank.jsonl"), records()
    right, wrong = made[0]["answer"], "A" if made[1]["answer"] != "A" else "B"
    shown = dict(zip("ABCD", [made[2]["options"][letter] for letter in "BCDA"], strict=True))
    where = next(letter for letter, text in shown.items() if text == made[2]["options"][made[2]["answer"]])
    samples = [
        inspect_sample(made[0], f"So it is.\n<<< {right} >>>"),
        inspect_sample(made[0], f"ANSWER: {right}", epoch=2),
        inspect_sample(made[1], f"ANSWER: {wrong}"),
        inspect_sample(made[2], f"ANSWER: {where}", choices=list(shown.values())),
        inspect_sample(made[3], "I can't say."),
        inspect_sample(made[4], "", error={"message": "RateLimitError: 429 slow down", "traceback": ""}),
        inspect_sample(made[5], "", limit={"type": "time", "limit": 60}),
    ]
    log = inspect_log(tmp_path / "log.json", samples)
    said, attempts = imported(capsys, log, "--questions", file)
    by = {(one.question_id, one.repeat): one for one in attempts}
    first = by[made[0]["id"], 0]
    assert (first.status, first.method, first.agent, first.backend) == ("correct", "strict", "openai/m-1", "inspect")
    assert (first.usage.input, first.usage.cache_read, first.seconds) == (7, 2, 1.5)
    assert (by[made[0]["id"], 1].status, by[made[0]["id"], 1].method) == ("correct", "lenient")
    assert by[made[1]["id"], 0].status == "wrong"
    rotated = by[made[2]["id"], 0]
    assert (rotated.status, rotated.shift, rotated.shown) == ("correct", 1, where)
    assert by[made[3]["id"], 0].status in ("unparsed", "refused")
    failed = by[made[4]["id"], 0]
    assert failed.status == "agent_error" and failed.error is not None and failed.error.kind == "rate_limit"
    assert by[made[5]["id"], 0].status == "timeout"
    # The log's scorer called all of them right.
    assert (said["graded_alike"], said["graded_apart"]) == (3, 1)
    manifest = read.read_run(said["run"]).manifest
    assert manifest.sessions[0].versions["inspect"] == "0.3.285"
    assert manifest.settings.repeats == 2 and manifest.settings.rotate
    assert manifests.read(manifests.manifest_path(said["run"])) == manifest
    assert run(["report", said["run"]]) == 0
    assert run(["rescore", said["run"], "--dry-run"]) == 0
    assert "0 read differently" in capsys.readouterr().out


def test_a_tool_call_makes_the_mode_unless_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, made = bank(tmp_path / "bank.jsonl"), records()
    sample = inspect_sample(made[0], f"<<< {made[0]['answer']} >>>")
    sample["messages"].insert(1, {"role": "assistant", "content": "", "tool_calls": [
        {"id": "1", "function": "bash", "arguments": {"cmd": "ls"}}]})  # fmt: skip
    log = inspect_log(tmp_path / "log.json", [sample])
    (one,) = imported(capsys, log, "--questions", file)[1]
    assert (one.mode, one.status, one.tool_calls[0].name) == ("with-tools", "correct", "bash")
    (one,) = imported(capsys, log, "--questions", file, "--mode", "no-tools")[1]
    assert (one.mode, one.status) == ("no-tools", "tool_attempted")


def lm_line(record: dict[str, Any], responses: list[Any], **more: Any) -> dict[str, Any]:
    """A line of samples as lm_eval logs it."""
    doc = {"id": record["id"], "choices": list(record["options"].values()), "answer": record["answer"]}
    return {
        "doc_id": 0, "doc": doc, "target": record["answer"], "arguments": {}, "resps": responses, "filtered_resps": [],
        "filter": "strict", "metrics": ["exact_match"], "exact_match": 1.0, **more,
    }  # fmt: skip


def test_samples_of_lm_eval_are_read_by_text_or_likelihood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, made = bank(tmp_path / "bank.jsonl"), records()
    right = made[0]["answer"]
    place = "ABCD".index(made[1]["answer"])
    likely = [[["-2.5" if one != place else "-0.5", "False"]] for one in range(4)]
    (tmp_path / "results_2026-01-02T03-04-05.678.json").write_text(json.dumps(
        {"model_name": "our-model", "lm_eval_version": "0.4.13", "date": 1767323045.0}))
    samples = write_bank(tmp_path / "samples_bench_2026-01-02T03-04-05.678.jsonl", [
        lm_line(made[0], [[f"<<< {right} >>>", "no idea at all"]]),
        lm_line(made[0], [[f"<<< {right} >>>", "no idea at all"]], filter="other"),
        lm_line(made[1], likely, acc=1.0),
    ])  # fmt: skip
    said, attempts = imported(capsys, samples, "--questions", file)
    assert said["agents"] == ["our-model"]
    assert [(one.question_id == made[0]["id"], one.repeat, one.status) for one in attempts] == [
        (True, 0, "correct"), (False, 0, "correct"), (True, 1, "unparsed")
    ]  # fmt: skip
    assert attempts[0].started == "2026-01-02T03:04:05+00:00"
    assert run(["rescore", said["run"], "--dry-run"]) == 0
    assert "0 read differently" in capsys.readouterr().out


def test_question_files_go_into_the_store_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_bank(tmp_path / "from elsewhere.jsonl", [published(1), published(2, "D")])
    assert run(["import", str(file)]) == 0
    target = store.folder("mcq") / "from_elsewhere.jsonl"
    assert target.read_bytes() == file.read_bytes()
    assert run(["import", str(file)]) == 0
    assert "unchanged" in capsys.readouterr().out
    write_bank(file, [published(3)])
    assert run(["import", str(file)]) == 2
    assert run(["import", str(file), "--name", "../../other"]) == 0
    assert len(lines(target)) == 2
    assert sorted(one.name for one in target.parent.iterdir()) == ["from_elsewhere.jsonl", "other.jsonl"]
    assert run(["import", str(file), "--force"]) == 0
    assert len(lines(target)) == 1
    capsys.readouterr()
    assert run(["import", str(file), "--name", "n" * 300]) == 2
    assert "has 300 characters, 240 are the most; --name gives another" in capsys.readouterr().err


def test_a_question_without_its_key_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = bank(tmp_path / "bank.jsonl")
    assert run(["export", "csv", str(file), "-o", str(tmp_path / "out"), "--no-answers"]) == 0
    public = str(tmp_path / "out" / "questions.public.jsonl")
    capsys.readouterr()
    for words in (["import"], ["export", "md", "-o", str(tmp_path / "x")], ["run", "--agent", "oracle"]):
        assert run([*words, public]) == 2
        said = capsys.readouterr().err
        assert "line 1: no answer: a question without its key; name the bank that has the keys" in said


def test_logs_find_their_questions_in_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", str(bank(tmp_path / "bank.jsonl"))]) == 0
    one = records()[0]
    log = inspect_log(tmp_path / "log.json", [inspect_sample(one, f"<<< {one['answer']} >>>")])
    assert imported(capsys, log)[0]["statuses"] == {"correct": 1}


ONE = records()[0]


def inspect_text(spec: dict[str, Any] | None = None, **more: Any) -> str:
    """A log of two samples, the second with other values, NaN and all as Python writes them."""
    about = {"task": "t", "model": "m-1", "created": "2026-01-02T03:04:05+00:00", **(spec or {})}
    second = inspect_sample(ONE, "<<< A >>>", epoch=2)
    second["output"] = {**second["output"], **more.pop("output", {})}
    return json.dumps({"version": 2, "eval": about, "samples": [inspect_sample(ONE, "<<< A >>>"), {**second, **more}]})


def used(**usage: Any) -> dict[str, Any]:
    return {"output": {"usage": usage}}


ODD: dict[str, dict[str, Any]] = {
    "started_number": {"started_at": 5}, "started_words": {"started_at": "yesterday"},
    "time_text": {"total_time": "long"},
    "time_nan": {"total_time": float("nan")}, "time_infinite": {"total_time": float("inf")},
    "time_negative": {"total_time": -1.0}, "time_list": {"total_time": [1]},
    "tokens_text": used(input_tokens="many"), "tokens_part": used(output_tokens=1.5),
    "tokens_nan": used(reasoning_tokens=float("nan")), "tokens_negative": used(input_tokens_cache_read=-1),
    "tokens_beyond": used(input_tokens=10**30), "tokens_truth": used(input_tokens=True),
    "cost_text": used(total_cost="1"), "cost_infinite": used(total_cost=1e999), "cost_negative": used(total_cost=-0.5),
    "epoch_part": {"epoch": 1.5}, "epoch_infinite": {"epoch": float("inf")},
    "three_choices": {"choices": list(ONE["options"].values())[:3]}, "choices_numbers": {"choices": [1, 2, 3, 4]},
    "choices_text": {"choices": "ABCD"},
}  # fmt: skip
ODD_SPEC = {"model": ["a"], "task": {"a": 1}, "created": 5, "packages": {"inspect_ai": 5}}
BAD: dict[str, Any] = {
    "empty.jsonl": "",
    "nothing.jsonl": "{}\n",
    "text.jsonl": "hello\n",
    "half.jsonl": json.dumps(published(1)) + "\n" + json.dumps({**published(2), "answer": "E"}) + "\n",
    "array.json": "[]",
    "other.json": "{}",
    "cut.json": '{"version": 2, "eval": {',
    "version.json": json.dumps({"version": 3, "eval": {}, "samples": [{}]}),
    "none.json": json.dumps({"version": 2, "eval": {}, "samples": []}),
    "sample.json": json.dumps({"version": 2, "eval": {}, "samples": [{"id": 3}]}),
    "stranger.json": json.dumps({"version": 2, "eval": {}, "samples": [inspect_sample({**ONE, "id": "x"}, "A")]}),
    "shuffled.json": json.dumps({"version": 2, "eval": {}, "samples": [
        inspect_sample(ONE, "A", choices=[ONE["options"][letter] for letter in "BACD"])]}),
    "zip.eval": "PK\x03\x04 and no more",
    "noid.jsonl": json.dumps({**lm_line(ONE, [["A"]]), "doc": {}}) + "\n",
    "shape.jsonl": json.dumps(lm_line(ONE, [])) + "\n",
    "lm_choices.jsonl": json.dumps({**lm_line(ONE, [["A"]]), "doc": {"id": ONE["id"], "choices": ["1", "2"]}}) + "\n",
    "lm_nan.jsonl": json.dumps(lm_line(ONE, [[[float("nan"), "False"]]] * 4)) + "\n",
    "lm_nan_text.jsonl": json.dumps(lm_line(ONE, [[["nan", "False"]]] * 4)) + "\n",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_can_not_be_taken_in_is_one_line_and_leaves_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = bank(tmp_path / "bank.jsonl")
    (tmp_path / name).write_text(BAD[name])
    questions = [] if name == "half.jsonl" else ["--questions", str(file)]
    assert run(["import", str(tmp_path / name), *questions]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1
    home = store.home()
    assert not [one for one in home.rglob("*") if one.is_file()]
    assert not (home / "logs").exists() or not list((home / "logs").iterdir())


@pytest.mark.parametrize("name", [*ODD, *ODD_SPEC])
def test_values_of_another_type_are_one_line_that_names_file_and_sample_and_leave_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.json"
    log.write_text(inspect_text(**ODD[name]) if name in ODD else inspect_text(spec={name: ODD_SPEC[name]}))
    assert run(["import", str(log), "--questions", str(bank(tmp_path / "bank.jsonl"))]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {log}, sample 2: " if name in ODD else f"error: {log}: ") and said.count("\n") == 1
    assert not list(store.home().rglob("*.json*")) and not list(store.home().glob("logs/*"))


def test_an_eval_log_with_another_header_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, header in enumerate(("[]", "5", "[" * 10_000, "")):
        log = tmp_path / f"{number}.eval"
        with zipfile.ZipFile(log, "w") as file:
            file.writestr("header.json", header)
        assert run(["import", str(log), "--questions", str(bank(tmp_path / "bank.jsonl"))]) == 2
        assert capsys.readouterr().err.startswith(f"error: {log}: this is no whole Inspect log")


def test_a_name_without_end_is_refused_and_can_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.json"
    log.write_text(inspect_text(spec={"model": "m" * 100_000}))
    file = bank(tmp_path / "bank.jsonl")
    assert run(["import", str(log), "--questions", str(file)]) == 2
    said = capsys.readouterr().err
    assert "--agent NAME gives another" in said and len(said) < 300
    assert imported(capsys, log, "--questions", file, "--agent", "short")[0]["agents"] == ["short"]


def test_times_are_kept_in_utc_and_infinite_likelihoods_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = bank(tmp_path / "bank.jsonl")
    sample = inspect_sample(ONE, "<<< A >>>", started_at="2026-01-02T03:04:05.678+02:00", total_time=3)
    (one,) = imported(capsys, inspect_log(tmp_path / "log.json", [sample]), "--questions", file)[1]
    assert (one.started, one.seconds) == ("2026-01-02T01:04:05+00:00", 3.0)
    # NaN in a field that is not read, and in a reply.
    line = lm_line(ONE, [["The value is NaN.\n<<< A >>>"]], perplexity=float("nan"))
    (one,) = imported(capsys, write_bank(tmp_path / "samples_a_1.jsonl", [line]), "--questions", file)[1]
    assert one.reply == "The value is NaN.\n<<< A >>>"
    likely = [[[-float("inf"), "False"]], [[-float("inf"), "False"]], [[-3.0, "False"]], [[-9.0, "False"]]]
    samples = write_bank(tmp_path / "samples_b_1.jsonl", [lm_line(ONE, likely)])
    (one,) = imported(capsys, samples, "--questions", file)[1]
    assert one.shown == "C"


LEAST = -float("inf")


@pytest.mark.parametrize("likely", [[-1.0, -1.0, -2.0, -3.0], [LEAST] * 4, [-3.0, "-2.50", -2.5, -2.5], [0.0] * 4])
def test_letters_that_are_as_likely_as_each_other_are_no_answer(
    likely: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = lm_line(ONE, [[[value, "False"]] for value in likely], acc=1.0)
    samples = write_bank(tmp_path / "samples_b_1.jsonl", [line])
    said, (one,) = imported(capsys, samples, "--questions", bank(tmp_path / "bank.jsonl"))
    assert (one.status, one.shown, one.letter) == ("unparsed", None, None) and "log-likelihoods" in one.reply
    assert said["statuses"] == {"unparsed": 1}


@pytest.mark.parametrize("value", [float("nan"), "nan", None, "likely", [1]])
def test_a_likelihood_that_is_no_number_is_named_with_its_sample(
    value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = records()[:2]
    whole, odd = ([[[one, "False"]] for one in (-1.0, -2.0, third, -4.0)] for third in (-3.0, value))
    samples = write_bank(tmp_path / "samples_b_1.jsonl", [lm_line(first, whole), lm_line(second, odd)])
    assert run(["import", str(samples), "--questions", str(bank(tmp_path / "bank.jsonl"))]) == 2
    where = f"{samples}, line 2 (question {second['id'][:12]})"
    assert capsys.readouterr().err == f"error: {where}: the log-likelihood of C is no number\n"


HALF = "a\ud800z"


def test_half_characters_of_logs_are_question_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tokens of models may be bytes of no character: wherever they stand, the log is read."""
    file = bank(tmp_path / "bank.jsonl")
    sample = inspect_sample(ONE, f"{HALF} <<< A >>>", metadata={HALF: HALF}, error=None)
    log = inspect_log(tmp_path / "log.json", [sample], location=HALF)
    fields = json.loads(log.read_text())
    fields["eval"] |= {"task": HALF, "model": HALF, "packages": {"inspect_ai": HALF}}
    raw = json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
    for number, data in enumerate((json.dumps(fields).encode(), raw)):
        path = tmp_path / f"{number}.json"
        path.write_bytes(data)
        said, (one,) = imported(capsys, path, "--questions", file)
        assert (said["agents"], one.reply, one.shown) == (["a?z"], "a?z <<< A >>>", "A")
        manifest = read.read_run(said["run"]).manifest
        assert manifest.given == {"imported": ["a?z"]} and manifest.sessions[0].versions["inspect"] == "a?z"
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as packed:
        packed.writestr("header.json", json.dumps({key: fields[key] for key in fields if key != "samples"}))
        packed.writestr("samples/1.json", json.dumps(sample))
    assert imported(capsys, tmp_path / "log.eval", "--questions", file)[1][0].reply == "a?z <<< A >>>"
    samples = write_bank(tmp_path / "samples_b\udcff_1.jsonl", [lm_line(ONE, [[f"{HALF} <<< A >>>"]])])
    (tmp_path / "results_1.json").write_text(json.dumps({"lm_eval_version": HALF, "model_name": HALF, "x": HALF}))
    said, (one,) = imported(capsys, samples, "--questions", file)
    assert (said["agents"], one.reply) == (["a?z"], "a?z <<< A >>>")
    assert run(["db", "check"]) == 0


@pytest.mark.parametrize("place", ["labels", "question", "config", "key"])
def test_records_with_half_a_character_are_one_line_wherever_they_are_read_and_are_named(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = {
        "labels": {**ONE, "labels": [HALF]}, "question": {**ONE, "question": ONE["question"] + HALF},
        "config": {**ONE, "config": {**ONE["config"], "symbol": HALF}}, "key": {**ONE, HALF: 1},
    }[place]  # fmt: skip
    file = write_bank(tmp_path / "odd.jsonl", [records()[1], odd])
    out = tmp_path / "out"
    for words in (
        ["import", file], ["run", file, "--agent", "oracle"], ["page", file, "--html", out], ["check", file],
        ["audit", file, "--no-learned"], ["db", "dedupe", file, "-o", out], ["show", file, "2"],
        ["export", "csv", file, "-o", out], ["export", "csv", file, "-o", out, "--no-answers"],
        ["build", "--exclude", file, "-n", "1", "-o", out],
    ):  # fmt: skip
        capsys.readouterr()
        assert run(list(map(str, words))) == 2, words
        said = capsys.readouterr().err
        assert "half a character" in said and said.count("\n") == 1 and str(file) in said
    assert not out.exists() and not list(store.home().glob("logs/*"))
    (store.folder("mcq") / "odd.jsonl").write_bytes(file.read_bytes())
    assert run(["db", "check"]) == 1
    assert "db/mcq/odd.jsonl, line 2: unreadable: holds half a character (" in capsys.readouterr().out


@pytest.mark.parametrize("writes", [0, 1, 2, 3])
def test_an_import_that_is_cut_off_is_an_interrupted_run(
    writes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, made = bank(tmp_path / "bank.jsonl"), records()
    log = inspect_log(tmp_path / "log.json", [inspect_sample(made[0], f"<<< {made[0]['answer']} >>>")])
    write, left = store.replace_file, [writes]

    def cut(*given: Any, **more: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        write(*given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(store, "replace_file", cut)
        assert run(["import", str(log), "--questions", str(file), "--name", "cut"]) == (130 if writes < 3 else 0)
    capsys.readouterr()
    assert run(["db", "check", "--json"]) == 0, capsys.readouterr().out
    if not writes:  # nothing of it is there, not even its folder
        assert (list((store.home() / "logs").iterdir()), read.runs()) == ([], [])
        return
    capsys.readouterr()
    reported = run(["report", "last", "--json"])
    said = capsys.readouterr()
    if writes == 1:
        assert (reported, "import takes it in again" in said.err) == (2, True), said.err
    else:
        assert json.loads(said.out)["runs"][0]["outcome"] == ("done" if writes == 3 else None)
    assert run(["run", "--resume", "last"]) == 2
    assert "import takes it in again" in capsys.readouterr().err
