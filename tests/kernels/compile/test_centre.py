"""Targets far from 0: the same model, and a gap that can be recomputed from it."""

import numpy as np
import pytest

from kernelweave import MKLRegressor, norms, verify
from kernelweave.estimators.selection import MKLRegressorCV
from kernelweave.kernels import RBF, Linear

LOSSES = "squared", "epsilon_insensitive"
FAR = 1e13


@pytest.fixture
def data(rng):
    X = rng.normal(size=(80, 3))
    return X, np.round(64.0 * (np.sin(X[:, 0]) + 0.3 * rng.normal(size=80))) / 4.0


def exact_values(model, X, y, gamma):
    """Return both values in extended precision, of the public attributes and nothing else."""
    wide = np.longdouble
    X, y = X.astype(wide), y.astype(wide)
    K = np.exp(-wide(gamma) * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    K /= np.trace(K) / len(K) - K.mean()
    alpha = np.zeros(len(y), wide)
    alpha[model.support_] = model.dual_coef_[0]
    theta = wide(model.weights_[0])
    residual = (y - wide(model.intercept_[0])) - theta * (K @ alpha)
    regularizer = 0.5 * theta * (alpha @ K @ alpha)
    if model.loss == "squared":
        loss, conjugate = residual**2, alpha**2 / 4 - (y - y.mean()) * alpha
    else:
        loss = np.maximum(0, np.abs(residual) - wide(model.epsilon))
        conjugate = wide(model.epsilon) * np.abs(alpha) - (y - y.mean()) * alpha
    return float(loss.sum() + regularizer), float(-conjugate.sum() - regularizer)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("centre", [0.0, 1.0, 1e6, FAR])
def test_the_gap_is_that_of_the_model_for_targets_anywhere(centre, loss, data):
    X, y = data
    model = MKLRegressor(RBF(1.0), loss=loss, C=1.0, epsilon=0.1).fit(X, y + centre)
    primal, dual = exact_values(model, X, y + centre, 1.0)
    assert model.duality_gap_ <= model.tol
    assert primal == pytest.approx(model.primal_objective_, rel=1e-9)
    assert dual == pytest.approx(model.dual_objective_, rel=1e-9)
    scale = min(primal, model.constant_objective_ - dual)
    assert (primal - dual) / scale == pytest.approx(model.duality_gap_, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("norm", [1.0, 2.0, norms.Block(4)])
def test_a_constant_moves_the_intercept_and_nothing_else(norm, loss, data):
    X, y = data
    kernels = [RBF(1.0), Linear()]
    near = MKLRegressor(kernels, loss=loss, norm=norm).fit(X, y)
    far = MKLRegressor(kernels, loss=loss, norm=norm).fit(X, y + 2.0**40)
    np.testing.assert_allclose(far.dual_coef_, near.dual_coef_)
    np.testing.assert_allclose(far.intercept_ - 2.0**40, near.intercept_, atol=2.0**-10)
    np.testing.assert_allclose(far.predict(X) - 2.0**40, near.predict(X), atol=2.0**-10)
    assert far.history_[-1]["bias"] == far.intercept_[0]


def test_a_search_moves_its_scores_with_the_targets(data):
    X, y = data
    grid = {"norms": [2.0], "Cs": [0.1, 10.0], "cv": 3}
    near = MKLRegressorCV(RBF(1.0), **grid).fit(X, y)
    far = MKLRegressorCV(RBF(1.0), **grid).fit(X, y + 2.0**30)
    np.testing.assert_allclose(far.scores_, near.scores_, rtol=1e-4)


def test_verification_uses_the_centre_of_targets(data):
    X, y = data
    assert verify(MKLRegressor(RBF(1.0)).fit(X, y + 1e5), X, y + 1e5).agree


def test_alignment_uses_uncentred_targets(data):
    X, y = data
    kernels = [RBF(1.0), Linear()]
    near = MKLRegressor(kernels, solver="alignment").fit(X, y)
    far = MKLRegressor(kernels, solver="alignment").fit(X, y + 1000.0)
    assert np.abs(near.weights_ - far.weights_).max() > 0.1


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_targets_are_fitted_by_the_intercept(loss, data):
    with pytest.warns(UserWarning, match="constant model is optimal"):
        model = MKLRegressor(RBF(1.0), loss=loss).fit(data[0], np.full(80, 0.1))
    assert model.duality_gap_ == 0.0
    np.testing.assert_array_equal(model.predict(data[0]), 0.1)
