"""Kernels whose values have too few digits: fits end, and say which kernels."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from kernelweave import MKLClassifier
from kernelweave.digits import rounding
from kernelweave.kernels import RBF, Linear

WIDE = np.longdouble


@pytest.fixture
def data():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0)


def exact_gap(model, X, y):
    """Return the gap of a machine with one RBF kernel and the hinge, in extended precision."""
    squares = ((X[:, None].astype(WIDE) - X[None]) ** 2).sum(axis=2)
    kernel = model._model.compiled.kernels[0]
    K = WIDE(kernel.factors[0]) * np.exp(-WIDE(kernel.kernel.gamma) * squares)
    alpha = np.zeros(len(y), WIDE)
    alpha[model.support_] = model.dual_coef_[0]
    F = model.weights_[0] * (K @ alpha)
    energy = 0.5 * (alpha @ F)
    loss = np.maximum(0, 1 - y * (F + WIDE(model.intercept_[0]))).sum()
    primal, dual = model.C * loss + energy, (y * alpha).sum() - energy
    constant = 2 * model.C * min(np.count_nonzero(y > 0), np.count_nonzero(y < 0))
    return float((primal - dual) / min(primal, constant - dual))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("gamma", [1e-14, 1e-12, 1e-10, 1e-8, 1e-3])
def test_gaps_move_by_less_than_is_said(gamma, C, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MKLClassifier(RBF(gamma), C=C, norm=np.inf).fit(*data)
    sizes = np.array(model._model.compiled.kernels[0].factors)
    gain = model.constant_objective_ - model.dual_objective_
    scale = min(model.primal_objective_, gain)
    bound = rounding(model.dual_coef_[0], model.weights_, sizes, scale)
    assert abs(exact_gap(model, *data) - model.duality_gap_) <= bound.sum()


def test_kernels_that_carry_too_few_digits_are_named(data):
    """The gap that is claimed is far below tol, and the true one above it."""
    X, y = data[0], np.where(load_iris().target == 2, 1.0, -1.0)
    with pytest.warns(ConvergenceWarning, match=r"the values of 'RBF gamma=1e-11' have too few"):
        model = MKLClassifier([RBF(1e-11)], C=1e4, norm=np.inf).fit(X, y)
    assert model.duality_gap_ <= model.tol < exact_gap(model, X, y)


def test_only_kernels_that_lack_digits_are_named(data):
    with pytest.warns(ConvergenceWarning, match="have too few digits") as caught:
        MKLClassifier([RBF(0.5), RBF(1e-13)], C=100.0, norm=np.inf, max_time=10.0).fit(*data)
    assert "RBF gamma=1e-13" in str(caught[0].message)
    assert "RBF(gamma=0.5)" not in str(caught[0].message)


@pytest.mark.parametrize("kernel", [RBF(1e-3), RBF([0.1, 1.0]), Linear()])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_ordinary_kernels_are_not(kernel, C, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier(kernel, C=C).fit(*data)


def test_a_gap_that_rounding_keeps_open_ends_a_fit_soon():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"'RBF gamma=1e-09' have too few digits"):
        model = MKLClassifier(RBF(1e-9), C=1e8).fit(X, y)
    assert model.n_iter_ <= 100  # hundreds more brought nothing
