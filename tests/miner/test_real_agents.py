"""Sessions with the real claude and codex programs in every role; a stub plays their models."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from backtrader_bench import store
from backtrader_bench.attempts import ANSWERS
from backtrader_bench.checker.programs import worker
from backtrader_bench.cli.main import run as bench
from backtrader_bench.miner import journal
from backtrader_bench.miner.decisions import KEPT
from tests.miner.real_sessions import SESSIONS, Part, Played, play
from tests.miner.sessions import lines_of, questions_of
from tests.real_clis import ENVIRON, RealCli
from tests.stubs.server import StubServer

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]


@pytest.mark.parametrize("name", SESSIONS)
def test_sessions_of_real_agents(
    name: str, real_clis: Mapping[str, RealCli], stubs: Callable[..., StubServer], own_home: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    # These verifiers need no libraries, and loading them for each would be most of the work.
    monkeypatch.setattr(worker, "MODULES", ())
    stub = stubs()
    for part in SESSIONS[name]:
        played = play(part if ENVIRON.get("BENCH_REAL_CLI") == "all" else shorter(part), real_clis, stub, own_home)
        assert list(played.differences()) == []
        for role, (counted, served) in played.by_role().items():
            assert counted == served, role
        check_records(played)
    assert bench(["db", "check"]) == 0, capsys.readouterr()


def shorter(part: Part) -> Part:
    """The session with at most two attempts a decision: every reason is minutes of real programs.

    ``BENCH_REAL_CLI=all`` and benchmarks/mine_real.py play all of them.
    """
    seen = Counter[str]()
    kept = []
    for case in part.cases:
        seen[case.decision] += 1
        if seen[case.decision] <= 2 or len(part.cases) < 9:
            kept.append(case)
    return replace(part, cases=tuple(kept))


def check_records(played: Played) -> None:
    """The files that the session left are what docs/mining.md says."""
    run, done = played.done.run, played.done
    files = journal.open_journal(run)
    lines = lines_of(run)
    check_questions(played)
    # Attempts: one for every time that a solver was asked, on a question of this session.
    asked = Counter(role for line in lines for role in line.spending if role in ("no_tools", "with_tools"))
    assert Counter(one.mode.replace("-", "_") for one in files.attempts) == asked
    for one in files.attempts:
        assert (one.error is not None) == (one.status == "agent_error")
        assert (one.letter is not None) == (one.status in ANSWERS)
        assert (store.home() / str(one.transcript) / "prompt.txt").is_file()
    # The summary: the lines of the attempts in order, and the session's, which sums them up.
    assert [line.attempt for line in files.lines[:-1]] == list(range(1, len(lines) + 1))  # type: ignore[union-attr]
    assert files.lines[-1] == done
    assert done.decisions == Counter(line.decision for line in lines)
    assert done.reasons == Counter(reason for line in lines for reason in line.reasons)
    assert done.attempts == sum(counts["attempts"] for counts in done.categories.values()) == len(lines)
    assert sum(done.models.values()) == sum(one.calls for one in done.spending.values())
    for line in lines:
        assert line.detail or line.decision == "tool_solver_correct"
        assert ("no reply within" in line.detail) == bool({"generator_timeout", "second_verifier_timeout"}
                                                         & set(line.reasons))  # fmt: skip
        assert (files.folder(line.attempt) / "state.json").is_file()


def check_questions(played: Played) -> None:
    """A question for every attempt that came so far, in the file of what was kept or of what was not."""
    files = journal.open_journal(played.done.run)
    by_id = {line.question_id: line for line in lines_of(played.done.run) if line.question_id is not None}
    turned_down = {one for one, line in by_id.items() if line.decision in ("duplicate", "not_well_posed")}
    questions = {one.id: one for one in questions_of(played.done.run)}
    assert questions.keys() == by_id.keys() - turned_down
    for path, kept in ((files.kept, True), (files.discarded, False)):
        ids = [json.loads(line)["id"] for line in path.read_text().splitlines()] if path.exists() else []
        assert sorted(ids) == sorted(one for one in questions if (by_id[one].decision in KEPT) == kept)
    for one in questions.values():
        line, verification = by_id[one.id], one.verification
        assert verification is not None
        assert one.labels == [line.decision]
        assert one.verifier == (files.folder(line.attempt) / "verifier.py").read_text()
        assert one.verifier.strip() == played.models.programs[line.attempt].strip()
        assert verification.attempt == f"{line.run}/attempt_{line.attempt:03d}"
        assert one.options[one.answer] == verification.answer == played.models.keys[line.attempt]
        assert played.models.bases[verification.base_seed] == line.attempt
        assert len(verification.others) == 8
        assert verification.isolation == line.isolation
        second = played.part.more.get("second_verifier") and "with_tools" in line.spending
        assert verification.second == (verification.answer if second else None)
