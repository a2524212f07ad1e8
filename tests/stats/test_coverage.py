"""A small run of benchmarks/coverage.py: clustered intervals cover where naive ones don't."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "coverage.py"


def test_intervals_and_tests_keep_their_word_where_questions_share_a_configuration() -> None:
    spec = importlib.util.spec_from_file_location("bench_coverage", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found = module.simulate(module.Setting("small", 40, 10, 0.3, 0.8, 0.7), 100)
    # 100 runs: three standard errors of 95% are 6.5 points.
    assert found.clustered == pytest.approx(0.95, abs=0.066) and found.difference == pytest.approx(0.95, abs=0.066)
    assert found.flip <= 0.05 + 0.066
    assert found.wilson < 0.85 and found.plain_difference < 0.9 and found.mid > 0.12
    again = module.simulate(module.Setting("small", 40, 10, 0.3, 0.8, 0.7), 5)
    assert again == module.simulate(module.Setting("small", 40, 10, 0.3, 0.8, 0.7), 5)
