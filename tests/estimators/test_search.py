"""The grid point that a search selects."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from kernelweave import MKLClassifierCV
from kernelweave.estimators.search import Grid
from kernelweave.kernels import RBF, Linear
from kernelweave.norms import Elliptic

GRID = Grid.of([1.0, 2.0, np.inf, Elliptic(np.eye(2))], [0.1, 1.0])


def simplest(grid, scores):
    """The choice of the one-standard-error rule, norm by norm from the largest p down."""
    means = scores.mean(axis=2)
    top = scores[grid.best(means)]
    limit = top.mean() - np.std(top, ddof=1) / np.sqrt(len(top))
    for i in (2, 1, 0, 3):
        if means[i].max() >= limit:
            return i, int(means[i].argmax())
    raise AssertionError("the best is within its own error")


@pytest.mark.parametrize("noise", [0.001, 0.02, 0.2])
def test_one_standard_error_keeps_to_the_largest_p(noise, rng):
    chosen = set()
    for _ in range(50):
        means = rng.choice([0.8, 0.82, 0.84], size=GRID.shape)
        scores = means[..., None] + noise * rng.normal(size=(*GRID.shape, 5))
        assert GRID.chosen(scores, "best") == GRID.best(scores.mean(axis=2))
        found = GRID.chosen(scores, "one-standard-error")
        assert found == simplest(GRID, scores)
        chosen.add(found[0])
    assert len(chosen) > 1


def test_one_fold_has_no_standard_error(rng):
    scores = rng.random((*GRID.shape, 1))
    assert GRID.chosen(scores, "one-standard-error") == GRID.best(scores[..., 0])


def test_the_rule_chooses_the_model():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X / X.std(axis=0))[:120], y[:120]
    grid = {"norms": [1, np.inf], "Cs": [0.1, 1.0], "cv": 3}
    family = [Linear(), RBF([0.01, 0.1])]
    best, careful = (
        MKLClassifierCV(family, rule=rule, **grid).fit(X, y)
        for rule in ("best", "one-standard-error")
    )
    np.testing.assert_array_equal(best.scores_, careful.scores_)
    at = Grid.of(grid["norms"], grid["Cs"]).chosen(careful.scores_, "one-standard-error")
    assert (careful.norm_, careful.C_) == (grid["norms"][at[0]], grid["Cs"][at[1]])
    assert careful.best_score_ == pytest.approx(careful.scores_[at].mean())
    assert best.best_score_ >= careful.best_score_


@pytest.mark.parametrize("rule", ["largest", None, ["best"]])
def test_other_rules_are_refused(rule):
    with pytest.raises(ValueError, match=r"rule must be one of \('best', 'one-standard-error'\)"):
        MKLClassifierCV(rule=rule).fit(np.eye(4), [0, 1, 0, 1])
