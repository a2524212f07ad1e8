"""One table of bounds for the command line and for Python: what a command refuses, a function refuses."""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

from backtrader_bench import api, bounds
from backtrader_bench.agents.runs import manifest as manifests
from backtrader_bench.agents.runs import session as sessions
from backtrader_bench.agents.runs.budget import Caps
from backtrader_bench.api.mining import Limits
from backtrader_bench.api.running import Running
from backtrader_bench.arguments import Check, Number, OneOf, Whole, checked
from backtrader_bench.cli.main import cli
from backtrader_bench.cli.main import run as bench
from backtrader_bench.errors import BenchError, RecordError, UsageError
from backtrader_bench.mcq_builder.audit.generate import Wish
from backtrader_bench.mcq_builder.audit.result import Criteria
from backtrader_bench.mcq_builder.settings import SETTINGS
from backtrader_bench.miner.settings import Settings as Mining
from backtrader_bench.miner.settings import settings_of
from backtrader_bench.records import parse_json
from tests.agents.exports.made import bank

HALF = "\ud800"
NOTHING: tuple[Any, ...] = (math.nan, math.inf, -math.inf, -1, 1.5, b"x", HALF, object(), {"a": 1}, 10**400)
"""What no argument of any verb may be, but for the numbers among numbers."""
OFTEN: dict[str, Any] = {"check": {}, "audit": {"learned": False}, "run": {"agents": ["oracle"]}, "report": {},
                         "compare": {"first": "a", "second": "b"}, "show": {"which": 1}, "page": {"html": "p.html"},
                         "build": {"output": "c.jsonl"}, "mine": {}}  # fmt: skip
GIVEN: dict[str, tuple[str, ...]] = {"run": sessions.BINDING, "mine": Mining.__struct_fields__, "build": (*SETTINGS,)}
FITS = {("run", "timeout"): 1.5, ("audit", "generated"): None}
NUMBERS = {"initial_cash", "commission_rate", "floor", "timeout"} | {
    name for name, check in bounds.MINE.items() if isinstance(check, Number)
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a bank, which is the current folder too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    bank(tmp_path / "b.jsonl", 3)
    return tmp_path


def parameters(verb: str) -> list[str]:
    """The names of a verb's arguments and settings."""
    own = inspect.signature(getattr(api, verb)).parameters.values()
    return list(dict.fromkeys([one.name for one in own if one.kind is not one.VAR_KEYWORD] + [*GIVEN.get(verb, ())]))


def call(verb: str, **more: Any) -> Any:
    """A verb with what it needs, and ``more``."""
    some = {**OFTEN[verb], **more}
    takes = inspect.signature(getattr(api, verb)).parameters
    first = next((one.name for one in takes.values() if one.kind is one.VAR_POSITIONAL), None)
    if first is None and "file" in takes:
        some.setdefault("file", "b.jsonl")
    left = [some.pop(first)] if first in some else ["b.jsonl"] if first == "files" else []
    return getattr(api, verb)(*left, **some)


def below(path: Path) -> set[str]:
    return {str(one) for one in path.rglob("*")}


@pytest.mark.parametrize(("verb", "name"), [(verb, name) for verb in OFTEN for name in parameters(verb)])
def test_what_can_not_be_is_an_error_of_ours_in_one_line_and_leaves_nothing(verb: str, name: str, here: Path) -> None:
    before = below(here)
    for value in NOTHING:
        if (value == 1.5 and name in NUMBERS) or (verb == "show" and name == "which" and isinstance(value, int)):
            continue
        with pytest.raises(BenchError) as caught:
            call(verb, **{name: value})
        said = str(caught.value)
        assert "\n" not in said and said.encode() and len(said) < 1200, (name, value)
    assert below(here) - before <= {str(here / "db"), str(here / "db" / "mcq")}


@pytest.mark.parametrize(("verb", "name"), [
    ("run", "agents"), ("run", "command"), ("report", "questions"), ("compare", "questions"), ("build", "exclude"),
    ("mine", "no_tools_agents"),
])  # fmt: skip
def test_a_text_is_no_list_of_its_letters(verb: str, name: str, here: Path) -> None:
    with pytest.raises(UsageError, match=rf"^{name} is 'oracle'; it must be a list$"):
        call(verb, **{name: "oracle"})


def test_nothing_to_work_on_is_said(here: Path) -> None:
    for verb, said in ((api.check, "question file"), (api.page, "question file"), (api.report, "at least one run")):
        with pytest.raises(UsageError, match=said):
            verb(**({"html": "p.html"} if verb is api.page else {}))
    for more, said in (({"agents": []}, "at least one agent"), ({"agents": ["oracle"]}, "at least one question file")):
        with pytest.raises(UsageError, match=said):
            api.run(**more)
    assert not api.checking.Checked().ok  # type: ignore[attr-defined]
    with pytest.raises(BenchError, match="no such file or folder of prices"):
        api.check("b.jsonl", data="nowhere")
    with pytest.raises(UsageError, match="secret"):
        api.audit(generate=Wish(3), secret_file="s")


MADE: dict[Callable[..., Any], dict[str, tuple[Any, ...]]] = {
    Running: {"jobs": (0, -3, 1.0, True, 257), "retries": (-1, 101), "caps": (None, 5), "fsync": (1, "no"),
              "keep_workspaces": (None,), "prices": ({}, "p.toml"), "data": (5, HALF)},
    Caps: {"tokens": (0, -5, 1.5, math.nan, 2**63), "usd": (0, -1.0, math.nan, math.inf, "5", 10**400),
           "seconds": (0, math.nan, True)},
    Limits: {"until_accepted": (0, 1.5, 100_001), "caps": (None, {"usd": 1})},
    Criteria: {"rule_p": (-0.1, 0.6, math.nan), "learned_bound": (0.2, 2), "least": (0, 1.5), "permutations": (98,)},
    Wish: {"number": (0, math.inf), "seed": (-1, 2**31), "templates": ("volume",), "strategies": (5,), "per": (0,)},
}  # fmt: skip


@pytest.mark.parametrize(("made", "name"), [(made, name) for made, names in MADE.items() for name in names])
def test_what_holds_settings_can_not_be_made_of_wrong_ones(made: Callable[..., Any], name: str) -> None:
    for value in MADE[made][name]:
        with pytest.raises(UsageError, match=rf"^{name} is "):
            made(**{**({"number": 3} if made is Wish else {}), name: value})


def flags() -> Iterator[tuple[str, str, Check]]:
    """(verb, flag, check) of every setting that is a flag too."""
    tables = {
        "run": {**bounds.RUN, **bounds.RUNNING, "max_tokens": bounds.TOKENS, "max_cost": bounds.USD,
                "max_hours": bounds.HOURS},
        "mine": {**bounds.MINE, "until_accepted": bounds.ACCEPTED, "max_tokens": bounds.TOKENS,
                 "max_cost": bounds.USD, "max_hours": bounds.HOURS, "require_sandbox": bounds.SANDBOX},
        "audit": {"generate": bounds.WISH["number"], "seed": bounds.SMALL_SEED, "jobs": bounds.PROCESSES},
        "check": {"jobs": bounds.PROCESSES}, "build": {"jobs": bounds.PROCESSES},
        "report": {"floor": bounds.FLOOR, "seed": bounds.ANY_SEED}, "compare": {"seed": bounds.ANY_SEED},
    }  # fmt: skip
    for verb, table in tables.items():
        for name, check in table.items():
            if isinstance(check, Whole | Number | OneOf):
                yield verb, name, check


@pytest.mark.parametrize(("verb", "name", "check"), [pytest.param(*one, id="-".join(one[:2])) for one in flags()])
def test_a_flag_takes_just_what_the_argument_takes(verb: str, name: str, check: Any) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    kind = next(one for one in command.params if one.name == name).type
    ends = [check.low, check.high, 0, 0.5, 1] if not isinstance(check, OneOf) else [*check.words, "L9"]
    near = [end + step for end in ends if isinstance(end, int | float) for step in (-1, 0, 1, -1e-9, 1e-9)]
    for value in [*ends, *near]:
        if value is None or (isinstance(check, Whole) and not isinstance(value, int)):
            continue
        assert taken(check, name, value) == taken(kind.convert, str(value), None, None), value


def taken(take: Callable[..., Any], *arguments: Any) -> Any:
    """What came of it; None where it was refused."""
    try:
        return take(*arguments)
    except (UsageError, click.UsageError):
        return None


def test_every_parameter_needs_a_check() -> None:
    with pytest.raises(TypeError, match="'jobs'"):

        @checked(files=Whole(1))
        def verb(files: int, jobs: int = 1, **given: Any) -> None:
            """Nothing."""


def test_numbers_of_other_libraries_are_numbers() -> None:
    import numpy as np

    assert type(Whole(1, 9)("n", np.int64(5))) is int
    assert type(Number(0, 1)("x", np.float32(0.5))) is float
    assert settings_of({"seed": np.int64(7), "code_timeout": np.float64(2)}).seed == 7


def test_a_manifest_that_could_not_be_read_again_is_refused_before_a_name_is_taken(here: Path) -> None:
    work = sessions.begin([here / "b.jsonl"], {"agents": ("oracle",)})
    for odd in (
        {"given": {"timeout": math.nan}}, {"given": {HALF: 1}}, {"questions": "many"}, {"tapes": {"a": 1.5}},
        {"given": {"agents": object()}}, {"run": 5},
    ):  # fmt: skip
        changed = msgspec.structs.replace(work.manifest, **odd)
        with pytest.raises(UsageError):
            sessions.named(sessions.replace(work, manifest=changed), "x")
        with pytest.raises(UsageError):
            manifests.write(changed)
    assert not (here / "logs").exists() and not list((here / "db").rglob("*.json"))


def test_a_file_whose_name_is_no_text_is_refused_before_a_run_is_begun(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"b\xff.jsonl")
    (here / "b.jsonl").rename(here / name)
    assert bench(["run", name, "--agent", "oracle"]) == 2
    said = capsys.readouterr().err
    assert said.endswith("/b\\udcff.jsonl: the name is no text (half a character); give the file another\n")
    assert not (here / "logs").exists()


def test_words_of_a_command_line_that_are_no_text_are_noted_with_question_marks(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = os.fsdecode(b"o\xff.jsonl")
    built = api.build(odd, num_questions=1, command=["bench", "build", "-o", odd])
    assert built.path.name == odd and json.loads(built.manifest.read_bytes())["command"][-1] == "o?.jsonl"
    ran = api.run("b.jsonl", agents=["oracle"], limit=1, command=["bench", odd])
    assert ran.manifest.sessions[0].command == ("bench", "o?.jsonl")
    assert bench(["db", "query", f"select '{odd}'"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: the query is") and "half a character" in said and said.count("\n") == 1


PARSED = {"pair": '"\\ud83d\\ude00"', "spelled": '"\\\\ud800"', "whole": '{"\\u00e9": ["\\uD7FF\\ue000"]}'}
HALVES = {
    "value": b'["\\ud800"]', "key": b'{"\\uDfff": 1}', "inner": b'{"a": [{"b": "x\\uDBFFy"}]}',
    "turned": b'"\\ude00\\ud83d"', "raw": b'"\xed\xa0\x80"', "raw pair": b'"\xed\xa0\xbd\xed\xb8\x80"',
}  # fmt: skip


@pytest.mark.parametrize("name", [*PARSED, *HALVES])
def test_half_characters_are_no_json_and_whole_ones_are(name: str) -> None:
    if name in PARSED:
        assert parse_json(PARSED[name], "f") == parse_json(PARSED[name].encode(), "f") == json.loads(PARSED[name])
        return
    with pytest.raises(RecordError, match=r"^f: (holds half a character|not UTF-8)"):
        parse_json(HALVES[name], "f")
    with pytest.raises(RecordError, match=r"^f: holds half a character"):
        parse_json(HALVES[name].decode("utf-8", "surrogatepass"), "f") if "raw pair" not in name else parse_json(
            '"\ud83d"', "f")  # fmt: skip
