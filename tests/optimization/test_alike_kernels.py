"""Near-copies under an elliptic norm of their alignments: every solver finds their weights."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from kernelweave import MKLClassifier, kernel_alignment, verify
from kernelweave.kernels import RBF, Linear
from kernelweave.norms import Elliptic

SOLVERS = ("auto", "analytic", "newton", "cutting-plane", "level")


@pytest.fixture
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:200, :6], y[:200]


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("other", [0.2, 0.11, 0.101])
def test_near_copies_share_a_weight(other, centered, data):
    kernels = [RBF(0.1), RBF(other), Linear()]
    E = kernel_alignment(kernels, data[0], centered=centered)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MKLClassifier(kernels, norm=Elliptic(E)).fit(*data)
    assert model.n_iter_ <= 20
    assert verify(model, *data).agree
    assert abs(model.weights_[0] - model.weights_[1]) < 0.1 * model.weights_[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_takes_a_nearly_singular_matrix(solver, data):
    widths = RBF(gamma=np.geomspace(1e-3, 1.0, 12))
    E = kernel_alignment(widths, data[0]) + 1e-6 * np.eye(12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MKLClassifier(widths, norm=Elliptic(E), solver=solver).fit(*data)
    assert verify(model, *data).agree
    first = MKLClassifier(widths, norm=Elliptic(E), tol=1e-5).fit(*data)
    assert model.primal_objective_ == pytest.approx(first.primal_objective_, rel=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_response_where_zeros_bind(seed):
    """Against a general solver; E has entries below 0, so that some weights are 0."""
    rng = np.random.default_rng(seed)
    A, s = rng.normal(size=(6, 6)), rng.uniform(0.1, 5.0, 6)
    E = A @ A.T + 1e-3 * np.eye(6)
    inverse = np.linalg.inv(E)
    slow = minimize(
        lambda theta: -theta @ s,
        np.full(6, 1e-3),
        jac=lambda theta: -s,
        bounds=[(0, None)] * 6,
        constraints={
            "type": "ineq",
            "fun": lambda theta: 1 - theta @ inverse @ theta,
            "jac": lambda theta: -2 * inverse @ theta,
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    theta = Elliptic(E).best(s)
    assert np.all(theta >= 0)
    assert theta @ inverse @ theta == pytest.approx(1.0, rel=1e-9)
    assert theta @ s == pytest.approx(-slow.fun, rel=1e-6)
    assert Elliptic(E).dual(s) == pytest.approx(-slow.fun, rel=1e-6)
