"""Every export read by the tool that it is for, offline, and that tool's results read back."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.agents.runs import read
from backtrader_bench.cli.main import run
from backtrader_bench.market import pins
from backtrader_bench.records import to_line
from tests import helpers
from tests.agents.exports.made import export, lines, records
from tests.agents.reports import hand, simulated
from tests.agents.runs.made import published, write_bank
from tests.real_tools import RealTool
from tests.shown import commands, words

pytestmark = [pytest.mark.real_tools, pytest.mark.slow]
Tool = Callable[[str], RealTool]
CHECKOUT = Path(__file__).resolve().parents[3]
COUNT = 10
# The model of these tests is right on every question but those at these places of the file.
WRONG = (1, 4, 9)
RIGHT = (COUNT - len(WRONG)) / COUNT


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Eight questions of ours and two published ones."""
    return write_bank(tmp_path / "bank.jsonl", [*records(8), published(1), published(2, "D")])


def answers(file: Path) -> list[str]:
    """What the model says to each question, in the order of the file."""
    keys = [record["answer"] for record in lines(file)]
    return [key if place not in WRONG else "ABCD"["ABCD".index(key) - 1] for place, key in enumerate(keys)]


EVAL = '''
import json, sys
from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

task, rows, says = sys.argv[1], [json.loads(line) for line in open(sys.argv[2])], json.loads(sys.argv[3])

def reply(messages, tools, tool_choice, config):
    text = messages[-1].text
    place = next(n for n, row in enumerate(rows) if row["input"].split("?")[0] + "?" in text
                 and all(choice in text for choice in row["choices"]))
    said = f"Not <<< {'ABCD'['ABCD'.index(says[place]) - 2]} >>>.\\n\\n<<< {says[place]} >>>"
    output = ModelOutput.from_content("mockllm/model", said if "<<<" in text else f"ANSWER: {says[place]}")
    # Without it the mock counts tokens with a tokenizer that it would have to download.
    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return output

model = get_model("mockllm/model", custom_outputs=reply)
(log,) = evaluate(task, model=model, log_dir="logs", display="none", epochs=2)
log = read_eval_log(log.location)
metrics = {name: one.value for name, one in log.results.scores[0].metrics.items()} if log.results.scores else {}
print(json.dumps({"status": log.status, "file": log.location, "metrics": metrics, "samples": len(log.samples)}))
'''


def evaluated(tool: RealTool, task: str, bank: Path, cwd: Path) -> dict[str, Any]:
    """The task run by Inspect with the model of known answers, as read_eval_log tells it."""
    rows = cwd / "rows.jsonl"
    rows.write_bytes((cwd / "keys" / "questions.jsonl").read_bytes())
    (cwd / "evaluate.py").write_text(EVAL)
    told = tool.run("evaluate.py", task, rows, json.dumps(answers(bank)), cwd=cwd)
    found: dict[str, Any] = json.loads(told.splitlines()[-1])
    assert found["status"] == "success" and found["samples"] == 2 * COUNT
    return found


def test_inspect_gets_the_known_accuracy_in_both_formats_and_its_logs_come_back(
    real_tool: Tool, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = real_tool("inspect")
    export("inspect", bank, tmp_path / "keys")
    export("inspect", bank, tmp_path / "sealed", answers=False)
    easy = [place for place, record in enumerate(lines(bank)) if record["difficulty"] == "easy"]
    logs = {}
    for name in ("backtrader_bench_choice", "backtrader_bench"):
        found = evaluated(tool, f"keys/backtrader_bench.py@{name}", bank, tmp_path)
        assert found["metrics"]["all"] == pytest.approx(RIGHT)
        assert found["metrics"]["easy"] == pytest.approx(sum(place not in WRONG for place in easy) / len(easy))
        assert "stderr" in found["metrics"]
        logs[name] = found["file"]
    found = evaluated(tool, "sealed/backtrader_bench.py@backtrader_bench", bank, tmp_path)
    assert found["metrics"] == {}
    for file in (*logs.values(), found["file"]):
        _read_back(tool, Path(file.removeprefix("file://")), bank, tmp_path, capsys)


def _read_back(tool: RealTool, file: Path, bank: Path, cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log, as it is (with Inspect's packages in reach) and as converted to JSON, is a run with those answers."""
    capsys.readouterr()
    words = ("log", "convert", file, "--to", "json", "--output-dir", "json", "--overwrite")
    tool.run("-m", "inspect_ai", *words, cwd=cwd)
    assert run(["import", str(cwd / "json" / f"{file.stem}.json"), "--questions", str(bank), "--json"]) == 0
    converted = json.loads(capsys.readouterr().out)
    code = (
        f"import sys; sys.path.append({str(tool.packages)!r})\n"
        f"from backtrader_bench.cli.main import run; sys.exit(run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "import", str(file), "--questions", str(bank), "--json"],
        capture_output=True, text=True, check=False, timeout=300, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    direct = json.loads(done.stdout)
    for said in (converted, direct):
        assert said["agents"] == ["mockllm/model"]
        assert said["statuses"] == {"correct": 2 * (COUNT - len(WRONG)), "wrong": 2 * len(WRONG)}
        assert said["graded_apart"] == 0
        one = read.read_run(said["run"]).attempts[0]
        assert (one.usage.input, one.usage.output, one.backend) == (10, 5, "inspect")
    assert run(["report", direct["run"]]) == 0


READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
found = {}
for file in sys.argv[1:]:
    log, head = read_eval_log(file), read_eval_log(file, header_only=True)
    sums, one = read_eval_log_sample_summaries(file), read_eval_log_sample(file, log.samples[0].id, 1)
    found[head.eval.metadata["agent"]] = {
        "status": log.status, "model": log.eval.model, "accuracy": head.results.scores[0].metrics["accuracy"].value,
        "values": sorted(s.value for x in log.samples for s in (x.scores or {}).values()), "summaries": len(sums),
        "errors": sum(x.error is not None for x in log.samples),
        "limits": sum(x.limit is not None for x in log.samples),
        "completion": one.output.completion, "roles": [m.role for m in one.messages],
    }
print(json.dumps(found))
"""


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_inspects_own_reader_opens_a_runs_log(suffix: str, real_tool: Tool, tmp_path: Path) -> None:
    bank = hand.bank(tmp_path)
    simulated.write(simulated.manifest(hand.RUN, ("a", "b"), bank, 32, repeats=2), hand.attempts())
    for agent in "ab":
        words = ["export", "inspect-log", hand.RUN, "-o", str(tmp_path / f"{agent}{suffix}"), "--agent", agent]
        assert run(words) == 0
    (tmp_path / "read.py").write_text(READ)
    found = json.loads(real_tool("inspect").run("read.py", f"a{suffix}", f"b{suffix}", cwd=tmp_path).splitlines()[-1])
    assert found["a"]["accuracy"] == pytest.approx(11 / 15)
    assert found["b"]["values"] == ["C"] * 5 + ["I"] * 5
    assert (found["a"]["limits"], found["b"]["errors"]) == (1, 2)
    assert found["a"]["status"] == "success" and found["a"]["model"] == "bench/a"
    assert found["a"]["summaries"] == found["b"]["summaries"] == 16


LOAD = """
import json, sys
from datasets import load_dataset
import mlcroissant
folder = sys.argv[1]
data = load_dataset(folder)
assert list(data) == ["test"], data
about = mlcroissant.Dataset(jsonld=f"{folder}/croissant.json")
def plain(value):
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value
croissant = [{name.partition("/")[2]: plain(value) for name, value in row.items()} for row in about.records("test")]
print(json.dumps({
    "rows": list(data["test"]), "errors": list(about.metadata.issues.errors), "croissant": [
        {name: row[name] for name in ("id", "question", "choices")} for row in croissant],
}))
"""


@pytest.mark.parametrize("answers_too", [True, False])
def test_datasets_and_mlcroissant_load_the_folder(answers_too: bool, real_tool: Tool, tmp_path: Path) -> None:
    made = helpers.bank(num_questions=3)
    for tape in made.tapes.values():
        pins.save(tape)
    file = tmp_path / "bank.jsonl"
    mixed = [json.dumps(one).encode() + b"\n" for one in (published(1), records(1)[0] | {"scheme": "mined"})]
    file.write_bytes(b"".join([*map(to_line, made.questions), *mixed]))
    export("hf", file, tmp_path / "out", answers=answers_too, tapes=True)
    (tmp_path / "load.py").write_text(LOAD)
    found = json.loads(real_tool("hf").run("load.py", tmp_path / "out", cwd=tmp_path).splitlines()[-1])
    written = lines(tmp_path / "out" / "test.jsonl")
    assert found["rows"] == written
    assert found["errors"] == []
    assert found["croissant"] == [{name: row[name] for name in ("id", "question", "choices")} for row in written]
    keys = [row.get("answer") for row in found["rows"]]
    assert keys == ([record["answer"] for record in lines(file)] if answers_too else [None] * 5)
    assert any(row["tape_file"] for row in found["rows"])


class Answering(BaseHTTPRequestHandler):
    """Chat completions: the letter for the question that the last message holds; none where that is empty."""

    questions: tuple[tuple[str, str], ...] = ()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the console."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = request["messages"][-1]["content"]
        letter = next(letter for question, letter in self.questions if question in text)
        said = f"Not <<< {'ABCD'['ABCD'.index(letter) - 2]} >>>, so <<< {letter} >>>" if letter else "I can't tell."
        body = json.dumps({
            "id": "1", "object": "chat.completion", "created": 1, "model": "stub",
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def answering(questions: list[tuple[str, str]]) -> Iterator[str]:
    """The URL of a server that answers so."""
    handler = type("Handler", (Answering,), {"questions": tuple(questions)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    finally:
        server.shutdown()
        server.server_close()


def results(folder: Path) -> dict[str, Any]:
    """What lm_eval wrote as results."""
    (file,) = folder.rglob("results_*.json")
    found: dict[str, Any] = json.loads(file.read_bytes())
    return found["results"]  # type: ignore[no-any-return]


def test_lm_eval_gets_the_known_accuracy_and_its_samples_come_back(
    real_tool: Tool, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = real_tool("lm-eval")
    export("lm-eval", bank, tmp_path / "keys")
    export("lm-eval", bank, tmp_path / "sealed", answers=False)
    tool.run("-m", "lm_eval", "--model", "dummy", "--tasks", "backtrader_bench,backtrader_bench_choice",
             "--include_path", tmp_path / "keys", "--output_path", "dummy", "--log_samples", cwd=tmp_path)  # fmt: skip
    found = results(tmp_path / "dummy")
    assert set(found) == {"backtrader_bench", "backtrader_bench_choice"}
    # The dummy's text is no answer, its likelihoods are random numbers.
    assert found["backtrader_bench"]["exact_match,strict"] == 0
    samples = sorted((tmp_path / "dummy").rglob("samples_backtrader_bench_choice_*.jsonl"))
    assert run(["import", *map(str, samples), "--questions", str(bank), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["statuses"].get("correct", 0) == round(COUNT * found["backtrader_bench_choice"]["acc,none"])
    texts = [line["question"] for line in lines(tmp_path / "keys" / "questions.jsonl")]
    asked = list(zip(texts, answers(bank), strict=True))
    with answering(asked) as url:
        for folder in ("keys", "sealed"):
            tool.run("-m", "lm_eval", "--model", "local-chat-completions", "--model_args",
                     f"model=stub,base_url={url},tokenized_requests=False,num_concurrent=1", "--apply_chat_template",
                     "--tasks", "backtrader_bench", "--include_path", tmp_path / folder, "--output_path",
                     f"{folder}-out", "--log_samples", cwd=tmp_path)  # fmt: skip
    assert results(tmp_path / "keys-out")["backtrader_bench"]["exact_match,strict"] == pytest.approx(RIGHT)
    for folder in ("keys", "sealed"):
        samples = sorted((tmp_path / f"{folder}-out").rglob("samples_*.jsonl"))
        assert run(["import", *map(str, samples), "--questions", str(bank), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["statuses"] == {"correct": COUNT - len(WRONG), "wrong": len(WRONG)}
        assert said["graded_apart"] == 0


def traces(folder: Path) -> list[dict[str, Any]]:
    """What vf-eval wrote of every rollout."""
    (file,) = folder.rglob("traces.jsonl")
    return [trace for episode in lines(file) for trace in episode["traces"]]


def vf_eval(tool: RealTool, folder: Path, model: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The rollouts of a taskset that is installed in ``folder`` with a model of these answers, two a question."""
    out = folder.with_name(f"{folder.name}-out")
    with answering(model) as url:
        tool.run(tool.python.with_name("vf-eval"), "backtrader-bench-v1", "--env.agent.runtime.type", "subprocess",
                 "--no-push", "--no-rich", "-m", "stub", "-r", "2", "-c", "2", "-o", out, "--client.base-url",
                 url.removesuffix("/chat/completions"), "--client.api-key-var", "OPENAI_API_KEY",
                 cwd=out.parent, packages=folder)  # fmt: skip
    found = traces(out)
    assert len(found) == 2 * COUNT and all(one["ok"] and not one["tools"] for one in found)
    return found


def test_verifiers_gets_the_known_accuracy(real_tool: Tool, bank: Path, tmp_path: Path) -> None:
    tool = real_tool("verifiers")
    export("verifiers", bank, tmp_path / "keys")
    export("verifiers", bank, tmp_path / "sealed", answers=False)
    rows = lines(tmp_path / "keys" / "backtrader_bench_v1" / "questions.jsonl")
    model = list(zip([row["prompt"] for row in rows], answers(bank), strict=True))
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", "installed", "./keys")
    subprocess.run([sys.executable, *pip], check=True, cwd=tmp_path)
    found = vf_eval(tool, tmp_path / "installed", model)
    right = {one["task"]["key"]: one["rewards"]["right"]["score"] for one in found}
    assert [right[row["id"]] for row in rows] == [float(place not in WRONG) for place in range(COUNT)]
    assert {one["metrics"]["answered"] for one in found} == {1.0}
    silent = [(question, letter if place else "") for place, (question, letter) in enumerate(model)]
    found = vf_eval(tool, tmp_path / "sealed", silent)
    assert not any(one["rewards"] or "answer" in one["task"]["data"] for one in found)
    assert {one["task"]["key"] for one in found if not one["metrics"]["answered"]} == {rows[0]["id"]}


@pytest.mark.parametrize(("name", "begin", "model"), [
    ("inspect", "inspect eval", "mockllm/model"), ("lm-eval", "lm_eval", "dummy"), ("hf", "python", ""),
    ("verifiers", "vf-eval", "stub --dry-run"),
])  # fmt: skip
def test_the_commands_of_the_page_run(
    name: str, begin: str, model: str, real_tool: Tool, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of docs/exports.md that are the tools' own, after those of ours that make what they read."""
    tool = real_tool(name)
    monkeypatch.chdir(tmp_path)
    shown = [one.line for one in commands((CHECKOUT / "docs" / "exports.md").read_text())]
    for line in shown:
        if line.startswith("bench export ") and "last" not in line:
            assert run([*words(line), "--no-tapes"] if " hf " in line else words(line)) == 0
    theirs = [line for line in shown if line.startswith(begin)]
    assert theirs
    for line in theirs:
        program, *rest = shlex.split(line.replace("MODEL", model))
        script = [] if program == "python" else [tool.python.parent / program]
        tool.run(*script, *rest, cwd=tmp_path, packages=tmp_path / "taskset")
