"""The bounds of settings, by the names that they have in Python and, with ``--`` and ``-``, on the command line.

One place for both: a range that stands here is that of the flag and of the argument. Those of ``bench build`` stand
with its settings, in ``mcq_builder/settings.py``.
"""

from __future__ import annotations

from backtrader_bench.arguments import Check, Number, OneOf, Whole, flag, text, texts

DAY = 86_400
MODES = OneOf(("no-tools", "with-tools"))
ACCESS = OneOf(("prices", "none", "network"))
SANDBOX = OneOf(("L3", "L2"))
PROCESSES = Whole(1, 1024)
"""``--jobs`` of what computes."""
SMALL_SEED = Whole(0, 2**31 - 1)
ANY_SEED = Whole(0)
FLOOR = Number(0, 1, below=True)
TOKENS = Whole(1, 2**63 - 1)
USD = Number(0, above=True)
HOURS = Number(0, above=True)
SECONDS = Number(0, DAY, above=True)
ACCEPTED = Whole(1, 100_000)

RUN: dict[str, Check] = {
    "agents": texts, "mode": MODES, "repeats": Whole(1, 1000), "timeout": Number(0.1, DAY), "ask_value": flag,
    "rotate": flag, "data_access": ACCESS, "seed": SMALL_SEED, "limit": Whole(1, 2**31 - 1), "own_config": flag,
}  # fmt: skip
"""What decides a run."""
RUNNING: dict[str, Check] = {"jobs": Whole(1, 256), "retries": Whole(0, 100), "fsync": flag, "keep_workspaces": flag}
"""How a session of a run goes about it."""
MINE: dict[str, Check] = {
    "attempts": Whole(1, 100_000), "generator_agent": text, "no_tools_agents": texts, "with_tools_agent": text,
    "second_verifier": text, "generator_timeout": SECONDS, "code_timeout": SECONDS, "no_tools_timeout": SECONDS,
    "with_tools_timeout": SECONDS, "choice_perturbations": Whole(3, 200), "seed_step": Whole(1, 10**6),
    "seed": Whole(0, 2**63 - 1), "category": text, "steer": flag, "no_tools_draws": Whole(1, 99),
    "no_tools_threshold": Whole(1, 99), "holdout_draws": Whole(0, 99), "with_tools_runs": Whole(1, 99),
    "retries": Whole(0, 20), "jobs": Whole(1, 64), "own_config": flag, "generator_model": text,
    "no_tools_models": texts, "with_tools_model": text,
}  # fmt: skip
"""What decides a mining session."""
CRITERIA: dict[str, Check] = {
    "rule_p": Number(0, 0.5), "learned_bound": Number(0.25, 1), "subset_accuracy": Number(0.25, 1),
    "uniform_p": Number(0, 0.5), "least": Whole(1, 1_000_000), "permutations": Whole(99, 100_000),
}  # fmt: skip
"""Of an audit."""
WISH: dict[str, Check] = {"number": Whole(1, 1_000_000), "seed": SMALL_SEED, "scheme": text, "templates": texts,
                          "strategies": texts, "per": Whole(1, 1_000_000)}  # fmt: skip
"""Of what an audit generates."""
