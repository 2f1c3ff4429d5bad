"""Held-out covariances against models of single folds, for every number of weight vectors."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_friedman1

from kernelweave import MKLClassifier, MKLRegressor
from kernelweave.common.core import _core
from kernelweave.engines.class_pairs import class_pairs
from kernelweave.estimators.held_out_sample import HeldOutSample
from kernelweave.kernels import RBF, Linear, prepare
from kernelweave.kernels.compile.normalized_kernels import weighted
from kernelweave.model.verification import problems_of
from kernelweave.norms import Fixed

KERNELS = [Linear(), RBF([0.01, 0.1, 1.0]), RBF(0.3, columns=[0, 2])]


@pytest.fixture
def tight(monkeypatch):
    monkeypatch.setattr("kernelweave.estimators.held_out_sample.LOOSEST_TOL", 1e-8)


def expected(kind, X, targets, theta, tests):
    """Return the covariances from one estimator for each fold, shape (M,)."""
    found = np.zeros(len(theta))
    for test in tests:
        train = np.setdiff1d(np.arange(len(X)), test)
        model = kind(KERNELS, norm=Fixed(theta), C=1.0, normalize=None, tol=1e-8)
        added = model.fit(X[train], targets[train])._added(X[test])[:, 0]
        centred = targets[test] - targets[test].mean()
        found += centred @ added / len(X)
    return found


def test_covariances_are_those_of_models_of_the_folds(tight):
    X, y = make_friedman1(60, noise=1.0, random_state=0)
    y = (y - y.mean()) / y.std()
    model = MKLRegressor(KERNELS, norm=2, C=1.0, epsilon=0.1, normalize=None, tol=1e-8).fit(X, y)
    sample = HeldOutSample.of(X, problems_of(model, X, y, None))
    oracle = expected(
        lambda *a, **k: MKLRegressor(*a, epsilon=0.1, **k), X, y, model.weights_, sample.tests
    )
    np.testing.assert_allclose(model._held_out(X, y), oracle[None], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("share_weights", [True, False])
def test_each_output_has_its_weights(tight, share_weights):
    X, y = load_wine(return_X_y=True)
    X, y = ((X - X.mean(axis=0)) / X.std(axis=0))[::3], y[::3]
    model = MKLClassifier(
        KERNELS, norm=2, C=1.0, normalize=None, tol=1e-6, share_weights=share_weights
    ).fit(X, y)
    sample = HeldOutSample.of(X, problems_of(model, X, y, None))
    found, weights = model._held_out(X, y), np.atleast_2d(model.weights_)
    assert len(weights) == (1 if share_weights else 3)
    for output in range(3):
        signs = np.where(y == output, 1.0, -1.0)
        theta = weights[output % len(weights)]
        oracle = expected(MKLClassifier, X, signs, theta, sample.tests)
        np.testing.assert_allclose(found[output], oracle, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("share_weights", [True, False])
def test_pairs_of_classes_use_their_own_examples(tight, share_weights):
    X, y = load_wine(return_X_y=True)
    X, y = ((X - X.mean(axis=0)) / X.std(axis=0))[::3], y[::3]
    model = MKLClassifier(
        KERNELS, C=1.0, normalize=None, tol=1e-6, multi_class="ovo", share_weights=share_weights
    ).fit(X, y)
    sample = HeldOutSample.of(X, problems_of(model, X, y, None))
    found, weights = model._held_out(X, y), np.atleast_2d(model.weights_)
    assert len(weights) == (1 if share_weights else 3)
    for pair, (a, b) in enumerate(class_pairs(3)):
        rows = np.flatnonzero((y == a) | (y == b))
        tests = [np.flatnonzero(np.isin(rows, test)) for test in sample.tests]
        signs, theta = np.where(y[rows] == a, 1.0, -1.0), weights[pair % len(weights)]
        oracle = expected(MKLClassifier, X[rows], signs, theta, tests)
        np.testing.assert_allclose(found[pair], oracle, rtol=1e-3, atol=1e-5)
    frame = model.weights_frame(X, y)
    assert frame.groupby("output")["held_out_share"].sum().to_numpy() == pytest.approx(1.0)


def test_weighted_kernels_read_the_same_examples(rng):
    compiled, examples = prepare(KERNELS, "variance", rng.normal(size=(20, 3)))
    theta = np.array([0.5, 0.0, 2.0, 1.0, 0.0])
    summed = weighted(compiled, theta)
    assert summed.varying.tolist() == [0, 2, 3]
    values, multiplied = (
        _core.evaluate(one.program, examples.side, examples.side, 1) for one in (compiled, summed)
    )
    np.testing.assert_allclose(multiplied, theta[:, None, None] * values, rtol=1e-14)
