"""Ill-conditioned problems (unscaled columns, large C, extreme weights) reach the tolerance."""

import naive_mkl
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from kernelweave import MKLClassifier, MKLRegressor, losses, norms
from kernelweave.kernels import Linear, Polynomial, per_feature
from kernelweave.problem.problem import Problem

MOST_ITERATIONS = (
    60  # three times what they need; pairs of examples alone need hundreds or thousands
)
ROUNDING = 1e-5  # outputs are sums of terms up to 1e14, of which margins are the difference


def assert_certified(model, K, y, C):
    kind = "classifier" if isinstance(model, MKLClassifier) else "regressor"
    assert model.n_iter_ < MOST_ITERATIONS
    problem = Problem.of(losses.get(model.loss, kind), model.norm, y, np.full(len(y), C))
    gap = naive_mkl.model_gap(K, problem, model)
    assert gap == pytest.approx(model.duality_gap_, abs=ROUNDING)
    assert gap <= model.tol + ROUNDING


def columns(X):
    return np.array([np.outer(column, column) for column in X.T])


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "smooth_hinge"])
def test_a_linear_svm_on_unscaled_columns_converges(loss, C):
    X, y = load_breast_cancer(return_X_y=True)
    y = 2.0 * y - 1.0
    model = MKLClassifier(
        Linear(), norm=norms.Lp(np.inf), C=C, loss=loss, normalize=None, max_iter=MOST_ITERATIONS
    ).fit(X, y)
    assert_certified(model, (X @ X.T)[None], y, C)


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_a_regression_on_columns_that_are_not_scaled(loss, C):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    model = MKLRegressor(
        Linear(),
        norm=norms.Lp(np.inf),
        C=C,
        loss=loss,
        epsilon=0.1,
        normalize=None,
        max_iter=MOST_ITERATIONS,
    ).fit(X, y)
    assert_certified(model, (X @ X.T)[None], y, C)


@pytest.mark.parametrize("norm", [norms.Lp(1), norms.Lp(1.5), norms.Lp(2), norms.Block(3)], ids=str)
def test_a_kernel_for_each_unscaled_column(norm):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:300, :10], 2.0 * y[:300] - 1.0
    each = per_feature(Linear(columns=list(range(10))))
    model = MKLClassifier(each, norm=norm, normalize=None, max_iter=MOST_ITERATIONS).fit(X, y)
    assert_certified(model, columns(X), y, 1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_block_norms_drive_weights_apart_where_kernels_have_low_rank(loss, rng):
    """At q = inf the best s of a kernel of rank one may be 0, and its weight has no end."""
    X = rng.normal(size=(300, 5)) * [1.0, 0.01, 10.0, 1.0, 0.1]
    y = np.sign(X[:, 0] + 100 * X[:, 1] + rng.normal(size=300))
    each = [per_feature(Linear(columns=list(range(5)))), Polynomial(degree=2, coef0=1.0)]
    K = np.concatenate([columns(X), each[1](X)[None]])
    norm = norms.Block(np.inf)
    model = MKLClassifier(
        each, norm=norm, C=10.0, loss=loss, normalize=None, max_iter=MOST_ITERATIONS
    )
    assert_certified(model.fit(X, y), K, y, 10.0)
