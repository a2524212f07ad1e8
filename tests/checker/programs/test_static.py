"""What the source of a verifier shows."""

from __future__ import annotations

import re

import pytest

from backtrader_bench.checker.programs.static import RULES, SOURCE_BYTES, check_source, rejections
from tests.checker.verifiers import Case, cases

READS = 'import os\nseed = int(os.environ["MCQ_SEED"])\n'


@pytest.mark.parametrize("case", cases("faulty"), ids=lambda case: case.name)
def test_a_faulty_source_gives_its_reason(case: Case) -> None:
    found = {finding.name for finding in rejections(re.sub("@[A-Z]+@", "1", case.code))}
    assert bool(found & case.source) == bool(case.source), found
    if not case.source:
        assert not found


@pytest.mark.parametrize("case", cases("clean"), ids=lambda case: case.name)
def test_no_clean_source_is_rejected(case: Case) -> None:
    assert rejections(case.code) == ()


def test_the_suite_is_as_large_as_it_says() -> None:
    assert len(cases("faulty")) >= 40 and len(cases("clean")) >= 12
    assert all(case.source | case.runs for case in cases("faulty"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import numpy as np; np.random.default_rng(seed).normal()", None),
        ("import numpy as np; np.random.default_rng(None)", "unseeded_random"),
        ("from numpy import random as r; r.rand()", "unseeded_random"),
        ("import numpy as np; np.random.Generator(np.random.PCG64(seed))", None),
        ("import numpy as np; np.random.Generator(np.random.PCG64())", "unseeded_random"),
        ("import random; random.seed(seed); random.random()", None),
        ("import random; random.seed(); random.random()", "unseeded_random"),
        ("import random; rng = random.Random(x=seed); rng.random()", None),
        ("import random as r; r.shuffle([1, 2])", "unseeded_random"),
        ("import time; begun = time.time(); print(time.time() - begun)", None),
        ("import time; begun = time.time(); print(begun)", "clock"),
        ("from datetime import datetime as d; d.now()", "clock"),
        ("from datetime import datetime as d; d(2020, 1, 1).timestamp()", None),
        ("import pandas as pd; pd.Timestamp('now')", "clock"),
        ("import pandas as pd; pd.Timestamp('2020-01-01')", None),
        ("import time; time.strftime('%Y')", "clock"),
        ("os.environ['HOME']", "environment"),
        ("os.environ['OMP_NUM_THREADS'] = '1'", None),
        ("os.getenv('MCQ_SEED')", None),
        ("os.getenv('OPENAI_API_KEY')", "environment"),
        ("name = 'HO' + 'ME'; os.getenv(name)", "environment"),
        ("if 'MCQ_SEED' in os.environ: pass", None),
        ("import pandas as pd; pd.read_csv('/data/prices.csv')", "file_read"),
        ("import io, pandas as pd; pd.read_csv(io.StringIO('a'))", None),
        ("open('made.csv', 'w').close(); open('made.csv')", None),
        ("open('answer.json')", "file_read"),
        ("from pathlib import Path; Path('/etc/hosts').read_text()", "file_read"),
        ("import backtrader as bt; bt.feeds.YahooFinanceData(dataname='A')", "network"),
        ("import urllib.parse", None),
        ("from urllib.request import urlopen", "network"),
        ("__import__('socket')", "network"),
        ("__import__('json')", None),
        ("getattr(os, 'sys' + 'tem')('ls')", "dynamic_code"),
        ("getattr(seed, 'real')", None),
        ("for name in {'a', 'b'}: print(name)", "hash_order"),
        ("for name in sorted({'a', 'b'}): print(name)", None),
        ("for step in {1, 2, 3}: print(step)", None),
        ("print(sum(len(name) for name in {'a', 'bb'}))", None),
        ("print([name for name in {'a', 'bb'}])", "hash_order"),
        ("names = set(['a', 'b']); print(names.pop())", "hash_order"),
        ("stack = [1]; stack.pop()", None),
        ("print(hash('AAPL') % 7)", "hash_order"),
        ("try: x = 1 / seed\nexcept Exception: x = 0", "broad_except"),
        ("try: x = 1 / seed\nexcept: pass", "broad_except"),
        ("try: x = 1 / seed\nexcept ZeroDivisionError: x = 0", None),
        ("try: x = 1 / seed\nexcept Exception as e: raise ValueError from e", None),
        ("import re; re.compile('x')", None),
        ("import mcq_builder", "project_import"),
        ("from . import answers", "project_import"),
        ("import math, statistics, collections, itertools, json, datetime", None),
    ],
)
def test_lines(line: str, expected: str | None) -> None:
    found = rejections(READS + line)
    assert [finding.name for finding in found] == ([expected] if expected else []), found


def test_findings_name_their_line() -> None:
    (finding,) = rejections(READS + "\nimport socket\n")
    assert (finding.name, finding.line, finding.severity) == ("network", 4, "reject")
    assert "socket" in finding.detail


def test_what_is_no_program_is_said_and_no_crash() -> None:
    assert [finding.name for finding in check_source("value = (")] == ["syntax"]
    assert [finding.name for finding in check_source("x = 1\0")] == ["syntax"]
    assert [finding.name for finding in check_source("(" * 10_000)] == ["syntax"]
    assert [finding.name for finding in check_source("#" * (SOURCE_BYTES + 1))] == ["too_long"]
    assert {finding.name for finding in check_source("")} == {"no_seed"}


def test_every_reason_is_one_of_the_list() -> None:
    named = {name for case in cases("faulty") for name in case.source}
    assert named <= set(RULES)
