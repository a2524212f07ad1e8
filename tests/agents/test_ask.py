"""What an ask makes of a program that misbehaves, with backends made up for each case."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from typing import Any

import pytest

from backtrader_bench.agents import ask as asks
from backtrader_bench.agents import isolation, leftovers, transcripts
from backtrader_bench.agents.ask import AskCancelled, ask
from backtrader_bench.agents.backend import Ask, Backend, Command, Raw, Reply
from backtrader_bench.agents.process import Caps
from backtrader_bench.agents.usage import Prices
from backtrader_bench.attempts import Cost, ToolCall, Usage
from backtrader_bench.errors import HarnessError, MissingError, UsageError
from tests.agents.asking import ENVIRON, asking


def backend(script: str = "", argv: tuple[str, ...] | None = None, **changes: Any) -> Backend:
    """A backend whose program is a shell script and whose parser takes all of stdout."""

    def command(ask: Ask, program: Path) -> Command:
        return Command(argv=argv or ("sh", "-c", script), stdin=ask.prompt.encode(), env=ENVIRON)

    fields: dict[str, Any] = {
        "name": "made", "title": "Made", "install": "make it", "no_tools_by": "nothing", "command": command,
        "parse": lambda raw: Reply(text=raw.stdout.decode(), model="m"), **changes,
    }  # fmt: skip
    return Backend(**fields)


def test_success_needs_exit_code_0(tmp_path: Path) -> None:
    assert ask(backend("echo yes"), asking(tmp_path)).error is None
    error = ask(backend("echo yes; echo 'it broke' >&2; exit 2"), asking(tmp_path)).error
    assert error is not None
    assert (error.kind, error.message) == ("other", "it broke")
    error = ask(backend("kill -9 $$"), asking(tmp_path)).error
    assert error is not None
    assert "signal 9" in error.message or "137" in error.message


def test_who_declines_has_not_failed_whatever_the_exit_code(tmp_path: Path) -> None:
    reply = ask(backend("exit 1", parse=lambda raw: Reply(refused=True)), asking(tmp_path))
    assert (reply.refused, reply.error) == (True, None)


def test_a_missing_program(tmp_path: Path) -> None:
    def lacking(ask: Ask, program: Path) -> Command:
        raise MissingError("an extra is missing")

    def gone(environ: object) -> None:
        raise UsageError("BENCH_MADE=/opt/made: no such program")

    for chosen in (
        backend(find=lambda environ: None), backend(find=gone), backend(argv=("/no/such/program",)),
        backend(command=lacking),
    ):  # fmt: skip
        error = ask(chosen, asking(tmp_path)).error
        assert error is not None
        assert error.kind == "missing"


def test_arguments_that_are_too_long(tmp_path: Path) -> None:
    error = ask(backend(argv=("echo", "x" * (1 << 18))), asking(tmp_path)).error
    assert error is not None
    assert error.kind == "other"
    assert "too long" in error.message


def test_too_much_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asks, "CAPS", Caps(memory=1 << 12, disk=1 << 20))
    error = ask(backend("yes"), asking(tmp_path)).error
    assert error is not None
    assert error.message == "more than 1 MiB of output"


def test_a_timeout_is_no_error_and_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backtrader_bench.agents.process.GRACE", 0.2)
    reply = ask(backend("echo early; sleep 60"), asking(tmp_path, timeout=0.5))
    assert (reply.timed_out, reply.error) == (True, None)
    assert 0.5 <= reply.seconds < 10


def test_last_words_after_term_are_heard_inside_a_room(tmp_path: Path) -> None:
    reply = ask(backend("trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done"), asking(tmp_path, timeout=1.0))
    assert reply.timed_out
    assert reply.raw["stdout"].read_bytes() == b"bye\n"
    assert reply.seconds < 4


def test_a_tool_call_ends_it_only_without_tools(tmp_path: Path) -> None:
    chosen = backend("echo TOOL; echo more", is_tool_call=lambda line: line == b"TOOL")
    reply = ask(chosen, asking(tmp_path))
    assert [call.name for call in reply.tool_calls] == ["unknown"]
    assert reply.error is None
    reply = ask(chosen, asking(tmp_path, mode="with-tools"))
    assert (reply.tool_calls, reply.text) == ((), "TOOL\nmore\n")


def test_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(AskCancelled):
        ask(backend("sleep 60"), asking(tmp_path), cancel=cancel)


def test_our_own_faults_are_told_apart(tmp_path: Path) -> None:
    def broken(raw: Raw) -> Reply:
        raise KeyError("defect")

    def refusing(ask: Ask, program: Path) -> Command:
        raise UsageError("not in this mode")

    with pytest.raises(HarnessError, match="KeyError"):
        ask(backend("echo", parse=broken), asking(tmp_path))
    with pytest.raises(UsageError, match="not in this mode"):
        ask(backend(command=refusing), asking(tmp_path))


def test_files_are_collected_but_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the key")
    private = tmp_path / "private"
    seen: dict[str, bytes] = {}

    def command(ask: Ask, program: Path) -> Command:
        script = (
            f"mkdir {private}/log; cd {private}/log; echo two > b; echo one > a; ln -s {secret} c; "
            f"ln -s {secret} {private}/link"
        )
        collect = {"log": private / "log", "link": private / "link", "none": private / "none"}
        return Command(argv=("sh", "-c", script), env=ENVIRON, collect=collect)

    def parse(raw: Raw) -> Reply:
        seen.update(raw.files)
        return Reply(text="x")

    reply = ask(backend(command=command, parse=parse), asking(tmp_path))
    assert seen == {"log": b"one\ntwo\n"}
    assert set(reply.raw) == {"stdout", "stderr", "log", "link"}
    transcripts.copy(reply.raw, folder := transcripts.new_folder(tmp_path / "kept"))
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == [
        "left_out.txt", "log", "log/a", "log/b", "stderr", "stdout",
    ]  # fmt: skip
    assert {line.partition(":")[0] for line in (folder / "left_out.txt").read_text().splitlines()} == {"log/c", "link"}


ODD = {
    "a pipe": "mkfifo {}",
    "a pipe in a folder": "mkdir {0}; mkfifo {0}/x",
    "a link to a file": "ln -s {secret} {}",
    "a link to a folder": "ln -s {outside} {}",
    "a link in a folder": "mkdir {0}; ln -s {outside} {0}/x",
    "a link above": "rmdir {private}/sub; ln -s {outside} {private}/sub",
    "a socket": "python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' {}",
    "a loop": "ln -s {0} {0}",
    "folders without end": "mkdir {0}; cd {0}; for i in $(seq 60); do mkdir x; cd x; done; echo deep > f",
    "a file that nobody may read": "echo x > {0}; chmod 0 {0}",
}


@pytest.mark.parametrize("case", ODD)
def test_whatever_lies_where_a_file_should_be_holds_nothing_up(case: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("secret", "left"):
        (outside / name).write_text("the key")
    seen: dict[str, bytes] = {}

    def command(ask: Ask, program: Path) -> Command:
        left = ask.private / "sub" / "left"
        left.parent.mkdir()
        script = ODD[case].format(left, secret=outside / "secret", outside=outside, private=ask.private)
        return Command(argv=("sh", "-c", f"{script}; echo yes"), env=ENVIRON, collect={"left": left})

    def parse(raw: Raw) -> Reply:
        seen.update(raw.files)
        return Reply(text=raw.stdout.decode())

    reply = ask(backend(command=command, parse=parse), asking(tmp_path, mode="with-tools"))
    assert (reply.text, reply.error) == ("yes\n", None)
    transcripts.copy(reply.raw, folder := transcripts.new_folder(tmp_path / "kept"))
    assert (folder / "stdout").read_text() == "yes\n"
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"the key" not in kept + b"".join(seen.values())
    assert not any(path.is_symlink() for path in folder.rglob("*"))


@pytest.mark.parametrize("script", [
    "rm -f stdout stderr; mkfifo stdout stderr",
    "truncate -s 700M stdout stderr",
    "rm -f stdout stderr; ln -s /etc/hostname stdout; mkdir stderr",
], ids=["pipes", "long", "others"])  # fmt: skip
def test_a_program_does_not_reach_its_own_streams_files(script: str, tmp_path: Path) -> None:
    script = f"echo one; for f in {tmp_path}/private $HOME/..; do cd $f; {script}; done; echo two"
    reply = ask(backend(script), asking(tmp_path, mode="with-tools"))
    transcripts.copy(reply.raw, folder := transcripts.new_folder(tmp_path / "kept"))
    assert (folder / "stdout").read_text() == "one\ntwo\n" == reply.text
    assert sorted(path.name for path in folder.iterdir()) == ["stderr", "stdout"]
    for path in reply.raw.values():
        assert not path.is_relative_to(tmp_path / "private")
        assert not path.is_relative_to(tmp_path / "work")


def test_the_streams_cannot_be_found_from_inside(tmp_path: Path) -> None:
    if isolation.held().fs == "open":
        pytest.skip("this machine has no way to hide files")
    output = tmp_path / "output"
    script = f"rm -rf {output}/* 2>/dev/null; echo x > {output}/stdout; cat {output}/stdout; echo here"
    reply = ask(backend(script), asking(tmp_path, mode="with-tools", output=output))
    assert reply.text == "here\n" == (output / "stdout").read_text()


def test_what_is_kept_of_a_file_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "LARGEST", 1000)
    monkeypatch.setattr(asks, "CAPS", Caps(memory=100, disk=1 << 20))
    monkeypatch.setattr(leftovers, "ENTRIES", 5)
    private = tmp_path / "private"
    seen: dict[str, bytes] = {}

    def command(ask: Ask, program: Path) -> Command:
        script = f"cd {private}; truncate -s 700M one; mkdir many; for i in 1 2 3 4 5 6 7; do seq 100 > many/$i; done"
        return Command(argv=("sh", "-c", script), env=ENVIRON, collect={n: private / n for n in ("one", "many")})

    def parse(raw: Raw) -> Reply:
        seen.update(raw.files)
        return Reply(text="x")

    reply = ask(backend(command=command, parse=parse), asking(tmp_path))
    assert {name: len(content) for name, content in seen.items()} == {"one": 100, "many": 100}
    transcripts.copy(reply.raw, folder := transcripts.new_folder(tmp_path / "kept"))
    assert (folder / "one").stat().st_size == 1000
    assert sum(path.stat().st_size for path in (folder / "many").iterdir()) == 1000
    assert "one: cut" in (folder / "left_out.txt").read_text()
    assert "many: cut" in (folder / "left_out.txt").read_text()


def test_usage_is_estimated_only_where_nothing_is_reported(tmp_path: Path) -> None:
    said = backend("echo a b c")
    reply = ask(said, asking(tmp_path, prompt="one two", system="three"))
    assert reply.usage == Usage(input=4, output=4, estimated=True)
    told = backend(parse=lambda raw: Reply(text="x", usage=Usage(output=9)))
    assert ask(told, asking(tmp_path)).usage == Usage(output=9)
    assert ask(backend("echo a b c; exit 1"), asking(tmp_path)).usage == Usage()


@pytest.mark.parametrize("parse", [
    lambda raw: Reply(), lambda raw: Reply(refused=True), lambda raw: Reply(tool_calls=(ToolCall(name="x"),)),
], ids=["nothing", "refused", "a tool call"])  # fmt: skip
def test_an_empty_reply_has_used_its_prompt(parse: Any, tmp_path: Path) -> None:
    prices = Prices({"m": {"input": 1e6, "output": 1e6}})
    request = asking(tmp_path, prompt="one two", system="three", model="m")
    reply = ask(backend("true", parse=parse), request, prices=prices)
    assert reply.usage == Usage(input=4, output=0, estimated=True)
    assert reply.cost == Cost(usd=4.0, source="computed")


def test_cost_is_reported_before_computed(tmp_path: Path) -> None:
    prices = Prices({"m": {"input": 1.0, "output": 2.0}, "asked": {"input": 10.0, "output": 10.0}})
    used = Usage(input=1000, output=500)
    computed = backend(parse=lambda raw: Reply(model="m", usage=used))
    assert ask(computed, asking(tmp_path), prices=prices).cost == Cost(usd=0.002, source="computed")
    by_ask = backend(parse=lambda raw: Reply(model=None, usage=used))
    assert ask(by_ask, asking(tmp_path, model="asked"), prices=prices).cost == Cost(usd=0.015, source="computed")
    own = Cost(usd=7.0, source="reported")
    reported = backend(parse=lambda raw: Reply(model="m", usage=used, cost=own))
    assert ask(reported, asking(tmp_path), prices=prices).cost == own
    assert ask(computed, asking(tmp_path)).cost is None


def test_seconds_are_those_of_the_program(tmp_path: Path) -> None:
    reply = ask(backend("sleep 0.4"), asking(tmp_path))
    assert 0.4 <= reply.seconds < 5


def test_an_offline_agent_is_timed_too(tmp_path: Path) -> None:
    quick = dataclasses.replace(backend(), command=None, parse=None, answer=lambda ask: Reply(text="x"))
    assert 0 <= ask(quick, asking(tmp_path)).seconds < 1
