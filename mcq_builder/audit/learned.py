"""Attackers that are trained on other configurations of the same bank (extra ``audit``: scikit-learn).

One row an option, the target whether it is the key; an option's score orders the four. Configurations are split into
folds, so that no model is tested on one that it was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backtrader_bench.mcq_builder.audit.features import option_features, question_features, rank_codes
from backtrader_bench.mcq_builder.audit.statistics import CHANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backtrader_bench.mcq_builder.audit.items import Item

    Floats = NDArray[np.float64]
    Fit = Callable[[Any, NDArray[np.bool_], Any], Floats]
    """Training rows, whether each is a key, test rows -> a score for each test row."""

FOLDS = 5


@dataclass(frozen=True)
class LearnedAttacker:
    """A model and what it sees."""

    name: str
    about: str
    matrix: Callable[[Sequence[Item], NDArray[np.float32]], Any]
    fit: Callable[[int], Fit]
    """Seed -> the model."""


def credits_of(
    name: str, items: Sequence[Item], rules: NDArray[np.float32], clusters: NDArray[np.int64], seed: int
) -> Floats | None:
    """Credit per question of the attacker called ``name``; None where there is a single configuration.

    Each question is answered by a model that saw none of its configuration. ``rules``: (attackers, questions, 4).
    """
    from sklearn.model_selection import GroupKFold
    from threadpoolctl import threadpool_limits

    attacker = LEARNED[name]
    folds = min(FOLDS, len(np.unique(clusters)))
    if folds < 2:
        return None
    rows = attacker.matrix(items, rules)
    keys = np.array([item.key for item in items])
    is_key = (np.arange(4)[None, :] == keys[:, None]).reshape(-1)
    found = np.full(len(items), CHANCE)
    # One thread: the models are small, and threads that wait for each other on a busy machine take ten times as long.
    with threadpool_limits(1):
        for train, test in GroupKFold(folds).split(keys, groups=clusters):
            scores = attacker.fit(seed)(rows[_options(train)], is_key[_options(train)], rows[_options(test)])
            found[test] = _credit(scores.reshape(-1, 4), keys[test])
    return found


def _options(questions: NDArray[np.int64]) -> NDArray[np.int64]:
    return (questions[:, None] * 4 + np.arange(4)[None, :]).reshape(-1)


def _credit(scores: Floats, keys: NDArray[np.int64]) -> Floats:
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    credit: Floats = best[np.arange(len(keys)), keys] / best.sum(axis=1)
    return credit


def _flat(items: Sequence[Item], rules: NDArray[np.float32]) -> NDArray[np.float32]:
    found = option_features(items, rules)
    return found.reshape(-1, found.shape[2])


def _with_question(items: Sequence[Item], rules: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.column_stack([_flat(items, rules), np.repeat(question_features(items), 4, axis=0)])


def _with_crossed(items: Sequence[Item], rules: NDArray[np.float32]) -> Any:
    """For a linear model, which sees a question only through products: template by letter, template by rank."""
    from scipy.sparse import csr_matrix, hstack

    template = question_features(items)[:, 0].astype(np.int64)
    marks = [template[:, None] * 4 + np.arange(4)[None, :], template[:, None] * 5 + rank_codes(items)]
    crossed = [
        csr_matrix((np.ones(mark.size), (np.arange(mark.size), mark.reshape(-1))), dtype=np.float32) for mark in marks
    ]
    return hstack([csr_matrix(_scaled(_flat(items, rules))), *crossed]).tocsr()


def _scaled(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    # Scaling by all rows tells a model nothing of a key.
    spread = rows.std(axis=0)
    scaled: NDArray[np.float32] = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def _logistic(seed: int) -> Fit:
    from sklearn.linear_model import LogisticRegression

    def fit(rows: Any, is_key: NDArray[np.bool_], test: Any) -> Floats:
        model = LogisticRegression(C=0.05, max_iter=300, tol=1e-3, random_state=seed)
        scores: Floats = model.fit(rows, is_key).decision_function(test)
        return scores

    return fit


def _boosting(seed: int) -> Fit:
    from sklearn.ensemble import HistGradientBoostingClassifier

    def fit(rows: Any, is_key: NDArray[np.bool_], test: Any) -> Floats:
        model = HistGradientBoostingClassifier(
            max_iter=80, learning_rate=0.1, max_leaf_nodes=15, min_samples_leaf=20, early_stopping=False,
            random_state=seed,
        )
        scores: Floats = model.fit(rows, is_key).decision_function(test)
        return scores

    return fit


LEARNED: dict[str, LearnedAttacker] = {
    one.name: one
    for one in (
        LearnedAttacker("logistic_options", "logistic regression on option features",
                        lambda items, rules: _scaled(_flat(items, rules)), _logistic),
        LearnedAttacker("logistic_question", "logistic regression on option features, template by letter and by rank",
                        _with_crossed, _logistic),
        LearnedAttacker("boosting_options", "gradient boosting on option features", _flat, _boosting),
        LearnedAttacker("boosting_question", "gradient boosting on option and question features",
                        _with_question, _boosting),
    )
}  # fmt: skip
