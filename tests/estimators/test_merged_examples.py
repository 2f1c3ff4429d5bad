"""Equal rows are one variable; rows that only look equal are not."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelweave import MKLClassifier
from kernelweave.estimators.merged_examples import MergedExamples, fingerprints
from kernelweave.kernels import RBF


def rows(rng, n=60):
    """Rows of few small integers, so that many are equal, with zeros of either sign."""
    X = rng.integers(-1, 2, size=(n, 3)).astype(float)
    X[::7] *= -1.0
    return X


def naive_kinds(X, targets):
    """Return which rows and targets are equal, as a matrix of truth values."""
    X = X.toarray() if sp.issparse(X) else X
    same = (X[:, None] == X[None]).all(axis=2)
    return same & (targets[:, None] == targets[None])


@pytest.fixture(params=["told apart", "all alike", "two kinds"])
def prints(request, monkeypatch):
    """Fingerprints as they are, or such that many or all rows collide."""

    def colliding(X):
        found = fingerprints(X)
        return found * 0 if request.param == "all alike" else found % 2

    if request.param != "told apart":
        monkeypatch.setattr("kernelweave.estimators.merged_examples.fingerprints", colliding)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_kinds_are_equal_rows(form, prints, rng):
    X, targets = form(rows(rng)), rng.integers(0, 2, 60).astype(float)
    found = MergedExamples.of(X, targets, np.ones(60))
    expected = naive_kinds(X, targets)
    np.testing.assert_array_equal(found.kind[:, None] == found.kind[None], expected)
    assert len(found.chosen) == len(np.unique(expected, axis=0))
    assert expected[np.arange(60), found.chosen[found.kind]].all()
    np.testing.assert_allclose(found.shares, 1.0 / expected.sum(axis=1))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_the_order_of_examples_does_not_matter(form, prints, rng):
    X, targets, order = rows(rng), rng.integers(0, 2, 60).astype(float), rng.permutation(60)
    one = MergedExamples.of(form(X), targets, np.ones(60))
    other = MergedExamples.of(form(X[order]), targets[order], np.ones(60))
    np.testing.assert_array_equal(X[one.chosen], X[order][other.chosen])


def test_rows_without_equals_are_left_alone(prints, rng):
    X = rng.normal(size=(40, 3))
    assert MergedExamples.of(X, np.zeros(40), np.ones(40)) is None


def test_a_fit_with_colliding_rows_is_the_same(monkeypatch, rng):
    X = rows(rng, 80) + np.repeat(rng.normal(size=(40, 3)), 2, axis=0)
    y = X[:, 0] + 0.3 * rng.normal(size=80) > 0
    expected = MKLClassifier(RBF([0.1, 1.0]), tol=1e-8).fit(X, y)
    monkeypatch.setattr(
        "kernelweave.estimators.merged_examples.fingerprints", lambda X: np.zeros((len(X), 2), "u8")
    )
    found = MKLClassifier(RBF([0.1, 1.0]), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-3)
